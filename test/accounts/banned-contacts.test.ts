import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import {
  database,
  guest,
  inboxOf,
  newEmail,
  newPhone,
  type Person,
  type Reply,
  signUp,
} from '../support/client.ts'
import { registerPhone, signUpByPhone, verifyCode } from '../support/codes.ts'
import { runJobs } from '../support/jobs.ts'
import { statusAndCode } from '../support/problems.ts'
import { issuerUrl } from '../support/social-issuer.ts'
import { byHand } from '../admin/studio.ts'
import { begin, signUpProven } from './contact-requests.ts'
import { signInAs } from './social-sign-in.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

const statusOf = (id: string, status: string) =>
  admin.patch(`/admin/users/${id}/status`, { status, reason: 'احتيال متكرر' })
async function ban({ id }: Person) {
  expect((await statusOf(id, 'banned')).status).toBe(200)
}
const remove = ({ id }: Person) => database().query('delete from auth.users where id = $1', [id])
const register = (identifier: string) =>
  guest.post('/auth/register', { identifier, password: randomUUID() })
const alike = ({ body: { error } }: Reply) => ({
  error: { ...error, requestId: expect.any(String) },
})
const bansOf = async ({ id }: Person) =>
  (await database().query(
    `select value, hash is not null as hashed from private.banned_contacts where account_id = $1`,
    [id],
  )).rows

test('a phone or email of a banned account that is gone gets the answer of a taken one', async () => {
  const [byPhone, byEmail] = [await signUpByPhone(), await signUpProven()]
  const [taken, takenEmail] = [await signUpByPhone(), await signUp()]
  for (const person of [byPhone, byEmail]) {
    await ban(person)
    await remove(person)
  }
  // A banned contact is refused even before the job has hashed it.
  for (const hashed of [false, true]) {
    if (hashed) await runJobs('jobs/often')
    for (const [banned, other] of [[byPhone, taken], [byEmail, takenEmail]] as const) {
      const [answer, usual] = [await register(banned.identifier), await register(other.identifier)]
      expect(answer.status).toBe(409)
      expect(answer.body).toEqual(alike(usual))
    }
  }
  expect(await bansOf(byPhone)).toEqual([{ value: null, hashed: true }])
  expect(await bansOf(byEmail)).toEqual([{ value: null, hashed: true }])
  expect(await inboxOf(byPhone.identifier)).toHaveLength(1) // the code of the first registration
  expect((await register(byEmail.identifier.toUpperCase())).status).toBe(409)
  expect((await register(`+965${byPhone.identifier}`)).status).toBe(409)
})

test('who adds one to another account gets the answer of a taken one', async () => {
  const [banned, taken] = [await signUpByPhone(), await signUpByPhone()]
  await ban(banned)
  await remove(banned)
  await runJobs('jobs/often')
  const person = await signUp()
  const answer = await begin(person, 'phone', banned.identifier)
  const usual = await begin(person, 'phone', taken.identifier)
  expect(statusAndCode(answer)).toEqual([409, 'phone_taken'])
  expect(answer.body).toEqual(alike(usual))
})

test.runIf(issuerUrl)('a sign-in with a provider makes no account of it', async () => {
  const said = { sub: randomUUID(), email: newEmail() }
  const { body: { user } } = await signInAs('google', said)
  await ban({ id: user.id } as Person)
  await remove({ id: user.id } as Person)
  for (const hashed of [false, true]) {
    if (hashed) await runJobs('jobs/often')
    expect(statusAndCode(await signInAs('google', said))).toEqual([409, 'email_taken'])
    expect(statusAndCode(await signInAs('apple', { ...said, sub: randomUUID() })))
      .toEqual([409, 'email_taken'])
  }
})

test('an email that nobody proved is not kept: whose it is may register', async () => {
  const liar = await signUp()
  await ban(liar)
  await remove(liar)
  expect(await bansOf(liar)).toEqual([])
  expect((await register(liar.identifier)).status).toBe(201)
})

test('it ends with the ban, with the row, and after a year', async () => {
  const forgiven = await signUpByPhone()
  await ban(forgiven)
  await runJobs('jobs/often')
  expect((await statusOf(forgiven.id, 'active')).status).toBe(200)
  expect(await bansOf(forgiven)).toEqual([])

  const [lifted, old] = [await signUpByPhone(), await signUpByPhone()]
  for (const person of [lifted, old]) {
    await ban(person)
    await remove(person)
  }
  await runJobs('jobs/often')
  await byHand('delete from private.banned_contacts where account_id = $1', [lifted.id])
  const { rows } = await database().query(
    `select before -> 'value' as value from public.audit
     where action = 'banned_contact.deleted' and before ->> 'account_id' = $1`,
    [lifted.id],
  )
  expect(rows).toEqual([{ value: null }])
  await database().query(
    `update private.banned_contacts set banned_at = banned_at - interval '1 year 1 minute'
     where account_id = $1`,
    [old.id],
  )
  for (const { identifier } of [lifted, old]) {
    const { code } = await registerPhone(identifier)
    expect((await verifyCode(identifier, code)).status).toBe(200)
  }
  await database().query('select private.purge_banned_contacts()')
  expect(await bansOf(old)).toEqual([])
})

test('of one phone that is banned twice the last counts, by whatever jobs at once', async () => {
  const phone = newPhone()
  const [first, second] = [await signUpByPhone(phone), await signUp()]
  await ban(first)
  await remove(first)
  await database().query(
    `insert into private.banned_contacts (account_id, value) values ($1, $2)`,
    [second.id, `+965${phone}`],
  )
  await Promise.all([runJobs('jobs/often'), runJobs('jobs/often')])
  await runJobs('jobs/often')
  expect([await bansOf(first), await bansOf(second)].flat())
    .toEqual([{ value: null, hashed: true }])
  expect((await register(phone)).status).toBe(409)
})
