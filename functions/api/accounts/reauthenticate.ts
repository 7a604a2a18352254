/** Who is signed in already proves once more who they are, before what cannot be taken back. */
import type { ApiContext } from '../../_shared/context.ts'
import { addressArgs, codeHmac } from '../../_shared/crypto.ts'
import { backend, call } from '../../_shared/db.ts'
import type { Identifier } from '../../_shared/identifiers.ts'
import { type MaybeError, Refusal, throwIfError } from '../../_shared/refusal.ts'
import { discardSession, isOwnPassword, signIn } from '../../_shared/supabase-auth.ts'
import { tryPassword } from './password-tries.ts'

export type User = { id: string; phone: string | null; email: string | null }

/** The caller, before what is proven once more: counted as a change of the profile. */
export async function callerAsUser(c: ApiContext): Promise<User> {
  return JSON.parse(await call(c, 'get_me', {}, { rate: 'profile' })).user
}

/** What the user signs in with; undefined: nothing, or a provider alone. */
function identifierOf({ phone, email }: User): Identifier | undefined {
  if (phone) return { kind: 'phone', value: phone }
  if (email) return { kind: 'email', value: email }
}

/** What Auth does for the caller: it fails for one who is being deleted, and then that is 401. */
export async function ofCaller<T>(c: ApiContext, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    await call(c, 'check_session', {})
    throw error
  }
}

/** By a code that was sent for this to a phone or email of the account: gives which. */
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

/** Whether a password opens the account; the session that this opens ends at once. */
async function opens(identifier: Identifier, password: string, address: string) {
  const tokens = await signIn(identifier, password, address)
  if (!tokens || 'denied' in tokens) return false
  await discardSession(tokens)
  return true
}

/** By the password, counted like a sign-in. */
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
