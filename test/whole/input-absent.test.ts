import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { asCaller, request, signUp } from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { conversationBetween } from '../support/conversations.ts'
import { createDraft } from '../support/listings.ts'
import {
  concreteSchema,
  operations,
  requestWith,
  resolve,
  type Schema,
  typeOf,
} from '../support/openapi.ts'

const routes = operations.map((operation) => ({ ...operation, operation }))

/** Returns the refused fields. Signs up a person for each request, because some requests end the session. */
async function refused(method: string, path: string, body: unknown) {
  const { accessToken } = await signUp()
  const headers = { authorization: `Bearer ${accessToken}` }
  return (await request(method, path, body, { headers })).body?.error?.fields
}

const takesNull = (given: Schema): boolean => {
  const schema = resolve(given)
  return [schema.type].flat().includes('null') || (schema.anyOf ?? []).some(takesNull)
}

/** Returns the value with null for each absent field, except fields that null would clear. */
function withNulls(given: Schema, value: unknown): unknown {
  const schema = concreteSchema(given)
  if (Array.isArray(value)) return value.map((one) => withNulls(schema.items ?? {}, one))
  if (!schema.properties || typeof value !== 'object') return value
  const sent = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(schema.properties).flatMap(([name, one]) =>
      sent[name] !== undefined
        ? [[name, withNulls(one, sent[name])]]
        : takesNull(one)
        ? []
        : [[name, null]]
    ),
  )
}

describe('INP-24 null is an absent field wherever it clears nothing', () => {
  const withBody = routes.filter(({ body }) => body && typeOf(body) === 'object')

  test.each(withBody)('$method $path', async ({ operation, method }) => {
    const { path, body } = requestWith(operation)
    const nulls = { ...withNulls(operation.body!, body) as object, unknownToAll: null }
    expect(await refused(method, path, nulls), JSON.stringify(nulls))
      .toEqual(await refused(method, path, body))
  })

  test('a required field that is null is a missing one', async () => {
    expect(await refused('PUT', '/devices', { deviceId: 'a', platform: 'ios', pushToken: null }))
      .toMatchObject([{ path: 'pushToken', code: 'required' }])
  })

  test('nothing changes by it, through the facade and past it', async () => {
    const person = await signUp()
    const { body: profile } = await person.get('/auth/me')
    const { body: settings } = await person.get('/settings')
    const { id, ...before } = await createDraft(person, { type: 'SALE', price: 5 })
    const identityId = await insertOrganisation(person.id)
    const shown = async (path: string, sent: object) => (await person.patch(path, sent)).body
    const past = (call: string, fields: object, ...more: unknown[]) =>
      asCaller(person, async (client) => {
        const { rows } = await client.query(`select to_json(${call}) as answer`, [fields, ...more])
        return rows[0].answer
      })

    const ofProfile = { fullName: null, language: null }
    expect(await shown('/auth/me', ofProfile)).toMatchObject({ user: profile.user })
    await past('api.update_me($1)', ofProfile)

    const ofSettings = {
      language: null,
      notifications: { messages: { push: null }, leads: null },
      privacy: { showPhone: null, whoMayWrite: null },
      marketingConsent: null,
    }
    expect(await shown('/settings', ofSettings)).toEqual(settings)
    expect(await past('api.update_settings($1)', ofSettings)).toEqual(settings)

    const ofListing = { type: null, location: { lat: 29.3, lng: 48, precision: null } }
    const placed = { location: { lat: 29.3, lng: 48, precision: 'block' } }
    for (
      const listing of [
        await shown(`/properties/${id}`, ofListing),
        await past('api.update_property($2, $1)', ofListing, id),
      ]
    ) expect(listing).toMatchObject({ type: before.type, price: 5, ...placed })

    const ofCompany = { nameAr: null, licenceNo: null, licenceExpiresOn: null, phone: null }
    const company = await shown(`/auth/identities/${identityId}`, ofCompany)
    expect(company).toMatchObject({ id: identityId, nameAr: expect.any(String), phone: null })
    expect(await past('api.update_identity($2, $1)', ofCompany, identityId)).toEqual(company)
    expect(await past("private.search('standard', $1)::json", { priceMin: null }))
      .toMatchObject({ items: expect.any(Array) })
  })
})

