// For mutants.test.ts: our database functions and their mutants, each of which lacks one condition.
import type pg from 'pg'

export type Routine = {
  /** The name with schema and argument types, as in `private.lock_session(uuid)`. */
  signature: string
  name: string
  body: string
  definition: string
  owner: string
  isEntry: boolean
  isStable: boolean
  args: { name: string; type: string; optional: boolean }[]
  calls: Routine[]
}

export async function readRoutines(client: pg.PoolClient): Promise<Routine[]> {
  const { rows } = await client.query(
    `select pg_proc.oid::regprocedure as signature, proname as name, prosrc as body,
       pg_get_functiondef(pg_proc.oid) as definition, pg_get_userbyid(proowner) as owner,
       provolatile <> 'v' as "isStable",
       has_function_privilege('authenticated', pg_proc.oid, 'execute')
         or has_function_privilege('anon', pg_proc.oid, 'execute') as "isEntry",
       coalesce((
         select json_agg(json_build_object('name', argument.name, 'type', argument.type::regtype,
           'optional', argument.index > pronargs - pronargdefaults) order by argument.index)
         from rows from (unnest(proargnames[:pronargs]), unnest(proargtypes::oid[]))
           with ordinality as argument (name, type, index)
       ), '[]') as args
     from pg_proc
     where pronamespace::regnamespace in ('private', 'api') and prokind = 'f'
       and prosqlbody is null and not (
         -- Functions of api that only call their namesake in private (sql/16_api.sql) are left out.
         pronamespace = 'api'::regnamespace
         and prosrc ~ ('^select (\\* from )?private\\.' || proname || '\\(')
       )
     order by signature`,
  )
  const routines: Routine[] = rows
  const byName = Map.groupBy(routines, ({ signature }) => signature.split('(')[0]!)
  for (const routine of routines) {
    const called = routine.body.replace(/--.*/g, '').matchAll(/\b(?:private|api)\.\w+(?=\s*\()/g)
    routine.calls = [...new Set([...called].flat())].flatMap((name) => byName.get(name) ?? [])
  }
  return routines
}

/** Returns the functions that clients can execute and that call this one, directly or not, nearest first. */
function entriesOf(routines: Routine[], routine: Routine): Routine[] {
  const reaching = new Set([routine])
  for (const reached of reaching) {
    for (const one of routines) if (one.calls.includes(reached)) reaching.add(one)
  }
  return [...reaching].filter(({ isEntry }) => isEntry)
}

const column =
  '(?:\\w+\\.)?"?(?:\\w*(?:identity|account|session)_id|user_id|actor_id|by_id|opened_by)"?|' +
  '(?:accounts|identities)\\.id'
const someone =
  '(?:\\w+\\.)?\\w*(?:caller|owner|author|viewer|saver|subject|sender|account|identity|admin|giver|user|' +
  'session|reader)_id\\b(?!\\s*\\()|(?:account|identity|receiver|subject)\\.id\\b|any \\(\\w+_ids\\)|' +
  '\\(select private\\.\\w+\\(\\)\\)|private\\.(?:require_)?(?:account|identity|session|admin)(?:_id)?\\(\\)'
const scope = new RegExp(`(?:${column})\\s*(=|<>|is distinct from)\\s*(?:${someone})`, 'g')

/** Returns mutants of a function: each lacks one scope condition or one administrator check. */
function mutantsOf(routine: Routine) {
  const { name, body, definition } = routine
  const statementBefore = (index: number) =>
    body.slice(body.slice(0, index).lastIndexOf(';') + 1, index)
  const scopes = [...body.matchAll(scope)].filter(({ index }) =>
    /\b(?:where|on|and|or|when|not|if|elsif|\()\s*\(?\s*$/.test(statementBefore(index))
  )
  const times = new Map<string, number>()
  return [...scopes, ...body.matchAll(/private\.require_admin\(\)/g)].map((found) => {
    // Without its condition, `if upload.identity_id <> owner_id then refuse` never refuses.
    const isGuard = /\b(?:if|elsif|when)\b(?:(?!\b(?:then|where)\b)[^])*$/
      .test(statementBefore(found.index))
    const lacking = found[1] ? String(found[1] === '=' || !isGuard) : 'private.require_account()'
    const mutated = body.slice(0, found.index) + lacking + body.slice(found.index + found[0].length)
    const condition = found[0].replace(/\s+/g, ' ')
    const time = (times.get(condition) ?? 0) + 1
    times.set(condition, time)
    return {
      routine,
      name: `${name}: ${condition}${time > 1 ? ` (${time})` : ''}`,
      sql: definition.replace(body, () => mutated),
    }
  })
}

export type Mutant = ReturnType<typeof mutantsOf>[number] & { entries: Routine[] }

/** Returns the mutants of all functions that clients can reach, with the functions that clients call. */
export const mutantsIn = (routines: Routine[]): Mutant[] =>
  routines.flatMap((routine) => {
    const entries = entriesOf(routines, routine)
    return entries.length ? mutantsOf(routine).map((mutant) => ({ entries, ...mutant })) : []
  })
