/** Tries of a password: each is counted as a failure before it is made, so that many at once count. */
import { addressArgs } from '../../_shared/crypto.ts'
import { backend } from '../../_shared/db.ts'
import { type MaybeError, throwIfError } from '../../_shared/refusal.ts'
import { AuthUnavailable } from '../../_shared/supabase-auth.ts'

export type PasswordTry = { exists: boolean; attempts: string[]; hits: unknown; hasDecoy: boolean }

/** Makes a try that is counted; where Auth did not get to compare the password it counts no more. */
export async function tryPassword<T>(
  identifier: string,
  address: string,
  attempt: (counted: PasswordTry) => Promise<T>,
): Promise<{ result: T; hits: unknown }> {
  const counted = await backend<MaybeError & PasswordTry>('begin_sign_in', {
    identifier,
    ...addressArgs(address),
  })
  throwIfError(counted)
  const { hits } = counted
  try {
    return { result: await attempt(counted), hits }
  } catch (error) {
    if (error instanceof AuthUnavailable) {
      await backend('return_sign_in', { identifier, address, hits })
    }
    throw error
  }
}
