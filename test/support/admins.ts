/** Admins, made as in Studio: by inserting a row. */
import { createHash, randomUUID } from 'node:crypto'
import { caller, database, type Person, signUp } from './client.ts'

/** Whoever has the access token of an admin and nothing else. */
export const byTokenAlone = ({ accessToken }: Person) => caller(accessToken)

/** A proof of this session, as of POST /auth/sudo, for a day: no test depends on how long it takes. */
export async function proofOf({ accessToken }: Person): Promise<string> {
  const { session_id: id } = JSON.parse(
    Buffer.from(accessToken.split('.')[1]!, 'base64url').toString(),
  )
  const proof = randomUUID()
  await database().query(
    `insert into private.session_proofs (session_id, hash, way, made_at)
     values ($1, $2, 'password', now() + interval '1 day')
     on conflict (session_id) do update set hash = excluded.hash, made_at = excluded.made_at`,
    [id, createHash('sha256').update(proof).digest()],
  )
  return proof
}

/** An admin, who sends a proof with everything. */
export async function makeAdmin(person: Person): Promise<Person> {
  await database().query('insert into public.admins (account_id) values ($1)', [person.id])
  // Hundreds of a test run need not all hear of each other.
  await database().query(
    `delete from private.deferred_notifications where details ->> 'accountId' = $1`,
    [person.id],
  )
  const proof = await proofOf(person)
  return Object.assign(person, { proof }, caller(person.accessToken, { 'x-proof': proof }))
}

export const signUpAdmin = async (fullName = 'مشرفة السوق') => makeAdmin(await signUp(fullName))

export async function demote({ id }: Person) {
  await database().query('delete from public.admins where account_id = $1', [id])
  await database().query(
    `delete from private.deferred_notifications where details ->> 'accountId' = $1`,
    [id],
  )
}

// deno-lint-ignore no-explicit-any
type Entry = any

/** The audit trail of one target, newest first, as admins read it. */
export async function auditOf(admin: Person, targetId: string): Promise<Entry[]> {
  const { status, body } = await admin.get(`/admin/audit?targetId=${targetId}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.items
}
