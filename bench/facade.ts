/**
 * Measures the overhead of the facade: each route over HTTP, its database function alone, and a plain SQL
 * statement on the same tables. They run alternately on the same database, under the same conditions.
 */
import pg from 'pg'
import type { Stack } from '../test/support/stack.ts'
import {
  type Ask,
  type Caller,
  prepareCallers,
  requestOf,
  type Route,
  routes,
} from './facade-routes.ts'
import { loadCalls, loadHttp, type Measured, median } from './http-load.ts'
import { postgresTime } from './processes.ts'
import { startFunctions } from './start-functions.ts'

const rounds = 3
const load = { connections: 16, seconds: 3 }

export type Compared = { route: string; plain: Measured; function?: Measured; facade: Measured }

export async function benchFacade(stack: Stack): Promise<Compared[]> {
  const functions = await startFunctions(stack)
  const open = (connectionString: string) =>
    new pg.Pool({
      connectionString,
      options: '-c edits.by=bench',
      max: 10,
      types: { getTypeParser: () => (text: string) => text },
    })
  const database = { facade: open(functions.databaseUrl), owner: open(stack.databaseUrl) }
  try {
    const callers = await prepareCallers(stack, database)
    const compared: Compared[] = []
    for (const route of await routes(database)) {
      for (const caller of callers) await requireSameAnswer(route, caller)
      compared.push(await compare(route, callers, functions.url, postgresTime(stack)))
    }
    return compared
  } finally {
    await functions.stop()
    await database.facade.end()
    await database.owner.end()
  }
}

async function compare(
  route: Route,
  callers: Caller[],
  url: string,
  processorTime: () => number | undefined,
): Promise<Compared> {
  const options = { ...load, processorTime }
  let turn = 0
  const inTurns = (ask: Ask) => () => {
    const round = Math.floor(turn / callers.length)
    return ask(callers[turn++ % callers.length]!, round)
  }
  const requests = callers.map((caller) => requestOf(url, route, caller))
  const plain: Measured[] = []
  const call: Measured[] = []
  const facade: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    plain.push(await loadCalls(inTurns(route.plain), options))
    if (route.function) call.push(await loadCalls(inTurns(route.function), options))
    facade.push(await loadHttp(url, requests, options))
  }
  return {
    route: route.name,
    plain: median(plain),
    ...(route.function && { function: median(call) }),
    facade: median(facade),
  }
}

/** Throws if plain statement and function return different ids: their times are not comparable then. */
async function requireSameAnswer({ name, plain, function: call }: Route, caller: Caller) {
  if (!call) return
  const ids = async (ask: Ask) => {
    const answer = JSON.parse((await ask(caller, 0)).at(-1)?.rows[0]?.answer ?? '{}')
    return JSON.stringify((answer.items ?? [answer]).map(({ id }: { id?: string }) => id))
  }
  if (await ids(plain) !== await ids(call)) throw new Error(`${name}: two different answers`)
}

/**
 * Returns a table: requests per second, the percentage of the plain statement's, and CPU time of Postgres.
 */
export const facadeTable = (compared: Compared[]) => {
  const share = (part: Measured | undefined, { perSecond }: Measured) =>
    part ? `${Math.round(100 * part.perSecond / perSecond)} %` : '–'
  const cpu = (part: Measured | undefined) => part ? part.processorMs?.toFixed(2) ?? 'n/a' : '–'
  return [
    [
      '',
      'plain/s',
      'function/s',
      'facade/s',
      'function of plain',
      'facade of plain',
      'Postgres ms: plain',
      'function',
      'facade',
      'p50',
      'p99',
      'failed',
    ],
    ...compared.map((row) => [
      row.route,
      String(row.plain.perSecond),
      String(row.function?.perSecond ?? '–'),
      String(row.facade.perSecond),
      share(row.function, row.plain),
      share(row.facade, row.plain),
      cpu(row.plain),
      cpu(row.function),
      cpu(row.facade),
      `${row.facade.p50.toFixed(1)} ms`,
      `${row.facade.p99.toFixed(1)} ms`,
      String(row.facade.failed),
    ]),
  ]
}
