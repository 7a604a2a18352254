import { createHash, randomUUID } from 'node:crypto'
import { caller, database, type Person, signUp } from './client.ts'

export const byTokenAlone = ({ accessToken }: Person) => caller(accessToken)

/** Inserts a proof of re-authentication for this session, like POST /auth/sudo, but valid for a day. */
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

/** Deletes the notifications to admins about a new admin, because a test run creates hundreds of admins. */
export const keepUntold = ({ id }: Pick<Person, 'id'>) =>
  database().query(
    `delete from private.deferred_notifications where details ->> 'accountId' = $1`,
    [id],
  )

export async function makeAdmin(person: Person): Promise<Person> {
  await database().query('insert into public.admins (account_id) values ($1)', [person.id])
  await keepUntold(person)
  const proof = await proofOf(person)
  return Object.assign(person, { proof }, caller(person.accessToken, { 'x-proof': proof }))
}

export const signUpAdmin = async (fullName = 'مشرفة السوق') => makeAdmin(await signUp(fullName))

export async function demote(person: Person) {
  await database().query('delete from public.admins where account_id = $1', [person.id])
  await keepUntold(person)
}

// deno-lint-ignore no-explicit-any
type Entry = any

export async function auditOf(admin: Person, targetId: string): Promise<Entry[]> {
  const { status, body } = await admin.get(`/admin/audit?targetId=${targetId}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.items
}
