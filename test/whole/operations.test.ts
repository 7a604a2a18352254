import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { faultsOf } from '../support/answers.ts'
import { database, guest, type Person, type Reply, request, signUp } from '../support/client.ts'
import { inputsOf, type Operation, operations, requestWith } from '../support/openapi.ts'
import { sendLiteral } from '../support/raw-http.ts'
import { jpeg } from '../support/pictures.ts'
import { formFor, postForm } from '../support/uploads.ts'
import { fingerprintOf, insertListing, insertOrganisation } from '../support/fixtures.ts'

// Tests rules for every route of the OpenAPI description, so new routes are covered automatically.

let owner: Person
let stranger: Person
let strangers: Record<string, string>

beforeAll(async () => {
  ;[owner, stranger] = await Promise.all([signUp(), signUp()])
  const things = async ({ id, identityId }: Person) => ({
    account: id,
    identity: identityId,
    company: await insertOrganisation(id),
    listing: await insertListing(identityId),
    draft: await insertListing(identityId, { status: 'draft', published_at: null }),
    archived: await insertListing(identityId, { status: 'archived' }),
  })
  strangers = await things(stranger)
})

const isId = ({ schema }: { schema: { format?: string } }) => schema.format === 'uuid'

type At = { path: string; body?: unknown }

const callAs = (
  person: Person | undefined,
  { method, form, id }: Operation,
  { path, body }: At,
  more: Record<string, string> = {},
) => {
  // Compression is off, because it would give responses that differ only in an id different lengths.
  const headers = { 'accept-encoding': 'identity', ...more }
  if (form) return postForm(person, path, formFor(id, picture), headers)
  const token = person && { authorization: `Bearer ${person.accessToken}` }
  return request(method, path, body, { headers: { ...token, ...headers } })
}

const picture = jpeg({ width: 8, height: 8 })