describe('INP-27 an emptied field is null wherever null clears', () => {
  const emptied = (given: Schema): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(concreteSchema(given).properties ?? {})
        .flatMap(([name, one]) => takesNull(one) ? [[name, '']] : []),
    )
  const clearing = routes.filter(({ body }) => body && Object.keys(emptied(body)).length)

  test('there are such routes', () => {
    expect(clearing.length).toBeGreaterThan(5)
  })

  test.each(clearing)('$method $path', async ({ operation, method }) => {
    const { path, body } = requestWith(operation)
    const texts = emptied(operation.body!)
    const nulls = Object.fromEntries(Object.keys(texts).map((name) => [name, null]))
    expect(await refused(method, path, { ...body as object, ...texts }), JSON.stringify(texts))
      .toEqual(await refused(method, path, { ...body as object, ...nulls }))
  })

  test('through the facade and past it', async () => {
    const person = await signUp()
    const office = await insertOrganisation(person.id)
    const filled = { aboutAr: 'نبذة', website: 'https://example.com', phone: '22334455' }
    const none = { aboutAr: null, website: null, phone: null }
    const empty = { aboutAr: '', website: '', phone: '' }
    const change = (fields: object) => person.patch(`/auth/identities/${office}`, fields)
    expect(await change(filled)).toMatchObject({ status: 200, body: { aboutAr: 'نبذة' } })
    expect(await change(empty)).toMatchObject({ status: 200, body: none })

    const rent = { type: 'RENT', price: 5, block: '3', titleEn: 'A flat' }
    const { id } = await createDraft(person, rent)
    const cleared = { price: '', block: '', titleEn: '', amenities: '', allowCall: '' }
    const shown = { price: null, block: null, titleEn: null, amenities: [] }
    const past = await asCaller(person, async (client) => {
      await client.query('select api.update_identity($1, $2)', [office, filled])
      const { rows } = await client.query(
        `select to_json(api.update_identity($1, $2)) as office, to_json(api.update_property($3, $4))
           as listing`,
        [office, empty, id, cleared],
      )
      return rows[0]
    })
    expect(past).toMatchObject({ office: none, listing: shown })
    expect(await person.patch(`/properties/${id}`, cleared))
      .toMatchObject({ status: 200, body: shown })
    const { body } = await person.patch(`/properties/${id}`, {
      rentConditions: [{ code: 'no_pets', textAr: '' }],
    })
    expect(body.rentConditions[0].textAr).toContain('ا')

    // An empty text is still refused in a list and in a field that null cannot clear.
    for (const fields of [{ type: '' }, { amenities: [''] }, { wantedKinds: [''] }]) {
      expect((await person.patch(`/properties/${id}`, fields)).status).toBe(422)
    }
    for (const fields of [{ fullName: '' }, { language: '' }]) {
      expect((await person.patch('/auth/me', fields)).status).toBe(422)
    }
    expect(await person.patch('/auth/me', { avatarMediaId: '' })).toMatchObject({ status: 200 })
  })
})

describe('INP-25 a uuid is taken in any case', () => {
  const uuids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
  const shout = (text: string) => text.replace(uuids, (id) => id.toUpperCase())
  const withId = routes.flatMap((one) => {
    const { path, body } = requestWith(one.operation)
    const sent = { path, text: JSON.stringify(body) }
    return shout(path + sent.text) !== path + sent.text ? [{ ...one, sent }] : []
  })

  test.each(withId)('$method $path', async ({ method, sent: { path, text } }) => {
    expect(await refused(method, shout(path), text && shout(text)))
      .toEqual(await refused(method, path, text))
  })

  test('of things that there are', async () => {
    const [a, b] = [await signUp(), await signUp()]
    const id = await conversationBetween(a, b)
    const body = { clientMessageId: randomUUID(), body: 'مرحبا' }
    const sent = await a.post(`/conversations/${id.toUpperCase()}/messages`, body)
    expect(sent).toMatchObject({ status: 201, body: { conversationId: id } })
    const answer = { clientMessageId: randomUUID(), body: 'أهلاً' }
    const replyToId = sent.body.id.toUpperCase()
    expect(await b.post(`/conversations/${id}/messages`, { ...answer, replyToId }))
      .toMatchObject({ status: 201, body: { replyToId: sent.body.id } })
    const headers = {
      'authorization': `Bearer ${a.accessToken}`,
      'x-expect-identity': a.identityId.toUpperCase(),
    }
    expect((await request('GET', '/conversations', undefined, { headers })).status).toBe(200)
  })
})
