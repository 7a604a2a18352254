// pg-delta compares two databases and writes the statements that turn one into the other. It is an alpha
// version (1.0.0-alpha.34), so its bugs are corrected here, with the reason for each correction.
import {
  type Action,
  buildFactBase,
  encodeId,
  type Fact,
  type FactBase,
  isDestructiveAction,
  parseId,
  type Plan,
  plan,
  renderPlanFiles,
  resolveProfile,
  type StableId,
  supabaseProfile,
} from '@supabase/pg-delta'
import pg from 'pg'
import { databaseAt } from './connection.ts'
import { UserError } from '../config/user-error.ts'
import { revokeDefaults } from './baseline.ts'
import { wholeTables } from './columns.ts'
import { normaliseExpression } from './expression.ts'
import { lockTimeout, online, type Part } from './online.ts'

type Delta = {
  /** The text of each migration. There are several if one must be committed before the next. */
  files: { suffix: string; text: string }[]
  destructive: string[]
  /** Pairs `from=to` that look renamed, but are dropped and created in the migration. */
  renames: string[]
}

export async function delta(from: string, to: string, renames: string[] = []): Promise<Delta> {
  const [source, desired] = [from, to].map((url) => {
    // It is not an error if an idle connection ends because its server ends.
    return new pg.Pool(databaseAt(url)).on('error', () => {})
  }) as [pg.Pool, pg.Pool]
  try {
    const profile = await resolveProfile(source, supabaseProfile)
    const [before, after] = await Promise.all([profile.extract(source), profile.extract(desired)])
    const made = plan(normalise(before.factBase), normalise(after.factBase), {
      ...profile.planOptions,
      // Roles belong to the server and not to a database. Migrations contain 00_roles.sql verbatim.
      scope: 'database',
      assumedRoles: await roles(desired),
      defaultOwner: 'postgres',
      renames: 'prompt',
      acceptRenames: renames.map(parseRename),
    })
    made.actions = await wholeTables(made.actions.filter(isOurs), desired)
    return {
      files: online(made.actions).flatMap((part) => renderPart(made, part)),
      destructive: made.actions.filter(isDestructiveAction).map(({ sql }) => sql),
      renames: made.renameCandidates
        .filter(({ status }) => status === 'unambiguous')
        .map(({ from, to }) => `${encodeId(from)}=${encodeId(to)}`)
        .filter((pair) => !renames.includes(pair)),
    }
  } finally {
    await Promise.all([source.end(), desired.end()])
  }
}

function renderPart(made: Plan, { suffix, actions }: Part): Delta['files'] {
  if (actions.some(({ transactionality }) => transactionality === 'nonTransactional')) {
    // These statements may take long but block nobody. The push continues in the same session, so reset this.
    const texts = [
      'set statement_timeout = 0',
      ...actions.map(({ sql }) => sql),
      'reset statement_timeout',
    ]
    return [{ suffix, text: texts.map((sql) => `${sql};\n`).join('\n') }]
  }
  const { files } = renderPlanFiles({ ...made, actions }, { allowDrops: true })
  return files.map(({ contents, suffix: nth }) => ({
    suffix: suffix + (nth ?? ''),
    text: lockTimeout + (opensPublic(actions) ? revokeDefaults : '') + inBatch(contents),
  }))
}

/** pg-delta writes `set local`, which needs a transaction block. The CLI does not open one (online.ts). */
const inBatch = (text: string) => text.replaceAll(/^set local (?=\w+ = )/gm, 'set ')

/** Normalizes expressions, because `x between 1 and 2 and y` would always differ (expression.ts). */
function normalise(base: FactBase): FactBase {
  const verbatim: Fact['id']['kind'][] = [
    'function',
    'procedure',
    'aggregate',
    'comment',
    'extension',
  ]
  const facts = base.facts().map((fact) => {
    if (verbatim.includes(fact.id.kind)) return fact
    const payload = Object.entries(fact.payload as Record<string, unknown>)
      .map(([key, value]) => [key, typeof value === 'string' ? normaliseExpression(value) : value])
    return { ...fact, payload: Object.fromEntries(payload) as Fact['payload'] }
  })
  const formed = buildFactBase(facts, [...base.edges], base.source)
  formed.diagnostics.splice(0, Infinity, ...base.diagnostics)
  return formed
}

async function roles(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ rolname: string }>('select rolname from pg_roles')
  return rows.map(({ rolname }) => rolname)
}

function parseRename(pair: string): { from: StableId; to: StableId } {
  const [from, to, more] = pair.split('=')
  try {
    if (from && to && more === undefined) return { from: parseId(from), to: parseId(to) }
  } catch {
    // The error is reported below.
  }
  throw new UserError(`--rename=${pair} is not a renaming that db:migration suggested.`)
}

/**
 * Returns false for objects that pg-delta must not write: extensions, because it would omit those that the
 * stand-in already has (extensions.ts finds them all), and triggers on Supabase's tables, because
 * 90_platform.sql creates and drops them.
 */
function isOurs(action: Action): boolean {
  const { produces, destroys } = action
  const isExtension = (id: StableId) =>
    id.kind === 'extension' || (id.kind === 'comment' && id.target.kind === 'extension')
  const isTheirs = (id: StableId) =>
    id.kind === 'trigger' && ['auth', 'storage', 'realtime'].includes(id.schema)
  return !produces.some(isExtension) && ![...produces, ...destroys].some(isTheirs)
}

function opensPublic(actions: Action[]): boolean {
  return actions.some(({ verb, produces }) =>
    verb === 'create' &&
    produces.some((id) =>
      ['table', 'view', 'materializedView', 'sequence', 'function', 'procedure'].includes(
        id.kind,
      ) &&
      'schema' in id && id.schema === 'public'
    )
  )
}
