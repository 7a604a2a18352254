/** Clients from addresses of their own, and what the rates have counted for them. */
import { randomInt } from 'node:crypto'
import { test } from 'vitest'
import { database, projectUrl } from './client.ts'

// 127.x.y.z, all of them this machine: each is another client to a stack that runs here.
const isHere = new URL(projectUrl).hostname === '127.0.0.1'
export const testFromAddresses = test.runIf(isHere)
if (!isHere) {
  console.log(
    'The project is not on this machine: tests that come from several addresses are left out.',
  )
}

export const newAddress = () => `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(1, 255)}`

/** Lets a window pass: the hits of these subjects become older. */
export async function passed(seconds: number, ...subjects: string[]) {
  await database().query(
    `update private.rate_hits
     set hits = array(select at - make_interval(secs => $2) from unnest(hits) as at),
         expires_at = expires_at - make_interval(secs => $2)
     where subject = any ($1)`,
    [subjects, seconds],
  )
}

/** Hits that happened before: so the edge of a large rate need not be walked up to. */
export async function spent(rule: string, subject: string, hits: number) {
  await database().query(
    `insert into private.rate_hits (rule, subject, hits, expires_at)
     values ($1, $2, array(
       select clock_timestamp() - make_interval(secs => 60 - nth * 0.001)
       from generate_series(1, $3) as nth
     ), clock_timestamp() + interval '1 hour')
     on conflict (rule, subject) do update
     set hits = excluded.hits, expires_at = excluded.expires_at`,
    [rule, subject, hits],
  )
}

/** How often each rule like this has counted these subjects. */
export async function counted(like: string, ...subjects: string[]) {
  const { rows } = await database().query(
    `select rule, cardinality(hits) as hits
     from private.rate_hits
     where rule like $1 and subject = any ($2) and hits <> '{}' order by rule, 2 desc`,
    [like, subjects],
  )
  return rows.map(({ rule, hits }) => [rule, hits])
}

/** How many of each. */
export const tally = (statuses: number[]) =>
  Object.fromEntries([...new Set(statuses)].map((status) => [
    status,
    statuses.filter((one) => one === status).length,
  ]))

/** Headers with which clients pretend to be others. */
export const faked = (): [string, string][] => {
  const other = `10.${randomInt(255)}.${randomInt(255)}.${randomInt(255)}`
  return [
    ['X-Forwarded-For', `${other}, 2001:db8::${randomInt(9999)}, ${other}`],
    ['Forwarded', `for=${other}`],
    ['X-Real-IP', other],
    ['CF-Connecting-IP', other],
    ['True-Client-IP', other],
    ['X-Client-IP', `[2001:db8:${randomInt(9999)}::1]`],
  ]
}
