// A change of verified data waits for an admin's decision. Until then, the old data stays in effect.
import { beforeEach, expect, test } from 'vitest'
import { act } from '../admin/studio.ts'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, type Guest, guest, type Person, signUp } from '../support/client.ts'
import { sendDocument } from '../support/documents.ts'
import { insertListing, insertOrganisation, proveEmail } from '../support/fixtures.ts'
import { actAs, setStatus } from '../support/identities.ts'
import { drain } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import { fieldRefusal, refusal } from '../support/problems.ts'
import { endLicence, kuwaitDay } from './directory.ts'

let admin: Person
let owner: Person
let company: string
beforeEach(async () => {
  admin = await signUpAdmin()
  owner = await signUp()
  await proveEmail(owner)
  company = await insertOrganisation(owner.id)
})

const old = 'شركة الديرة العقارية'
const next = 'شركة الديرة المتحدة العقارية'
const reason = 'الاسم لا يطابق الترخيص'
const change = (fields: object) => owner.patch(`/auth/identities/${company}`, fields)
const own = async () => (await owner.get(`/auth/identities/${company}`)).body
const queue = async () =>
  (await admin.get(`/admin/moderation?kind=identity&accountId=${owner.id}`)).body.items
const decide = (decision: string, more: object = {}) =>
  admin.post(`/admin/moderation/${company}/decide`, { decision, reason, ...more })
const notices = async () =>
  (await owner.get('/notifications')).body.items.map(
    ({ kind, bodyAr }: { kind: string; bodyAr: string }) => [kind, bodyAr],
  )

test('IDN-07 a corrected name takes nothing off the air, and is shown once it is approved', async () => {
  await actAs(owner, company)
  const listing = (await publishListing(owner)).id
  expect(await owner.patch('/company/profile', { nameAr: next, nameEn: 'Al Deera United' }))
    .toMatchObject({
      status: 200,
      body: {
        status: 'active',
        nameAr: old,
        nameEn: null,
        pendingChanges: { nameAr: next, nameEn: 'Al Deera United' },
      },
    })
  const { body: page } = await guest.get(`/company/${company}`)
  expect(page).toMatchObject({ nameAr: old, verified: true, activeListingsCount: 1 })
  expect(page).not.toHaveProperty('pendingChanges')
  expect(await guest.get(`/properties/${listing}`)).toMatchObject({ status: 200 })
  expect(await owner.get('/wallet')).toMatchObject({ status: 200 })
  expect(await queue()).toMatchObject([{
    id: company,
    decisions: ['approve', 'reject', 'suspend'],
    changes: { nameAr: next, nameEn: 'Al Deera United' },
    identity: { record: { nameAr: old, status: 'active' } },
  }])

  // A newer change replaces the pending one, and an admin can decide only on the version shown to the admin.
  const { version } = (await queue())[0]
  await change({ nameAr: `${next} ش.م.ك` })
  expect(await decide('approve', { version })).toMatchObject(refusal(409, 'version_conflict'))
  expect((await change({ nameAr: next })).body.pendingChanges)
    .toEqual({ nameAr: next, nameEn: 'Al Deera United' })
  expect(await decide('approve', { version: (await queue())[0].version })).toMatchObject({
    status: 200,
    body: { status: 'active', decisions: ['suspend'] },
  })
  expect(await own()).toMatchObject({
    nameAr: next,
    nameEn: 'Al Deera United',
    displayName: next,
    pendingChanges: null,
  })
  expect((await guest.get(`/company/${company}`)).body).toMatchObject({ nameAr: next })
  expect(await notices()).toMatchObject([['identity_verified', expect.stringContaining(next)]])
  expect((await auditOf(admin, company))[0]).toMatchObject({
    before: { status: 'active', page: { nameAr: old, nameEn: null } },
    after: { status: 'active', approved: { nameAr: next } },
  })
  expect(await queue()).toEqual([])
})

