import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  asCaller,
  database,
  guest,
  type Person,
  projectUrl,
  publishableKey,
  signUp,
} from '../support/client.ts'
import { tables, views } from './matrix-outcomes.ts'
import { ofPostgres, reviewed } from './reviewed-functions.ts'
import { someOf } from './input-requests.ts'
import { fingerprintOf, insertListing, insertOrganisation } from '../support/fixtures.ts'
import { bulk } from '../support/nightly.ts'

let owner: Person
let stranger: Person
let suspended: Person
const strangers: Record<string, string> = {}

beforeAll(async () => {
  ;[owner, stranger, suspended] = await Promise.all([signUp(), signUp(), signUp()])
  await database().query(`update public.accounts set status = 'suspended' where id = $1`, [
    suspended.id,
  ])
  strangers.company = await insertOrganisation(stranger.id)
  strangers.listing = await insertListing(stranger.identityId)
  strangers.draft = await insertListing(stranger.identityId, {
    status: 'draft',
    published_at: null,
  })
})

type Call = { method?: string; body?: unknown; schema?: string; by?: Person }

async function rest(path: string, { method = 'GET', body, schema, by }: Call = {}) {
  const response = await fetch(`${projectUrl}/rest/v1/${path}`, {
    method,
    headers: {
      apikey: publishableKey,
      'content-type': 'application/json',
      ...(by && { authorization: `Bearer ${by.accessToken}` }),
      ...(schema && { 'accept-profile': schema, 'content-profile': schema }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

describe('ISO-02 ISO-03 tables over HTTP', () => {
  test.each([...Object.keys(tables), ...views])('%s is not available to anybody', async (table) => {
    const [schema, name] = table.split('.')
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
    for (const [index, by] of [undefined, owner].entries()) {
      for (const method of someOf(methods, index + name!.length)) {
        const body = ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined
        const plain = await rest(name!, { method, body, by })
        expect(plain.status, `${method} ${name} ${plain.text}`).toBe(404)
        expect((await rest(name!, { method, body, by, schema })).status).toBe(406)
      }
    }
  })
})

describe('ISO-03 what a guest finds besides tables', () => {
  test('no sequence, no bucket, no file and no Realtime message', async () => {
    const { rows } = await database().query(
      `select pg_class.oid::regclass::text from pg_class
       join pg_namespace on pg_namespace.oid = relnamespace
       where relkind = 'S' and nspname in ('public', 'private', 'api') and (
         has_sequence_privilege('anon', pg_class.oid, 'usage, select, update')
         or has_sequence_privilege('authenticated', pg_class.oid, 'usage, select, update')
       )`,
    )
    expect(rows).toEqual([])
    for (const by of [undefined, owner]) {
      for (const table of ['storage.buckets', 'storage.objects', 'realtime.messages']) {
        const seen = await asCaller(by, (client) => client.query(`select from ${table}`))
          .then(({ rowCount }) => rowCount, ({ code }) => code)
        expect([0, '42501'], table).toContain(seen)
      }
    }
  })
})

type Routine = { name: string; volatile: boolean; args: { name: string; type: string }[] }

async function routines(): Promise<Routine[]> {
  const { rows } = await database().query(
    `select proname as name, provolatile = 'v' as volatile, coalesce((
       select json_agg(json_build_object('name', proargnames[n], 'type', type::regtype) order by n)
       from unnest(proargtypes::oid[]) with ordinality as arg (type, n)
     ), '[]') as args
     from pg_proc where pronamespace = 'api'::regnamespace order by 1`,
  )
  return rows
}

// A function takes at most twelve texts; of this length, they stay below the Data API's limit of 10 MB.
const longText = 'ا'.repeat(bulk(400_000, 40_000))
const values: Record<string, (of: string, text: string) => unknown> = {
  uuid: (of) => of,
  'uuid[]': (of) => [of],
  text: (_, text) => text,
  jsonb: (of, titleAr) => ({ id: of, ownerIdentityId: of, accountId: of, titleAr }),
  integer: () => 1,
  bigint: () => 1,
  'double precision': () => 1,
  numeric: () => 1,
  boolean: () => true,
  date: () => '2030-01-01',
  'timestamp with time zone': () => '2030-01-01T00:00:00Z',
}

const argsOf = ({ args }: Routine, of: string, text = 'عقار') =>
  Object.fromEntries(args.map(({ name, type }) => [name, values[type]!(of, text)]))

const isForUsers = (name: string) => reviewed[`api.${name}`] === 'users'

describe('ISO-04 functions called directly', () => {
  test('only reviewed functions can be executed, by whom they are reviewed for', async () => {
    const { rows } = await database().query(
      `select nspname || '.' || proname as name,
         has_function_privilege('anon', pg_proc.oid, 'execute') as anon,
         has_function_privilege('authenticated', pg_proc.oid, 'execute') as authenticated,
         has_function_privilege('backend', pg_proc.oid, 'execute') as backend
       from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
       where nspname in ('public', 'private', 'api') and not exists (
         select from pg_depend where objid = pg_proc.oid and deptype = 'e'
       )
       order by 1`,
    )
    const by = (row: Record<string, boolean>) =>
      ['anon', 'authenticated', 'backend'].filter((role) => row[role]).join(' ')
    const words: Record<string, string> = {
      'anon authenticated': 'guests',
      authenticated: 'users',
      backend: 'backend',
      'anon authenticated backend': 'all',
    }
    const found = rows.filter(by).map((row) => [row.name, words[by(row)] ?? by(row)])
    expect(Object.fromEntries(found)).toEqual(reviewed)
    expect(new Set(found.map(([name]) => name)).size).toBe(found.length)
  })

  test('no policy binds the reviewed few of them, at most twenty', async () => {
    const { rows } = await database().query(
      `select proname as name from pg_proc
       where pronamespace in ('private'::regnamespace, 'api'::regnamespace)
         and prosecdef and proowner = 'postgres'::regrole
         and (has_function_privilege('anon', pg_proc.oid, 'execute')
           or has_function_privilege('authenticated', pg_proc.oid, 'execute'))
       order by 1`,
    )
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(ofPostgres).sort())
    expect(rows.length).toBeLessThanOrEqual(20)
  })

  test('the name of a policy is whole, as docs/access.md has it', async () => {
    const { rows } = await database().query(
      'select polname as name from pg_policy where octet_length(polname) >= 63',
    )
    expect(rows).toEqual([])
  })

  test('functions for users answer no guest and no suspended account', async () => {
    for (const routine of (await routines()).filter(({ name }) => isForUsers(name))) {
      for (const by of [undefined, suspended]) {
        const body = argsOf(routine, strangers.listing!)
        const { status, text } = await rest(`rpc/${routine.name}`, { method: 'POST', body, by })
        expect(Math.floor(status / 100), `${routine.name} ${text}`).toBe(4)
      }
    }
  })

  test('search, feed and map answer through the facade alone, guests and whoever is signed in', async () => {
    const bbox = [47.9, 29.2, 48.1, 29.4]
    const reads: Record<string, unknown> = {
      count_listings: { strategy: 'standard', filters: {}, facets: [] },
      list_area_price_history: { area_id: 'salmiya', type: 'SALE', kind: 'villa' },
      list_feed: {},
      list_map_areas: {},
      list_map_listings: { bbox, zoom: 12 },
      quick_search: {},
      search: { strategy: 'standard', filters: {} },
      suggest: {},
    }
    for (const [name, body] of Object.entries(reads)) {
      for (const by of [undefined, owner]) {
        const { status, text } = await rest(`rpc/${name}`, { method: 'POST', body, by })
        expect(status, `${name} ${text}`).toBe(404)
        expect(JSON.parse(text).code, name).toBe('PGRST202')
      }
    }
    for (const caller of [guest, owner]) {
      for (
        const path of [
          '/feed',
          '/search',
          '/search/count',
          '/search/suggest?q=sal',
          '/map/areas',
          '/map/areas/salmiya/history?type=SALE&kind=villa',
          `/map/listings?bbox=${bbox}&zoom=12`,
        ]
      ) expect((await caller.get(path)).status, path).toBe(200)
      expect((await caller.post('/search/advanced', { strategy: 'standard' })).status).toBe(200)
    }
  })

  test('what cannot be undone is not in the Data API', async () => {
    for (const name of ['contact_property', 'export_account', 'begin_upload']) {
      for (const query of ['', '?select=a::int']) {
        const { status } = await rest(`rpc/${name}${query}`, {
          method: 'POST',
          body: { property_id: strangers.listing, kind: 'call' },
          by: owner,
        })
        expect(status, name).toBe(404)
      }
    }
  })

  test('JSON arguments arrive as they were sent: the Data API answers as SQL does', async () => {
    const json = [
      {},
      { areaIds: ['salmiya'] },
      { a: [1, 'b', null] },
      [],
      [{ a: 1 }],
      'text',
      '{"a":1}',
      '',
      1,
      true,
      null,
    ]
    let answered = 0
    for (const [index, routine] of (await routines()).entries()) {
      const { name, args } = routine
      if (!isForUsers(name)) continue
      const isJson = (one: string) => args.find((each) => each.name === one)!.type === 'jsonb'
      const some = Object.entries(argsOf(routine, randomUUID()))
      const hasJson = some.some(([arg]) => isJson(arg))
      for (const value of hasJson ? someOf(json, index) : [null]) {
        const given = some.map(([arg, other]) => [arg, isJson(arg) ? value : other] as const)
        const named = args.map((arg, i) => `${arg.name} => $${i + 1}::${arg.type}`)
        const values = given.map(([arg, one]) =>
          isJson(arg) && one !== null ? JSON.stringify(one) : one
        )
        const bySql = await asCaller(
          owner,
          (client) => client.query(`select api.${name}(${named})`, values),
        )
          .then(
            () => undefined,
            ({ code, message, detail }) =>
              code.startsWith('PT') ? { code, message, details: detail } : { code, message },
          )
        const body = Object.fromEntries(given)
        const { status, text } = await rest(`rpc/${name}`, { method: 'POST', body, by: owner })
        const said = `${name} ${JSON.stringify(body)} ${text}`
        if (bySql) expect(JSON.parse(text), said).toMatchObject(bySql)
        else expect(status, said).toBeLessThan(300)
        answered += Number(!bySql)
      }
    }
    expect(answered).toBeGreaterThan(10)
  })

  test("no call with any arguments changes or shows somebody else's data", async () => {
    const before = await fingerprintOf(stranger)
    for (const [index, routine] of (await routines()).entries()) {
      const nothing = Object.fromEntries(routine.args.map(({ name }) => [name, null]))
      const given = [owner.identityId, ...Object.values(strangers), randomUUID()]
      const bodies = [{}, nothing, argsOf(routine, given[0]!, longText)]
      bodies.push(...given.map((id) => argsOf(routine, id)))
      for (const body of someOf(bodies, index)) {
        const path = `rpc/${routine.name}`
        const { status, text } = await rest(path, { method: 'POST', body, by: owner })
        expect(status, `${routine.name} ${JSON.stringify(body).slice(0, 100)} ${text}`)
          .toBeLessThan(500)
        expect(text.includes(stranger.id), routine.name).toBe(false)
        expect(text.includes(stranger.identifier), routine.name).toBe(false)
        // A listing is public, a draft is not.
        if (status < 300) expect(text.includes(`"${strangers.draft}"`), routine.name).toBe(false)
      }
    }
    expect(await fingerprintOf(stranger)).toEqual(before)
  })

  test('a GET call writes nothing', async () => {
    const before = await fingerprintOf(owner)
    for (const routine of (await routines()).filter(({ volatile }) => volatile)) {
      const args = Object.entries(argsOf(routine, strangers.listing!))
        .map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : value])
      const query = new URLSearchParams(Object.fromEntries(args))
      const { status, text } = await rest(`rpc/${routine.name}?${query}`, { by: owner })
      expect(status, `${routine.name} ${text}`).toBeLessThan(500)
    }
    expect(await fingerprintOf(owner)).toBe(before)
  })

  test('helpers, triggers and what belongs to Postgres are not reachable', async () => {
    const { rows } = await database().query(
      `select distinct proname as name from pg_proc
       where pronamespace = 'private'::regnamespace and proname not in (
         select proname from pg_proc where pronamespace = 'api'::regnamespace
       )`,
    )
    const some = rows.filter((_, at) => at % bulk(1, 10) === 0)
    const names: string[] = [...some.map(({ name }) => name), 'pg_sleep', 'set_config', 'version']
    for (const name of names) {
      const { status } = await rest(`rpc/${name}`, { method: 'POST', body: {}, by: owner })
      expect(status, name).toBe(404)
    }
    for (const schema of ['private', 'public', 'auth', 'pg_catalog']) {
      const call = { method: 'POST', body: {}, schema, by: owner }
      expect((await rest('rpc/account_id', call)).status, schema).toBe(406)
    }
  })
})

describe('ISO-05 following relations', () => {
  test('an embedded table is refused, whatever it is asked through', async () => {
    for (
      const query of [
        'select=*,owner:identities(*)',
        'select=*,accounts!inner(*)',
        'select=items,a:properties(b:identities(c:accounts(email)))',
        'select=count()',
        'accounts.email=eq.a',
      ]
    ) {
      const { status, text } = await rest(`rpc/list_my_properties?${query}`, { by: owner })
      expect(status, `${query} ${text}`).toBeGreaterThanOrEqual(300)
      expect(status, query).toBeLessThan(500)
      expect(text).not.toContain(stranger.identifier)
    }
  })
})

describe('ISO-06 giving away and taking over rows', () => {
  test('a listing keeps its owner, over SQL, the Data API and the facade', async () => {
    const mine = await insertListing(owner.identityId)
    const ownerOf = async (id: string) =>
      (await database().query('select owner_identity_id from public.properties where id = $1', [
        id,
      ]))
        .rows[0].owner_identity_id
    for (const column of ['owner_identity_id', 'owner_type', 'status', 'id']) {
      const changed = asCaller(
        owner,
        (client) =>
          client.query(`update public.properties set ${column} = $1 where id = $2`, [
            stranger.identityId,
            mine,
          ]),
      )
      await expect(changed).rejects.toMatchObject({ code: '42501' })
    }
    for (const key of ['ownerIdentityId', 'owner_identity_id', 'owner']) {
      const fields = { [key]: stranger.identityId }
      expect((await owner.patch(`/properties/${mine}`, fields)).status, key).toBe(422)
      const body = { property_id: mine, fields }
      const direct = await rest('rpc/update_property', { method: 'POST', body, by: owner })
      expect(direct.status, key).toBe(422)
    }
    expect(await ownerOf(mine)).toBe(owner.identityId)
    expect(await ownerOf(strangers.listing!)).toBe(stranger.identityId)
  })

  test("a favorite is saved for the acting identity and for nobody else's", async () => {
    const saved = asCaller(
      owner,
      (client) =>
        client.query('insert into public.favorites (identity_id, property_id) values ($1, $2)', [
          stranger.identityId,
          strangers.listing,
        ]),
    )
    await expect(saved).rejects.toMatchObject({ code: '42501' })
    const moved = asCaller(
      owner,
      (client) =>
        client.query('update public.favorites set identity_id = $1', [stranger.identityId]),
    )
    await expect(moved).rejects.toMatchObject({ code: '42501' })
    const { rows } = await database().query(
      'select from public.favorites where identity_id = $1',
      [stranger.identityId],
    )
    expect(rows).toEqual([])
  })
})
