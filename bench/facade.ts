/**
 * The facade against the bare statement: the same function calls, once straight through the driver
 * and once as HTTP requests, in turns on the same database, so that both meet the same machine.
 */
import pg from 'pg'
import type { Stack } from '../test/support/stack.ts'
import { type Session, signUp } from './client.ts'
import { startFunctions } from './start-functions.ts'
import { get, loadCalls, loadHttp, type Measured, median } from './http-load.ts'

const rounds = 3
const connections = 16

export type Compared = {
  route: string
  bare: Measured
  facade: Measured
  gateway: Measured
  /** Requests through the facade for a hundred bare statements. */
  percent: number
}

type Route = { name: string; path: string; statement: string }

/** Gives a person fifty favorites, and returns the routes to measure. */
async function prepare(pool: pg.Pool, { user }: Session): Promise<Route[]> {
  await pool.query(
    `insert into public.favorites (identity_id, property_id)
     select accounts.active_identity_id, properties.id
     from public.accounts, (select id from public.properties where listed limit 50) as properties
     where accounts.id = $1`,
    [user.id],
  )
  const { rows: [{ id }] } = await pool.query(
    'select id from public.properties where listed order by published_at desc offset 100 limit 1',
  )
  const search = { type: 'SALE', areaIds: 'salmiya', priceMax: 400000 }
  const query = new URLSearchParams(Object.entries(search).map(([k, v]) => [k, String(v)]))
  const filters = JSON.stringify({ ...search, areaIds: ['salmiya'] })
  return [
    {
      name: 'search',
      path: `/search?${query}`,
      statement: `select to_json(result)::text from api.search('standard', '${filters}') as result`,
    },
    {
      name: 'listing by id',
      path: `/properties/${id}`,
      statement: `select to_json(result)::text from api.get_property('${id}') as result`,
    },
    {
      name: 'favorites list',
      path: '/favorites',
      statement: 'select to_json(result)::text from api.list_favorites() as result',
    },
  ]
}

export async function benchFacade(stack: Stack): Promise<Compared[]> {
  const session = await signUp(stack)
  const claims = Buffer.from(session.accessToken.split('.')[1], 'base64url').toString()
  const pool = new pg.Pool({
    connectionString: stack.databaseUrl,
    max: 10,
    types: { getTypeParser: () => (value: string) => value },
    onConnect: async (client) => {
      await client.query(`select set_config('request.jwt.claims', $1, false)`, [claims])
    },
  })
  const functions = await startFunctions(stack)
  const compared: Compared[] = []
  for (const { name, path, statement } of await prepare(pool, session)) {
    const bare: Measured[] = []
    const facade: Measured[] = []
    const gateway: Measured[] = []
    for (let round = 0; round < rounds; round++) {
      bare.push(await loadCalls(() => pool.query(statement), { connections }))
      const direct = get(functions.url, `/api${path}`, session.accessToken)
      facade.push(await loadHttp(functions.url, [direct], { connections }))
      const whole = get(stack.url, `/functions/v1/api${path}`, session.accessToken)
      gateway.push(await loadHttp(stack.url, [whole], { connections }))
    }
    const [bareMedian, facadeMedian] = [median(bare), median(facade)]
    compared.push({
      route: name,
      bare: bareMedian,
      facade: facadeMedian,
      gateway: median(gateway),
      percent: Math.round(100 * facadeMedian.perSecond / bareMedian.perSecond),
    })
  }
  await functions.stop()
  await pool.end()
  return compared
}
