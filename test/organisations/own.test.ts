import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { asCaller, database, guest, type Person, type Reply, signUp } from '../support/client.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadAvatar } from '../support/uploads.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { refusal } from '../support/problems.ts'

let owner: Person
let company: string
let office: string

beforeEach(async () => {
  owner = await signUp()
  company = await insertOrganisation(owner.id, 'company')
  office = await insertOrganisation(owner.id, 'office')
})

const act = (identityId: string) => owner.post('/auth/identity/switch', { identityId })
const routes = (type: string): [method: 'get' | 'patch', path: string][] => [
  ['get', `/${type}/profile`],
  ['patch', `/${type}/profile`],
  ['get', `/${type}/listings`],
  ['get', `/${type}/leads`],
  ['get', `/${type}/stats`],
]
const calls = (person: Person, type: string): Promise<Reply>[] =>
  routes(type).map(([method, path]) =>
    method === 'get' ? person.get(path) : person.patch(path, { aboutAr: 'نبذة' })
  )

test('IDN-02 scoped routes follow the active identity', async () => {
  const refused = (required: string, actual: string, name: string) => ({
    status: 403,
    body: {
      error: {
        code: 'identity_type_required',
        message: `هذه الخدمة متاحة لحساب ${name} فقط`,
        messageEn: `This feature is available to ${required} accounts only`,
        required,
        actual,
        requestId: expect.any(String),
      },
    },
  })
  const all = async (type: string, reply: unknown) => {
    for (const given of await Promise.all(calls(owner, type))) {
      const { status, body } = given
      expect({ status, body }).toEqual(reply)
    }
  }
  await all('company', refused('company', 'individual', 'شركة'))
  await all('office', refused('office', 'individual', 'مكتب عقاري'))
  await act(company)
  for (const reply of await Promise.all(calls(owner, 'company'))) expect(reply.status).toBe(200)
  await all('office', refused('office', 'company', 'مكتب عقاري'))
  await act(office)
  for (const reply of await Promise.all(calls(owner, 'office'))) expect(reply.status).toBe(200)
  await all('company', refused('company', 'office', 'شركة'))
})

test('a guest is asked to sign in on each of them', async () => {
  for (const type of ['company', 'office']) {
    for (const [method, path] of routes(type)) {
      const reply = method === 'get' ? await guest.get(path) : await guest.patch(path, {})
      expect(reply, path).toMatchObject(refusal(401, 'token_missing'))
    }
  }
})

test('past the facade access is the same, and not one field is given', async () => {
  const tries = [
    ...['api', 'private'].flatMap((schema) => [
      `select ${schema}.get_organisation_profile('company')`,
      `select ${schema}.update_organisation_profile('company', '{"aboutAr":"x"}')`,
      `select * from ${schema}.list_organisation_listings('company')`,
      `select * from ${schema}.list_organisation_leads('company')`,
      `select ${schema}.get_organisation_stats('company')`,
    ]),
  ]
  for (const sql of tries) {
    await expect(asCaller(owner, (client) => client.query(sql)), sql)
      .rejects.toMatchObject({ code: 'PT403', message: 'identity_type_required' })
    await expect(asCaller(undefined, (client) => client.query(sql)), sql)
      .rejects.toMatchObject({ code: '42501' })
  }
  // A type that is not a type of organisation is refused, even if the acting identity has that type.
  for (const type of [null, '', 'individual']) {
    for (
      const sql of ['select api.get_organisation_profile($1)', 'select api.list_organisations($1)']
    ) {
      await expect(asCaller(owner, (client) => client.query(sql, [type])), sql)
        .rejects.toMatchObject({ code: 'PT422', message: 'validation_failed' })
    }
  }
})

test('IDN-06 a removed identity gets nothing from the next request on', async () => {
  await act(company)
  for (const status of ['suspended', 'expired', 'rejected', 'pending_verification']) {
    await database().query('update public.identities set status = $2 where id = $1', [
      company,
      status,
    ])
    for (const reply of await Promise.all(calls(owner, 'company'))) {
      const { requestId: _id, message: _ar, messageEn: _en, ...error } = reply.body.error
      expect([reply.status, error]).toEqual([403, { code: 'identity_not_usable' }])
    }
    expect((await owner.get(`/auth/identities/${company}`)).body).toMatchObject({ status })
    await database().query(`update public.identities set status = 'active' where id = $1`, [
      company,
    ])
    await act(company)
  }
})

test('INP-08 what a page says of itself is stored as typed, in NFC', async () => {
  await act(company)
  const typed = { aboutAr: 'ا\u0653خر ٥٠٠م²', addressAr: 'برج\u00A0٣ ط ٣½', workingHours: '٩½ – ٥' }
  expect(await owner.patch('/company/profile', typed)).toMatchObject({
    status: 200,
    body: { aboutAr: 'آخر ٥٠٠م²', addressAr: 'برج ٣ ط ٣½', workingHours: '٩½ – ٥' },
  })
})

