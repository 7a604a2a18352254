import { readFileSync } from 'node:fs'
import { connected } from './build.ts'
import { normaliseExpression } from './expression.ts'

const catalogue = readFileSync(new URL('./catalogue.sql', import.meta.url), 'utf8')

type Snapshot = Map<string, string>

type Thing = { kind: string; object: string; definition: string }

export function snapshot(url: string): Promise<Snapshot> {
  return connected(url, async (client) => {
    // With an empty search_path, every name is printed with its schema.
    await client.query(`set search_path = ''`)
    const { rows } = await client.query<Thing>(catalogue)
    const things: Snapshot = new Map()
    for (const { kind, object, definition } of rows) {
      // Some objects (publications) have several rows with the same name.
      const name = `${kind} ${object}`
      const before = things.get(name)
      const after = kind === 'function' || kind === 'comment'
        ? definition
        : normaliseExpression(definition)
      things.set(name, before === undefined ? after : `${before}\n${after}`)
    }
    return things
  })
}

const tables = `
  select format('%I.%I', nspname, relname) as table_name, array(
    select attname::text
    from pg_attribute
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = pg_class.oid and attnum > 0 and not attisdropped and (
      attidentity <> '' or attgenerated <> ''
      or pg_get_expr(adbin, adrelid) ~ '(now|random_uuid|_timestamp|nextval)\\('
    )
  ) as left_out
  from pg_class
  join pg_namespace on pg_namespace.oid = relnamespace
  where relkind = 'r' and (
    nspname = any ($1) or (nspname, relname) in (('storage', 'buckets'))
  )
  -- The audit trail records how a database was built, which differs between migrations and sql/.
  and (nspname, relname) <> ('public', 'audit')
  order by 1`

const ours = ['public', 'private', 'api']

/** Returns the rows of a new database, without columns filled with times, random values or sequences. */
export function rows(url: string): Promise<Snapshot> {
  return connected(url, async (client) => {
    const found: Snapshot = new Map()
    const list = await client.query<{ table_name: string; left_out: string[] }>(tables, [ours])
    for (const { table_name, left_out } of list.rows) {
      const { rows } = await client.query<{ row: string; count: string }>(
        `select (to_jsonb(one) - $1::text[])::text as row, count(*)::text as count
         from ${table_name} as one group by 1 order by 1`,
        [left_out],
      )
      for (const { row, count } of rows) found.set(`${table_name} ${row}`, count)
    }
    return found
  })
}

export function differences(
  one: Snapshot,
  other: Snapshot,
  names: [one: string, other: string],
): string[] {
  const lines: string[] = []
  for (const name of [...new Set([...one.keys(), ...other.keys()])].sort()) {
    const [left, right] = [one.get(name), other.get(name)]
    if (left === right) continue
    if (left === undefined) lines.push(`only ${names[1]}: ${truncated(name)}`)
    else if (right === undefined) lines.push(`only ${names[0]}: ${truncated(name)}`)
    else {lines.push(
        `${truncated(name)}`,
        `  ${names[0]}: ${truncated(left)}`,
        `  ${names[1]}: ${truncated(right)}`,
      )}
  }
  return lines
}

function truncated(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 300 ? `${line.slice(0, 300)} …` : line
}
