import { expect, test } from 'vitest'
import {
  asCaller,
  database,
  guest,
  newPhone,
  type Person,
  type Reply,
  signUp,
} from '../support/client.ts'
import {
  completeFields,
  createDraft,
  type Listing,
  publishListing,
  uniquePrice,
} from '../support/listings.ts'
import { sendMessageAs } from '../support/conversations.ts'
import { givePhone, insertListing, insertOrganisation } from '../support/fixtures.ts'
import { refusal } from '../support/problems.ts'

const ids = (items: Listing[]) => items.map(({ id }) => id)

const job = (name: string) => database().query(`select private.${name}()`)

test('my listings come newest first, all or of one state, in consecutive pages', async () => {
  const [seller, other] = [await signUp(), await signUp()]
  const made: Listing[] = []
  for (let i = 0; i < 5; i++) made.unshift(await createDraft(seller, { bedrooms: i }))
  await publishListing(other)
  await seller.post(`/properties/${made[1].id}/archive`)

  expect(ids((await seller.get('/properties/mine')).body.items)).toEqual(ids(made))
  const archived = await seller.get('/properties/mine?status=archived')
  expect(archived.body).toMatchObject({ items: [{ id: made[1].id }], nextCursor: null })
  expect((await seller.get('/properties/mine?status=sold')).body)
    .toEqual({ items: [], nextCursor: null })

  const first = (await seller.get('/properties/mine?limit=2')).body
  await createDraft(seller, { bedrooms: 9 }) // new listings do not shift the pages
  const second = (await seller.get(`/properties/mine?limit=3&cursor=${first.nextCursor}`)).body
  expect(ids([...first.items, ...second.items])).toEqual(ids(made))
  expect(second.nextCursor).toBe(null) // the page is exactly full, and nothing follows

  for (const path of [`?status=draft&cursor=${first.nextCursor}`, '?cursor=x']) {
    expect(await seller.get(`/properties/mine${path}`))
      .toMatchObject({ status: 422, body: { error: { code: 'cursor_invalid' } } })
  }
  expect((await other.get(`/properties/mine?cursor=${first.nextCursor}`)).status).toBe(422)
})

test.each(['status=deleted', 'status=ACTIVE', 'status=', 'limit=0', 'limit=51', 'owner=x'])(
  'my listings are not served for %s',
  async (query) => {
    expect(await (await signUp()).get(`/properties/mine?${query}`))
      .toMatchObject({ status: 422, body: { error: { code: 'validation_failed' } } })
  },
)

test('my listings are those of the acting identity only', async () => {
  const seller = await signUp()
  const company = await insertOrganisation(seller.id)
  const mine = await createDraft(seller)
  await seller.post('/auth/identity/switch', { identityId: company })
  const theirs = await publishListing(seller)

  expect((await seller.get('/properties/mine')).body.items).toEqual([theirs])
  expect(theirs.owner).toMatchObject({ identityId: company, type: 'company', verified: true })
  await seller.post('/auth/identity/switch', { identityId: seller.identityId })
  expect((await seller.get('/properties/mine')).body.items).toEqual([mine])
})

test('similar listings are ten of the same type and kind, by same area and nearest price', async () => {
  const sellers = await Promise.all(Array.from({ length: 7 }, () => signUp()))
  const [seller] = sellers as [Person]
  const price = uniquePrice()
  const like = async (fields: object, by = seller) =>
    (await publishListing(by, { kind: 'stable', ...fields })).id
  const near: string[] = []
  const sellerOf = (nth: number) => sellers[1 + Math.floor(nth / 2)]!
  for (let i = 1; i <= 11; i++) {
    near.push(await like({ price: price + i * (i % 2 ? 1 : -1) }, sellerOf(i - 1)))
  }
  await like({ price, areaId: 'jahra' })
  await like({ price, kind: 'farm' })
  await like({ price, type: 'RENT' })
  const paused = await like({ price })
  await seller.post(`/properties/${paused}/pause`)
  const id = await like({ price })
  const elsewhere = await like({ price, areaId: 'jabriya' })

  const { body } = await guest.get(`/properties/${id}/similar`)
  expect(ids(body.items)).toEqual(near.slice(0, 10))
  expect(body.nextCursor).toBe(null)
  const { rows: [direct] } = await asCaller(
    undefined,
    (client) => client.query('select api.list_similar_properties($1) as page', [id]),
  )
  expect(direct.page).toEqual(body)

  for (const [nth, one] of near.slice(0, 9).entries()) {
    await sellerOf(nth).post(`/properties/${one}/archive`)
  }
  const fewer = ids((await guest.get(`/properties/${id}/similar`)).body.items)
  const others = await database().query(
    `select id from public.properties where listed and kind = 'stable' and area_id = 'salmiya'`,
  )
  expect(fewer.slice(0, 2)).toEqual(near.slice(9))
  if (others.rowCount! <= 10) expect(fewer).toContain(elsewhere)
})

