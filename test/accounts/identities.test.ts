import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { database, guest, type Person, signIn, signUp } from '../support/client.ts'
import { race } from '../support/races.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { actAs, actingOf, company, setStatus } from '../support/identities.ts'
import { fieldRefusal, problemOf, refusal } from '../support/problems.ts'

let person: Person
beforeEach(async () => {
  person = await signUp('سالم العنزي')
})

const missing = refusal(404, 'identity_not_found')
const notUsable = {
  status: 403,
  body: { error: { code: 'identity_not_usable', message: 'هذه الهوية غير مفعّلة حالياً' } },
}

const switchTo = (identityId: unknown, who = person) => actAs(who, identityId)

test('IDN-01 only an own and active identity can be switched to', async () => {
  const other = await signUp()
  const pending = (await person.post('/auth/identities', company())).body.id
  const suspended = await insertOrganisation(person.id)
  await setStatus(suspended, 'suspended')

  const anothers = await switchTo(other.identityId)
  expect(anothers).toMatchObject(missing)
  expect(problemOf(await switchTo(randomUUID()))).toEqual(problemOf(anothers))
  for (const status of ['suspended', 'rejected', 'expired', 'closed']) {
    await setStatus(suspended, status)
    expect(await switchTo(suspended)).toMatchObject(notUsable)
  }
  expect(await switchTo(pending)).toMatchObject(notUsable)
  const malformed = ['', 'me', `{${person.identityId}}`, [suspended, pending], 7, null, undefined]
  for (const id of malformed) {
    expect(await switchTo(id)).toMatchObject(fieldRefusal(422, 'validation_failed', 'identityId'))
  }
  expect(await person.post('/auth/identity/switch')).toMatchObject({ status: 422 })
  expect(await guest.post('/auth/identity/switch', { identityId: person.identityId }))
    .toMatchObject(refusal(401, 'token_missing'))
  expect(await actingOf(person.id)).toBe(person.identityId)
})

test('switching changes who all devices of the account act as, and no token', async () => {
  const office = await insertOrganisation(person.id, 'office')
  const device = await signIn(person.identifier, person.password)
  const { status, body } = await switchTo(office)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    user: { id: person.id },
    activeIdentity: { id: office, type: 'office', status: 'active' },
  })
  expect(body.identities.map(({ id }: { id: string }) => id)).toEqual([person.identityId, office])
  for (const who of [person, device]) {
    expect((await who.get('/auth/me')).body.activeIdentity).toMatchObject({ id: office })
  }
  expect(await switchTo(office)).toMatchObject({ status: 200 })
  const { body: fresh } = await guest.post('/auth/refresh', { refreshToken: person.refreshToken })
  expect(fresh.activeIdentity).toMatchObject({ id: office })
})

test('IDN-02 what belongs to an identity follows the acting one', async () => {
  const office = await insertOrganisation(person.id, 'office')
  const mine = await insertListing(person.identityId, { title_ar: 'بيت لي وحدي' })
  const theirs = await insertListing(office, { owner_type: 'office', title_ar: 'شقة للمكتب' })
  const ids = async () =>
    (await person.get('/properties/mine')).body.items.map(({ id }: { id: string }) => id)
  expect(await ids()).toEqual([mine])
  await switchTo(office)
  expect(await ids()).toEqual([theirs])
  await switchTo(person.identityId)
  expect(await ids()).toEqual([mine])
})

test('IDN-03 favorites belong to the acting identity', async () => {
  const seller = await signUp()
  const [one, two, three] = await Promise.all(
    [1, 2, 3].map(() => insertListing(seller.identityId)),
  ) as [string, string, string]
  const office = await insertOrganisation(person.id, 'office')
  const seen = async () => {
    const listed = (await person.get('/favorites')).body.items
    const { ids } = (await person.get('/favorites/ids')).body
    expect(listed.map(({ id }: { id: string }) => id)).toEqual(ids)
    for (const id of [one, two, three]) {
      const saved = ids.includes(id)
      expect((await person.get(`/favorites/check/${id}`)).body).toEqual(saved)
      expect((await person.get(`/properties/${id}`)).body.isFavorite).toBe(saved)
    }
    return new Set(ids)
  }
  await person.post(`/favorites/${one}`)
  await person.post(`/favorites/${two}`)
  await switchTo(office)
  expect(await seen()).toEqual(new Set())
  await person.post(`/favorites/${three}`)
  expect(await seen()).toEqual(new Set([three]))
  await switchTo(person.identityId)
  expect(await seen()).toEqual(new Set([one, two]))

  const { rows } = await database().query(
    `select identity_id, array_agg(property_id::text order by property_id) as ids
     from public.favorites where identity_id = any ($1) group by 1`,
    [[person.identityId, office]],
  )
  expect(Object.fromEntries(rows.map(({ identity_id, ids }) => [identity_id, ids]))).toEqual({
    [person.identityId]: [one, two].sort(),
    [office]: [three],
  })
})

