import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { conversationBetween, openConversation, postMessage } from '../support/conversations.ts'
import { callDataApi } from '../support/data-api.ts'
import { givePhone } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { refusal, unknownId } from '../support/problems.ts'

let admin: Person
let seller: Person
let buyer: Person

beforeAll(async () => {
  ;[admin, buyer] = await Promise.all([signUpAdmin(), signUp('مشترٍ')])
})
beforeEach(async () => {
  seller = await signUp('بائع')
})

const report = (by: Person, targetType: string, targetId: string, more: object = {}) =>
  by.post('/reports', { targetType, targetId, reason: 'fraud', ...more })
const decide = (id: string, decision: string, by = admin) =>
  by.post(`/admin/moderation/${id}/decide`, { decision, reason: 'بلاغ صحيح' })

// deno-lint-ignore no-explicit-any
async function waiting(id: string): Promise<any> {
  const of: unknown[] = []
  for (let cursor = '';;) {
    const { status, body } = await admin.get(`/admin/moderation?kind=report&limit=50${cursor}`)
    expect(status, JSON.stringify(body)).toBe(200)
    of.push(...body.items.filter((item: { id: string }) => item.id === id))
    if (!body.nextCursor) return of
    cursor = `&cursor=${body.nextCursor}`
  }
}

async function reviewBy(author: Person, subject: Person): Promise<string> {
  const { rows } = await database().query(
    `insert into public.reviews (author_identity_id, subject_identity_id, rating, comment)
     values ($1, $2, 1, 'كلام مسيء') returning id`,
    [author.identityId, subject.identityId],
  )
  return rows[0].id
}

test('an account reports a listing once, and admins see reporter and owner', async () => {
  const { id, titleAr } = await publishListing(seller)
  const made = await report(buyer, 'property', id, { note: ' السعر غير حقيقي\n' })
  expect(made).toMatchObject({
    status: 201,
    body: { targetType: 'property', targetId: id, note: 'السعر غير حقيقي', status: 'open' },
  })
  expect(await report(buyer, 'property', id, { reason: 'spam' }))
    .toMatchObject({ status: 409, body: { error: { code: 'report_exists' } } })
  const [item] = await waiting(made.body.id)
  expect(item).toMatchObject({
    kind: 'report',
    decisions: ['uphold', 'dismiss'],
    listing: null,
    report: {
      reason: 'fraud',
      reporter: { accountId: buyer.id, displayName: 'مشترٍ' },
      target: { accountId: seller.id, displayName: 'بائع', text: titleAr, status: 'active' },
    },
  })
})

test('a report whose answer was lost is sent again with its key', async () => {
  const { id } = await publishListing(seller)
  const sent = { targetType: 'property', targetId: id, reason: 'fraud' }
  const keyed = { headers: { 'idempotency-key': randomUUID() } }
  const [one, two] = await Promise.all([1, 2].map(() => buyer.post('/reports', sent, keyed)))
  expect([one!.status, two!.body]).toEqual([201, one!.body])
  expect(await buyer.post('/reports', { ...sent, reason: 'spam' }, keyed))
    .toMatchObject(refusal(422, 'idempotency_mismatch'))
})

test('an upheld report suspends the listing with the reason and settles all its reports', async () => {
  const { id } = await publishListing(seller)
  const second = await signUp()
  const [one, two] = [await report(buyer, 'property', id), await report(second, 'property', id)]
  expect((await decide(one.body.id, 'uphold')).body)
    .toEqual({ id: one.body.id, kind: 'report', status: 'upheld', decisions: [] })
  expect((await guest.get(`/properties/${id}`)).status).toBe(404)
  expect((await seller.get(`/properties/${id}`)).body)
    .toMatchObject({ status: 'suspended', statusReason: 'بلاغ صحيح' })
  expect(await waiting(two.body.id)).toEqual([])
  expect(await decide(two.body.id, 'dismiss')).toMatchObject({
    status: 409,
    body: { error: { code: 'status_transition_invalid', from: 'upheld', allowed: [] } },
  })
  expect(await auditOf(admin, one.body.id)).toMatchObject([
    { action: 'report.status', reason: 'بلاغ صحيح', after: { status: 'upheld' } },
  ])
  expect(await auditOf(admin, id)).toMatchObject([{ action: 'property.suspend' }])
})