test('of an account two are similar, as whichever identity, however many it has there', async () => {
  const [flooder, other] = [await signUp(), await signUp()]
  const there = { kind: 'chalet', area_id: 'nuwaiseeb', governorate_id: 'ahmadi' }
  const price = Math.round(uniquePrice())
  const own = await insertListing(other.identityId, { ...there, price })
  const company = await insertOrganisation(flooder.id)
  const flood: string[] = []
  for (let nth = 1; nth <= 15; nth++) {
    for (const side of [nth, -nth]) {
      flood.push(
        await insertListing(nth % 2 ? flooder.identityId : company, {
          ...there,
          owner_type: nth % 2 ? 'individual' : 'company',
          price: price + side,
        }),
      )
    }
  }
  const far = await insertListing((await signUp()).identityId, { ...there, price: price + 100 })
  const found = ids((await guest.get(`/properties/${own}/similar`)).body.items)
  expect(found.filter((id) => flood.includes(id))).toHaveLength(2)
  expect(found.slice(0, 2).toSorted()).toEqual(flood.slice(0, 2).toSorted())
  expect(found).toContain(far)
})

test('an exchange without a price has similar ones too', async () => {
  const seller = await signUp()
  const fields = { type: 'EXCHANGE', kind: 'industrial_plot', areaId: 'wafra' }
  const { id } = await publishListing(seller, fields)
  const other = await publishListing(seller, fields)
  expect(ids((await guest.get(`/properties/${id}/similar`)).body.items)).toContain(other.id)
})

test('a viewer counts once a day; the owner and guests do not', async () => {
  const [seller, viewer, another] = [await signUp(), await signUp(), await signUp()]
  const { id } = await publishListing(seller)
  for (const person of [seller, viewer, viewer, another, guest]) {
    await person.get(`/properties/${id}`)
  }
  await job('count_views')
  await job('count_views')
  const count = async () => (await guest.get(`/properties/${id}`)).body.viewsCount
  await expect.poll(count).toBe(2) // the stack's own job may have been a moment faster

  await database().query(
    `update private.property_views set day = day - 1 where property_id = $1`,
    [id],
  )
  await viewer.get(`/properties/${id}`)
  await job('count_views')
  await expect.poll(count).toBe(3)
  expect((await guest.get(`/properties/${id}`)).body.version).toBe(1)
  await database().query(
    `update private.property_views set day = day - 1 where property_id = $1`,
    [id],
  )
  await job('count_views')
  await job('purge_views')
  const left = async () =>
    (await database().query('select from private.property_views where property_id = $1', [id]))
      .rowCount
  await expect.poll(left).toBe(1)
})

test('a contact gives the number asked for and is a lead of the owner, once a day', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const phone = `+965${newPhone()}`
  await givePhone(seller, phone)
  const listing = await publishListing(seller)
  const ask = (kind: string) => buyer.post(`/properties/${listing.id}/contact`, { kind })

  expect(JSON.stringify(listing)).not.toContain(phone.slice(4))
  expect(await ask('call')).toMatchObject({ status: 200, body: { phone } })
  expect(await ask('call')).toMatchObject({ status: 200, body: { phone } })
  expect((await ask('whatsapp')).body).toEqual({ whatsappUrl: `https://wa.me/${phone.slice(1)}` })
  const { body: { conversationId } } = await ask('chat')
  await sendMessageAs(buyer, conversationId)
  const { rows } = await database().query(
    `select kind, identity_id, owner_identity_id from public.leads where property_id = $1
     order by kind`,
    [listing.id],
  )
  const lead = { identity_id: buyer.identityId, owner_identity_id: seller.identityId }
  expect(rows).toEqual(['call', 'chat', 'whatsapp'].map((kind) => ({ kind, ...lead })))
})

test('an organisation is reached at its own numbers', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  await givePhone(seller)
  const office = await insertOrganisation(seller.id, 'office')
  await database().query(
    `update public.organisations set phone = '+96522223333', whatsapp = '+96599998888'
     where identity_id = $1`,
    [office],
  )
  const id = await insertListing(office)
  expect((await buyer.post(`/properties/${id}/contact`, { kind: 'call' })).body)
    .toEqual({ phone: '+96522223333' })
  expect((await buyer.post(`/properties/${id}/contact`, { kind: 'whatsapp' })).body)
    .toEqual({ whatsappUrl: 'https://wa.me/96599998888' })
})

