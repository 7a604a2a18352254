/** What a route says of itself: its checks and its description are made from it. */
import type { RouteConfig } from '@hono/zod-openapi'
import type { ErrorCode } from '../../_shared/errors.ts'
import type { Check, GuestCache } from './checks.ts'

/** Who may call, beyond having a token; with the codes for those who may not. */
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
  /** Who may call, beyond having a token. */
  needs?: keyof typeof needs
  /** What it refuses, beyond what follows from its checks and input (refusals.ts). */
  errors?: readonly ErrorCode[]
  checks?: readonly Check[]
  /** A POST that only reads. */
  reads?: boolean
  /** Limits reads in its own way. */
  limit?: Check
  /** Needs a proof (X-Proof), for some or all of what it does. */
  proof?: boolean
  /** Takes an Idempotency-Key: `call` keeps the answer. */
  idempotent?: boolean
  /**
   * Refused writes are not counted in the worker: for a provider that sends again what was not
   * understood, and for signing in, where neighbours at one address would refuse each other.
   */
  unlimited?: boolean
  /** The code for a key that the route does not know, where it has its own. */
  unknownKey?: ErrorCode
  /** How long caches may keep an answer to a guest; else not at all. */
  guestCache?: GuestCache
  /** How long whoever has a token may keep an answer that is the same for everybody. */
  ownCache?: string
}
