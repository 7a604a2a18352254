// Counts each password attempt as a failure before it is made, so that concurrent attempts cannot exceed the
// limit.
import { addressArgs } from '../../_shared/auth/secrets.ts'
import { AuthUnavailable } from '../../_shared/auth/supabase-auth.ts'
import { backend } from '../../_shared/database/db.ts'
import { type MaybeError, throwIfError } from '../../_shared/errors/refusal.ts'

type PasswordTry = { exists: boolean; attempts: string[]; hits: unknown; hasDecoy: boolean }

/** Counts an attempt and makes it. If Auth could not compare the password, the count is undone. */
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
