// LOAD-05: an account's rate limits are the same through the facade and the Data API. Tests insert most hits
// (counted requests) in SQL and send only the last requests. For messages see test/chat/rates.alone.test.ts.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { asCaller, database, newEmail, type Person, signUp } from '../support/client.ts'
import { signUpByPhone } from '../support/codes.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { givePlan } from '../support/plans.ts'
import { deadlocks, race } from '../support/races.ts'
import { ageHits, hitsOf, plantHits } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { uploadAvatar, uploadPictures } from '../support/uploads.ts'
import { postMessage } from '../support/conversations.ts'
import { givePhone, insertListing, proveEmail } from '../support/fixtures.ts'
import { startFacade, testLocally } from '../support/facade.ts'
import { callDataApi } from '../support/data-api.ts'
import { expectRateLimited, limited, rateLimitOf } from '../support/rate-limits.ts'

withRates({
  favorites: 120,
  messages: 60,
  reports: 30,
  listings: 300,
  publications: 60,
  price_changes: 30,
  uploads: 60,
  contact: 30,
  contact_unproven: 5,
  contact_unproven_address: 30,
  conversations: 60,
  conversations_unproven: 5,
  export: 5,
})

describe('LOAD-05 favorites', () => {
  const toggle = (person: Person, id: string) => person.post(`/favorites/${id}`)

  test('120 a minute through both doors; then the stated wait applies', async () => {
    const person = await signUp()
    const id = await insertListing((await signUp()).identityId)
    const first = await toggle(person, id)
    expect(first.status).toBe(200)
    expect(rateLimitOf(first).slice(0, 2)).toEqual([120, 119])
    await plantHits('favorites', person.id, 118)
    expect(rateLimitOf(await toggle(person, id))[1]).toBe(1)
    expect((await callDataApi(person, 'toggle_favorite', { property_id: id })).status).toBe(200)
    const refused = await toggle(person, id)
    expectRateLimited(
      refused,
      120,
      60,
      await callDataApi(person, 'toggle_favorite', { property_id: id }),
    )
    expect((await person.get(`/favorites/check/${id}`)).body).toBe(true)
    await ageHits(refused.body.error.retryAfter, person.id)
    expect((await toggle(person, id)).body).toMatchObject({ isFavorite: false })
  })

  test('of 200 at once exactly 120 pass, and the final state is theirs', async () => {
    const person = await signUp()
    const id = await insertListing((await signUp()).identityId)
    const statuses = (await race(Array.from({ length: 200 }, () => ({
      method: 'POST',
      path: `/favorites/${id}`,
      headers: [['authorization', `Bearer ${person.accessToken}`]] as [string, string][],
    })))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(120)
    expect(statuses.filter((status) => status === 429)).toHaveLength(80)
    expect((await person.get(`/favorites/check/${id}`)).body).toBe(false)
  })

  test('a toggle that is refused, or rolled back by the Data API, is not counted', async () => {
    const person = await signUp()
    const id = await insertListing((await signUp()).identityId)
    expect((await toggle(person, randomUUID())).status).toBe(404)
    expect((await callDataApi(person, 'toggle_favorite', { property_id: randomUUID() })).status)
      .toBe(404)
    const cast = '?select=propertyId::int'
    expect((await callDataApi(person, 'toggle_favorite', { property_id: id }, cast)).status)
      .toBeGreaterThanOrEqual(400)
    expect(await hitsOf('favorites', person.id)).toBe(0)
    expect((await person.get(`/favorites/check/${id}`)).body).toBe(false)
  })

  test('concurrent toggles and identity switches never deadlock', async () => {
    const person = await signUp()
    const id = await insertListing((await signUp()).identityId)
    const before = await deadlocks()
    const bearer: [string, string] = ['authorization', `Bearer ${person.accessToken}`]
    const expecting: [string, string] = ['x-expect-identity', person.identityId]
    const path = `/favorites/${id}`
    const body = { identityId: person.identityId }
    const replies = await race(
      Array.from({ length: 20 }, () => [
        { method: 'POST', path, headers: [bearer] },
        { method: 'POST', path, headers: [bearer, expecting] },
        { path: '/auth/identity/switch', body, headers: [bearer] },
      ]).flat(),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await deadlocks()).toBe(before)
  })
})

test('LOAD-05 reports: 30 a day through both doors', async () => {
  const person = await signUp()
  const things = await Promise.all(
    Array.from({ length: 3 }, async () => insertListing((await signUp()).identityId)),
  )
  const report = (targetId: string) =>
    person.post('/reports', { targetType: 'property', targetId, reason: 'spam' })
  const atDataApi = (target_id: string) =>
    callDataApi(person, 'add_report', { target_type: 'property', target_id, reason: 'spam' })
  await plantHits('reports', person.id, 28)
  expect((await report(things[0]!)).status).toBe(201)
  expect((await report(things[0]!)).status).toBe(409)
  expect((await atDataApi(things[1]!)).status).toBe(200)
  expectRateLimited(await report(things[2]!), 30, 86_400, await atDataApi(things[2]!))
})

describe('LOAD-05 listings', () => {
  test('300 created an hour, also past the facade; refused ones are not counted', async () => {
    const person = await signUp()
    await plantHits('listings', person.id, 298)
    expect((await person.post('/properties', { type: 'SALE', price: 0.0001 })).status).toBe(422)
    const made = await person.post('/properties', { type: 'SALE' })
    expect(rateLimitOf(made).slice(0, 2)).toEqual([300, 1])
    expect((await person.post('/properties', { type: 'SALE' })).status).toBe(201)
    expectRateLimited(await person.post('/properties', { type: 'SALE' }), 300, 3600)
    const past = asCaller(
      person,
      (client) => client.query(`select api.create_property('{"type":"SALE"}')`),
    )
    await expect(past).rejects.toMatchObject({ code: 'PT429' })
  })

  test('60 published, renewed or resumed an hour in total, through both doors', async () => {
    const person = await signUp()
    await givePlan(person.identityId, 'plus')
    await plantHits('publications', person.id, 56)
    const { id } = await publishListing(person)
    const change = (name: string) => person.post(`/properties/${id}/${name}`)
    expect((await change('publish')).status).toBe(409)
    expect((await change('pause')).status).toBe(200)
    expect(rateLimitOf(await change('resume')).slice(0, 2)).toEqual([60, 2])
    expect((await change('pause')).status).toBe(200)
    expect(
      (await callDataApi(person, 'act_on_property', { property_id: id, action: 'resume' })).status,
    ).toBe(200)
    await database().query(
      `update public.properties set status = 'expired', expires_at = now() - interval '1 day'
       where id = $1`,
      [id],
    )
    expect((await change('renew')).status).toBe(200)
    expect((await change('pause')).status).toBe(200)
    const refused = await change('resume')
    expectRateLimited(
      refused,
      60,
      3600,
      await callDataApi(person, 'act_on_property', { property_id: id, action: 'resume' }),
    )
    expect(await person.post('/properties', { ...completeFields.SALE, publish: true }))
      .toMatchObject(limited)
    const { id: other } = await createDraft(person, completeFields.SALE)
    expect(await person.post(`/properties/${other}/publish`)).toMatchObject(limited)
    expect((await person.get('/properties/mine')).body.items).toHaveLength(2)
  })

  test('a plan with more listings may publish as many', async () => {
    const person = await signUp()
    await givePlan(person.identityId, 'company')
    await plantHits('publications', person.id, 248)
    const { id } = await publishListing(person)
    const change = (name: string) => person.post(`/properties/${id}/${name}`)
    expect((await change('pause')).status).toBe(200)
    expect(rateLimitOf(await change('resume')).slice(0, 2)).toEqual([250, 0])
    expect((await change('pause')).status).toBe(200)
    expectRateLimited(await change('resume'), 250, 3600)
  })

  test('the price that a listing shows changes 30 times a day, its other fields more often', async () => {
    const person = await signUp()
    const [listing, other] = [
      await publishListing(person, { price: 1000 }),
      await publishListing(person, { price: 1000 }),
    ]
    const path = `/properties/${listing.id}`
    await plantHits('price_changes', listing.id, 28)
    for (const price of [1001, 1002]) {
      expect((await person.patch(path, { price })).status).toBe(200)
    }
    const refused = await person.patch(path, { price: 1003, bedrooms: 4 })
    expectRateLimited(refused, 30, 86_400)
    await expect(
      asCaller(
        person,
        (client) => client.query(`select api.update_property($1, '{"price":1003}')`, [listing.id]),
      ),
    )
      .rejects.toMatchObject({ code: 'PT429' })
    expect(refused.body.error.fields).toMatchObject([{ path: 'price', code: 'rate_limited' }])
    // The refused request changed nothing. Other fields and other listings may still be changed, and the same
    // price may be sent.
    expect((await person.patch(path, { price: 1002, bedrooms: 3 })).body)
      .toMatchObject({ price: 1002, bedrooms: 3 })
    expect((await person.patch(`/properties/${other.id}`, { price: 1001 })).status).toBe(200)
    const act = (name: string) => person.post(`${path}/${name}`)
    for (const name of ['archive', 'restore']) expect((await act(name)).status).toBe(200)
    expect((await person.patch(path, { price: 900 })).status).toBe(200)
    expect((await act('publish')).body.error)
      .toMatchObject({ code: 'rate_limited', fields: [{ path: 'price' }] })
    expect((await person.patch(path, { price: 1002 })).status).toBe(200)
    expect((await act('publish')).status).toBe(200)
    // Refused changes are not counted. When the oldest change is a day old, another change is allowed.
    expect(await hitsOf('price_changes', listing.id)).toBe(30)
    await ageHits(refused.body.error.retryAfter, listing.id)
    expect((await person.patch(path, { price: 1003 })).status).toBe(200)
  })
})

const ask = (person: Person, id: string, kind = 'call') =>
  person.post(`/properties/${id}/contact`, { kind })

describe('CHAT-17 conversations opened anew', () => {
  const listings = async (owner: Person, count: number) =>
    await Promise.all(Array.from({ length: count }, () => insertListing(owner.identityId)))
  const open = (person: Person, propertyId: string) => person.post('/conversations', { propertyId })

  test('5 a day that nobody has answered, 60 where phone or email is proven', async () => {
    const [person, owner] = [await signUp(), await signUp()]
    const ids = await listings(owner, 8)
    const [first, ...others] = await Promise.all(ids.slice(0, 5).map((id) => open(person, id)))
    for (const { status } of [first!, ...others]) expect(status).toBe(201)
    const more = ids[5]!
    const refused = await open(person, more)
    expectRateLimited(
      refused,
      5,
      86_400,
      await callDataApi(person, 'create_conversation', { property_id: more }),
    )
    expectRateLimited(await ask(person, more, 'chat'), 5, 86_400)
    expect((await open(person, ids[0]!)).status).toBe(200)
    const own = await insertListing(person.identityId)
    const theirs = await open(owner, own)
    expect(await person.post('/conversations', { propertyId: own, identityId: owner.identityId }))
      .toMatchObject({ status: 200, body: { id: theirs.body.id } })
    // A reply from the other person allows another conversation; the caller's own messages do not.
    const write = (who: Person) => postMessage(who, first!.body.id)
    expect((await write(person)).status).toBe(201)
    expect((await open(person, more)).status).toBe(429)
    expect((await write(owner)).status).toBe(201)
    expect((await ask(person, more, 'chat')).status).toBe(200)
    expect((await open(person, ids[6]!)).status).toBe(429)
    await database().query(
      `update public.conversations set created_at = created_at - make_interval(secs => $2)
       where opened_by = $1`,
      [person.id, refused.body.error.retryAfter],
    )
    expect((await open(person, ids[6]!)).status).toBe(201)
    await database().query(
      'update public.conversations set created_at = now() where opened_by = $1',
      [
        person.id,
      ],
    )
    expect((await open(person, ids[7]!)).status).toBe(429)
    await proveEmail(person)
    expect((await open(person, ids[7]!)).status).toBe(201)
    expect(await hitsOf('contact', person.id)).toBe(0)
  })

  test('of 20 at once an unproven account opens 5', async () => {
    const [person, owner] = [await signUp(), await signUp()]
    const replies = await race((await listings(owner, 20)).map((propertyId) => ({
      path: '/conversations',
      body: { propertyId },
      headers: [['authorization', `Bearer ${person.accessToken}`]] as [string, string][],
    })))
    expect(replies.map(({ status }) => status).sort())
      .toEqual([...Array(5).fill(201), ...Array(15).fill(429)])
  })
})

describe('LOAD-05 what cannot be taken back', () => {
  test('5 numbers a day for an unproven account, 30 for others, refused ones too', async () => {
    const owner = await signUpByPhone()
    const id = await insertListing(owner.identityId, { allow_whatsapp: false })
    const person = await signUp()
    expect((await ask(person, randomUUID())).status).toBe(404)
    const answers = []
    for (let times = 0; times < 4; times++) answers.push(await ask(person, id))
    expect(answers.map((answer) => rateLimitOf(answer).slice(0, 2)))
      .toEqual([3, 2, 1, 0].map((left) => [5, left]))
    expectRateLimited(await ask(person, id), 5, 86_400)
    // A request for an unavailable means of contact is refused and not counted, and a conversation does not
    // count as a shown number.
    expect((await ask(person, id, 'whatsapp')).body.error)
      .toMatchObject({ code: 'property_state_conflict', allowed: ['call', 'chat'] })
    expect((await ask(person, id, 'chat')).status).toBe(200)
    await proveEmail(person)
    expect(rateLimitOf(await ask(person, id)).slice(0, 2)).toEqual([30, 24])
    expect(await hitsOf('contact', person.id)).toBe(6)
    await plantHits('contact', person.id, 30)
    expectRateLimited(await ask(person, id), 30, 86_400)
    // Registering by phone proves the phone, so the owner has the higher limit.
    await givePhone(person)
    expect(rateLimitOf(await ask(owner, await insertListing(person.identityId)))[0]).toBe(30)
    expect(
      (await callDataApi(person, 'contact_property', { property_id: id, kind: 'call' })).status,
    )
      .toBe(404)
  })

  testLocally('30 numbers an hour to all unproven accounts behind one address', async () => {
    const functions = await startFacade()
    try {
      const id = await insertListing((await signUpByPhone()).identityId)
      const [one, two, proven] = [await signUp(), await signUp(), await signUpByPhone()]
      const address = '192.0.2.9'
      const askFrom = (person: Person, at = address) =>
        functions.post(`/properties/${id}/contact`, { kind: 'call' }, {
          authorization: `Bearer ${person.accessToken}`,
          'x-forwarded-for': at,
        })
      await plantHits('contact_unproven_address', address, 29)
      expect(rateLimitOf(await askFrom(one)).slice(0, 2)).toEqual([5, 4])
      for (const person of [one, two]) expectRateLimited(await askFrom(person), 30, 3600)
      expect(await hitsOf('contact', two.id)).toBe(0)
      expect((await askFrom(proven)).status).toBe(200)
      expect(rateLimitOf(await askFrom(two, '192.0.2.10')).slice(0, 2)).toEqual([5, 4])
      await plantHits('contact', one.id, 5)
      expectRateLimited(await askFrom(one, '192.0.2.11'), 5, 86_400)
      expect(await hitsOf('contact_unproven_address', '192.0.2.11')).toBe(0)
    } finally {
      await functions.stop()
    }
  })

  test('of 20 numbers at once an unproven account gets 5', async () => {
    const id = await insertListing((await signUpByPhone()).identityId)
    const person = await signUp()
    const replies = await race(Array.from({ length: 20 }, () => ({
      path: `/properties/${id}/contact`,
      body: { kind: 'call' },
      headers: [['authorization', `Bearer ${person.accessToken}`]] as [string, string][],
    })))
    expect(replies.map(({ status }) => status).sort())
      .toEqual([...Array(5).fill(200), ...Array(15).fill(429)])
  })

  test('5 exports a day', async () => {
    const person = await signUp()
    await plantHits('export', person.id, 4)
    expect(rateLimitOf(await person.get('/auth/me/export')).slice(0, 2)).toEqual([5, 0])
    expectRateLimited(await person.get('/auth/me/export'), 5, 86_400)
    expect((await callDataApi(person, 'export_account', {})).status).toBe(404)
  })

  test('60 uploads an hour, counted when they begin, refused ones too', async () => {
    const person = await signUp()
    await plantHits('uploads', person.id, 57)
    const picture = jpeg({ width: 8, height: 8 })
    const unknown = { propertyId: randomUUID() }
    expect((await uploadPictures(person, [picture], unknown)).status).toBe(404)
    expect((await uploadPictures(person, [Buffer.from('no picture')])).status).toBe(422)
    expect((await uploadAvatar(person, picture)).status).toBe(201)
    expectRateLimited(await uploadAvatar(person, picture), 60, 3600)
    expect((await callDataApi(person, 'begin_upload', { bucket: 'avatars' })).status).toBe(404)
  })
})

testLocally(
  'refused writes are counted in the worker, per account and address',
  async () => {
    const functions = await startFacade({ REFUSAL_RATE: '5' })
    try {
      const [one, two] = await Promise.all([signUp(), signUp()])
      const id = await insertListing(two.identityId)
      const as = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })
      const post = (path: string, person: Person) => functions.post(path, undefined, as(person))
      for (let done = 0; done < 7; done++) {
        expect((await post(`/favorites/${id}`, one)).status).toBe(200)
      }
      for (let refused = 0; refused < 5; refused++) {
        expect((await post(`/favorites/${randomUUID()}`, one)).status).toBe(404)
      }
      for (const path of [`/favorites/${randomUUID()}`, `/favorites/${id}`]) {
        const refused = await post(path, one)
        expect(refused).toMatchObject(limited)
        expect(rateLimitOf(refused).slice(0, 2)).toEqual([5, 0])
        expect(refused.headers.get('retry-after')).toBe(refused.headers.get('ratelimit-reset'))
      }
      expect((await post(`/favorites/${id}`, two)).status).toBe(200)
      expect((await functions.get('/auth/me', as(one))).status).toBe(200)
      // Guests are counted by IP address; a search by POST is a read; a provider's webhooks are always
      // processed.
      const from = { 'x-forwarded-for': '192.0.2.7' }
      const toggle = `/favorites/${id}`
      const statuses = []
      for (let times = 0; times < 6; times++) {
        statuses.push((await functions.post(toggle, undefined, from)).status)
      }
      expect(statuses).toEqual([...Array(5).fill(401), 429])
      // The database counts sign-ins, so that people who share an IP address do not block each other.
      const login = { identifier: newEmail(), password: 'wrong one' }
      expect((await functions.post('/auth/login', login, from)).status).toBe(401)
      const search = (by: object) => functions.post('/search/advanced', by, from)
      expect((await search({ strategy: 'none' })).status).toBe(422)
      expect((await search({ strategy: 'standard' })).status).toBe(200)
      expect((await functions.post('/payments/webhook', {}, from)).status).toBe(401)
      expect(
        (await functions.post(toggle, undefined, { 'x-forwarded-for': '192.0.2.8' })).status,
      )
        .toBe(401)
    } finally {
      await functions.stop()
    }
  },
)
