// A transaction locks the row of each rate limit that it counts until it ends
// (sql/03_accounts/2_rules_locks.sql), so all transactions must count any two rows in the same order.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { database, guest, newEmail, type Person, signIn, signUp } from '../support/client.ts'
import { registerPhone, requestResetCode, signUpByPhone, wrongCode } from '../support/codes.ts'
import {
  conversationBetween,
  openConversation,
  postMessage,
  sendBatch,
  textMessage,
} from '../support/conversations.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'
import { registerDevice } from '../support/notifications.ts'
import { withRates } from '../support/own-rates.ts'
import { givePlan } from '../support/plans.ts'
import { defaultRates } from '../support/rates.ts'

// proof_first is left out, because these people sign up from one IP address without proving a phone or email.
// pushes_strangers is low, because pushes_waiting is counted only beyond it.
withRates({ ...defaultRates(/^(?!proof_first$)/), pushes_strangers: 1 })

beforeAll(() =>
  database().query(
    `create table private.counted (n bigint generated always as identity, at xid8, row text);
     create function private.note_counted() returns trigger language plpgsql
       security definer set search_path = '' as $$
     begin
       insert into private.counted (at, row)
       values (pg_current_xact_id(), new.rule || ' ' || new.subject);
       return new;
     end $$;
     create trigger counted before insert or update on private.rate_hits
     for each row execute function private.note_counted()`,
  )
)
afterEach(() => database().query('truncate private.counted'))
afterAll(() =>
  database().query(
    `drop trigger counted on private.rate_hits; drop function private.note_counted();
     drop table private.counted`,
  )
)

/**
 * Returns the pairs of rules that one transaction counted, in counting order (`pairs`), and the pairs that
 * could deadlock, because two transactions counted the same two rows in opposite orders (`bothWays`). A pair
 * is safe if both transactions first counted a common row, because one waits there and holds neither row.
 */
async function orders() {
  const { rows } = await database().query(
    `with first as (
       select at, row, min(n) as n from private.counted group by at, row
     ), pairs as (
       select one.at, one.row as earlier, other.row as later, one.n
       from first as one join first as other on other.at = one.at and other.n > one.n
     )
     select earlier, later, bool_or(exists (
       select from pairs as reverse
       where reverse.earlier = pairs.later and reverse.later = pairs.earlier and not exists (
         select from first as guard join first as other on other.row = guard.row
         where guard.at = pairs.at and guard.n < pairs.n
           and other.at = reverse.at and other.n < reverse.n
       )
     )) as "bothWays"
     from pairs group by earlier, later`,
  )
  const rulesOf = ({ earlier, later }: { earlier: string; later: string }) =>
    `${earlier.split(' ')[0]} ${later.split(' ')[0]}`
  return {
    pairs: new Set(rows.map(rulesOf)),
    bothWays: rows.filter(({ bothWays }) => bothWays).map(rulesOf),
  }
}

test('a message counts in one order, however it is sent', async () => {
  const [a, b, c, d] = await Promise.all([signUp(), signUp(), signUp(), signUp()])
  await registerDevice(b!)
  const [ab, cd] = [await conversationBetween(a!, b!), await conversationBetween(c!, d!)]
  expect(await sendBatch([{ by: a!, to: ab }, { by: c!, to: cd }])).toMatchObject([
    { created: true },
    { created: true },
  ])
  const { body: { id: replyToId } } = await postMessage(a!, ab)
  expect((await postMessage(a!, ab, textMessage('نص', { replyToId }))).status).toBe(201)
  const sent = await a!.post(`/conversations/${ab}/messages`, textMessage('نص'), {
    headers: { 'Idempotency-Key': randomUUID() },
  })
  expect(sent.status).toBe(201)
  const { id: propertyId } = await publishListing(b!)
  await openConversation(c!, { propertyId, message: 'مرحبا' })
  await openConversation(a!, { identityId: d!.identityId, message: 'مرحبا' })

  const { pairs, bothWays } = await orders()
  expect(bothWays).toEqual([])
  expect([...pairs]).toEqual(expect.arrayContaining([
    'messages messages_day',
    'messages pushes_messages',
    'pushes_strangers pushes_messages',
  ]))
})

