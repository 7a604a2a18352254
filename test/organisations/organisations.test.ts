import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { asCaller, database, guest, type Person, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { actAs, setStatus } from '../support/identities.ts'
import { problemOf, refusal, unknownId } from '../support/problems.ts'
import { drain } from '../support/jobs.ts'
import { ids, kuwaitDay, oddWord, say } from './directory.ts'

const missing = refusal(404, 'org_not_found')

let owner: Person
let buyer: Person

beforeEach(async () => {
  owner = await signUp()
  buyer = await signUp('هند المطيري')
})

const setAccount = (accountId: string, status: string) =>
  database().query('update public.accounts set status = $2 where id = $1', [accountId, status])

test('everybody finds verified companies and offices, and reads the page of one', async () => {
  const word = oddWord()
  const company = await insertOrganisation(owner.id, 'company')
  const office = await insertOrganisation(owner.id, 'office')
  await say(company, {
    name_en: `${word} Real Estate`,
    phone: '+96522334455',
    governorate_id: 'hawalli',
    area_id: 'salmiya',
  })
  await say(office, { name_en: `${word} Brokers` })

  const companies = await guest.get(`/companies?q=${word}`)
  expect(companies.body).toMatchObject({
    items: [{ id: company, type: 'company', phone: '+96522334455', verified: true }],
    nextCursor: null,
  })
  expect(ids(await guest.get(`/offices?q=${word}`))).toEqual([office])

  const older = await insertListing(company, {
    owner_type: 'company',
    published_at: new Date(Date.now() - 60_000),
  })
  const newer = await insertListing(company, { owner_type: 'company' })
  await insertListing(company, { owner_type: 'company', status: 'paused' })
  await buyer.post(`/favorites/${older}`)
  const page = await buyer.get(`/company/${company}`)
  expect(page).toMatchObject({
    status: 200,
    body: {
      ...companies.body.items[0],
      activeListingsCount: 2,
      listings: [{ id: newer, isFavorite: false }, { id: older, isFavorite: true }],
      reviews: { average: null, count: 0, histogram: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 } },
    },
  })
  expect((await guest.get(`/company/${company}`)).body.listings).toMatchObject([
    { isFavorite: false },
    { isFavorite: false },
  ])
  expect(await guest.get(`/office/${office}`)).toMatchObject({ body: { id: office, listings: [] } })
})

test('ISO-17 companies and offices never mix, and unverified ones are not shown', async () => {
  const word = oddWord()
  const company = await insertOrganisation(owner.id, 'company')
  const office = await insertOrganisation(owner.id, 'office')
  for (const id of [company, office]) await say(id, { name_en: word })
  const none = problemOf(await guest.get(`/company/${unknownId}`))
  expect(none).toMatchObject({ status: 404, error: { code: 'org_not_found' } })
  const gone = async () => {
    expect(problemOf(await guest.get(`/company/${company}`))).toEqual(none)
    expect(ids(await guest.get(`/companies?q=${word}`))).toEqual([])
  }
  const back = async () => {
    expect(await guest.get(`/company/${company}`)).toMatchObject({ status: 200 })
    expect(ids(await guest.get(`/companies?q=${word}`))).toEqual([company])
  }

  await back()
  expect(problemOf(await guest.get(`/company/${office}`))).toEqual(none)
  expect(await guest.get(`/office/${company}`)).toMatchObject(missing)
  expect(problemOf(await guest.get(`/company/${owner.identityId}`))).toEqual(none)
  for (const status of ['suspended', 'pending_verification', 'rejected', 'expired']) {
    await setStatus(company, status)
    await gone()
    expect(problemOf(await owner.get(`/company/${company}`))).toEqual(none)
  }
  await setStatus(company, 'active')
  await back()
  for (const status of ['suspended', 'banned', 'active']) {
    await setAccount(owner.id, status)
    await (['suspended', 'banned'].includes(status) ? gone() : back())
  }
  await database().query('select private.anonymise_account($1)', [owner.id])
  await gone()
  expect(await guest.get('/company/x')).toMatchObject(refusal(422, 'validation_failed'))
})

test('a deleted organisation leaves no text, and its licence is free', async () => {
  const licenceNo = `L-${randomUUID().slice(0, 8).toUpperCase()}`
  const requested = {
    type: 'office',
    nameAr: 'مكتب السور العقاري',
    licenceNo,
    licenceExpiresOn: '2040-01-01',
    phone: '+96522334455',
  }
  const { body } = await owner.post('/auth/identities', requested)
  await database().query('select private.anonymise_account($1)', [owner.id])
  const { rows: [row] } = await database().query(
    'select * from public.organisations where identity_id = $1',
    [body.id],
  )
  expect(JSON.stringify(row)).not.toMatch(/السور|22334455/)
  expect(row).toMatchObject({ name_ar: 'حساب محذوف', phone: null, listed: false })
  expect(await buyer.post('/auth/identities', requested)).toMatchObject({ status: 201 })
})