test('refused, the old stays with the reason; the old sent again takes a change back', async () => {
  await change({ nameAr: next })
  expect(await decide('reject')).toMatchObject({ status: 200, body: { status: 'active' } })
  expect(await own())
    .toMatchObject({ status: 'active', nameAr: old, statusReason: reason, pendingChanges: null })
  expect(await guest.get(`/company/${company}`)).toMatchObject({ body: { nameAr: old } })
  expect(await notices()).toMatchObject([['identity_rejected', expect.stringContaining(reason)]])
  expect(await decide('reject')).toMatchObject(refusal(409, 'status_transition_invalid'))

  expect(await change({ nameAr: next })).toMatchObject({ body: { statusReason: null } })
  expect(await change({ nameAr: old })).toMatchObject({
    body: { nameAr: old, pendingChanges: null },
  })
  expect(await queue()).toEqual([])
})

test('a change is decided in Studio, with its papers, and goes on after a suspension', async () => {
  await change({ nameAr: next })
  await setStatus(company, 'suspended')
  expect(await queue()).toEqual([])
  await setStatus(company, 'active')
  await sendDocument(owner, company)
  expect(await decide('approve')).toMatchObject(refusal(409, 'documents_changed'))
  const { rows: [waiting] } = await database().query(
    'select pending_changes, version from public.admin_identities_to_verify where id = $1',
    [company],
  )
  expect(waiting.pending_changes).toEqual({ nameAr: next })
  await act({ act: 'verify_identity', target: company, version: waiting.version, by: admin.id })
  expect(await own()).toMatchObject({ nameAr: next, pendingChanges: null })
})

test('a later date waits, five years ahead at most; an earlier one holds at once', async () => {
  const [past, ahead, later] = [await kuwaitDay(-1), await kuwaitDay(100), await kuwaitDay(400)]
  await endLicence(company, 200)
  expect(await change({ licenceExpiresOn: later }))
    .toMatchObject({ body: { status: 'active', pendingChanges: { licenceExpiresOn: later } } })
  for (const tooFar of [await kuwaitDay(6 * 366), '9999-12-31']) {
    expect(await change({ licenceExpiresOn: tooFar }))
      .toMatchObject(fieldRefusal(422, 'validation_failed', 'licenceExpiresOn'))
  }
  expect(await change({ licenceExpiresOn: past })).toMatchObject(refusal(422, 'licence_expired'))
  expect(await change({ licenceExpiresOn: ahead }))
    .toMatchObject({ body: { status: 'active', licenceExpiresOn: ahead, pendingChanges: null } })
  expect(await change({ licenceExpiresOn: later }))
    .toMatchObject({
      body: { licenceExpiresOn: ahead, pendingChanges: { licenceExpiresOn: later } },
    })
})

test('a licence does not end before a live auction, and a day after it', async () => {
  const listing = await insertListing(company, { owner_type: 'company' })
  await database().query(
    `insert into public.auctions (property_id, starts_at, ends_at, start_price, min_increment)
     values ($1, now() + interval '1 day', now() + interval '10 days', 1000, 1)`,
    [listing],
  )
  expect(await change({ licenceExpiresOn: await kuwaitDay(9) }))
    .toMatchObject(refusal(409, 'status_transition_invalid'))
  await owner.post('/auth/identity/switch', { identityId: company })
  expect(await owner.patch('/company/profile', { licenceExpiresOn: await kuwaitDay(9) }))
    .toMatchObject(refusal(409, 'status_transition_invalid'))
  expect(await change({ licenceExpiresOn: await kuwaitDay(12) })).toMatchObject({ status: 200 })
})

