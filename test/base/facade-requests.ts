import { database } from '../support/client.ts'
import type { Facade } from '../support/facade.ts'

export const ask = async (facade: Facade, path: string, init: RequestInit = {}) => {
  const response = await fetch(facade.url + path, init)
  return { status: response.status, body: await response.json() }
}

/** Sets the time of the jobs' last run. The stack’s own scheduler may overwrite it at any moment. */
export const jobsRan = (secondsAgo: number) =>
  database().query(
    `update private.timestamps set at = now() - make_interval(secs => $1) where name = 'jobs_ran'`,
    [secondsAgo],
  )

export const post = (facade: Facade, path: string, body: unknown) =>
  ask(facade, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

export const unsettled = async (kind: string) =>
  (await database().query(
    `select subject_id, details from private.alarms
     where kind = $1 and settled_at is null order by subject_id`,
    [kind],
  )).rows

export const forget = (kind: string) =>
  database().query('delete from private.alarms where kind = $1', [kind])

export const linesOf = (facade: Facade, kind: string) =>
  facade.output().split(`"alert":"${kind}"`).length - 1
