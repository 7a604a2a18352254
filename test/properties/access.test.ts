import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { problemOf, unknownId } from '../support/problems.ts'

async function actAs(person: Person, identityId: string) {
  expect((await person.post('/auth/identity/switch', { identityId })).status).toBe(200)
}

test('a hidden listing looks like a missing one, for everybody and on every method', async () => {
  const [seller, stranger] = [await signUp(), await signUp()]
  const hidden = await createDraft(seller, completeFields.SALE)
  const own = await createDraft(stranger)
  const company = await insertOrganisation(stranger.id)

  const actions = ['publish', 'pause', 'resume', 'renew', 'archive', 'restore', 'mark-sold']
    .concat('mark-rented', 'mark-exchanged', 'confirm-available')
  const auction = {
    startsAt: new Date(Date.now() + 3_600_000).toISOString(),
    endsAt: new Date(Date.now() + 9_000_000).toISOString(),
    startPrice: 1,
    minIncrement: 1,
  }
  const requests = (id: string) => [
    stranger.get(`/properties/${id}`),
    stranger.patch(`/properties/${id}`, { price: 1 }),
    stranger.delete(`/properties/${id}`),
    ...actions.map((action) => stranger.post(`/properties/${id}/${action}`)),
    stranger.get(`/properties/${id}/price-history`),
    stranger.get(`/properties/${id}/similar`),
    stranger.post(`/properties/${id}/contact`, { kind: 'chat' }),
    stranger.post(`/properties/${id}/auction`, auction),
    stranger.delete(`/properties/${id}/auction`),
  ]
  const missing = (await Promise.all(requests(unknownId))).map(problemOf)
  expect(new Set(missing.map(({ status }) => status))).toEqual(new Set([404]))
  expect(missing[0]!.error).toMatchObject({
    code: 'property_not_found',
    message: 'العقار غير موجود أو تم حذفه',
  })
  expect((await Promise.all(requests(hidden.id))).map(problemOf)).toEqual(missing)
  expect(problemOf(await guest.get(`/properties/${hidden.id}`))).toEqual(missing[0])

  await actAs(stranger, company)
  expect((await Promise.all(requests(own.id))).map(problemOf)).toEqual(missing)
  expect((await seller.get(`/properties/${hidden.id}`)).body).toEqual(hidden)
})

test('ISO-06 ISO-11 what the server decides is never taken from the client', async () => {
  const [seller, other] = [await signUp(), await signUp()]
  const own = await publishListing(seller)
  const foreign = {
    id: unknownId,
    ownerIdentityId: other.identityId,
    owner_identity_id: other.identityId,
    owner_id: other.id,
    owner: { identityId: other.identityId },
    account_id: other.id,
    identityId: other.identityId,
    status: 'active',
    version: 9,
    verified: true,
    ownerVerified: true,
    listed: true,
    refNo: 'KW-1',
    viewsCount: 9,
    favoritesCount: 9,
    isFavorite: true,
    createdAt: '2020-01-01T00:00:00Z',
    created_at: '2020-01-01T00:00:00Z',
    publishedAt: '2020-01-01T00:00:00Z',
    expiresAt: '2040-01-01T00:00:00Z',
    deleted_at: '2020-01-01T00:00:00Z',
    dropPct: 50,
    drop_pct: 50,
    deal: { dropPct: 50 },
    auction: {},
    priceLabel: 'مجاناً',
    pendingChanges: {},
    media: [],
    lat: 29.3,
    title_ar: 'عنوان آخر',
    isAdmin: true,
    role: 'admin',
    constructor: { isAdmin: true },
  }
  for (const [key, value] of Object.entries(foreign)) {
    const refused = {
      status: 422,
      body: { error: { code: 'validation_failed', fields: [{ path: key, code: 'unknown' }] } },
    }
    expect(await seller.post('/properties', { type: 'SALE', [key]: value })).toMatchObject(refused)
    expect(await seller.patch(`/properties/${own.id}`, { [key]: value })).toMatchObject(refused)
  }
  for (
    const polluting of [
      '{"type":"SALE","__proto__":{"isAdmin":true}}',
      '{"type":"SALE","constructor":{"prototype":{"isAdmin":true}}}',
    ]
  ) expect((await seller.post('/properties', polluting)).status).toBe(422)
  expect(
    (await seller.patch(`/properties/${own.id}`, {
      location: { lat: 29.3, lng: 48, precision: 'area', status: 'sold' },
    })).status,
  ).toBe(422)

  expect((await seller.get(`/properties/${own.id}`)).body).toEqual(own)
  expect((await other.get('/properties/mine')).body.items).toEqual([])
})

test('ISO-09 only an id is an id, in whatever shape it comes', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller)
  const shapes = [
    ...[`%7B${id}%7D`, `urn:uuid:${id}`, id.replaceAll('-', ''), `${id}%0A`, `${id}%20`],
    ...[
      `${id},${id}`,
      '0',
      '-1',
      '1',
      'null',
      'undefined',
      'NaN',
      '..',
      '%2e%2e%2f',
      '%00',
      "'",
    ],
    'x'.repeat(4000),
  ]
  for (const shape of shapes) {
    const path = `/properties/${shape}`
    const replies = [
      await seller.get(path),
      await seller.get(`${path}/similar`),
      await seller.patch(path, { bedrooms: 9 }),
      await seller.post(`${path}/pause`),
    ]
    // HTTP clients resolve two dots to the parent path, which has no route.
    const status = shape === '..' ? 404 : 422
    expect(replies.map((reply) => reply.status), shape).toEqual([status, status, status, status])
  }
  expect((await seller.get(`/properties/${id}`)).body).toMatchObject({
    status: 'active',
    version: 1,
  })
})

test('ISO-14 a deleted listing is gone for everybody, its owner included', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const like = await publishListing(seller, { price: 185001 })
  const { id } = await publishListing(seller)
  const path = `/properties/${id}`

  expect(await seller.delete(path)).toMatchObject({ status: 204, body: null })
  for (const person of [seller, buyer, guest]) {
    expect((await person.get(path)).status).toBe(404)
    expect((await person.get(`${path}/price-history`)).status).toBe(404)
    expect((await person.get(`${path}/similar`)).status).toBe(404)
  }
  expect((await seller.delete(path)).status).toBe(404)
  expect((await seller.post(`${path}/restore`)).status).toBe(404)
  expect((await seller.get('/properties/mine')).body.items).toEqual([like])
  const { rows } = await database().query(
    `select status, deleted_at is not null as dated, listed from public.properties where id = $1`,
    [id],
  )
  expect(rows).toEqual([{ status: 'deleted', dated: true, listed: false }])
})

test('a guest can look, and is asked to sign in for everything else', async () => {
  const { id } = await publishListing(await signUp())
  for (const path of ['', '/price-history', '/similar']) {
    expect((await guest.get(`/properties/${id}${path}`)).status).toBe(200)
  }
  const refused = { status: 401, body: { error: { code: 'token_missing' } } }
  expect(await guest.post('/properties', { type: 'SALE' })).toMatchObject(refused)
  expect(await guest.get('/properties/mine')).toMatchObject(refused)
  expect(await guest.patch(`/properties/${id}`, {})).toMatchObject(refused)
  expect(await guest.delete(`/properties/${id}`)).toMatchObject(refused)
  expect(await guest.post(`/properties/${id}/pause`)).toMatchObject(refused)
  expect(await guest.post(`/properties/${id}/contact`, { kind: 'call' })).toMatchObject(refused)
  expect(await guest.delete(`/properties/${id}/auction`)).toMatchObject(refused)
})
