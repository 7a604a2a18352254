// An owner closes a company or office; the rest of the account stays open.
import { beforeEach, expect, test } from 'vitest'
import { wrong } from '../accounts/password-requests.ts'
import { edit } from '../admin/studio.ts'
import { signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { ageCodes, codeSentBy, signUpByPhone, wrongCode } from '../support/codes.ts'
import { openConversation, postMessage } from '../support/conversations.ts'
import { sendDocument } from '../support/documents.ts'
import { insertListing, insertOrganisation, proveEmail } from '../support/fixtures.ts'
import { actAs, actingOf, setStatus } from '../support/identities.ts'
import { drain } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import { giveMoney } from '../support/money.ts'
import { notificationsOf } from '../support/notifications.ts'
import { givePlan } from '../support/plans.ts'
import { refusal } from '../support/problems.ts'

let owner: Person
let office: string
beforeEach(async () => {
  owner = await signUp()
  office = await insertOrganisation(owner.id, 'office')
})

const close = (given: object = {}, id = office, by = owner) =>
  by.post(`/auth/identities/${id}/close`, { password: by.password, ...given })
const keep = (id = office, by = owner) => by.delete(`/auth/identities/${id}/close`)
const own = async () => (await owner.get(`/auth/identities/${office}`)).body
async function whenDue() {
  await database().query(
    `update public.identities set close_at = now() - interval '1 second' where id = $1`,
    [office],
  )
  await drain('close_due_identities')
}

test('IDN-08 it is hidden for 14 days, taken back by its owner, and closed when they are over', async () => {
  const { id: mine } = await publishListing(owner)
  await actAs(owner, office)
  const { id } = await publishListing(owner)
  const buyer = await signUp()
  const { id: conversation } = await openConversation(buyer, { propertyId: id, message: 'متاح؟' })
  await givePlan(office, 'plus', 20)
  const { id: document } = await sendDocument(owner, office)
  const seen = async () => [
    (await guest.get(`/office/${office}`)).status,
    (await guest.get(`/properties/${id}`)).status,
    (await postMessage(buyer, conversation)).status,
  ]
  expect(await close({ password: 'another one' })).toMatchObject(wrong)
  const answer = await close()
  expect(answer).toMatchObject({
    status: 202,
    body: { closeAt: expect.any(String), loses: { plan: 'plus', endsAt: expect.any(String) } },
  })
  expect((await close()).body).toEqual(answer.body)
  expect(await own()).toMatchObject({ status: 'closing', closeAt: answer.body.closeAt })
  expect(await actingOf(owner.id)).not.toBe(office)
  expect(await actAs(owner, office)).toMatchObject(refusal(403, 'identity_not_usable'))
  expect(await owner.patch(`/auth/identities/${office}`, { aboutAr: 'نبذة' }))
    .toMatchObject(refusal(409, 'status_transition_invalid'))
  expect(await seen()).toEqual([404, 404, 403])
  expect(await guest.get(`/properties/${mine}`)).toMatchObject({ status: 200 })

  for (let times = 0; times < 2; times++) expect(await keep()).toMatchObject({ status: 204 })
  expect(await own()).toMatchObject({ status: 'active', closeAt: null })
  expect(await seen()).toEqual([200, 200, 201])

  await close()
  await drain('close_due_identities')
  expect(await own()).toMatchObject({ status: 'closing' })
  await whenDue()
  expect(await own()).toMatchObject({ status: 'closed', nameEn: null, verified: false })
  expect(await seen()).toEqual([404, 404, 403])
  expect(await keep()).toMatchObject(refusal(404, 'identity_not_found'))
  expect(await guest.get(`/properties/${mine}`)).toMatchObject({ status: 200 })
  // The documents of the closed identity are kept for 180 days, for administrators only.
  const { rows } = await database().query(
    `select round(extract(epoch from kept_until - now()) / 86400)::int as days
     from public.documents where id = $1 and discarded_at is null`,
    [document],
  )
  expect(rows).toEqual([{ days: 180 }])
})

test('only an own company or office that is neither suspended nor reported is closed', async () => {
  const stranger = await signUp()
  for (const [id, by] of [[owner.identityId, owner], [office, stranger]] as const) {
    expect(await close({}, id, by)).toMatchObject(refusal(404, 'identity_not_found'))
    expect(await keep(id, by)).toMatchObject(refusal(404, 'identity_not_found'))
  }
  const { body: { id: report } } = await stranger.post('/reports', {
    targetType: 'identity',
    targetId: office,
    reason: 'fraud',
  })
  expect(await close()).toMatchObject(refusal(409, 'status_transition_invalid'))
  const admin = await signUpAdmin()
  await admin.post(`/admin/moderation/${report}/decide`, { decision: 'dismiss' })
  await setStatus(office, 'suspended')
  expect(await close()).toMatchObject(refusal(409, 'status_transition_invalid'))
  await setStatus(office, 'active')
  expect(await close()).toMatchObject({ status: 202 })
})

test('no edit by hand but its end takes a closing back', async () => {
  await giveMoney(office, 5)
  expect(await close({ money: 'refund' })).toMatchObject({ status: 202 })
  const row = async () =>
    (await database().query('select * from public.identities where id = $1', [office])).rows[0]
  const before = await row()
  expect(before).toMatchObject({ status: 'closing', money_at_close: 'refund' })
  for (const status of ['suspended', 'rejected', 'pending_verification']) {
    await expect(edit('identities', office, { status }), status)
      .rejects.toThrow('Suspend the account instead')
    expect(await row()).toEqual(before)
  }
  await whenDue()
  expect(await own()).toMatchObject({ status: 'closed' })
  const { rows } = await database().query(
    'select amount::float, state from public.wallet_payouts where account_id = $1',
    [owner.id],
  )
  expect(rows).toEqual([{ amount: 5, state: 'open' }])
})

test('a closing that is taken back, by its owner or by hand, does not verify it', async () => {
  await edit('organisations', office, { verified: false }, 'identity_id')
  await close()
  await keep()
  expect(await own()).toMatchObject({ status: 'active', verified: false })
  await close()
  await edit('identities', office, { status: 'active' })
  expect(await own()).toMatchObject({ status: 'active', verified: false, closeAt: null })
})

test('what it owes comes first, its own alone, and its money goes as its owner said', async () => {
  const owing = (obligations: string[], available: number) => ({
    status: 409,
    body: { error: { code: 'account_has_obligations', obligations, available } },
  })
  await giveMoney(owner.identityId, 7)
  expect(await close()).toMatchObject({ status: 202 })
  await keep()
  await giveMoney(office, 5)
  expect(await close()).toMatchObject(owing(['money'], 5))
  const listing = await insertListing(office, { owner_type: 'office' })
  await database().query(
    `insert into public.auctions (property_id, starts_at, ends_at, start_price, min_increment)
     values ($1, now() + interval '1 day', now() + interval '2 days', 1000, 1)`,
    [listing],
  )
  expect(await close({ money: 'refund' })).toMatchObject(owing(['auction'], 5))
  await database().query('delete from public.auctions where property_id = $1', [listing])
  expect(await close({ money: 'refund' })).toMatchObject({ status: 202 })
  await whenDue()
  const { rows } = await database().query(
    `select amount::float, state from public.wallet_payouts where account_id = $1`,
    [owner.id],
  )
  expect(rows).toEqual([{ amount: 5, state: 'open' }])
  expect((await owner.get('/wallet')).body).toMatchObject({ available: 7 })
})

test('its licence is free meanwhile, and a closing is not taken back against who has it now', async () => {
  const { licenceNo } = await own()
  await close()
  const rival = await signUp()
  const { body: { id } } = await rival.post('/auth/identities', {
    type: 'office',
    nameAr: 'مكتب الواحة',
    licenceNo,
    licenceExpiresOn: '2040-01-01',
  })
  const admin = await signUpAdmin()
  expect(await admin.post(`/admin/moderation/${id}/decide`, { decision: 'approve' }))
    .toMatchObject({ status: 200 })
  expect(await keep()).toMatchObject(refusal(409, 'licence_in_use'))
  expect(await own()).toMatchObject({ status: 'closing' })
})

test('one whose licence ended while it was closing comes back expired', async () => {
  await close()
  await database().query(
    `update public.organisations set licence_expires_on = '2026-01-01' where identity_id = $1`,
    [office],
  )
  await keep()
  expect(await own()).toMatchObject({ status: 'expired' })
})

test('reviews follow its licence to the next identity of the account, hidden ones hidden', async () => {
  const admin = await signUpAdmin()
  const { licenceNo } = await own()
  const write = async (rating: number) => {
    const author = await signUp()
    await proveEmail(author)
    const { id } = await openConversation(author, { identityId: office, message: 'مرحبا' })
    await actAs(owner, office)
    await postMessage(owner, id, 'أهلاً')
    const { status, body } = await author.post('/reviews', { identityId: office, rating })
    expect(status).toBe(201)
    return body.id
  }
  await write(2)
  const hidden = await write(1)
  await database().query('update public.reviews set hidden_at = now() where id = $1', [hidden])
  const claim = async (by: Person) => {
    const { body: { id } } = await by.post('/auth/identities', {
      type: 'office',
      nameAr: 'مكتب الواحة',
      licenceNo,
      licenceExpiresOn: '2040-01-01',
    })
    const decided = await admin.post(`/admin/moderation/${id}/decide`, { decision: 'approve' })
    expect(decided.status).toBe(200)
    return id
  }
  const ratingOf = async (id: string) => {
    const { ratingAvg, ratingCount } = (await guest.get(`/office/${id}`)).body
    return [ratingAvg, ratingCount]
  }
  expect(await ratingOf(office)).toEqual([2, 1])
  await close()
  await whenDue()
  expect((await owner.get('/auth/me/export')).body.closedLicences)
    .toMatchObject([{ identityId: office, licenceNo }])
  const rival = await claim(await signUp())
  expect(await ratingOf(rival)).toEqual([null, 0])
  await setStatus(rival, 'rejected')
  const next = await claim(owner)
  expect(await ratingOf(next)).toEqual([2, 1])
  const { rows } = await database().query(
    'select rating, hidden_at is not null as hidden from public.reviews where subject_identity_id = $1',
    [next],
  )
  expect(rows.toSorted((a, b) => a.rating - b.rating))
    .toEqual([{ rating: 1, hidden: true }, { rating: 2, hidden: false }])
  expect((await owner.get('/auth/me/export')).body.closedLicences).toEqual([])

  // An identity that is verified before the closing is complete gets the rating once it is.
  expect(await close({}, next)).toMatchObject({ status: 202 })
  const last = await claim(owner)
  expect(await ratingOf(last)).toEqual([null, 0])
  await database().query('update public.identities set close_at = now() where id = $1', [next])
  await drain('close_due_identities')
  expect(await ratingOf(last)).toEqual([2, 1])
})

test('the licence of a closed one is forgotten after two years', async () => {
  await database().query(
    `insert into private.closed_licences (identity_id, account_id, licence_no, closed_at)
     values ($1, $2, 'L-1', now() - interval '2 years 1 day')`,
    [office, owner.id],
  )
  await drain('purge_closed_licences')
  const { rows } = await database().query(
    'select from private.closed_licences where identity_id = $1',
    [office],
  )
  expect(rows).toEqual([])
})

test('a code confirms it instead of the password, for five minutes and five tries', async () => {
  const request = async (seconds: number) => {
    const person = await signUpByPhone()
    const { identifier } = person
    const id = await insertOrganisation(person.id)
    await ageCodes(identifier, 45)
    const resend = { identifier, purpose: 'delete' }
    const [code] = await codeSentBy(identifier, () => person.post('/auth/otp/resend', resend))
    await ageCodes(identifier, seconds)
    return {
      code,
      confirm: (code: string) => person.post(`/auth/identities/${id}/close`, { code }),
    }
  }
  const late = await request(301)
  expect(await late.confirm(late.code)).toMatchObject(refusal(410, 'otp_expired'))
  const guessed = await request(0)
  for (let tries = 1; tries <= 5; tries++) {
    expect(await guessed.confirm(wrongCode(guessed.code, tries)))
      .toMatchObject(refusal(422, 'otp_invalid'))
  }
  expect(await guessed.confirm(guessed.code)).toMatchObject(refusal(429, 'otp_locked'))
  const right = await request(0)
  expect(await right.confirm(right.code)).toMatchObject({ status: 202 })
})

test('what stops it at its date is told once, and asked for again it says what is to be done', async () => {
  expect(await close()).toMatchObject({ status: 202 })
  await giveMoney(office, 5)
  await whenDue()
  expect(await own()).toMatchObject({ status: 'closing' })
  const notices = async () =>
    (await notificationsOf(owner, 'system')).filter(({ titleEn }) => titleEn.includes('not closed'))
  for (let times = 0; times < 2; times++) {
    await drain('notify_of_stopped_deletions')
    expect(await notices()).toHaveLength(1)
  }
  expect(await close()).toMatchObject(refusal(409, 'account_has_obligations'))
  expect(await close({ money: 'refund' })).toMatchObject({ status: 202 })
  await drain('close_due_identities')
  expect(await own()).toMatchObject({ status: 'closed' })
})

test('money that comes after it was closed is paid out with the account', async () => {
  await giveMoney(office, 5)
  await close({ money: 'refund' })
  await whenDue()
  await giveMoney(office, 3)
  await owner.post('/auth/me/delete', { password: owner.password, money: 'refund' })
  await database().query(
    `update public.accounts set delete_at = now() - interval '1 second' where id = $1`,
    [owner.id],
  )
  await drain('delete_due_accounts')
  const { rows } = await database().query(
    'select amount::float from public.wallet_payouts where account_id = $1 order by amount',
    [owner.id],
  )
  expect(rows).toEqual([{ amount: 3 }, { amount: 5 }])
})
