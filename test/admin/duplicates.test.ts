import { beforeAll, beforeEach, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { refusal } from '../support/problems.ts'
import { reason } from './requests.ts'
import { act, byHand } from './studio.ts'

let admin: Person
let owner: Person
let thief: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})
// Later listings of an account are compared with its suspended ones, so each test signs up new people.
beforeEach(async () => {
  ;[owner, thief] = await Promise.all([signUp('مالك'), signUp('ناسخ')])
})

async function suspected(by = thief, from = owner) {
  const [of, listing] = [(await publishListing(from)).id, (await publishListing(by)).id]
  const { rows: [{ id }] } = await database().query(
    'insert into public.duplicates (property_id, of_id) values ($1, $2) returning id',
    [listing, of],
  )
  return { id, listing, of } as { id: string; listing: string; of: string }
}
const decide = (id: string, decision: string, more: object = {}, by = admin) =>
  by.post(`/admin/moderation/${id}/decide`, { decision, reason, ...more })
const waiting = async (query: string) =>
  (await admin.get(`/admin/moderation?kind=duplicate_suspected&${query}`)).body.items
const stateOf = async (id: string) =>
  (await database().query('select state from public.duplicates where id = $1', [id])).rows[0].state
const conflict = (from: string) => ({
  status: 409,
  body: { error: { code: 'status_transition_invalid', from, allowed: [] } },
})

test('FRESH-04 a pair is shown with both listings, and suspending ends the later one', async () => {
  const { id, listing, of } = await suspected()
  const [item] = (await waiting(`accountId=${thief.id}`))
    .filter((one: { id: string }) => one.id === id)
  expect(item).toMatchObject({
    kind: 'duplicate_suspected',
    decisions: ['suspend', 'dismiss'],
    listing: { id: listing },
    of: { id: of },
    report: null,
  })
  expect(await waiting(`accountId=${owner.id}`)).toEqual([])
  expect(await waiting(`accountId=${thief.id}&refNo=KW-100001`)).toEqual([])
  expect(await decide(id, 'suspend', { version: item.version + 1 }))
    .toMatchObject(refusal(409, 'version_conflict'))
  expect((await admin.post(`/admin/moderation/${id}/decide`, { decision: 'suspend' })).status)
    .toBe(422)
  expect((await decide(id, 'suspend', { version: item.version })).body)
    .toEqual({ id, kind: 'duplicate_suspected', status: 'suspended', decisions: [] })
  expect((await thief.get(`/properties/${listing}`)).body)
    .toMatchObject({ status: 'suspended', statusReason: reason })
  expect((await owner.get(`/properties/${of}`)).body.status).toBe('active')
  expect((await auditOf(admin, id))[0])
    .toMatchObject({ action: 'duplicate.state', actor: { id: admin.id }, reason })
  expect((await auditOf(admin, listing))[0]).toMatchObject({ action: 'property.suspend', reason })
  expect(await decide(id, 'suspend')).toMatchObject(conflict('suspended'))
  expect(await decide(id, 'dismiss')).toMatchObject(conflict('suspended'))
})

test('FRESH-04 two admins at once: one decides', async () => {
  const { id } = await suspected()
  const other = await signUpAdmin()
  const answers = await Promise.all([decide(id, 'suspend'), decide(id, 'dismiss', {}, other)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('FRESH-04 a dismissed pair does not come again', async () => {
  const { id, listing } = await suspected()
  expect((await decide(id, 'dismiss')).body).toMatchObject({ status: 'dismissed' })
  expect((await thief.get(`/properties/${listing}`)).body.status).toBe('active')
  await thief.delete(`/properties/${listing}`)
  expect(await stateOf(id)).toBe('dismissed')
})

test('FRESH-04 of listings that are deleted or suspended meanwhile nothing is left to decide', async () => {
  const [deleted, suspended] = [await suspected(), await suspected()]
  await owner.delete(`/properties/${deleted.of}`)
  await decide(suspended.listing, 'suspend')
  for (const { id } of [deleted, suspended]) {
    expect(await decide(id, 'suspend')).toMatchObject(conflict('gone'))
    expect(await decide(id, 'uphold')).toMatchObject(conflict('gone'))
  }
})

test('FRESH-04 an admin decides on no pair of his own, of either side', async () => {
  const [own, of] = [await suspected(admin, owner), await suspected(thief, admin)]
  for (const { id } of [own, of]) {
    for (const decision of ['suspend', 'dismiss']) {
      expect(await decide(id, decision)).toMatchObject(refusal(409, 'admin_self'))
    }
  }
  expect(await decide(own.id, 'dismiss', {}, thief)).toMatchObject(refusal(403, 'admin_only'))
})

test('in Studio the view shows what to type, and a row of admin_acts decides', async () => {
  const [one, other] = [await suspected(), await suspected()]
  const { rows: [seen] } = await byHand(
    'select owner, of_owner, account_id, version from public.admin_duplicates where id = $1',
    [one.id],
  )
  expect(seen).toMatchObject({ owner: 'ناسخ', of_owner: 'مالك', account_id: thief.id })
  await act({
    act: 'suspend_duplicate',
    target: one.id,
    reason,
    version: String(seen.version),
  })
  await act({ act: 'dismiss_duplicate', target: other.id })
  expect([await stateOf(one.id), await stateOf(other.id)]).toEqual(['suspended', 'dismissed'])
  await expect(act({ act: 'dismiss_duplicate', target: one.id }))
    .rejects.toMatchObject({ message: expect.stringContaining('nothing more is decided') })
  await expect(byHand(`update public.duplicates set state = 'open' where id = $1`, [one.id]))
    .rejects.toMatchObject({ message: expect.stringContaining('suspend_duplicate') })
})