test('a profile is read and changed by whoever acts as it', async () => {
  await act(company)
  const before = (await owner.get('/company/profile')).body
  expect(before).toMatchObject({ id: company, type: 'company', status: 'active', verified: true })
  const changed = await owner.patch('/company/profile', {
    aboutAr: 'مطور عقاري منذ 1980',
    website: 'https://example.com',
    governorateId: 'hawalli',
    areaId: 'salmiya',
  })
  expect(changed).toMatchObject({
    status: 200,
    body: { aboutAr: 'مطور عقاري منذ 1980', website: 'https://example.com', status: 'active' },
  })
  expect((await owner.get('/company/profile')).body).toEqual(changed.body)
  const { status: _status, statusReason: _reason, pendingChanges: _pending, ...shown } =
    changed.body
  expect((await guest.get(`/company/${company}`)).body).toMatchObject(shown)

  for (
    const [fields, code, path] of [
      [{ verified: true }, 'validation_failed', 'verified'],
      [{ ratingAvg: 5 }, 'validation_failed', 'ratingAvg'],
      [{ identityId: office }, 'validation_failed', 'identityId'],
      [{ areaId: 'sharq' }, 'area_invalid', 'areaId'],
      [{ licenceExpiresOn: '2026-01-01' }, 'licence_expired', 'licenceExpiresOn'],
    ] as const
  ) {
    expect(await owner.patch('/company/profile', fields), path)
      .toMatchObject({ status: 422, body: { error: { code, fields: [{ path }] } } })
  }
  expect((await owner.get('/company/profile')).body).toEqual(changed.body)
})

test('listings and leads are those of the acting identity, page by page', async () => {
  const elsewhere = await insertListing(office, { owner_type: 'office' })
  await act(company)
  const [first, second, third] = [
    await publishListing(owner),
    await publishListing(owner),
    await createDraft(owner),
  ]
  const list = async (query = '') => (await owner.get(`/company/listings${query}`)).body
  expect((await list()).items.map(({ id }: { id: string }) => id))
    .toEqual([third.id, second.id, first.id])
  expect((await list('?status=draft')).items).toMatchObject([{ id: third.id }])
  const page = await list('?limit=2')
  expect(await list(`?limit=2&cursor=${page.nextCursor}`)).toMatchObject({
    items: [{ id: first.id }],
    nextCursor: null,
  })

  const buyer = await signUp('هند المطيري')
  // A lead contains the id of the interested identity, so that the organisation can write to it.
  await database().query(
    `insert into public.leads (property_id, owner_identity_id, identity_id, kind, created_at)
     select listing, owner, $1, kind, now() - make_interval(mins => nth::integer)
     from unnest($2::uuid[], $3::uuid[], $4::text[]) with ordinality
       as requested (listing, owner, kind, nth)`,
    [
      buyer.identityId,
      [first.id, first.id, second.id, elsewhere],
      [company, company, company, office],
      ['call', 'whatsapp', 'call', 'call'],
    ],
  )
  const leads = async (query = '') => (await owner.get(`/company/leads${query}`)).body
  const { items, nextCursor } = await leads()
  expect(nextCursor).toBeNull()
  expect(items).toMatchObject([
    { kind: 'call', property: { id: first.id, refNo: first.refNo, status: 'active' } },
    { kind: 'whatsapp', property: { id: first.id } },
    { kind: 'call', property: { id: second.id, titleAr: second.titleAr } },
  ])
  expect(items[0].from).toEqual({
    identityId: buyer.identityId,
    type: 'individual',
    displayName: 'هند المطيري',
    avatarUrl: null,
  })
  expect(JSON.stringify(items)).not.toContain(buyer.id)
  const half = await leads('?limit=2')
  expect(half.items).toEqual(items.slice(0, 2))
  expect(await leads(`?limit=1&cursor=${half.nextCursor}`)).toEqual({
    items: items.slice(2),
    nextCursor: null,
  })
  expect(await owner.get('/company/leads?cursor=x')).toMatchObject(refusal(422, 'cursor_invalid'))
  expect(await owner.get(`/leads?limit=1&cursor=${half.nextCursor}`))
    .toMatchObject({ status: 200, body: { items: items.slice(2), nextCursor: null } })
  await act(office)
  expect((await owner.get('/office/leads')).body.items).toMatchObject([
    { property: { id: elsewhere } },
  ])
  expect(await owner.get(`/office/leads?cursor=${half.nextCursor}`))
    .toMatchObject(refusal(422, 'cursor_invalid'))
})

