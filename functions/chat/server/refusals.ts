/** What a refusal of the database means for a socket. */
import type { ErrorCode } from '../../_shared/errors.ts'
import { Refusal } from '../../_shared/refusal.ts'
import { closeCodes } from '../protocol.ts'

/** Says nothing about rights: the same may succeed in a moment. */
export const isTemporary = (code: ErrorCode) =>
  ['service_unavailable', 'timeout', 'internal', 'rate_limited'].includes(code)

const forbidden: ErrorCode[] = ['account_suspended', 'account_banned', 'account_awaiting_otp']

/** After it the socket has no owner any more. */
export const endsSession = (code: ErrorCode) =>
  forbidden.includes(code) || ['token_missing', 'token_invalid', 'token_expired'].includes(code)

export const closeCodeOf = (code: ErrorCode) =>
  forbidden.includes(code) ? closeCodes.forbidden : closeCodes.unauthorized

/** A conversation of others and one that is not there look the same. */
export const asNotParticipant = (refusal: Refusal) =>
  refusal.code === 'conversation_not_found' ? new Refusal('not_participant') : refusal