test('a renewal that was sent with its paper in time keeps the licence for 7 days', async () => {
  const later = await kuwaitDay(365)
  const expire = async (days: number) => {
    await endLicence(company, -days)
    await drain('expire_licences')
    return (await own()).status
  }
  await endLicence(company, 0)
  await change({ licenceExpiresOn: later })
  const { id } = await sendDocument(owner, company)
  expect(await expire(7)).toBe('active')
  expect(await guest.get(`/company/${company}`)).toMatchObject({ status: 200 })
  expect(await expire(8)).toBe('expired')
  expect(await decide('approve', { documentIds: [id] }))
    .toMatchObject({ body: { status: 'active', decisions: ['suspend'] } })
  expect(await own()).toMatchObject({ licenceExpiresOn: later, pendingChanges: null })
})

test('a renewal without a paper that nobody has decided about keeps no licence', async () => {
  const { id } = await sendDocument(owner, company)
  await change({ nameAr: next })
  await decide('approve', { documentIds: [id] })
  await endLicence(company, 0)
  await change({ licenceExpiresOn: await kuwaitDay(365) })
  await endLicence(company, -1)
  await drain('expire_licences')
  expect(await own()).toMatchObject({ status: 'expired', pendingChanges: {} })
  expect(await decide('reject', { documentIds: [id] })).toMatchObject({
    body: { status: 'expired' },
  })
  expect(await own()).toMatchObject({ statusReason: reason, pendingChanges: null })
})

test('an end of a licence is told 30 and 7 days before, on the day and once it is over', async () => {
  await actAs(owner, company)
  const listing = (await publishListing(owner)).id
  const kindsAfter = async (days: number) => {
    await endLicence(company, days)
    for (const job of ['warn_expiring_licences', 'expire_licences']) await drain(job)
    await owner.post('/notifications/read-all')
    return (await notices()).map(([kind]: [string]) => kind)
  }
  const warned = (times: number) => Array(times).fill('licence_expiring')
  expect(await kindsAfter(31)).toEqual([])
  expect(await kindsAfter(30)).toEqual(warned(1))
  // Each warning is for one expiry date. The test moves that date instead of the clock, so it moves the
  // warning too.
  const later = (days: number) =>
    database().query(
      `update private.licence_warnings
       set licence_expires_on = (now() at time zone 'Asia/Kuwait')::date + $2::integer
       where identity_id = $1`,
      [company, days],
    )
  await later(8)
  expect(await kindsAfter(8)).toEqual(warned(1))
  await later(7)
  expect(await kindsAfter(7)).toEqual(warned(2))
  await later(0)
  expect(await kindsAfter(0)).toEqual(warned(3))
  expect(await kindsAfter(0)).toEqual(warned(3))
  expect(await kindsAfter(-1)).toEqual(['licence_expired', ...warned(3)])
  expect((await notices())[0]).toEqual(['licence_expired', expect.stringContaining('(1)')])
  const { identities } = (await owner.get('/auth/me/export')).body
  const [record] =
    identities.find(({ identity }: { identity: { id: string } }) => identity.id === company)
      .listings
  expect(record).toMatchObject({ id: listing, status: 'active', hiddenBy: 'licence' })
})

test('nobody is reminded who has sent a later date, or may not act', async () => {
  const paused = await insertOrganisation(owner.id)
  await setStatus(paused, 'suspended')
  await endLicence(company, 5)
  await endLicence(paused, 5)
  await change({ licenceExpiresOn: await kuwaitDay(365) })
  await drain('warn_expiring_licences')
  expect((await notices()).map(([kind]: [string]) => kind)).toEqual(['identity_suspended'])
})

test('a listing says to its owner alone that an administrator hides it', async () => {
  const { id } = await publishListing(owner)
  const hiddenBy = async (by: Guest) => (await by.get(`/properties/${id}`)).body.hiddenBy
  expect([await hiddenBy(owner), await hiddenBy(guest)]).toEqual([null, null])
  const suspended = await admin.post(`/admin/moderation/${id}/decide`, {
    decision: 'suspend',
    reason,
  })
  expect(suspended.status).toBe(200)
  expect(await hiddenBy(owner)).toBe('administrator')
})