test('figures count what is there now', async () => {
  await act(company)
  const none = (await owner.get('/company/stats')).body
  expect(none).toEqual({
    activeListings: 0,
    listings: {},
    views: 0,
    favorites: 0,
    leads: { last7Days: 0, last30Days: 0, call: 0, whatsapp: 0, chat: 0 },
    last30Days: { views: 0, shown: 0, favorites: 0, contacts: 0 },
    ratingAvg: null,
    ratingCount: 0,
    medianResponseMinutes: null,
  })
  const { id } = await publishListing(owner)
  await createDraft(owner)
  const deleted = await createDraft(owner)
  await owner.delete(`/properties/${deleted.id}`)
  const buyer = await signUp()
  await buyer.post(`/favorites/${id}`)
  await database().query(
    'update private.property_counters set views = 7 where property_id = $1',
    [id],
  )
  await database().query(
    `insert into public.leads
       (property_id, owner_identity_id, identity_id, kind, created_at, day)
     select $1, $2, $3, kind, now() - days * interval '1 day', current_date - days
     from (values ('call', 0), ('whatsapp', 3), ('call', 20), ('chat', 31)) as requested (kind, days)`,
    [id, company, buyer.identityId],
  )
  expect((await owner.get('/company/stats')).body).toMatchObject({
    activeListings: 1,
    listings: { active: 1, draft: 1 },
    views: 7,
    favorites: 1,
    leads: { last7Days: 2, last30Days: 3, call: 2, whatsapp: 1, chat: 0 },
  })
})

test('a pending organisation is read and edited by its own routes only', async () => {
  const requested = {
    type: 'company',
    nameAr: 'شركة الأفق',
    licenceNo: `L-${randomUUID().slice(0, 8).toUpperCase()}`,
    licenceExpiresOn: '2040-01-01',
  }
  const { body } = await owner.post('/auth/identities', requested)
  expect(await act(body.id)).toMatchObject(refusal(403, 'identity_not_usable'))
  expect(await owner.get('/company/profile')).toMatchObject(refusal(403, 'identity_type_required'))
  expect(await guest.get(`/company/${body.id}`)).toMatchObject(refusal(404, 'org_not_found'))
  expect(await owner.patch(`/auth/identities/${body.id}`, { aboutAr: 'نبذة' }))
    .toMatchObject({ status: 200, body: { status: 'pending_verification', aboutAr: 'نبذة' } })
  const change = (fields: object) => owner.patch(`/auth/identities/${body.id}`, fields)
  expect(await change({ areaId: 'sharq' })).toMatchObject(refusal(422, 'area_invalid'))
  expect(await change({ logoMediaId: randomUUID() })).toMatchObject(refusal(404, 'not_found'))
  await database().query(`update public.identities set status = 'active' where id = $1`, [body.id])
  expect(await guest.get(`/company/${body.id}`))
    .toMatchObject({ status: 200, body: { aboutAr: 'نبذة', verified: true } })
  expect(await act(body.id)).toMatchObject({ status: 200 })
  expect(await owner.get('/company/profile')).toMatchObject({ body: { id: body.id } })
})

test('logo and cover are pictures that the organisation has uploaded', async () => {
  await act(company)
  const upload = async (shade: number) =>
    (await uploadAvatar(owner, jpeg({ width: 40, height: 30, shade }))).body
  const [logo, cover, next] = [await upload(1), await upload(2), await upload(3)]
  const patch = (fields: object) => owner.patch('/company/profile', fields)

  expect(await patch({ logoMediaId: logo.mediaId, coverMediaId: cover.mediaId })).toMatchObject({
    status: 200,
    body: { logoUrl: logo.url, coverUrl: cover.url, status: 'active' },
  })
  expect((await guest.get(`/company/${company}`)).body)
    .toMatchObject({ logoUrl: logo.url, coverUrl: cover.url })
  expect((await owner.get('/auth/me')).body.activeIdentity.avatarUrl).toBe(logo.url)
  expect((await publishListing(owner)).owner.avatarUrl).toBe(logo.url)

  expect(await patch({ logoMediaId: next.mediaId, aboutAr: 'نبذة' }))
    .toMatchObject({ body: { logoUrl: next.url, coverUrl: cover.url } })
  expect(await patch({ logoMediaId: logo.mediaId })).toMatchObject(refusal(404, 'not_found'))
  expect(await patch({ logoMediaId: null })).toMatchObject({
    body: { logoUrl: null, coverUrl: cover.url, aboutAr: 'نبذة' },
  })

  await act(office)
  const elsewhere = await upload(4)
  await act(company)
  for (const mediaId of [elsewhere.mediaId, randomUUID()]) {
    expect(await patch({ coverMediaId: mediaId })).toMatchObject(refusal(404, 'not_found'))
  }
  for (const mediaId of ['x', 5, {}]) {
    expect(await patch({ coverMediaId: mediaId })).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'coverMediaId' }] } },
    })
  }
  expect((await guest.get(`/company/${company}`)).body.coverUrl).toBe(cover.url)
})
