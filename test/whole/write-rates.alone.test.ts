// LOAD-05: how often an account may change its records, and how many may be unfinished at a time.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { insertListing, insertOrganisation, insertWaitingCompany } from '../support/fixtures.ts'
import { actAs } from '../support/identities.ts'
import { database, type Person, type Reply, signUp } from '../support/client.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'
import { givePlan } from '../support/plans.ts'
import { race } from '../support/races.ts'
import { hitsOf, plantHits } from '../support/rate-hits.ts'
import { callDataApi } from '../support/data-api.ts'
import { expectRateLimited, rateLimitOf } from '../support/rate-limits.ts'
import { refusal } from '../support/problems.ts'
import { withRates } from '../support/own-rates.ts'
import { defaultRates } from '../support/rates.ts'
import { pdf } from '../support/pdf.ts'
import { uploadDocuments } from '../support/uploads.ts'

// All but proof_first, because these people sign up from one IP address without proving a phone or email.
withRates(defaultRates(/^(?!proof_first$)/))

type Write = (person: Person) => Promise<() => Promise<Reply>>

const newOffice = () => ({
  type: 'office',
  nameAr: 'مكتب السور العقاري',
  licenceNo: randomUUID().slice(0, 12),
  licenceExpiresOn: '2040-01-01',
})

const cases: [rule: string, limit: number, seconds: number, write: Write][] = [
  ['listing_edits', 1200, 3600, async (person) => {
    const { id } = await createDraft(person)
    return () => person.patch(`/properties/${id}`, { bedrooms: 3 })
  }],
  ['listing_edits', 1200, 3600, async (person) => {
    const id = await insertListing(person.identityId)
    return () => person.post(`/properties/${id}/confirm-available`)
  }],
  ['listing_deletions', 300, 3600, async (person) => {
    const ids = [await createDraft(person), await createDraft(person)].map((
      { id },
    ) => id)
    return () => person.delete(`/properties/${ids.pop()}`)
  }],
  ['document_deletions', 60, 3600, async (person) => {
    const company = await insertWaitingCompany(person.id)
    const { body } = await uploadDocuments(person, company, [pdf('one'), pdf('two')])
    const ids = body.files.map(({ documentId }: { documentId: string }) => documentId)
    return () => person.delete(`/auth/identities/${company}/documents/${ids.pop()}`)
  }],
  [
    'topups',
    10,
    3600,
    (person) => Promise.resolve(() => person.post('/wallet/topup', { amount: 5 })),
  ],
  [
    'identities',
    5,
    86_400,
    (person) => Promise.resolve(() => person.post('/auth/identities', newOffice())),
  ],
  ['blocks', 60, 3600, async (person) => {
    const { identityId } = await signUp()
    return () => person.post(`/blocks/${identityId}`)
  }],
  [
    'devices',
    60,
    3600,
    (person) =>
      Promise.resolve(() =>
        person.put('/devices', {
          deviceId: 'one',
          platform: 'ios',
          pushToken: `token-${randomUUID()}`,
        })
      ),
  ],
  [
    'profile',
    60,
    3600,
    (person) => Promise.resolve(() => person.patch('/auth/me', { language: 'en' })),
  ],
  [
    'profile',
    60,
    3600,
    (person) => Promise.resolve(() => person.patch('/settings', { marketingConsent: true })),
  ],
  [
    'profile',
    60,
    3600,
    (person) =>
      Promise.resolve(() =>
        person.post('/auth/password/change', {
          currentPassword: person.password,
          newPassword: `${person.password}2`,
        })
      ),
  ],
  [
    'switches',
    120,
    3600,
    (person) =>
      Promise.resolve(() =>
        person.post('/auth/identity/switch', { identityId: person.identityId })
      ),
  ],
  [
    'reads',
    240,
    60,
    (person) => Promise.resolve(() => person.post('/notifications/read-all')),
  ],
]

test.each(cases)(
  '%s: %d in %d seconds',
  async (rule, limit, seconds, write) => {
    const person = await signUp()
    const once = await write(person)
    await plantHits(rule, person.id, limit - 1)
    const last = await once()
    expect(last.status, JSON.stringify(last.body)).toBeLessThan(300)
    expectRateLimited(await once(), limit, seconds)
  },
)

test('what is refused and changes nothing is not counted, nor more often at the Data API', async () => {
  const person = await signUp()
  expect((await person.post(`/blocks/${randomUUID()}`)).status).toBe(404)
  expect(await hitsOf('blocks', person.id)).toBe(0)
  const { identityId } = await signUp()
  await plantHits('blocks', person.id, 59)
  expect(
    (await callDataApi(person, 'block_identity', { identity_id: identityId }))
      .status,
  )
    .toBeLessThan(300)
  expectRateLimited(
    await person.post(`/blocks/${identityId}`),
    60,
    3600,
    await callDataApi(person, 'block_identity', { identity_id: identityId }),
  )
})

