import type { RouteConfig } from '@hono/zod-openapi'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import type { Check, GuestCache } from './checks.ts'

/** The caller's requirements beyond a token, with the codes for callers who do not meet them. */
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
  /** Refusals beyond those that follow from its checks and input (refusals.ts). */
  errors?: readonly ErrorCode[]
  checks?: readonly Check[]
  /** A POST that only reads. */
  reads?: boolean
  /** Replaces the usual limit of reads. */
  limit?: Check
  /** Needs a proof (X-Proof), for some or all of its effects. */
  proof?: boolean
  /** Takes an Idempotency-Key: `call` stores the answer. */
  idempotent?: boolean
  /** Refused writes are not counted: providers resend them, and people may share an address. */
  unlimited?: boolean
  /** The code for unknown keys, if it differs. */
  unknownKey?: ErrorCode
  /** How long caches may store an answer to a guest; by default not at all. */
  guestCache?: GuestCache
  /** How long a client with a token may cache an answer that is the same for everyone. */
  ownCache?: string
}