test('IDN-04 two hundred switches, reads and toggles at once mix nothing', async () => {
  const seller = await signUp()
  const office = await insertOrganisation(person.id, 'office')
  const other = await signIn(person.identifier, person.password)
  const [a, b, toggled] = await Promise.all(
    [1, 2, 3].map(() => insertListing(seller.identityId)),
  ) as [string, string, string]
  await person.post(`/favorites/${a}`)
  await switchTo(office)
  await person.post(`/favorites/${b}`)

  const shots = Array.from({ length: 200 }, (_, i) => {
    const { accessToken } = i % 2 ? person : other
    const headers: [string, string][] = [['Authorization', `Bearer ${accessToken}`]]
    const kind = Math.floor(i / 2) % 4
    const path = [
      '/auth/identity/switch',
      '/auth/identity/switch',
      '/favorites/ids',
      `/favorites/${toggled}`,
    ][kind]!
    const body = kind < 2 ? { identityId: kind ? office : person.identityId } : undefined
    return { method: kind === 2 ? 'GET' : 'POST', path, body, headers }
  })
  const replies = await race(shots)
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))

  let accepted = 0
  for (const [i, { body }] of replies.entries()) {
    const { path, method } = shots[i]!
    if (path === '/auth/identity/switch') {
      expect(body.activeIdentity?.id).toSatisfy((id) => [person.identityId, office].includes(id))
    } else if (method === 'POST') accepted++
    else {
      const fixed = body.ids.filter((id: string) => id !== toggled)
      expect([[a], [b]]).toContainEqual(fixed)
    }
  }
  const { rows } = await database().query(
    'select identity_id from public.favorites where property_id = $1',
    [toggled],
  )
  expect(rows.length % 2).toBe(accepted % 2)
  const ends = [await person.get('/auth/me'), await other.get('/auth/me')]
  expect(ends[0]!.body.activeIdentity).toEqual(ends[1]!.body.activeIdentity)
  expect([person.identityId, office]).toContain(ends[0]!.body.activeIdentity.id)
})

test('IDN-05 no request chooses whom it acts as', async () => {
  const seller = await signUp()
  const property = await insertListing(seller.identityId)
  const office = await insertOrganisation(person.id, 'office')
  for (const identityId of [seller.identityId, office]) {
    const headers = { 'x-identity-id': identityId, 'x-active-identity': identityId }
    expect(await person.post(`/favorites/${property}`, undefined, { headers }))
      .toMatchObject({ status: 200 })
    expect((await person.get('/favorites/ids')).body.ids).toEqual([property])
    for (const name of ['identityId', 'identity_id', 'owner_identity_id']) {
      expect(await person.post(`/favorites/${property}`, { [name]: identityId }))
        .toMatchObject({ status: 422 })
      expect(await person.get(`/favorites/ids?${name}=${identityId}`)).toMatchObject({
        status: 422,
      })
    }
    expect(await person.get(`/favorites?identity=${identityId}`)).toMatchObject({ status: 422 })
    await person.post(`/favorites/${property}`)
  }
  const { rows } = await database().query(
    'select from public.favorites where identity_id = any ($1)',
    [[seller.identityId, office]],
  )
  expect(rows).toEqual([])
})

test('X-Expect-Identity only states which identity the client believes is acting', async () => {
  const office = await insertOrganisation(person.id, 'office')
  const property = await insertListing((await signUp()).identityId)
  const toggle = (id: string) =>
    person.post(`/favorites/${property}`, undefined, { headers: { 'x-expect-identity': id } })
  const changed = {
    status: 409,
    body: {
      error: {
        code: 'identity_changed',
        message: 'تم تغيير الهوية النشطة من جهاز آخر، أعد المحاولة',
      },
    },
  }
  for (const id of [office, randomUUID()]) expect(await toggle(id)).toMatchObject(changed)
  expect((await person.get('/favorites/ids')).body.ids).toEqual([])
  expect(await toggle(person.identityId)).toMatchObject({ status: 200 })
  expect(await toggle(person.identityId.toUpperCase())).toMatchObject({ status: 200 })
  expect(await toggle('me')).toMatchObject(
    fieldRefusal(422, 'validation_failed', 'X-Expect-Identity'),
  )
  await switchTo(office)
  expect(await toggle(person.identityId)).toMatchObject(changed)
})

test('IDN-06 a removed identity no longer acts, and nobody acts in its place', async () => {
  const office = await insertOrganisation(person.id, 'office')
  const property = await insertListing((await signUp()).identityId)
  await switchTo(office)
  await setStatus(office, 'suspended')

  expect(await actingOf(person.id)).toBeNull()
  expect(await person.get('/favorites/ids')).toMatchObject(notUsable)
  expect(await person.post(`/favorites/${property}`)).toMatchObject(notUsable)
  const { body } = await person.get('/auth/me')
  expect(body.activeIdentity).toBeNull()
  expect(body.identities).toMatchObject([{ status: 'active' }, { id: office, status: 'suspended' }])
  const { rows } = await database().query('select from public.favorites where property_id = $1', [
    property,
  ])
  expect(rows).toEqual([])

  const again = await signIn(person.identifier, person.password)
  const me = (await again.get('/auth/me')).body
  expect(me.activeIdentity).toMatchObject({ id: person.identityId, status: 'active' })
  expect(me.identities[1]).toMatchObject({ id: office, status: 'suspended' })
})

