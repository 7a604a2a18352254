/** Admins, made as in Studio: by inserting a row. */
import { database, type Person, signUp } from './client.ts'

export async function makeAdmin(person: Person): Promise<Person> {
  await database().query('insert into public.admins (account_id) values ($1)', [person.id])
  return person
}

export const signUpAdmin = async (fullName = 'مشرفة السوق') => makeAdmin(await signUp(fullName))

export const demote = ({ id }: Person) =>
  database().query('delete from public.admins where account_id = $1', [id])

// deno-lint-ignore no-explicit-any
type Entry = any

/** The audit trail of one target, newest first, as admins read it. */
export async function auditOf(admin: Person, targetId: string): Promise<Entry[]> {
  const { status, body } = await admin.get(`/admin/audit?targetId=${targetId}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.items
}