describe('the description', () => {
  test('finds an answer that is not as described', async () => {
    const reply = await guest.get('/health')
    expect(faultsOf('GET', '/health', reply)).toEqual([])
    expect(faultsOf('GET', '/health', { ...reply, status: 418 })).not.toEqual([])
    const more = { ...reply.body, more: 1 }
    expect(faultsOf('GET', '/health', { ...reply, body: more })).not.toEqual([])
    expect(faultsOf('GET', '/errors', reply)).not.toEqual([])
  })

  test('finds an error that the operation does not name', async () => {
    const path = `/properties/${randomUUID()}`
    const reply = await guest.get(path)
    expect(reply.body.error.code).toBe('property_not_found')
    expect(faultsOf('GET', path, reply)).toEqual([])
    const other = { error: { ...reply.body.error, code: 'org_not_found' } }
    expect(faultsOf('GET', path, { ...reply, body: other })).not.toEqual([])
  })

  test('names every header that it speaks of', () => {
    for (const { id, parameters, responses } of operations) {
      expect(parameters.map(({ name }) => name), id).toContain('Accept-Language')
      for (const { headers } of Object.values(responses)) {
        expect(Object.keys(headers ?? {}), id).toContain('X-Request-Id')
      }
    }
  })

  test('has a unique name for every operation', () => {
    const names = operations.map(({ id }) => id)
    expect(names.length).toBeGreaterThan(20)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('every route', () => {
  test.each(operations.filter(({ secured }) => secured))(
    '$method $path is 401 without a token, before anything else is looked at',
    async (operation) => {
      const { path, body } = requestWith(operation)
      for (const sent of [body, operation.body && '{', operation.body && { unknown: 1 }]) {
        const reply = await callAs(undefined, operation, { path, body: sent })
        expect([reply.status, reply.body.error.code]).toEqual([401, 'token_missing'])
      }
    },
  )
})

describe('PR-02 every route asks the database who may act now', () => {
  const secured = operations.filter((operation) => operation.secured)
  const people: Record<string, Person> = {}

  beforeAll(async () => {
    const states = ['suspended', 'banned', 'deleted', 'signed out']
    const signed = await Promise.all(states.map(() => signUp()))
    states.forEach((state, i) => (people[state] = signed[i]!))
    for (const state of ['suspended', 'banned']) {
      await database().query('update public.accounts set status = $1 where id = $2', [
        state,
        people[state]!.id,
      ])
    }
    await database().query('delete from auth.users where id = $1', [people.deleted!.id])
    await people['signed out']!.post('/auth/logout')
  })

  test.each(secured)('$method $path', async (operation) => {
    const seen = async (state: string) => {
      const reply = await callAs(people[state], operation, requestWith(operation))
      return [reply.status, reply.body?.error?.code]
    }
    expect(await seen('suspended')).toEqual([403, 'account_suspended'])
    expect(await seen('banned')).toEqual([403, 'account_banned'])
    expect(await seen('deleted')).toEqual([401, 'token_invalid'])
    expect(await seen('signed out')).toEqual([401, 'token_invalid'])
  })

  test.each(secured)('$method $path, with another identity expected', async (operation) => {
    const { path, body } = requestWith(operation)
    const before = await fingerprintOf(owner)
    const { status, body: answer } = await callAs(owner, operation, { path, body }, {
      'x-expect-identity': stranger.identityId,
    })
    expect([status, answer?.error?.code]).toEqual([409, 'identity_changed'])
    expect(await fingerprintOf(owner)).toBe(before)
  })
})

describe('an operation that acts as an identity', () => {
  let nobody: Person

  beforeAll(async () => {
    nobody = await signUp()
    await database().query(`update public.identities set status = 'suspended' where id = $1`, [
      nobody.identityId,
    ])
  })

  const acting = operations.filter(({ id, codes }) =>
    codes.includes('identity_not_usable') && id !== 'switch_identity'
  )

  test.each(acting)('$method $path needs one that is active', async (operation) => {
    const { status, body } = await callAs(nobody, operation, requestWith(operation))
    expect([status, body?.error?.code]).toEqual([403, 'identity_not_usable'])
  })
})

/** Returns the parts of a response to compare: not the request id, the time and the rate limit's state. */
function looks({ status, body, headers }: Reply) {
  const { requestId: _, ...error } = body?.error ?? {}
  const varying = ['x-request-id', 'date', 'ratelimit-remaining', 'ratelimit-reset']
  return {
    status,
    body: body?.error ? error : body,
    headers: [...headers].filter(([name]) => !varying.includes(name)),
  }
}

// The kinds of other people's public ids that an operation accepts.
const open: Record<string, string[]> = {
  block_identity: ['identity', 'company'],
  create_conversation: ['identity', 'company', 'listing'],
  create_review: ['identity', 'company'],
  get_advertiser: ['identity', 'company'],
  get_company: ['company'],
  list_advertiser_listings: ['identity', 'company'],
  list_reviews: ['identity', 'company'],
  get_property: ['listing'],
  list_price_history: ['listing'],
  list_similar_properties: ['listing'],
  toggle_favorite: ['listing'],
  contact_property: ['listing'],
  add_report: ['listing'],
}

describe("ISO-08 another's id is as good as none", () => {
  // Ids that are secrets themselves (registrationId) are covered by the sign-in tests.
  const routes = operations.filter(({ tags }) => !tags.includes('sign-in'))
  const inputs = routes.flatMap((operation) =>
    // Searches for listings accept the public id of any owner.
    inputsOf(operation).filter(isId).filter(({ name }) => !/^(company|owner)Id$/.test(name))
      .map((input) => ({ ...operation, operation, input }))
  )

  test.each(inputs)('$method $path, $input.name', async ({ operation, input }) => {
    const before = await fingerprintOf(stranger)
    const at = (id: string) => callAs(owner, operation, requestWith(operation, input, id))
    const missing = looks(await at(randomUUID()))
    // A missing upload session counts as an invalid form.
    const gone = input.name === 'uploadSessionId' && missing.status === 422
    expect(gone || missing.status !== 422, JSON.stringify(missing.body)).toBe(true)
    for (const [kind, id] of Object.entries(strangers)) {
      if (open[operation.id]?.includes(kind)) continue
      expect(looks(await at(id)), kind).toEqual(missing)
    }
    expect(await fingerprintOf(stranger)).toBe(before)
  })
})

describe('ISO-09 shapes of ids', () => {
  const routes = operations.filter(({ path }) => path.includes('{'))
  const id = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d'
  const shapes = [
    id.toUpperCase(),
    `{${id}}`,
    `%7B${id}%7D`,
    `urn:uuid:${id}`,
    id.replaceAll('-', ''),
    '0',
    '-1',
    '1',
    'null',
    'undefined',
    'NaN',
    '',
    '.',
    '..',
    '%2e%2e',
    '%2e%2e%2f',
    '..%2f..%2fauth%2fme',
    '..%5c..',
    '%252e%252e',
    'file:%2f%2f%2fetc%2fpasswd',
    '%00',
    `${id}%00`,
    "'",
    '%27%20or%20%271%27=%271',
    'a'.repeat(6_000),
    `${id}%0a`,
    `${id},${id}`,
    `${id}%20`,
    '%ff',
    '%',
    '%ED%A0%80',
  ]

  test.each(routes)('$method $path accepts only an id', async (operation) => {
    const { body } = requestWith(operation)
    for (const shape of shapes) {
      const path = operation.path.replace(/\{\w+\}/g, () => shape)
      const reply = await sendLiteral(operation.method, path, {
        headers: {
          authorization: `Bearer ${owner.accessToken}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        body: body && JSON.stringify(body),
      })
      // In capital letters it is still a valid id, which may or may not exist.
      const right = shape === id.toUpperCase() ? [200, 204, 401, 403, 404, 422] : [404, 405, 422]
      expect(right, `${shape.slice(0, 80)} ${reply.text}`).toContain(reply.status)
    }
  })

  test('an id in capitals is the same id', async () => {
    const listing = await insertListing(owner.identityId)
    const { status, body } = await guest.get(`/properties/${listing.toUpperCase()}`)
    expect([status, body.id]).toEqual([200, listing])
  })
})
