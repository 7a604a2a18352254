// Installs the schedule of the jobs (supabase/schedule.sql, and schedule-replicas.sql if there are replicas).
// pg_cron calls the function `jobs` through pg_net, with secrets from Vault.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { root } from '../schema/cli.ts'
import { UserError } from '../config/user-error.ts'

const file = (name: string) => readFileSync(join(root, 'supabase', name), 'utf8')
const script = (replicas: boolean) =>
  file('schedule.sql') + (replicas ? file('schedule-replicas.sql') : '')
const scheduled = /^select cron\.schedule\('([^']+)', '([^']+)'/gm

type Job = { jobname: string; schedule: string }

export async function unscheduledJobs(client: pg.Client, replicas: boolean): Promise<string[]> {
  const jobs = [...script(replicas).matchAll(scheduled)].map(([, name, times]) => ({ name, times }))
  const { rows: [{ there }] } = await client.query(
    `select to_regclass('cron.job') is not null as there`,
  )
  const { rows } = there
    ? await client.query<Job>('select jobname, schedule from cron.job where active')
    : { rows: [] }
  return jobs.filter(({ name, times }) =>
    !rows.some(({ jobname, schedule }) => jobname === name && schedule === times)
  ).map(({ name }) => name!)
}

/** Stores a value in Vault. It is passed as a query parameter, to keep it out of the statement's text. */
async function store(client: pg.Client, name: string, value: string) {
  const { rows } = await client.query(
    'select id, decrypted_secret as value from vault.decrypted_secrets where name = $1',
    [name],
  )
  if (!rows[0]) await client.query('select vault.create_secret($1, $2)', [value, name])
  else if (rows[0].value !== value) {
    await client.query('select vault.update_secret($1, $2)', [rows[0].id, value])
  }
}

/** Schedules the jobs. Keeps the API key in Vault if it is still one of the project's secret keys. */
export async function schedule(
  client: pg.Client,
  projectUrl: string,
  secretKeys: string[],
  replicas: boolean,
): Promise<void> {
  await client.query('begin')
  await client.query(script(replicas))
  if (!replicas) {
    await client.query(`select cron.unschedule(jobid) from cron.job where jobname = 'beat'`)
  }
  await client.query(
    'select cron.alter_job(jobid, active := true) from cron.job where not active and jobname = any ($1)',
    [[...script(replicas).matchAll(scheduled)].map(([, name]) => name)],
  )
  const { rows } = await client.query<{ value: string }>(
    `select decrypted_secret as value from vault.decrypted_secrets where name = 'jobs_key'`,
  )
  const storedKey = rows.map(({ value }) => value).find((value) => secretKeys.includes(value))
  await store(client, 'project_url', projectUrl)
  await store(client, 'jobs_key', storedKey ?? secretKeys[0]!)
  await client.query('commit')
  const left = await unscheduledJobs(client, replicas)
  if (left.length) throw new UserError(`The database did not keep the jobs ${left.join(', ')}.`)
}
