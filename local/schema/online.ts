// Splits pg-delta's statements into migrations that never lock a table with rows for long (any table of an
// earlier migration may have rows). Indexes are created concurrently, each in its own file without a
// transaction. Constraints that check every row, including not null, apply only to new rows at first. The
// last file validates them, which does not block reads and writes.
import { type Action, encodeId, type StableId } from '@supabase/pg-delta'

export type Part = {
  /** The text that follows the migration's name in the file's name. */
  suffix: string
  actions: Action[]
}

/**
 * The beginning of each file that runs in a transaction. A lock request that waits for a long reader blocks
 * all later sessions, so it must time out; the push is then retried. `set local` is not used: the CLI sends a
 * file as one batch, which is atomic but not a transaction block, so Postgres would warn. The CLI resets the
 * timeout before the next file.
 */
export const lockTimeout = "set lock_timeout = '1s';\n\n"

export function online(actions: Action[]): Part[] {
  const produced = actions.flatMap(({ produces }) => produces)
  const made = new Set(produced.map(encodeId))
  const names = produced.flatMap((id) =>
    'name' in id && ['column', 'function', 'type', 'domain'].includes(id.kind) ? [id.name] : []
  )
  // An index is created first, because code in the same migration may rely on it. If the index itself needs a
  // new object, it is created later.
  const waits = (sql: string) => names.some((name) => new RegExp(`\\b${name}\\b`).test(sql))
  const lost = new Map(
    actions.filter(({ sql }) => dropped.test(sql) || droppedKey.test(sql)).flatMap((action) =>
      action.destroys.map((id) => [encodeId(id), action] as const)
    ),
  )
  const keys = new Set(
    actions.filter(({ sql }) => key.test(constraint.exec(sql)?.[4] ?? '')).flatMap(({ produces }) =>
      produces.map(encodeId)
    ),
  )
  const early: Part[] = []
  const main: Action[] = []
  const late: Part[] = []
  const last: Action[] = []
  for (const action of actions) {
    const [, gone] = dropped.exec(action.sql) ?? []
    if (gone) {
      // If the index is recreated, the file that creates the new index also drops the old one.
      if (!action.destroys.some((id) => made.has(encodeId(id)))) {
        late.push(concurrently(action, gone))
      }
      continue
    }
    // If the key is recreated, the old one is dropped in the same place where the new one is added.
    if (droppedKey.test(action.sql) && action.destroys.some((id) => keys.has(encodeId(id)))) {
      continue
    }
    const replaced = action.produces.map((id) => lost.get(encodeId(id))).find(Boolean)
    const cut = isOnOldTable(action.sql, made) ? splitAction(action, replaced) : { main: [action] }
    const later = cut.index && cut.index.actions.some(({ sql }) => waits(sql))
    if (cut.index) (later ? late : early).push(cut.index)
    ;(later ? last : main).push(...cut.main)
    last.push(...cut.last ?? [])
  }
  const transaction = (suffix: string, own: Action[]) =>
    own.length ? [{ suffix, actions: own }] : []
  return [...early, ...transaction('', main), ...late, ...transaction('_validated', last)]
}

const dropped = /^DROP INDEX (\S+)$/
const droppedKey = /^ALTER TABLE \S+ DROP CONSTRAINT \S+$/
const index = /^CREATE (?:UNIQUE )?INDEX (\S+) ON (?:ONLY )?(\S+) /
const notNull = /^ALTER TABLE (\S+) ALTER COLUMN ("(.+?)") SET NOT NULL$/
const constraint = /^ALTER (TABLE|DOMAIN) (\S+) ADD CONSTRAINT (".+?") (.+)$/s
const key = /^(UNIQUE|PRIMARY KEY)( NULLS NOT DISTINCT)? (\(.+?\)(?: INCLUDE \(.+?\))?)(.*)$/s