test('a dismissed report changes nothing', async () => {
  const { id } = await publishListing(seller)
  const { body } = await report(buyer, 'property', id)
  expect((await decide(body.id, 'suspend')).status).toBe(409)
  expect((await decide(body.id, 'dismiss')).body).toMatchObject({ status: 'dismissed' })
  expect((await guest.get(`/properties/${id}`)).status).toBe(200)
})

test('an advertiser can be reported; a review that is upheld is hidden', async () => {
  expect((await report(buyer, 'identity', seller.identityId)).status).toBe(201)
  const id = await reviewBy(seller, buyer)
  const { body } = await report(buyer, 'review', id, { reason: 'offensive' })
  expect((await decide(body.id, 'uphold')).status).toBe(200)
  const shown = await guest.get(`/reviews?identityId=${buyer.identityId}`)
  expect(shown.body.items).toEqual([])
  expect(await auditOf(admin, id)).toMatchObject([{ action: 'review.hidden' }])
})

test('CHAT-27 whom one has talked to can be reported after they are gone, by nobody else', async () => {
  const [gone, witness, stranger] = await Promise.all([signUp(), signUp(), signUp()])
  await conversationBetween(witness, gone)
  await database().query('select private.anonymise_account($1)', [gone.id])
  const made = await report(witness, 'identity', gone.identityId)
  expect(made.status).toBe(201)
  expect(await waiting(made.body.id)).toMatchObject([
    { report: { target: { accountId: gone.id, displayName: 'حساب محذوف', status: 'closed' } } },
  ])
  expect(await report(stranger, 'identity', gone.identityId))
    .toMatchObject({ status: 404, body: { error: { code: 'identity_not_found' } } })
})

test('what is hidden, missing or one’s own cannot be reported', async () => {
  const { body: draft } = await seller.post('/properties', { type: 'SALE' })
  const { id: own } = await publishListing(buyer)
  for (
    const [type, code] of [
      ['property', 'property_not_found'],
      ['identity', 'identity_not_found'],
      ['message', 'not_found'],
      ['review', 'not_found'],
    ] as const
  ) {
    expect(await report(buyer, type, unknownId), type)
      .toMatchObject({ status: 404, body: { error: { code } } })
  }
  expect((await report(buyer, 'property', draft.id)).status).toBe(404)
  expect((await report(buyer, 'property', own)).status).toBe(422)
  expect((await report(buyer, 'identity', buyer.identityId)).status).toBe(422)
  const listing = (await publishListing(seller)).id
  for (
    const more of [
      { targetType: 'account' },
      { reason: 'envy' },
      { note: 'ا'.repeat(1001) },
      { note: 'a\u0007b' },
      { status: 'upheld' },
      { targetId: randomUUID().slice(1) },
    ]
  ) {
    expect((await report(buyer, 'property', listing, more)).status, JSON.stringify(more)).toBe(422)
  }
  expect((await guest.post('/reports', {})).status).toBe(401)
})

test('ADM-21 one is open at a time; after a dismissal a listing is reported when it has changed', async () => {
  const { id } = await publishListing(seller, { price: 90000 })
  const exists = refusal(409, 'report_exists')
  const both = await Promise.all([report(buyer, 'property', id), report(buyer, 'property', id)])
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  const made = both.find(({ status }) => status === 201)!.body.id
  expect((await seller.patch(`/properties/${id}`, { price: 80000 })).status).toBe(200)
  expect(await report(buyer, 'property', id)).toMatchObject(exists)
  expect((await seller.patch(`/properties/${id}`, { price: 90000 })).status).toBe(200)
  await decide(made, 'dismiss')
  expect(await report(buyer, 'property', id)).toMatchObject(exists)
  expect((await report(await signUp(), 'property', id)).status).toBe(201)
  await seller.get(`/properties/${id}`)
  await buyer.post(`/favorites/${id}`)
  expect(await report(buyer, 'property', id), 'a view and a favorite change nothing').toMatchObject(
    exists,
  )
  expect((await seller.patch(`/properties/${id}`, { price: 95000 })).status).toBe(200)
  const again = await report(buyer, 'property', id)
  expect(again.status).toBe(201)
  await decide(again.body.id, 'dismiss')
  expect((await seller.patch(`/properties/${id}`, { price: 90000 })).status).toBe(200)
  expect(await report(buyer, 'property', id), 'as it was dismissed first').toMatchObject(exists)
})