test('ISO-03 a page names no account, no note and no key of a person', async () => {
  const company = await insertOrganisation(owner.id)
  const declared = `aboutAr activeListingsCount addressAr areaId coverUrl email governorateId id
    licenceExpiresOn licenceNo logoUrl medianResponseMinutes memberSince nameAr nameEn phone
    ratingAvg ratingCount slug type verified website whatsapp workingHours`.split(/\s+/)
  const page = (await guest.get(`/company/${company}`)).body
  expect(Object.keys(page).sort()).toEqual([...declared, 'listings', 'reviews'].sort())
  expect(JSON.stringify(page)).not.toContain(owner.id)
})

test('past the facade a guest gets the same pages and nothing else', async () => {
  const company = await insertOrganisation(owner.id)
  const asGuest = (sql: string, values: unknown[] = []) =>
    asCaller(undefined, (client) => client.query(sql, values))
  const office = await insertOrganisation(owner.id, 'office')
  for (const [type, id] of [['company', company], ['office', office]]) {
    const { rows: [{ page }] } = await asGuest('select api.get_organisation($1, $2) as page', [
      type,
      id,
    ])
    expect(page).toEqual((await guest.get(`/${type}/${id}`)).body)
  }
  await setStatus(company, 'suspended')
  await expect(asGuest(`select api.get_organisation('company', $1)`, [company]))
    .rejects.toMatchObject({ code: 'PT404', message: 'org_not_found' })
  await expect(asGuest('select * from public.organisations')).rejects.toMatchObject({
    code: '42501',
  })
  for (const sort of ['', 'name', null]) {
    await expect(asGuest(`select * from api.list_organisations('company', sort => $1)`, [sort]))
      .rejects.toMatchObject({ code: 'PT422' })
  }
  for (const size of [0, 51, null]) {
    await expect(
      asGuest(`select * from api.list_organisations('company', page_size => $1)`, [size]),
    )
      .rejects.toMatchObject({ code: 'PT422' })
  }
})

test('an expired licence hides the organisation and its listings at once', async () => {
  const company = await insertOrganisation(owner.id)
  const { id } = (await actAs(owner, company), await publishListing(owner))
  expect(await guest.get(`/properties/${id}`)).toMatchObject({ status: 200 })
  await say(company, { licence_expires_on: '2026-01-01' })
  await drain('expire_licences')

  expect((await owner.get(`/auth/identities/${company}`)).body).toMatchObject({
    status: 'expired',
    verified: true,
  })
  expect(await guest.get(`/properties/${id}`)).toMatchObject(refusal(404, 'property_not_found'))
  expect(await guest.get(`/company/${company}`)).toMatchObject(missing)
  expect(await owner.get('/company/profile')).toMatchObject(refusal(403, 'identity_not_usable'))
  expect(await actAs(owner, company)).toMatchObject(refusal(403, 'identity_not_usable'))
  await expect(setStatus(company, 'active')).rejects.toMatchObject({ hint: 'licence_expired' })

  const renew = (licenceExpiresOn: string) =>
    owner.patch(`/auth/identities/${company}`, { licenceExpiresOn })
  expect(await renew('2026-01-02')).toMatchObject(refusal(422, 'licence_expired'))
  const later = await kuwaitDay(365)
  expect(await renew(later)).toMatchObject({
    status: 200,
    body: {
      status: 'expired',
      licenceExpiresOn: '2026-01-01',
      pendingChanges: { licenceExpiresOn: later },
    },
  })
  expect(await guest.get(`/company/${company}`)).toMatchObject(missing)
  const admin = await signUpAdmin()
  expect(await admin.post(`/admin/moderation/${company}/decide`, { decision: 'approve' }))
    .toMatchObject({ status: 200, body: { status: 'active', decisions: ['suspend'] } })
  expect(await guest.get(`/properties/${id}`)).toMatchObject({ status: 200 })
  expect((await guest.get(`/company/${company}`)).body).toMatchObject({
    licenceExpiresOn: later,
    activeListingsCount: 1,
  })
})

test('the licence job may run twice at once and skips those renewing', async () => {
  const offices = await Promise.all(
    Array.from({ length: 4 }, () => insertOrganisation(owner.id, 'office')),
  )
  for (const id of offices) await say(id, { licence_expires_on: '2026-01-01' })
  const client = await database().connect()
  await client.query('begin')
  await client.query('select from public.identities where id = $1 for update', [offices[0]])
  await client.query(
    `update public.organisations set licence_expires_on = '2040-01-01' where identity_id = $1`,
    [offices[0]],
  )
  await Promise.all([1, 2].map(() => drain('expire_licences')))
  await client.query('commit')
  client.release()
  const { rows } = await database().query(
    'select id, status from public.identities where id = any ($1)',
    [offices],
  )
  for (const { id, status } of rows) {
    expect(status).toBe(id === offices[0] ? 'active' : 'expired')
  }
})