function isOnOldTable(sql: string, made: Set<string>): boolean {
  const name = index.exec(sql)?.[2] ?? notNull.exec(sql)?.[1] ?? constraint.exec(sql)?.[2]
  if (!name) return false
  const [schema, table] = name.replaceAll('"', '').split('.')
  return !['table', 'domain', 'materializedView'].some((kind) =>
    made.has(encodeId({ kind, schema, name: table } as StableId))
  )
}

type Cut = { main: Action[]; last?: Action[]; index?: Part }

/** If the action recreates an object, `replaced` is the action that drops the old one. */
function splitAction(action: Action, replaced?: Action): Cut {
  const { sql } = action
  const as = (...texts: string[]) => texts.map((text): Action => ({ ...action, sql: text }))

  const [, indexName] = index.exec(sql) ?? []
  if (indexName) {
    return { main: [], index: concurrently(action, nameOf(sql), sql, replaced && 'instead') }
  }

  const [, table, column, bare] = notNull.exec(sql) ?? []
  if (table) {
    // With an equivalent check constraint, SET NOT NULL does not read the rows again.
    const name = `"${bare}_is_there"`
    const check = `CHECK (${column} IS NOT NULL) NOT VALID`
    return {
      main: as(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${check}`),
      last: as(
        `ALTER TABLE ${table} VALIDATE CONSTRAINT ${name}`,
        sql,
        `ALTER TABLE ${table} DROP CONSTRAINT ${name}`,
      ),
    }
  }

  const [, kind, on, name, definition = ''] = constraint.exec(sql) ?? []
  if (/^(CHECK|FOREIGN KEY) /.test(definition)) {
    return {
      main: as(`${sql} NOT VALID`),
      last: as(`ALTER ${kind} ${on} VALIDATE CONSTRAINT ${name}`),
    }
  }
  const [, type, nulls = '', columns, more] = key.exec(definition) ?? []
  if (!type) return { main: [action] }
  const create = `CREATE UNIQUE INDEX ${name} ON ${on} ${columns}${nulls}`
  // An existing constraint of this name is dropped in the transaction that adds the new one.
  const made = replaced ? besideOf(name!) : name
  const add = as(`ALTER TABLE ${on} ADD CONSTRAINT ${name} ${type} USING INDEX ${made}${more}`)
  return {
    main: replaced ? [replaced, ...add] : add,
    index: concurrently(action, nameOf(create), create, replaced && 'beside'),
  }
}

/** Returns the qualified name of a new index, which is in its table's schema. */
function nameOf(create: string): string {
  const [, name, table] = index.exec(create)!
  return `${table!.split('.')[0]}.${name!}`
}

const besideOf = (name: string) => `"${name.replaceAll('"', '')}_new"`

/**
 * Creates or drops an index concurrently. An interrupted attempt leaves an invalid index, so every attempt
 * drops that first. A replacement is created next to the old index and then takes its place.
 */
function concurrently(
  action: Action,
  name: string,
  create?: string,
  position?: 'beside' | 'instead',
): Part {
  const bare = name.split('.')[1]!
  const named = position ? name.replace(bare, besideOf(bare)) : name
  const texts = [`DROP INDEX CONCURRENTLY IF EXISTS ${named}`]
  if (create) {
    texts.push(
      create.replace(
        /^CREATE (UNIQUE )?INDEX (\S+)/,
        (_, unique = '') => `CREATE ${unique}INDEX CONCURRENTLY ${named.split('.')[1]}`,
      ),
    )
  }
  if (position === 'instead') {
    texts.push(
      `DROP INDEX CONCURRENTLY IF EXISTS ${name}`,
      `ALTER INDEX ${named} RENAME TO ${bare}`,
    )
  }
  return {
    suffix: `_${name.replace(/^.*\.|"/g, '')}`,
    actions: texts.map((sql) => ({ ...action, sql, transactionality: 'nonTransactional' })),
  }
}
