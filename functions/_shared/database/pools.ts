// pg is imported without `npm:`; with it, a bundler would include the package.
// @ts-types="../../../node_modules/@types/pg/index.d.mts"
import pg from 'pg'
import { withTimeout } from '../errors/timeout.ts'
import type { Connection } from '../settings/connection.ts'
import { env } from '../settings/env.ts'

/**
 * A pool of connections to one server. pg-pool's own time limit would start a timer for every query, which
 * costs a twentieth of a small request. So the client limits the login, and `connect` limits the whole wait.
 */
export class Pool extends pg.Pool {
  readonly connectTime: number
  /** After a refused login, no new connection is opened until this time. */
  refusedUntil = 0
  /** When the server last ran out of disk space. */
  fullAt = -Infinity

  constructor(connection: Connection, max: number, connectTime: number) {
    super({
      ...connection,
      max,
      Client: class extends pg.Client {
        constructor(options?: pg.ClientConfig) {
          // A copy of the pool's options lacks the password.
          super({ ...options, password: options?.password, connectionTimeoutMillis: connectTime })
        }
      },
      // In production an idle connection holds a slot of the pooler that other workers need. Elsewhere it
      // stays open, because a new one costs as much as thirty requests.
      idleTimeoutMillis: env.production ? 10_000 : 0,
      keepAlive: true,
      // Values stay text from Postgres to the client, because a Date would lose microseconds.
      types: { getTypeParser: () => (value: string) => value },
    })
    this.connectTime = connectTime
    // The pool replaces a connection that breaks while idle.
    this.on('error', () => {})
    // A connection that breaks during a query fails it. Without a listener it would also end the process.
    this.on('connect', (client) => client.on('error', () => {}))
  }
}

const connectTime = 3000 * env.patience

const pool = new Pool(env.database, env.databasePool, connectTime)
/** The connection of health checks and alarms, which must work when every other one is taken. */
export const reservePool = new Pool(env.database, 1, connectTime)

/** How many connections are open, how many of them are idle, and how many calls wait for one. */
export const poolFigures = () =>
  Object.entries({ requests: pool, reserve: reservePool }).map(([name, one]) => ({
    pool: name,
    open: one.totalCount,
    idle: one.idleCount,
    waiting: one.waitingCount,
  }))

// The driver gives these failures no code. Its time limit may even end a connection that has just been made.
const connectionLost =
  /^(Connection terminated|Client has encountered a connection|timeout expired)/

export type Rows = Record<string, string | null>[]

// deadlock_detected, serialization_failure: Postgres rolled back one of two conflicting transactions.
const retryable = ['40P01', '40001']

const queryTimeout = 9000

/** Sends one message, and repeats it after a conflict; a rate in the message is then counted twice. */
export async function sendQuery(text: string, from = pool): Promise<Rows> {
  const end = Date.now() + queryTimeout
  try {
    return await runQuery(text, queryTimeout, from)
  } catch (error) {
    if (!retryable.includes((error as pg.DatabaseError).code ?? '')) throw error
    await new Promise((resolve) => setTimeout(resolve, 30 + 40 * Math.random()))
    return await runQuery(text, end - Date.now(), from)
  }
}

// SQLSTATE classes of a refused login. After many of these the pooler blocks new connections for a while.
const refusedLogin = /^(28|3D|XX)/

async function connect(from: Pool): Promise<pg.PoolClient> {
  let connecting: Promise<pg.PoolClient> | undefined
  try {
    if (Date.now() < from.refusedUntil && !from.idleCount) throw new Error('login refused')
    connecting = from.connect()
    return await withTimeout(from.connectTime, connecting, 'service_unavailable')
  } catch (error) {
    // A connection that arrives too late goes back to the pool.
    connecting?.then((client) => client.release(), () => {})
    const { code, message } = error as pg.DatabaseError
    if (refusedLogin.test(code ?? '')) from.refusedUntil = Date.now() + 5000
    throw Object.assign(new Error(message), { code: 'POOL' })
  }
}

/** Returns the first row and empties the driver's array, which V8 frees only at a full collection. */
function firstRow({ rows }: pg.QueryResult): Rows[number] {
  const [row] = rows
  rows.length = 0
  return row
}

export const diskWasFull = () => Date.now() - Math.max(pool.fullAt, reservePool.fullAt) < 30_000

/** Runs a message, and makes sure that none of its state stays on the pooled connection. */
export async function runQuery(text: string, time: number, from: Pool): Promise<Rows> {
  const client = await connect(from)
  let broken = true
  try {
    const results = await withTimeout(time, client.query(text), 'timeout')
    broken = false
    return (Array.isArray(results) ? results : [results]).map(firstRow)
  } catch (error) {
    // An error in an implicit transaction leaves the connection clean; after anything else it is dropped.
    broken = !(error instanceof pg.DatabaseError && client.getTransactionStatus() === 'I')
    if (connectionLost.test(String((error as Error).message))) {
      Object.assign(error as Error, { code: 'POOL' })
    }
    if ((error as pg.DatabaseError).code === '53100') from.fullAt = Date.now()
    throw error
  } finally {
    client.release(broken)
  }
}
