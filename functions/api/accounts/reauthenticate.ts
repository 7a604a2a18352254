import { addressArgs, codeHmac } from '../../_shared/auth/secrets.ts'
import { discardSession, isOwnPassword, signIn } from '../../_shared/auth/supabase-auth.ts'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { backend, call } from '../../_shared/database/db.ts'
import { type MaybeError, Refusal, throwIfError } from '../../_shared/errors/refusal.ts'
import type { Identifier } from '../../_shared/input/identifiers.ts'
import { tryPassword } from './password-tries.ts'

export type User = { id: string; phone: string | null; email: string | null }

/** Reads the caller's account. Counts towards the caller's rate limit for profile changes. */
export async function callerAsUser(c: ApiContext): Promise<User> {
  return JSON.parse(await call(c, 'get_me', {}, { rate: 'profile' })).user
}

function identifierOf({ phone, email }: User): Identifier | undefined {
  if (phone) return { kind: 'phone', value: phone }
  if (email) return { kind: 'email', value: email }
}

/** Awaits a request to Auth. If it fails because the caller is being deleted, throws a 401 instead. */
export async function ofCaller<T>(c: ApiContext, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    await call(c, 'check_session', {})
    throw error
  }
}

/** Verifies a code that was sent to the account's phone or email. Returns that phone or email. */
export async function verifyOwnCode(
  c: ApiContext,
  { id: accountId }: User,
  purpose: 'delete' | 'change' | 'sudo',
  code: string,
): Promise<string> {
  const identifier = await backend<string | null>('code_identifier', { accountId, purpose })
  if (!identifier) throw new Refusal('otp_invalid', { attemptsLeft: 0 })
  const verified = await backend<MaybeError & { accountId?: string }>('verify_code', {
    purpose,
    identifier,
    hmac: codeHmac(purpose, identifier, code),
    ...addressArgs(c.var.address),
  })
  throwIfError(verified)
  if (verified.accountId !== accountId) throw new Refusal('otp_invalid', { attemptsLeft: 0 })
  return identifier
}

/** Whether the password is correct. Signs in to find out and discards the session at once. */
async function opens(identifier: Identifier, password: string, address: string) {
  const tokens = await signIn(identifier, password, address)
  if (!tokens || 'denied' in tokens) return false
  await discardSession(tokens)
  return true
}

export async function verifyPassword(c: ApiContext, user: User, password: string) {
  const { address, caller } = c.var
  const identifier = identifierOf(user)
  const { result: isRight, hits } = await tryPassword(
    identifier?.value ?? user.id,
    address,
    () =>
      identifier
        ? opens(identifier, password, address)
        : ofCaller(c, isOwnPassword(caller.token!, password, address)),
  )
  if (!isRight) throw new Refusal('invalid_credentials')
  await backend('uncount_hits', { hits })
}
