/** Who is signed in already proves once more who they are, before what cannot be taken back. */
import type { ApiContext } from '../../_shared/context.ts'
import { addressArgs, codeHmac } from '../../_shared/crypto.ts'
import { backend, call } from '../../_shared/db.ts'
import type { Identifier } from '../../_shared/identifiers.ts'
import { type MaybeError, Refusal, throwIfError } from '../../_shared/refusal.ts'
import { discardSession, signIn } from '../../_shared/supabase-auth.ts'
import { tryPassword } from './password-tries.ts'

type User = { id: string; phone: string | null; email: string }

/** What the user signs in with. */
export const identifierOf = ({ phone, email }: User): Identifier =>
  phone ? { kind: 'phone', value: phone } : { kind: 'email', value: email }

/** What Auth does for the caller: it fails for one who is being deleted, and then that is 401. */
export async function ofCaller<T>(c: ApiContext, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    await call(c, 'check_session', {})
    throw error
  }
}

/** By a code that was sent for the deletion. */
export async function verifyDeletionCode(
  accountId: string,
  identifier: Identifier,
  code: string,
  address: string,
) {
  const verified = await backend<MaybeError & { accountId?: string }>('verify_code', {
    purpose: 'delete',
    identifier: identifier.value,
    hmac: codeHmac('delete', identifier.value, code),
    ...addressArgs(address),
  })
  throwIfError(verified)
  if (verified.accountId !== accountId) throw new Refusal('otp_invalid', { attemptsLeft: 0 })
}

/** By the password, counted like a sign-in; the session that this opens ends at once. */
export async function verifyPassword(identifier: Identifier, password: string, address: string) {
  const { result: tokens, hits } = await tryPassword(
    identifier,
    address,
    () => signIn(identifier, password, address),
  )
  if (!tokens || 'denied' in tokens) throw new Refusal('invalid_credentials')
  await backend('uncount_hits', { hits })
  await discardSession(tokens)
}
