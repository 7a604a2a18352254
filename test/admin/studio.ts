/** Rows edited by hand, as in Studio. */
import { database, type Person } from '../support/client.ts'

export const why = 'مخالفة لشروط النشر'

export const edit = (table: string, id: string, columns: Record<string, unknown>, key = 'id') =>
  database().query(
    `update ${table.includes('.') ? table : `public.${table}`}
     set ${Object.keys(columns).map((name, i) => `${name} = $${i + 2}`)}
     where ${key} = $1`,
    [id, ...Object.values(columns)],
  )

export const decide = (admin: Person, id: string, decision: string) =>
  admin.post(`/admin/moderation/${id}/decide`, { decision, reason: why })
