// Writes one row for Studio, found by its key, as role postgres. @supabase/lite 0.10.0 is not used for this,
// because it returns 204 even if no row has the key, and cannot write true or a number to a jsonb column.
import type { Sql } from 'postgres'

export const refusal = (status: number, message: string, more: object = {}) =>
  Response.json({ message, ...more }, { status })

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Inserts, updates or deletes one row. The query string has `column=eq.value` for each part of its key. */
export async function writeRow(request: Request, sql: Sql): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  const schema = request.headers.get('content-profile') ?? 'public'
  const table = `${quoted(schema)}.${quoted(decodeURIComponent(pathname.split('/').at(-1)!))}`
  const filters = [...searchParams].filter(([name]) => name !== 'select')
  if (request.method !== 'POST') {
    if (filters.length === 0) return refusal(400, 'Say which row: the filter is missing.')
    const unclear = filters.find(([, value]) =>
      !value.startsWith('eq.') || value === 'eq.undefined'
    )
    if (unclear) {
      return refusal(400, `Say which row: ${unclear.join('=')} is not a value of its key.`)
    }
  }
  const key = Object.fromEntries(filters.map(([name, value]) => [name, value.slice(3)]))
  const values = await request.json().catch(() => undefined) as Record<string, unknown> | undefined
  const statement = statementOf(request.method, table, Object.keys(key), Object.keys(values ?? {}))
  if (!statement) return refusal(400, 'Say what to write.')
  try {
    const rows = await sql.begin(async (transaction) => {
      await transaction`set local role postgres`
      const parameters = [JSON.stringify(key), JSON.stringify(values ?? {})]
      const written = await transaction.unsafe(statement, parameters)
      if (written.length > 1) throw new Error('Say which row: several have this part of a key.')
      return written
    })
    if (rows.length === 0) return refusal(404, 'No row has this key any more: nothing was written.')
    return Response.json(rows.map(({ row }) => row), {
      status: request.method === 'POST' ? 201 : 200,
    })
  } catch (error) {
    const { code, message, detail, hint } = error as Record<string, string>
    return refusal(code === '42501' ? 403 : 400, message!, { code, details: detail, hint })
  }
}

/**
 * Returns a statement that casts the key and the values to the columns' types, or undefined if there is
 * nothing to write. The table gets the alias `edited_row`, because no column has that name.
 */
function statementOf(method: string, table: string, key: string[], names: string[]) {
  const record = (parameter: string) => `jsonb_populate_record(null::${table}, ${parameter}::jsonb)`
  const found = `${record('$1::text')} as key, ${record('$2::text')} as given
    where ${key.map((name) => `edited_row.${quoted(name)} = key.${quoted(name)}`).join(' and ')}
    returning to_jsonb(edited_row) as row`
  const columns = names.map(quoted)
  if (method === 'DELETE') return `delete from ${table} as edited_row using ${found}`
  if (columns.length === 0) return undefined
  if (method === 'PATCH') {
    const changes = columns.map((name) => `${name} = given.${name}`)
    return `update ${table} as edited_row set ${changes} from ${found}`
  }
  if (method !== 'POST') return undefined
  return `insert into ${table} as edited_row (${columns})
    select ${columns.map((name) => `given.${name}`)}
    from ${record('$2::text')} as given, (select $1::text) as key
    returning to_jsonb(edited_row) as row`
}