test('ten reviews a day are written, and counted apart from their changes', async () => {
  const [author, subject] = [await signUp(), await signUp()]
  await database().query(
    'update public.accounts set email_proven = true where id = $1',
    [author.id],
  )
  const listing = await insertListing(subject.identityId)
  await author.post('/conversations', { propertyId: listing, message: 'هل ما زال متوفراً؟' })
  await plantHits('reviews', author.id, 9)
  const review = { identityId: subject.identityId, rating: 4 }
  const written = await author.post('/reviews', review)
  expect(rateLimitOf(written).slice(0, 2)).toEqual([10, 0])
  expectRateLimited(await author.post('/reviews', review), 10, 86_400)
  expect(await author.patch(`/reviews/${written.body.id}`, { rating: 5 }))
    .toMatchObject({ status: 200 })
})

test('first publishings are twice what the plan shows and ten a day, deleted ones included', async () => {
  const person = await signUp()
  await givePlan(person.identityId, 'plus')
  await plantHits('first_publications', person.id, 29)
  const { id } = await publishListing(person)
  const { id: draft } = await createDraft(person, completeFields.SALE)
  const refused = [
    await person.post(`/properties/${draft}/publish`),
    await person.post('/properties', { ...completeFields.SALE, publish: true }),
  ]
  for (const one of refused) expectRateLimited(one, 30, 86_400)
  for (const act of ['pause', 'resume', 'archive', 'restore', 'publish']) {
    expect([act, (await person.post(`/properties/${id}/${act}`)).status]).toEqual([act, 200])
  }
  await person.delete(`/properties/${id}`)
  expectRateLimited(
    await person.post(`/properties/${draft}/publish`),
    30,
    86_400,
    await callDataApi(person, 'act_on_property', { property_id: draft, action: 'publish' }),
  )
  await givePlan(await insertOrganisation(person.id), 'company')
  await plantHits('first_publications', person.id, 509)
  expect((await person.post(`/properties/${draft}/publish`)).status).toBe(200)
  const { id: another } = await createDraft(person, completeFields.SALE)
  expectRateLimited(await person.post(`/properties/${another}/publish`), 510, 86_400)
})

const headersOf = ({ accessToken }: Person): [string, string][] => [
  ['authorization', `Bearer ${accessToken}`],
]

test('five top-ups are unpaid at a time, also when more are asked for at once', async () => {
  const person = await signUp()
  const replies = await race(
    Array.from({ length: 8 }, () => ({
      path: '/wallet/topup',
      body: { amount: 5 },
      headers: headersOf(person),
    })),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([
    ...Array(5).fill(201),
    ...Array(3).fill(409),
  ])
  expect(await person.post('/wallet/topup', { amount: 5 })).toMatchObject({
    status: 409,
    body: { error: { code: 'topups_full', limit: 5, used: 5 } },
  })
  await actAs(person, await insertOrganisation(person.id))
  expect(await person.post('/wallet/topup', { amount: 5 }), 'as another identity')
    .toMatchObject(refusal(409, 'topups_full'))
  await actAs(person, person.identityId)
  // An overdue invoice no longer counts, even before the job has marked it as expired.
  const { body } = await person.get('/invoices')
  await database().query(
    `update public.invoices set due_at = now() - interval '1 second' where id = $1`,
    [body.items[0].id],
  )
  expect((await person.post('/wallet/topup', { amount: 5 })).status).toBe(201)
  expect(await person.post('/wallet/topup', { amount: 5 })).toMatchObject(
    refusal(409, 'topups_full'),
  )
})

test('three identities wait at a time, also when one that was rejected asks again', async () => {
  const person = await signUp()
  const replies = await race(
    Array.from({ length: 5 }, () => ({
      path: '/auth/identities',
      body: newOffice(),
      headers: headersOf(person),
    })),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([
    201,
    201,
    201,
    409,
    409,
  ])
  const full = refusal(409, 'identities_full')
  expect(replies.find(({ status }) => status === 409)).toMatchObject(full)
  const [first] = replies.filter(({ status }) => status === 201).map((
    { body },
  ) => body.id)
  const setStatus = (status: string) =>
    database().query('update public.identities set status = $2 where id = $1', [
      first,
      status,
    ])
  await setStatus('rejected')
  expect((await person.post('/auth/identities', newOffice())).status).toBe(201)
  // A change would put the rejected identity back into the queue, which has become full.
  const change = (fields: object) => person.patch(`/auth/identities/${first}`, fields)
  expect(await change({ aboutAr: 'نبذة' })).toMatchObject(full)
  await setStatus('active')
  expect(await change({ aboutAr: 'نبذة' })).toMatchObject({
    body: { status: 'active' },
  })
  expect(await change({ nameAr: 'مكتب الديرة' })).toMatchObject(full)
  await person.post('/auth/identity/switch', { identityId: first })
  expect(await person.patch('/office/profile', { nameAr: 'مكتب الديرة' })).toMatchObject(full)
})
