import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, request, signUp } from '../support/client.ts'
import {
  concreteSchema,
  operations,
  requestWith,
  sampleOf,
  type Schema,
  typeOf,
} from '../support/openapi.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'

let owner: Person
let other: Person
let scoped: Record<string, Person>

beforeAll(async () => {
  ;[owner, other] = await Promise.all([signUp(), signUp()])
  const [admin, company, office] = await Promise.all([signUpAdmin(), signUp(), signUp()])
  for (const [person, type] of [[company, 'company'], [office, 'office']] as const) {
    const identityId = await insertOrganisation(person.id, type)
    await person.post('/auth/identity/switch', { identityId })
  }
  scoped = { admin, company, office }
})

const personFor = ({ path }: { path: string }) => scoped[path.split('/')[1]!] ?? owner

const as = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })
const routes = operations.map((operation) => ({ ...operation, operation }))

// ISO-11: fields that the server decides, in both naming styles.
const notTheirs = [
  'id',
  'role',
  'isAdmin',
  'is_admin',
  'status',
  'verified',
  'accountId',
  'account_id',
  'ownerId',
  'owner_id',
  'ownerIdentityId',
  'owner_identity_id',
  'balance',
  'amount',
  'paidAt',
  'paid_at',
  'createdAt',
  'created_at',
  'deletedAt',
  'deleted_at',
  'unread',
  'seq',
  'senderId',
  'sender_id',
  'appMetadata',
  'app_metadata',
  'constructor',
  '__proto__',
]

// Objects that browsers create for passkeys and may extend; unknown fields in them are dropped.
const ofBrowsers = ['attestation', 'assertion']

function objectsOf(given: Schema, path = ''): { path: string; keys: string[] }[] {
  if (ofBrowsers.includes(path)) return []
  const schema = concreteSchema(given)
  const under = (name: string) => (path ? `${path}.${name}` : name)
  if (schema.items) return objectsOf(schema.items, under('0'))
  if (!schema.properties) return []
  return [
    { path, keys: Object.keys(schema.properties) },
    ...Object.entries(schema.properties).flatMap(([name, one]) => objectsOf(one, under(name))),
  ]
}

/** Adds a key to the object at a path. Missing objects on the path are created from samples. */
function withKey(schema: Schema, body: object, path: string, key: string) {
  const marked = structuredClone(body) as Record<string, unknown>
  let at: Record<string, unknown> = marked
  let inside = schema
  for (const step of path.split('.').filter(Boolean)) {
    inside = concreteSchema(inside).properties?.[step] ?? concreteSchema(inside).items!
    at[step] ??= structuredClone(sampleOf(inside, true))
    at = at[step] as Record<string, unknown>
  }
  at['@@'] = '@@'
  return JSON.stringify(marked).replace('"@@":"@@"', `${JSON.stringify(key)}:{"isAdmin":true}`)
}

describe("ISO-11 fields that are not the client's", () => {
  const withBody = routes.filter(({ body }) => body && typeOf(body) === 'object')

  test.each(withBody)(
    '$method $path refuses each of them, wherever it stands',
    async ({ operation }) => {
      const { path, body } = requestWith(operation)
      for (const object of objectsOf(operation.body!)) {
        for (const key of notTheirs.filter((one) => !object.keys.includes(one))) {
          const sent = withKey(operation.body!, body!, object.path, key)
          const reply = await request(operation.method, path, sent, { headers: as(owner) })
          expect(reply.status, `${object.path} ${key} ${JSON.stringify(reply.body)}`).toBe(422)
        }
      }
    },
  )

  test('and the process is unaffected', async () => {
    const person = await signUp()
    expect((await person.get('/auth/me')).body).not.toHaveProperty('isAdmin')
    for (const operation of operations.filter((one) => one.path.startsWith('/admin'))) {
      const { path, body } = requestWith(operation)
      const reply = await request(operation.method, path, body, { headers: as(person) })
      expect(reply.status, operation.path).toBe(403)
    }
  })
})

