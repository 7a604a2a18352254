import type { Action } from '@supabase/pg-delta'
import type pg from 'pg'

const addColumn = /^ALTER TABLE (".+?"\.".+?") ADD COLUMN (".+)$/s
const createTable = /^CREATE TABLE (".+?"\.".+?") \((.*)\)$/s

/**
 * If columns of a new table need a domain or function that is created after the table, pg-delta (seen in
 * 1.0.0-alpha.34) adds these columns later, so they come last. To keep the order of sql/ for `select *` and
 * Studio, this function creates such a table later but complete.
 */
export async function wholeTables(actions: Action[], desired: pg.Pool): Promise<Action[]> {
  const added = new Set(actions.flatMap(({ sql }) => addColumn.exec(sql)?.[1] ?? []))
  let result = actions
  for (const table of added) {
    const first = result.findIndex(({ sql }) => createTable.exec(sql)?.[1] === table)
    if (first >= 0) result = whole(result, first, table, await columnsOf(table, desired))
  }
  return result
}

async function columnsOf(table: string, desired: pg.Pool): Promise<string[]> {
  const { rows } = await desired.query<{ name: string }>(
    `select format('"%s"', replace(attname, '"', '""')) as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table],
  )
  return rows.map(({ name }) => name)
}

function whole(actions: Action[], first: number, table: string, order: string[]): Action[] {
  const last = actions.findLastIndex(({ sql }) => addColumn.exec(sql)?.[1] === table)
  const between = actions.slice(first + 1, last + 1)
  const adds = between.filter(({ sql }) => addColumn.exec(sql)?.[1] === table)
  const own = between.filter((one) =>
    !adds.includes(one) && one.sql.startsWith(`ALTER TABLE ${table} `)
  )
  const others = between.filter((one) => !adds.includes(one) && !own.includes(one))
  const plain = table.replaceAll('"', '')
  // If another statement needs the table before all its columns can exist, pg-delta's order is kept.
  if (others.some(({ sql }) => sql.includes(table) || sql.includes(plain))) return actions
  const create = actions[first]!
  const parts = [
    ...split(createTable.exec(create.sql)![2]!),
    ...adds.map(({ sql }) => addColumn.exec(sql)![2]!),
  ]
  const position = (part: string) => {
    const index = order.findIndex((name) => part.startsWith(`${name} `))
    return index < 0 ? order.length : index
  }
  parts.sort((a, b) => position(a) - position(b))
  const made: Action = {
    ...create,
    sql: `CREATE TABLE ${table} (${parts.join(', ')})`,
    produces: [create, ...adds].flatMap(({ produces }) => produces),
    consumes: [create, ...adds].flatMap(({ consumes }) => consumes),
  }
  return [...actions.slice(0, first), ...others, made, ...own, ...actions.slice(last + 1)]
}

/** Splits a list at the commas between columns, not at commas inside parentheses or quotes. */
function split(list: string): string[] {
  const parts: string[] = []
  let depth = 0
  let quote = ''
  let start = 0
  for (let index = 0; index < list.length; index++) {
    const sign = list[index]!
    if (quote) quote = sign === quote ? '' : quote
    else if (sign === "'" || sign === '"') quote = sign
    else if (sign === '(' || sign === '[') depth++
    else if (sign === ')' || sign === ']') depth--
    else if (sign === ',' && depth === 0) {
      parts.push(list.slice(start, index).trim())
      start = index + 1
    }
  }
  return [...parts, list.slice(start).trim()]
}
