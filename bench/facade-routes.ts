/**
 * Requests to the facade. Each has two equivalents that return the same data: a call of the database function
 * alone, and a plain SQL statement on the same tables.
 */
import bcrypt from 'bcrypt'
import type pg from 'pg'
import type { Stack } from '../test/support/stack.ts'
import { signUp } from './client.ts'
import { get, post } from './http-load.ts'

export type Route = {
  name: string
  plain: Ask
  /** Undefined if the route calls several functions. */
  function?: Ask
  request: (caller: Caller) => { path: string; body?: object }
}

/** Queries the database. The last result counts. Odd and even rounds may send different statements. */
export type Ask = (caller: Caller, round: number) => Promise<pg.QueryResult[]>

export type Caller = {
  token: string
  /** The statements at the beginning of each query that set role and claims like the facade. */
  setRole: string
  identifier: string
  password: string
  listing: string
  area: string
  kind: string
  type: string
  price: number
}

export type Database = {
  facade: pg.Pool
  owner: pg.Pool
}

const callers = 16
// A word that is common in titles but not part of any area's name.
const word = 'تشطيب'

// These views contain the rows that a policy on a plain table would let a caller read.
const views = `
  create schema bench;
  grant usage on schema bench to authenticated;
  create view bench.listings as select * from public.properties where listed;
  create view bench.documents as select * from private.search_documents;
  grant select on all tables in schema bench to authenticated`

/** Signs up people and gives each fifty favorites. */
export async function prepareCallers(stack: Stack, { owner }: Database): Promise<Caller[]> {
  await owner.query(views)
  const { rows } = await owner.query(
    `select id, area_id as area, kind, type, price::float8 as price from bench.listings
     where type in ('SALE', 'RENT') order by published_at desc limit $1`,
    [callers],
  )
  const people: Caller[] = []
  for (const { id, ...query } of rows) {
    const session = await signUp(stack)
    const claims = Buffer.from(session.accessToken.split('.')[1], 'base64url').toString()
    await owner.query(
      `insert into public.favorites (identity_id, property_id)
       select $1, listings.id from (select id from bench.listings limit 50) as listings`,
      [session.activeIdentity.id],
    )
    people.push({
      ...query,
      listing: id,
      token: session.accessToken,
      setRole: 'set local role authenticated;select where set_config(' +
        `'request.jwt.claims',${literal(claims)},true) is null;`,
      identifier: session.identifier,
      password: session.password,
    })
  }
  return people
}

const literal = (value: string) => `'${value.replaceAll("'", "''")}'`

const card = [
  'id, ref_no, type, kind, usage, title_ar, title_en, price, is_negotiable, request_year',
  'required_year, land_area_m2, built_area_m2, bedrooms, bathrooms, furnished, is_direct',
  'governorate_id, area_id, block, owner_identity_id, status, drop_pct, published_at, confirmed_at',
].join(', ').split(', ').map((column) => `listings.${column}`).join(', ')

const page = (from: string) =>
  `select json_build_object('items', json_agg(cards))::text as answer
   from (select ${card} from ${from} limit 20) as cards`

const searched = (condition: string) =>
  page(`bench.documents join bench.listings on listings.id = documents.property_id
    where documents.type in ('SALE', 'RENT') and (documents.auction_ends_at > now()) is not true
      and ${condition}
    order by documents.published_at desc, documents.property_id desc`)

const answerOf = (call: string) => `select to_json(result)::text as answer from ${call} as result`

const filtersOf = ({ kind, type, price }: Caller) => ({
  filters: {
    kinds: [kind],
    type,
    priceMin: Math.floor(0.7 * price),
    priceMax: Math.ceil(1.3 * price),
  },
  condition: `documents.kind = '${kind}' and documents.type = '${type}'
    and documents.price between ${Math.floor(0.7 * price)} and ${Math.ceil(1.3 * price)}`,
})

export async function routes({ facade, owner }: Database): Promise<Route[]> {
  const { rows: [{ query }] } = await owner.query(
    'select private.search_query(private.search_words($1))::text as query',
    [word],
  )
  const ask =
    (statement: (caller: Caller, round: number) => string): Ask => async (caller, round) =>
      // A query with several statements returns several results.
      [await facade.query(caller.setRole + statement(caller, round))].flat()
  const search = (
    name: string,
    of: (caller: Caller) => { filters: Record<string, unknown>; q?: string; condition: string },
  ): Route => ({
    name,
    plain: ask((caller) => searched(of(caller).condition)),
    function: ask((caller) => {
      const { filters, q } = of(caller)
      const text = q ? `, ${literal(q)}` : ''
      return answerOf(`private.search('standard', ${literal(JSON.stringify(filters))}${text})`)
    }),
    request: (caller) => {
      const { filters, q } = of(caller)
      const query = Object.entries({ ...filters, ...(q && { q }) })
      return { path: `/search?${new URLSearchParams(query.map(([k, v]) => [k, String(v)]))}` }
    },
  })
  return [
    search('search by area', ({ area }) => ({
      filters: { areaIds: [area] },
      condition: `documents.area_id = '${area}'`,
    })),
    search('search by filters', filtersOf),
    search('search by text', () => ({
      filters: {},
      q: word,
      condition: `documents.document @@ ${literal(query)}`,
    })),
    {
      name: 'one listing',
      plain: ask(({ listing }) =>
        `select to_json(listings)::text as answer from bench.listings where id = '${listing}'`
      ),
      function: ask(({ listing }) => answerOf(`private.get_property('${listing}')`)),
      request: ({ listing }) => ({ path: `/properties/${listing}` }),
    },
    {
      name: 'favorite on and off',
      plain: ask(({ listing }, round) =>
        round % 2
          ? `delete from public.favorites where property_id = '${listing}'`
          : `insert into public.favorites (property_id) values ('${listing}') on conflict do nothing`
      ),
      function: ask(({ listing }) => answerOf(`private.toggle_favorite('${listing}')`)),
      request: ({ listing }) => ({ path: `/favorites/${listing}`, body: {} }),
    },
    {
      name: 'my favorites',
      plain: ask(() =>
        page(`public.favorites join bench.listings on listings.id = favorites.property_id
          order by favorites.created_at desc, favorites.property_id desc`)
      ),
      function: ask(() => answerOf('private.list_favorites()')),
      request: () => ({ path: '/favorites' }),
    },
    {
      name: 'sign in',
      plain: (caller) => signInPlainly(owner, caller),
      request: ({ identifier, password }) => ({
        path: '/auth/login',
        body: { identifier, password },
      }),
    },
  ]
}

async function signInPlainly(
  owner: pg.Pool,
  { identifier, password }: Caller,
): Promise<pg.QueryResult[]> {
  const { rows: [user] } = await owner.query(
    'select id, encrypted_password from auth.users where email = $1',
    [identifier],
  )
  if (!await bcrypt.compare(password, user.encrypted_password)) throw new Error('wrong password')
  const session = await owner.query(
    `insert into auth.sessions (id, user_id, created_at, updated_at, aal)
     values (gen_random_uuid(), $1, now(), now(), 'aal1')`,
    [user.id],
  )
  return [session]
}

export const requestOf = (url: string, route: Route, caller: Caller) => {
  const { path, body } = route.request(caller)
  return body ? post(url, `/api${path}`, caller.token, body) : get(url, `/api${path}`, caller.token)
}
