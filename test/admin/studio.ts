import { signUpAdmin } from '../support/admins.ts'
import { database, type Person } from '../support/client.ts'

export const why = 'مخالفة لشروط النشر'

/** Runs one statement as Studio and the SQL editor of a hosted project do, without naming an admin. */
export async function byHand(sql: string, parameters: unknown[] = []) {
  const client = await database().connect()
  try {
    await client.query(`begin; set local edits.by = ''`)
    const answer = await client.query(sql, parameters)
    await client.query('commit')
    return answer
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

export const edit = (table: string, id: string, columns: Record<string, unknown>, key = 'id') =>
  byHand(
    `update ${table.includes('.') ? table : `public.${table}`}
     set ${Object.keys(columns).map((name, i) => `${name} = $${i + 2}`)}
     where ${key} = $1`,
    [id, ...Object.values(columns)],
  )

let someone: Promise<Person> | undefined

export const whoActs = () => someone ??= signUpAdmin('مشرف الاستوديو')

/** Inserts a row into admin_acts, as Studio does, and returns the row as stored. */
export async function act(given: Record<string, unknown>) {
  const row = 'by' in given ? given : { by: (await whoActs()).id, ...given }
  const names = Object.keys(row)
  const { rows } = await byHand(
    `insert into public.admin_acts (${names.map((name) => `"${name}"`)})
     values (${names.map((_, i) => `$${i + 1}`)}) returning *`,
    Object.values(row),
  )
  return rows[0]
}

export const leaveChanges = (id: string) =>
  database().query(
    `update public.properties set pending_changes = '{"price": 77}' where id = $1`,
    [id],
  )

export const decide = (admin: Person, id: string, decision: string) =>
  admin.post(`/admin/moderation/${id}/decide`, { decision, reason: why })