test('messages of strangers at once count in one order, of which some are the first of their conversation', async () => {
  const readers = await Promise.all([signUp(), signUp()])
  await Promise.all(readers.map((reader) => registerDevice(reader)))
  for (const [counted, first] of [readers, readers.toReversed()] as [Person, Person][]) {
    const [one, other] = await Promise.all([signUp(), signUp()])
    const [known, fresh] = [
      await conversationBetween(one, counted),
      await conversationBetween(other, first),
    ]
    expect((await postMessage(one, known)).status).toBe(201)
    expect(await sendBatch([{ by: one, to: known }, { by: other, to: fresh }])).toMatchObject([
      { created: true },
      { created: true },
    ])
  }
  const { pairs, bothWays } = await orders()
  expect(bothWays).toEqual([])
  expect([...pairs]).toContain('pushes_strangers pushes_strangers')
})

test('signing in, codes and changes count in one order', async () => {
  const { identifier } = await signUpByPhone()
  const newPassword = randomUUID()
  const reset = (code: string) =>
    guest.post('/auth/password/reset', {
      identifier,
      code,
      newPassword,
      confirmPassword: newPassword,
    })
  expect((await guest.post('/auth/login', { identifier, password: 'wrong' })).status).toBe(401)
  const code = await requestResetCode(identifier)
  expect((await reset(wrongCode(code))).status).toBe(422)
  expect((await reset(code)).status).toBe(204)
  const person = await signIn(identifier, newPassword)
  for (const email of [newEmail(), newEmail()]) {
    expect((await person.post('/auth/me/email', { email, currentPassword: newPassword })).status)
      .toBe(202)
  }
  await registerPhone()

  const { pairs, bothWays } = await orders()
  expect(bothWays).toEqual([])
  expect([...pairs]).toEqual(expect.arrayContaining([
    'login_address login_identifier',
    'code_wrong_identifier code_wrong_address',
    'contact_changes register_address',
    'register_address code_service',
    'code_used code_used_address',
  ]))
})

test('a publication counts in one order', async () => {
  const person = await signUp()
  await givePlan(person.identityId, 'plus')
  await publishListing(person)
  const { id } = await createDraft(person, completeFields.RENT)
  expect((await person.post(`/properties/${id}/publish`)).status).toBe(200)
  const { pairs, bothWays } = await orders()
  expect(bothWays).toEqual([])
  expect([...pairs]).toEqual(expect.arrayContaining([
    'listings publications',
    'first_publications publications',
  ]))
})

test('what many are told of one owner’s listings counts in one order', async () => {
  const [owner, one] = await Promise.all([signUp(), signUp()])
  const [office, company] = [
    await insertOrganisation(one.id, 'office'),
    await insertOrganisation(one.id, 'company'),
  ]
  const own = [one.identityId, office, company].toSorted()
  // The other person's identity sorts between two identities of the first account.
  let other = await signUp()
  while (other.identityId < own[0]! || other.identityId > own[2]!) other = await signUp()
  await Promise.all([one, other].map((person) => registerDevice(person)))

  for (const identityId of [own[0]!, own[2]!]) {
    const { id } = await publishListing(owner)
    await one.post('/auth/identity/switch', { identityId })
    for (const saver of [one, other]) {
      expect((await saver.post(`/favorites/${id}`)).status).toBe(200)
    }
    expect((await owner.patch(`/properties/${id}`, { price: 180_000 })).status).toBe(200)
  }
  await drain('fan_out_listing_events')
  const { pairs, bothWays } = await orders()
  expect(bothWays).toEqual([])
  expect([...pairs]).toContain('pushes pushes')
})