test('IDN-06 a refresh takes the individual identity, and a switch any that is active', async () => {
  const [office, shop] = [
    await insertOrganisation(person.id, 'office'),
    await insertOrganisation(person.id),
  ]
  await switchTo(office)
  await setStatus(office, 'expired')
  const { body } = await guest.post('/auth/refresh', { refreshToken: person.refreshToken })
  expect(body.activeIdentity).toMatchObject({ id: person.identityId })

  await setStatus(office, 'active')
  await switchTo(office)
  await setStatus(office, 'rejected')
  expect(await switchTo(office)).toMatchObject(notUsable)
  expect(await switchTo(shop)).toMatchObject({ status: 200 })
  expect(await actingOf(person.id)).toBe(shop)
})

test('the same Idempotency-Key asks for one identity only', async () => {
  const body = company()
  const key = randomUUID()
  const ask = (given: object, who = person) =>
    who.post('/auth/identities', given, { headers: { 'idempotency-key': key } })
  const first = await ask(body)
  expect(first.status).toBe(201)
  const again = await ask(body)
  expect(again.status).toBe(201)
  expect(again.body).toEqual(first.body)
  expect(await ask({ ...body, nameAr: 'شركة أخرى' }))
    .toMatchObject(fieldRefusal(422, 'idempotency_mismatch', 'Idempotency-Key'))
  expect(await ask(company(), await signUp())).toMatchObject({ status: 201 })
  expect((await person.get('/auth/identities')).body.items).toHaveLength(2)

  const shot = {
    path: '/auth/identities',
    body: company(),
    headers: [['Authorization', `Bearer ${person.accessToken}`], [
      'Idempotency-Key',
      'x'.repeat(64),
    ]],
  } as { path: string; body: object; headers: [string, string][] }
  const replies = await race(Array.from({ length: 8 }, () => shot))
  expect(new Set(replies.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
  for (const bad of ['', 'x'.repeat(65), 'é']) {
    const reply = await person.post('/auth/identities', company(), {
      headers: { 'idempotency-key': bad },
    })
    expect(reply, bad).toMatchObject(fieldRefusal(422, 'validation_failed', 'Idempotency-Key'))
  }
})

test('a person changes name and language, and nothing else', async () => {
  const { status, body } = await person.patch('/auth/me', {
    fullName: ' سالم  الرشيدي ',
    language: 'en',
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    user: { fullName: 'سالم الرشيدي', language: 'en' },
    activeIdentity: { displayName: 'سالم الرشيدي' },
  })
  expect((await person.get('/auth/me')).body).toEqual(body)
  expect(await person.patch('/auth/me', {})).toMatchObject({ status: 200, body })
  for (
    const [changes, path] of [
      [{ fullName: 'س' }, 'fullName'],
      [{ language: 'fr' }, 'language'],
      [{ email: 'a@example.com' }, 'email'],
      [{ phone: '51234567' }, 'phone'],
      [{ status: 'active' }, 'status'],
      [{ activeIdentityId: person.identityId }, 'activeIdentityId'],
    ] as const
  ) {
    expect(await person.patch('/auth/me', changes)).toMatchObject(
      fieldRefusal(422, 'validation_failed', path),
    )
  }
})

test('an acting identity always belongs to the account, whatever is written into the table', async () => {
  const other = await signUp()
  const set = database().query('update public.accounts set active_identity_id = $2 where id = $1', [
    person.id,
    other.identityId,
  ])
  await expect(set).rejects.toMatchObject({ code: '23503' })
  const second = database().query(
    `insert into public.identities (account_id, type, status, display_name)
     values ($1, 'individual', 'active', 'سالم')`,
    [person.id],
  )
  await expect(second).rejects.toMatchObject({ code: '23505' })
})

test('an acting identity is active, whatever is written into the tables and at once', async () => {
  const office = await insertOrganisation(person.id, 'office')
  const act = () =>
    database().query('update public.accounts set active_identity_id = $2 where id = $1', [
      person.id,
      office,
    ])
  for (let round = 0; round < 8; round++) {
    await setStatus(office, 'active')
    const [acts] = await Promise.allSettled([act(), setStatus(office, 'suspended')])
    if (acts.status === 'rejected') expect(acts.reason).toMatchObject({ code: '23514' })
    expect(await actingOf(person.id)).not.toBe(office)
    await database().query('update public.accounts set active_identity_id = $2 where id = $1', [
      person.id,
      person.identityId,
    ])
  }
  await expect(act()).rejects.toThrow('An account acts as an identity that is active')
})
