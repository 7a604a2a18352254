import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { tally } from '../support/addresses.ts'
import { database, newEmail, newPhone, type Person, signUp } from '../support/client.ts'
import { ageCodes, signUpByPhone } from '../support/codes.ts'
import { type Facade, startFacade, testLocally } from '../support/facade.ts'
import { ageHits, hitsOf, plantHits } from '../support/rate-hits.ts'
import { defaultRates, enforceRates } from '../support/rates.ts'
import { refusal } from '../support/problems.ts'

let lift: () => Promise<void>
let facade: Facade
let signedIn: { person: Person; address: string }
let stranger: Person

const newAddress = () => `203.0.${randomInt(256)}.${randomInt(256)}`
const post = (path: string, body: object, from = newAddress()) =>
  facade.post(`/auth${path}`, body, { 'x-forwarded-for': from })
const register = (from?: string, identifier = newPhone()) =>
  post('/register', { identifier, password: randomUUID() }, from)
const forgot = (identifier: string, from?: string) => post('/password/forgot', { identifier }, from)

async function codeForKnown() {
  const { person: { identifier }, address } = signedIn
  await ageCodes(identifier, 45)
  return await forgot(identifier, address)
}

const full = refusal(503, 'service_unavailable')

const alarms = async () => {
  const { rows } = await database().query(
    `select subject_id from private.alarms where kind = 'code_ceiling' and settled_at is null`,
  )
  return rows.map((row) => row.subject_id)
}

const clear = () =>
  database().query(
    `delete from private.rate_hits where true;
     delete from private.sms_sent where true;
     delete from private.alarms where kind = 'code_ceiling'`,
  )

beforeAll(async () => {
  const person = await signUpByPhone()
  signedIn = { person, address: newAddress() }
  stranger = await signUpByPhone()
  await ageCodes(stranger.identifier, 45)
  lift = await enforceRates(
    variable('DATABASE_URL')!,
    defaultRates(/^code_(address|unsent|used|service|alarm)/),
  )
})

afterAll(() => lift?.())

beforeEach(async () => {
  await clear()
  // Each test starts its own facade, because a process does not repeat an alarm shortly after raising it.
  facade = await startFacade({ SMS_PER_DAY: '1200' })
  const { identifier, password } = signedIn.person
  await post('/login', { identifier, password }, signedIn.address)
})
afterEach(async () => {
  await facade?.stop()
  await clear()
})

testLocally('REG-18 the whole service has a ceiling, and raises the alarm before it', async () => {
  await plantHits('code_service', 'all', 220)
  expect(await alarms()).toEqual([])
  const replies = await Promise.all(Array.from({ length: 40 }, () => register()))
  expect(tally(replies.map(({ status }) => status))).toEqual({ 201: 20, 503: 20 })
  const refused = replies.find(({ status }) => status === 503)!
  expect(refused).toMatchObject(full)
  const wait = Number(refused.headers.get('retry-after'))
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(60)
  for (const identifier of [newPhone(), newEmail(), stranger.identifier]) {
    expect(await forgot(identifier)).toMatchObject(full)
  }

  // The last fifth of the limit is reserved for accounts at known addresses, and for
  // addresses where a code was used.
  expect(await codeForKnown()).toMatchObject({ status: 202 })
  const proven = newAddress()
  await plantHits('code_used_address', proven, 1)
  await ageHits(86_000, proven)
  expect(await register(proven)).toMatchObject({ status: 201 })
  expect(await hitsOf('code_service', 'all')).toBe(242)

  await plantHits('code_service', 'all', 300)
  expect(await register(proven)).toMatchObject(full)
  expect(await codeForKnown()).toMatchObject(full)
  const { identifier, password } = signedIn.person
  expect(await post('/login', { identifier, password })).toMatchObject({ status: 200 })

  // One alarm an hour is raised, both in the log and for the administrators.
  expect(facade.output().match(/"alert":"code_ceiling"/g)).toHaveLength(1)
  await expect.poll(alarms).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:00$/)])
  await ageHits(60, 'all')
  expect(await register()).toMatchObject({ status: 201 })
})

const plantSms = (sent: number, when: 'this hour' | 'another hour' | 'yesterday') =>
  database().query(
    `with days as (
       select date_trunc('hour', now()) as hour, date_trunc('day', now(), 'Asia/Kuwait') as today
     )
     insert into private.sms_sent (hour, sent)
     select case $2 when 'this hour' then hour when 'yesterday' then today - interval '1 hour'
       else today + case when hour = today then interval '1 hour' else '0' end end, $1
     from days
     on conflict (hour) do update set sent = excluded.sent`,
    [sent, when],
  )

const sent = async () =>
  (await database().query('select sum(sent)::int as sent from private.sms_sent')).rows[0].sent

testLocally('REG-18 SMS_PER_DAY SMS a day and a twelfth an hour', async () => {
  const ceilings = [['this hour', 100, 3600], ['another hour', 1200, 86_400]] as const
  for (const [when, ceiling, longest] of ceilings) {
    await clear()
    await plantSms(5000, 'yesterday')
    const own = ceiling * 0.8 - 1
    await plantSms(own, when)
    expect(await register()).toMatchObject({ status: 201 })
    const refused = await register()
    expect(refused).toMatchObject(full)
    expect(refused.body.error.retryAfter).toBeGreaterThan(0)
    expect(refused.body.error.retryAfter).toBeLessThanOrEqual(longest)
    for (const identifier of [newPhone(), stranger.identifier]) {
      expect(await forgot(identifier)).toMatchObject(full)
    }
    // Refused requests do not count towards the SMS sent that day, and emails have no such limit.
    expect(await sent()).toBe(5000 + own + 1)
    expect(await forgot((await signUp()).identifier)).toMatchObject({ status: 202 })
    expect(await codeForKnown()).toMatchObject({ status: 202 })
    await plantSms(ceiling - (when === 'this hour' ? 0 : 2), when)
    expect(await codeForKnown()).toMatchObject(full)
    expect(await hitsOf('code_alarm', 'all')).toBe(1)
  }
})