test('a contact kind that the owner does not offer is refused, naming those open', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const refused = (from: string, allowed: string[]) => ({
    status: 409,
    body: { error: { code: 'property_state_conflict', from, allowed } },
  })
  await givePhone(seller)
  const { id } = await publishListing(seller, { allowChat: false })
  const ask = (kind: string) => buyer.post(`/properties/${id}/contact`, { kind })
  expect(await ask('chat')).toMatchObject(refused('active', ['call', 'whatsapp']))
  await seller.patch(`/properties/${id}`, { allowCall: false })
  expect(await ask('call')).toMatchObject(refused('active', ['whatsapp']))
  expect((await ask('whatsapp')).status).toBe(200)

  await seller.post(`/properties/${id}/mark-sold`)
  expect(await ask('whatsapp')).toMatchObject(refused('sold', []))
  for (const kind of ['sms', 'CALL', '', null, 1]) {
    expect((await buyer.post(`/properties/${id}/contact`, { kind })).status).toBe(422)
  }
})

test('nobody is a lead of their own, in whichever identity', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller)
  const own = { status: 422, body: { error: { code: 'validation_failed' } } }
  expect(await seller.post(`/properties/${id}/contact`, { kind: 'chat' })).toMatchObject(own)
  const company = await insertOrganisation(seller.id)
  await seller.post('/auth/identity/switch', { identityId: company })
  expect(await seller.post(`/properties/${id}/contact`, { kind: 'chat' })).toMatchObject(own)
})

test('listings go and come back with the account and the identity of their owner', async () => {
  const [seller, viewer] = [await signUp(), await signUp()]
  const office = await insertOrganisation(seller.id, 'office')
  const [own, theirs] = [await insertListing(seller.identityId), await insertListing(office)]
  const sold = await insertListing(office, { status: 'sold', closed_at: new Date() })
  const seen = async () =>
    await Promise.all(
      [own, theirs, sold].map(async (id) => (await viewer.get(`/properties/${id}`)).status === 200),
    )
  const count = async () =>
    (await database().query(
      'select active_listings_count as n from public.organisations where identity_id = $1',
      [office],
    )).rows[0].n
  const account = (status: string) =>
    database().query('update public.accounts set status = $2 where id = $1', [seller.id, status])
  const identity = (status: string) =>
    database().query('update public.identities set status = $2 where id = $1', [office, status])

  expect([await seen(), await count()]).toEqual([[true, true, true], 1])
  for (const state of ['suspended', 'banned']) {
    await account(state)
    expect([await seen(), await count()]).toEqual([[false, false, false], 0])
    await account('active')
    expect([await seen(), await count()]).toEqual([[true, true, true], 1])
  }
  for (const state of ['suspended', 'expired', 'rejected']) {
    await identity(state)
    expect([await seen(), await count()]).toEqual([[true, false, false], 0])
    await identity('active')
    expect([await seen(), await count()]).toEqual([[true, true, true], 1])
  }
})

test('an organisation that is no longer verified shows so on its listings', async () => {
  const seller = await signUp()
  const company = await insertOrganisation(seller.id)
  const id = await insertListing(company)
  for (const verified of [false, true]) {
    await database().query(
      'update public.organisations set verified = $2 where identity_id = $1',
      [company, verified],
    )
    expect((await guest.get(`/properties/${id}`)).body.owner).toMatchObject({ verified })
  }
})

test('listings of a deleted account are deleted, and nothing of the person stays in them', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller, {
    street: 'شارع المطر',
    paciNo: '12345678',
    location: { lat: 29.33, lng: 48.07, precision: 'exact' },
    descriptionAr: 'اتصل على سالم',
  })
  await database().query('select private.anonymise_account($1)', [seller.id])
  expect((await guest.get(`/properties/${id}`)).status).toBe(404)
  const { rows } = await database().query(
    `select status, title_ar, description_ar, street, paci_no, lat, listed
     from public.properties where id = $1`,
    [id],
  )
  expect(rows).toEqual([{
    status: 'deleted',
    title_ar: null,
    description_ar: null,
    street: null,
    paci_no: null,
    lat: null,
    listed: false,
  }])
})

test('an organisation publishes and pauses many listings at once: each is counted, or asked for again', async () => {
  const seller = await signUp()
  const company = await insertOrganisation(seller.id)
  await seller.post('/auth/identity/switch', { identityId: company })
  /** Returns the successful responses. A request that waited too long for the others gets a 503. */
  const done = async (status: number, replies: Promise<Reply>[]) => {
    const all = await Promise.all(replies)
    const refused = all.filter((reply) => reply.status !== status)
    for (const reply of refused) expect(reply).toMatchObject(refusal(503, 'service_unavailable'))
    return all.filter((reply) => reply.status === status).map(({ body }) => body)
  }
  const listing = { ...completeFields.SALE, publish: true }
  const made = await done(
    201,
    Array.from({ length: 20 }, () => seller.post('/properties', listing)),
  )
  const paused = await done(
    200,
    made.slice(0, 8).map(({ id }) => seller.post(`/properties/${id}/pause`)),
  )
  const { rows } = await database().query(
    'select active_listings_count as count from public.organisations where identity_id = $1',
    [company],
  )
  expect([made, paused].map(({ length }) => length)).not.toContain(0)
  expect(rows[0].count).toBe(made.length - paused.length)
})
