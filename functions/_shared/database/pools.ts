// pg is imported without `npm:`; with it, a bundler would include the package.
// @ts-types="../../../node_modules/@types/pg/index.d.mts"
import pg from 'pg'
import { withTimeout } from '../errors/timeout.ts'
import type { Connection } from '../settings/connection.ts'
import { env } from '../settings/env.ts'

/**
 * A pool of connections to one server. pg-pool's connection timeout would start a timer for every query,
 * which adds a twentieth to the time of a small request. Instead, the client limits the login, and `connect`
 * limits the total wait.
 */
export class Pool extends pg.Pool {
  readonly connectTime: number
  /** No new connections are opened until this time, because a login was refused. */
  refusedUntil = 0
  /** When the server last reported that its disk is full. */
  fullAt = -Infinity

  constructor(connection: Connection, max: number, connectTime: number) {
    super({
      ...connection,
      max,
      Client: class extends pg.Client {
        constructor(options?: pg.ClientConfig) {
          // The options are a copy that lacks the password (it is not enumerable), so pass it explicitly.
          super({ ...options, password: options?.password, connectionTimeoutMillis: connectTime })
        }
      },
      // In production, an idle connection occupies a slot of the pooler that other workers need. Elsewhere it
      // stays open, because opening one takes as long as thirty requests.
      idleTimeoutMillis: env.production ? 10_000 : 0,
      keepAlive: true,
      // Values remain text from Postgres to the client. Parsing a timestamp as a Date would lose its
      // microseconds.
      types: { getTypeParser: () => (value: string) => value },
    })
    this.connectTime = connectTime
    // The pool replaces connections that break while idle.
    this.on('error', () => {})
    // If a connection breaks during a query, the query fails. Without this listener, the process would crash
    // too.
    this.on('connect', (client) => client.on('error', () => {}))
  }
}

const connectTime = 3000 * env.patience

const pool = new Pool(env.database, env.databasePool, connectTime)
/** The connection for health checks and alarms, which must work when all others are in use. */
export const reservePool = new Pool(env.database, 1, connectTime)

/** The number of open connections, of idle ones, and of calls that wait for one. */
export const poolFigures = () =>
  Object.entries({ requests: pool, reserve: reservePool }).map(([name, one]) => ({
    pool: name,
    open: one.totalCount,
    idle: one.idleCount,
    waiting: one.waitingCount,
  }))

// The driver's errors for lost connections, which have no code. "timeout expired" may even refer to a
// connection that was just established.
const connectionLost =
  /^(Connection terminated|Client has encountered a connection|timeout expired)/

export type Rows = Record<string, string | null>[]

// deadlock_detected and serialization_failure: Postgres rolled back one of two conflicting transactions.
const retryable = ['40P01', '40001']

const queryTimeout = 9000

/**
 * Sends one message. Retries once after a deadlock or serialization failure; a rate in the message then
 * counts twice.
 */
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

// SQLSTATE classes of refused logins. After many of these, the pooler blocks new connections for a while.
const refusedLogin = /^(28|3D|XX)/

async function connect(from: Pool): Promise<pg.PoolClient> {
  let connecting: Promise<pg.PoolClient> | undefined
  try {
    if (Date.now() < from.refusedUntil && !from.idleCount) throw new Error('login refused')
    connecting = from.connect()
    return await withTimeout(from.connectTime, connecting, 'service_unavailable')
  } catch (error) {
    // A connection that arrives after the time limit is returned to the pool.
    connecting?.then((client) => client.release(), () => {})
    const { code, message } = error as pg.DatabaseError
    if (refusedLogin.test(code ?? '')) from.refusedUntil = Date.now() + 5000
    throw Object.assign(new Error(message), { code: 'POOL' })
  }
}

/**
 * Returns the first row and empties the driver's array. Otherwise V8 would free its rows only at a full
 * garbage collection.
 */
function firstRow({ rows }: pg.QueryResult): Rows[number] {
  const [row] = rows
  rows.length = 0
  return row
}

export const diskWasFull = () => Date.now() - Math.max(pool.fullAt, reservePool.fullAt) < 30_000

/** Sends one message and ensures that no state of it remains on the pooled connection. */
export async function runQuery(text: string, time: number, from: Pool): Promise<Rows> {
  const client = await connect(from)
  let broken = true
  try {
    const results = await withTimeout(time, client.query(text), 'timeout')
    broken = false
    return (Array.isArray(results) ? results : [results]).map(firstRow)
  } catch (error) {
    // A database error outside an explicit transaction leaves the connection clean. After any other error it
    // is closed.
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
