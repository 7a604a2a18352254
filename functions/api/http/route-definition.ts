import type { RouteConfig } from '@hono/zod-openapi'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import type { Check, GuestCache } from './checks.ts'

/**
 * What routes can require of a caller besides a token, and the error codes for callers who do not have it.
 */
export const needs = {
  identity: ['identity_not_usable'],
  company: ['identity_not_usable', 'identity_type_required'],
  office: ['identity_not_usable', 'identity_type_required'],
  admin: ['admin_only'],
} as const satisfies Record<string, readonly ErrorCode[]>

export type RouteDefinition = Omit<RouteConfig, 'middleware'> & {
  operationId: string
  tags: string[]
  summary: string
  description: string
  needs?: keyof typeof needs
  /** Error codes in addition to those derived from the rest of the definition (see refusals.ts). */
  errors?: readonly ErrorCode[]
  checks?: readonly Check[]
  /** True for a POST request that only reads. */
  reads?: boolean
  /** Replaces the default rate limit of reads. */
  limit?: Check
  /** True if at least some calls require a recent re-authentication (X-Proof header). */
  proof?: boolean
  /** True if the route accepts an Idempotency-Key. `call` then stores the response. */
  idempotent?: boolean
  /**
   * True if refused writes are not counted, because providers resend webhooks and many people may share an
   * address.
   */
  unlimited?: boolean
  /** True if everyone may use the route during maintenance mode, not only administrators. */
  always?: boolean
  /** The error code for unknown keys, if it is not `unknown`. */
  unknownKey?: ErrorCode
  /**
   * The day on which the route's removal was announced (`2027-01-31`). It is removed a year later at the
   * earliest.
   */
  deprecatedSince?: string
  /** How long shared caches may store responses to anonymous users. Not at all if absent. */
  guestCache?: GuestCache
  /** How long a client with a token may cache a response that is the same for all callers. */
  ownCache?: string
}