describe('INP-07 paging at the edge', () => {
  const lists = routes.filter(({ parameters }) => parameters.some(({ name }) => name === 'limit'))
  const cursored = lists.filter(({ parameters }) =>
    parameters.some(({ name }) => name === 'cursor')
  )

  // An id in the path is the id of a listing, a conversation or an identity; an id in the query is the id
  // of an identity.
  const idsOf = (path: string, id: string) =>
    path.replace(/(?<=\/)[0-9a-f-]{36}/, id).replace(/(?<==)[0-9a-f-]{36}/, owner.identityId)
  const thingOf = async (path: string) => {
    const listing = await insertListing(owner.identityId)
    if (path.startsWith('/identities')) return owner.identityId
    if (!path.startsWith('/conversations')) return listing
    const { identityId } = await signUp()
    return (await owner.post('/conversations', { identityId })).body.id
  }

  test('there are lists', () => {
    expect(lists.length).toBeGreaterThan(3)
    expect(cursored.length).toBeGreaterThan(2)
  })

  test.each(lists)(
    '$method $path gives 1 to 50 a page, and nothing else',
    async ({ operation }) => {
      const thing = await thingOf(operation.path)
      const at = (limit: string) => {
        const { path } = requestWith(operation, { in: 'query', name: 'limit', schema: {} }, limit)
        return personFor(operation).get(idsOf(path, thing))
      }
      for (const limit of ['1', '50']) {
        const { status, body } = await at(limit)
        expect(status, limit).toBe(200)
        expect(body.items.length, limit).toBeLessThanOrEqual(Number(limit))
      }
      for (const limit of ['0', '-1', '51', '100', '101', '1000000000', '1.5', 'a', '', 'null']) {
        expect((await at(limit)).status, limit).toBe(422)
      }
    },
  )

  test.each(cursored)('$method $path accepts its own cursors only', async ({ operation }) => {
    const thing = await thingOf(operation.path)
    const at = (cursor: string) => {
      const { path } = requestWith(operation, { in: 'query', name: 'cursor', schema: {} }, cursor)
      return personFor(operation).get(idsOf(path, thing))
    }
    const shapes = ['a', '0', '-1', '""', 'null', 'AAAA'.repeat(10), 'é', "'", '%00', '../..']
    for (const cursor of [...shapes, 'x'.repeat(4000), 'x'.repeat(10_000), randomUUID()]) {
      const { status, body } = await at(cursor)
      expect([status, body.error.fields[0].path], cursor.slice(0, 50)).toEqual([422, 'cursor'])
    }
  })

  test('cursors of another list, of another person or altered are refused', async () => {
    for (const person of [owner, other]) {
      for (let i = 0; i < 2; i++) await insertListing(person.identityId)
    }
    const page = await owner.get('/properties/mine?limit=1')
    const cursor: string = page.body.nextCursor
    expect(cursor).toBeTruthy()
    const ask = async (by: Person, path: string, given = cursor) =>
      (await by.get(`${path}limit=1&cursor=${encodeURIComponent(given)}`)).status
    expect(await ask(owner, '/properties/mine?')).toBe(200)
    expect(await ask(other, '/properties/mine?')).toBe(422)
    expect(await ask(owner, '/favorites?')).toBe(422)
    expect(await ask(owner, '/properties/mine?status=active&')).toBe(422)
    for (const at of [0, 5, 12, 20, cursor.length - 1]) {
      const changed = cursor[at] === 'A' ? 'B' : 'A'
      const altered = cursor.slice(0, at) + changed + cursor.slice(at + 1)
      expect(await ask(owner, '/properties/mine?', altered), String(at)).toBe(422)
    }
    expect(await ask(owner, '/properties/mine?', cursor + 'A')).toBe(422)
    // The first twelve characters of a cursor are a checksum of the query and the cursor's key, so a cursor
    // with another key is invalid.
    const packed = Buffer.from(JSON.stringify(['2020-01-01', randomUUID()])).toString('base64url')
    expect(await ask(owner, '/properties/mine?', cursor.slice(0, 12) + packed)).toBe(422)
  })
})

describe('INP-09 names made to look like others', () => {
  const names = [
    ['two spaces inside', 'سالم  العنزي', 'سالم العنزي'],
    ['spaces outside', '  سالم العنزي ', 'سالم العنزي'],
    ['a tab', 'سالم\tالعنزي', 'سالم العنزي'],
    ['full-width letters', 'Ｓalem', 'Salem'],
    ['a presentation form', 'ﺳﺎﻟﻢ', 'سالم'],
    ['a no-break space', 'سالم\u00a0العنزي', 'سالم العنزي'],
    ['a zero-width blank', 'سالم\u200b العنزي', 'سالم العنزي'],
    ['direction marks', '\u202eسالم\u200f العنزي\u2066', 'سالم العنزي'],
    ['joiners at the ends', '\ufeffسالم العنزي\u200d', 'سالم العنزي'],
  ] as const
  const unseen = [
    'سالم \u200dالعنزي',
    'سالم\u2064العنزي',
    '\u200b\u200b\u200b',
    '   ',
    '\u3164\u3164',
    'ا',
    'سالم\u0007',
    'سالم\u0086x',
    'ا'.repeat(121),
  ]

  test.each(names)("a person's name with %s is normalised", async (_, typed, shown) => {
    const { status, body } = await other.patch('/auth/me', { fullName: typed })
    expect([status, body.user.fullName]).toEqual([200, shown])
    expect(body.identities[0].displayName).toBe(shown)
  })

  test.each(unseen)('%j is refused as a name, of a person or of a company', async (name) => {
    const asPerson = await other.patch('/auth/me', { fullName: name })
    expect([asPerson.status, asPerson.body?.error?.fields[0].path]).toEqual([422, 'fullName'])
    const company = {
      type: 'company',
      nameAr: name,
      licenceNo: randomUUID().slice(0, 12).toUpperCase(),
      licenceExpiresOn: '2040-01-01',
    }
    expect((await other.post('/auth/identities', company)).status).toBe(422)
    const email = `${randomUUID()}@example.com`
    const registration = { identifier: email, password: randomUUID(), fullName: name }
    expect((await guest.post('/auth/register', registration)).status).toBe(422)
    const { rows } = await database().query('select from public.accounts where email = $1', [email])
    expect(rows).toEqual([])
  })

  test("a company's name is normalised too", async () => {
    const id = await insertOrganisation(other.id)
    const { status, body } = await other.patch(`/auth/identities/${id}`, {
      nameAr: ' شركة   الديرة ',
    })
    expect([status, body.pendingChanges.nameAr]).toEqual([200, 'شركة الديرة'])
  })
})
