import type { ErrorCode } from '../../_shared/errors/errors.ts'
import { Refusal } from '../../_shared/errors/refusal.ts'
import { closeCodes } from '../protocol.ts'

/** Temporary refusals are not about rights: the same call may succeed a moment later. */
export const isTemporary = (code: ErrorCode) =>
  ['service_unavailable', 'maintenance', 'timeout', 'internal', 'rate_limited'].includes(code)

const forbidden: ErrorCode[] = ['account_suspended', 'account_banned', 'account_awaiting_otp']

export const endsSession = (code: ErrorCode) =>
  forbidden.includes(code) || ['token_missing', 'token_invalid', 'token_expired'].includes(code)

export const closeCodeOf = (code: ErrorCode) =>
  forbidden.includes(code) ? closeCodes.forbidden : closeCodes.unauthorized

/** Conversations of other people must be indistinguishable from ones that do not exist. */
export const asNotParticipant = (refusal: Refusal) =>
  refusal.code === 'conversation_not_found' ? new Refusal('not_participant') : refusal
