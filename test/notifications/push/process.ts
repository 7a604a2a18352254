import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { database, type Person, secretKey, signUp } from '../../support/client.ts'
import { type Facade, hasStack, startFacade } from '../../support/facade.ts'
import { type FcmStub, startFcmStub } from '../stub-fcm.ts'

export let fcm: FcmStub
export let jobs: Facade
export let sara: Person

/**
 * Only one file at a time may use this, because two processes would compete for the pushes in the outbox.
 */
export function startPushes() {
  beforeAll(async () => {
    if (!hasStack) return
    fcm = await startFcmStub()
    // Without PATIENCE, FCM's token may come too late on a slow machine, and then no
    // push is sent for a minute.
    jobs = await startFacade({ ...fcm.settings, PATIENCE: '10' }, 'jobs')
  })
  afterAll(async () => {
    await jobs?.stop()
    await fcm?.stop()
  })
  beforeEach(async () => {
    if (hasStack) sara = await signUp('سارة المطيري')
  })
}

export async function sendPushes(process = jobs) {
  const response = await fetch(`${process.url}/send_pushes`, {
    method: 'POST',
    headers: { apikey: secretKey },
  })
  expect(response.status).toBe(200)
  return await response.json()
}

/** Runs the work with its own jobs process, because some responses of FCM make a process pause. */
export async function withOwnJobs(work: (own: Facade) => Promise<void>, settings = {}) {
  const own = await startFacade({ ...fcm.settings, ...settings }, 'jobs')
  try {
    await work(own)
  } finally {
    await own.stop()
    await rested()
  }
}

const rested = () => database().query(`delete from private.timestamps where name = 'pushes_paused'`)

export const waitingPushes = async (person: Person) =>
  (await database().query(
    `select *, extract(epoch from due_at - now())::float as wait from private.push_outbox
     where account_id = $1 order by id`,
    [person.id],
  )).rows

const clock = async () =>
  (await database().query('select extract(epoch from clock_timestamp())::float as at')).rows[0].at

/**
 * Sends the due pushes. Returns a person's pushes that still wait, with the seconds until the next attempt:
 * `least` from the end of this call, `most` from its beginning.
 */
export async function sendAndWait(person: Person, send: () => Promise<unknown> = sendPushes) {
  const before = await clock()
  await send()
  const after = await clock()
  const { rows } = await database().query(
    `select *, extract(epoch from due_at)::float as due from private.push_outbox
     where account_id = $1 order by id`,
    [person.id],
  )
  return rows.map(({ due, ...row }) => ({ ...row, least: due - after, most: due - before }))
}

/** Moves waiting pushes and quiet hours into the past, as if this many seconds had passed. */
export const agePushes = ({ id }: Person, seconds = 5000) =>
  database().query(
    `create temporary table aged on commit drop as
       select id, due_at - interval '${seconds} s' as due_at
       from private.push_outbox where account_id = '${id}';
     update public.account_settings
     set quiet_from = quiet_from - interval '${seconds} s',
         quiet_to = quiet_to - interval '${seconds} s'
     where account_id = '${id}' and quiet_from is not null;
     -- A change of the quiet hours moves waiting pushes, so their times are set last.
     update private.push_outbox set due_at = aged.due_at from aged where push_outbox.id = aged.id`,
  )

/** Makes waiting pushes due now, without moving the quiet hours. */
export const makePushesDue = (person: Person) =>
  database().query('update private.push_outbox set due_at = now() where account_id = $1', [
    person.id,
  ])

export const hasDevice = async (person: Person) =>
  (await person.get('/devices')).body.items.length > 0
