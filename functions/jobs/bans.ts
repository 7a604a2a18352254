import { bannedHash } from '../_shared/auth/secrets.ts'
import { backend } from '../_shared/database/db.ts'

/**
 * Job: replaces phones and emails of banned accounts with hashes. The database does not have the hash key.
 */
export async function hashBannedContacts(): Promise<number> {
  const waiting = await backend<{ id: string; value: string }[]>('banned_contacts_to_hash', {})
  if (!waiting.length) return 0
  const hashes = waiting.map(({ id, value }) => ({ id, hash: bannedHash(value) }))
  await backend('hash_banned_contacts', { hashes })
  return waiting.length
}
