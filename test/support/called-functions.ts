// Records which of our plpgsql functions the suite called. Postgres checks a function body only when it runs,
// so a function that was never called was never checked against the schema.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { variable } from '../../local/config/environment.ts'
import { databaseAt } from '../../local/schema/connection.ts'

const ours = `prolang = (select oid from pg_language where lanname = 'plpgsql')
  and pronamespace::regnamespace::text in ('api', 'private', 'public')`

/** These functions always raise, and Postgres counts only calls that return. */
const neverReturn = [
  'private.refuse_audit_edit',
  'private.refuse',
  'private.refuse_field',
  'private.refuse_value',
  'private.refuse_rate',
  'private.refuse_by_hand',
  'private.refuse_message',
  'private.refuse_password',
  'private.refuse_redirect',
  'private.refuse_rewriting',
]

/** Only replicas call these (test/base/replica.alone.test.ts), and the primary does not count such calls. */
const onReplicas = ['private.last_beat', 'private.require_replica']

/** Appends the calls counted so far to the file CALLED_FUNCTIONS. A server crash resets the counts. */
export async function recordCalls(databaseUrl: string) {
  const file = variable('CALLED_FUNCTIONS')
  if (!file) return
  const client = new pg.Client(databaseAt(databaseUrl))
  await client.connect()
  try {
    // A connection reports its counts when it closes, so idle connections are closed first.
    await client.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and usename = 'facade' and state = 'idle'`,
    )
    const { rows } = await client.query(
      `select pg_proc.oid::regproc::text as name,
         coalesce(pg_stat_get_function_calls(pg_proc.oid), 0) > 0 as called
       from pg_proc where ${ours}`,
    )
    appendFileSync(file, rows.map(({ name, called }) => `${name} ${called}\n`).join(''))
  } finally {
    await client.end()
  }
}

export function uncalledFunctions(file: string): string[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const all = new Set(lines.map((line) => line.split(' ')[0]!))
  const called = new Set(lines.flatMap((line) => /^(\S+) true$/.exec(line)?.[1] ?? []))
  const fine = new Set([...called, ...neverReturn, ...onReplicas])
  return [...all].filter((name) => !fine.has(name)).sort()
}
