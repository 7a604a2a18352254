// supabase/schedule.sql and schedule-replicas.sql need pg_cron, pg_net and Vault, which a hosted project has.
// Here stubs replace these, in a transaction that is rolled back.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hostedExtensions } from '../../local/deploy/support/hosted-extensions.ts'
import { database } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const file = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

describe.runIf(hasStack)('the schedule of a hosted project', () => {
  let client: pg.PoolClient

  beforeAll(async () => {
    client = await database().connect()
    await client.query('begin')
    await client.query(hostedExtensions)
    await client.query(
      `insert into vault.decrypted_secrets (name, decrypted_secret)
       values ('project_url', 'https://ref.supabase.co'), ('jobs_key', 'sb_secret_planted')`,
    )
    const script = file('supabase/schedule.sql') + file('supabase/schedule-replicas.sql')
    await client.query(script)
    await client.query(script)
  })

  afterAll(async () => {
    await client.query('rollback')
    client.release()
  })

  test('may be run twice, and schedules each job at least once a minute', async () => {
    const { rows } = await client.query('select jobname, schedule from cron.job order by 1')
    expect(rows).toEqual([
      { jobname: 'beat', schedule: '2 seconds' },
      { jobname: 'forget old runs', schedule: '17 * * * *' },
      { jobname: 'jobs', schedule: '* * * * *' },
      { jobname: 'jobs often', schedule: '5 seconds' },
    ])
  })

  test('every line works: the function is called with the key, old runs are removed', async () => {
    await client.query(
      `insert into cron.job_run_details (command, end_time)
       select job.command, now() - ages.age
       from cron.job, unnest(array['1 minute', '2 hours', '8 days', null]::interval[]) as ages (age)
       where job.jobname in ('jobs', 'beat')`,
    )
    await client.query(
      `insert into private.notification_events (kind, property_id) values ('favorite_price_drop', gen_random_uuid())`,
    )
    const { rows: jobs } = await client.query('select command from cron.job order by jobname')
    for (const { command } of jobs) await client.query(command)
    const { rows } = await client.query(
      'select url, headers, timeout from net.http_request_queue order by id',
    )
    const headers = { apikey: 'sb_secret_planted' }
    expect(rows).toEqual([
      { url: 'https://ref.supabase.co/functions/v1/jobs', headers, timeout: 30000 },
      { url: 'https://ref.supabase.co/functions/v1/jobs/often', headers, timeout: 30000 },
    ])
    const { rows: remaining } = await client.query(
      `select job.jobname as name, count(*)::int as runs
       from cron.job_run_details join cron.job using (command) group by 1 order by 1`,
    )
    expect(remaining).toEqual([{ name: 'beat', runs: 2 }, { name: 'jobs', runs: 3 }])
    const { rows: [beat] } = await client.query(
      `select at > now() - interval '1 minute' as now from private.timestamps where name = 'beat'`,
    )
    expect(beat).toEqual({ now: true })
  })
})

// The platform's supautils.privileged_extensions, reduced to extensions that come
// with Postgres or that we use.
const allowed = ['btree_gin', 'btree_gist', 'citext', 'cube', 'earthdistance', 'fuzzystrmatch']
  .concat(['hstore', 'intarray', 'ltree', 'moddatetime', 'pg_cron', 'pg_net', 'pg_stat_statements'])
  .concat(['pg_trgm', 'pgcrypto', 'tablefunc', 'unaccent', 'uuid-ossp', 'vector'])

test('every extension is one that a project may create, named with its schema, without a version', () => {
  const files = [...globSync('sql/**/*.sql', { cwd: root }), 'supabase/schedule.sql']
  const statements = files.flatMap((path) =>
    [...file(path).matchAll(/^ *(create extension[^;]*;)/gim)].map(([, statement]) => statement!)
  )
  expect(statements.length).toBeGreaterThan(3)
  for (const statement of statements) {
    const [, name] =
      /^create extension if not exists "?([\w-]+)"? with schema (?:extensions|pg_catalog);$/
        .exec(statement) ?? []
    expect(allowed, statement).toContain(name)
  }
})
