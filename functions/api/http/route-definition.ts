import type { RouteConfig } from '@hono/zod-openapi'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import type { Check, GuestCache } from './checks.ts'

/** What a route may require of callers beyond a token, and the codes for callers who lack it. */
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
  /** Error codes beyond those that follow from the rest of the definition (refusals.ts). */
  errors?: readonly ErrorCode[]
  checks?: readonly Check[]
  /** True for a POST that only reads. */
  reads?: boolean
  /** Replaces the usual limit of reads. */
  limit?: Check
  /** True if some or all of its effects need a proof (X-Proof). */
  proof?: boolean
  /** True if it accepts an Idempotency-Key: `call` then stores the answer. */
  idempotent?: boolean
  /** True if refused writes are not counted: providers resend them, and people may share an address. */
  unlimited?: boolean
  /** True for routes that are open to everyone during maintenance (a setting), not only to administrators. */
  always?: boolean
  /** The error code for unknown keys, if it is not `unknown`. */
  unknownKey?: ErrorCode
  /** The day (`2027-01-31`) when the route's removal was announced; it goes a year later at the soonest. */
  deprecatedSince?: string
  /** How long caches may store an answer to a guest; by default not at all. */
  guestCache?: GuestCache
  /** How long a client with a token may cache an answer that is the same for everyone. */
  ownCache?: string
}