test('ADM-21 a message is never reported twice; a person after seven days, or under a new name', async () => {
  const [author, other] = [await signUp(), await signUp()]
  const conversationId = await conversationBetween(author, other)
  const { body: message } = await postMessage(author, conversationId)
  const exists = refusal(409, 'report_exists')
  const { body: first } = await report(other, 'message', message.id)
  await decide(first.id, 'dismiss')
  expect(await report(other, 'message', message.id)).toMatchObject(exists)
  await database().query(
    `update public.reports set decided_at = now() - interval '2 years' where id = $1`,
    [first.id],
  )
  expect(await report(other, 'message', message.id)).toMatchObject(exists)
  const { body: hidden } = await postMessage(author, conversationId)
  await decide((await report(other, 'message', hidden.id)).body.id, 'uphold')
  expect(await report(other, 'message', hidden.id)).toMatchObject(exists)

  const age = (by: string) =>
    database().query(
      `update public.reports set decided_at = now() - $2::interval where target_id = $1`,
      [author.identityId, by],
    )
  const { body: about } = await report(other, 'identity', author.identityId)
  await decide(about.id, 'dismiss')
  await age('6 days 23 hours')
  expect(await report(other, 'identity', author.identityId)).toMatchObject(exists)
  await age('7 days')
  const { body: second } = await report(other, 'identity', author.identityId)
  await decide(second.id, 'dismiss')
  expect(await report(other, 'identity', author.identityId)).toMatchObject(exists)
  await author.patch('/auth/me', { fullName: 'اسم جديد' })
  expect((await report(other, 'identity', author.identityId)).status).toBe(201)
})

test('ADM-22 a listing that is paused, suspended or gone is reported by who asked or talked about it', async () => {
  const [owner, caller, talker, stranger] = await Promise.all([
    signUp(),
    signUp(),
    signUp(),
    signUp(),
  ])
  const { id, titleAr } = await publishListing(owner)
  await givePhone(owner)
  expect((await caller.post(`/properties/${id}/contact`, { kind: 'call' })).status).toBe(200)
  await openConversation(talker, { propertyId: id })
  const unknown = refusal(404, 'property_not_found')
  expect((await owner.post(`/properties/${id}/pause`)).status).toBe(200)
  expect(await report(stranger, 'property', id)).toMatchObject(unknown)
  expect((await report(caller, 'property', id)).status).toBe(201)
  expect((await owner.delete(`/properties/${id}`)).status).toBe(204)
  expect(await report(stranger, 'property', id)).toMatchObject(unknown)
  const { body } = await report(talker, 'property', id)
  expect(await waiting(body.id)).toMatchObject([
    { report: { then: { fields: { titleAr } }, target: { status: 'deleted' } } },
  ])
  const { body: draft } = await owner.post('/properties', { type: 'SALE' })
  expect(await report(talker, 'property', draft.id)).toMatchObject(unknown)
})

test('ADM-22 what became of one’s reports, page by page, of nobody else’s', async () => {
  const [reporter, other, owner] = await Promise.all([signUp(), signUp(), signUp()])
  const ids = []
  for (let i = 0; i < 3; i++) {
    const { id } = await publishListing(owner)
    const { body } = await report(reporter, 'property', id, { note: 'سر' })
    ids.unshift(body.id)
    await report(other, 'property', id)
  }
  await decide(ids[2]!, 'uphold')
  const first = await reporter.get('/reports/mine?limit=2')
  expect(first).toMatchObject({ status: 200, body: { nextCursor: expect.any(String) } })
  const cursor = encodeURIComponent(first.body.nextCursor)
  const { body: rest } = await reporter.get(`/reports/mine?limit=2&cursor=${cursor}`)
  expect(rest.nextCursor).toBe(null)
  expect([...first.body.items, ...rest.items].map(({ id, state }) => [id, state]))
    .toEqual(ids.map((id, i) => [id, i === 2 ? 'decided' : 'open']))
  expect(Object.keys(rest.items[0]).sort())
    .toEqual(['createdAt', 'id', 'reason', 'state', 'targetId', 'targetType'])
  expect(await other.get(`/reports/mine?cursor=${cursor}`)).toMatchObject({ status: 422 })
  expect((await guest.get('/reports/mine')).status).toBe(401)
  const past = await callDataApi(other, 'list_my_reports')
  expect(past.status).toBe(200)
  for (const id of ids) expect(past.text).not.toContain(id)
})

test('a report about an admin is decided by another', async () => {
  const { id } = await publishListing(admin)
  const { body } = await report(buyer, 'property', id)
  expect(await decide(body.id, 'dismiss'))
    .toMatchObject({ status: 409, body: { error: { code: 'admin_self' } } })
  expect((await decide(body.id, 'dismiss', await signUpAdmin())).status).toBe(200)
})
