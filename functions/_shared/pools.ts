/** Connections to Postgres, and one message sent by one of them. */
// Not by its npm: name: a bundler would pack it.
// @ts-types="../../node_modules/@types/pg/index.d.mts"
import pg from 'pg'
import type { Connection } from './connection.ts'
import { env } from './env.ts'
import { withTimeout } from './timeout.ts'

/**
 * The connections of one server. A limit of the pool itself would start a timer for every query, a twentieth
 * of a small request here: the time to connect is the client's, the wait for a free one `connect`'s.
 */
export class Pool extends pg.Pool {
  readonly connectTime: number
  /** After a refused login none is tried for a while. */
  refusedUntil = 0
  /** When the server last had no room left for something. */
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
      // One that is idle takes a client's place at the pooler from other workers. Elsewhere it stays: a new
      // one costs Postgres as much as thirty requests, a timer at every request a tenth of a small one.
      idleTimeoutMillis: env.production ? 10_000 : 0,
      keepAlive: true,
      // Values stay text from Postgres to the client: a Date would lose microseconds.
      types: { getTypeParser: () => (value: string) => value },
    })
    this.connectTime = connectTime
    // A connection that breaks while idle is simply replaced.
    this.on('error', () => {})
    // One that breaks at work fails its query; without a listener it would end the process.
    this.on('connect', (client) => client.on('error', () => {}))
  }
}

const connectTime = 3000 * env.patience

const pool = new Pool(env.database, env.databasePool, connectTime)
/** For health and alarms, which must get through when every other connection is taken. */
export const reservePool = new Pool(env.database, 1, connectTime)

// The driver gives such a failure no code. Its limit for connecting may end a connection just made.
const connectionLost =
  /^(Connection terminated|Client has encountered a connection|timeout expired)/

export type Rows = Record<string, string | null>[]

// deadlock_detected, serialization_failure: Postgres undid one of two that waited for each other.
const retryable = ['40P01', '40001']

const queryTimeout = 9000

/**
 * Sends one message. What was undone for the sake of another transaction is sent once more, within
 * the same time; of the first try only a rate that is counted ahead has happened, and counts again.
 */
export async function sendQuery(text: string, from = pool): Promise<Rows> {
  const end = Date.now() + queryTimeout
  try {
    return await runQuery(text, queryTimeout, from)
  } catch (error) {
    if (!retryable.includes((error as pg.DatabaseError).code ?? '')) throw error
    // The other transaction has to finish first.
    await new Promise((resolve) => setTimeout(resolve, 30 + 40 * Math.random()))
    return await runQuery(text, end - Date.now(), from)
  }
}

// A pooler that sees many refused logins in a row refuses everybody of the project for a minute.
const refusedLogin = /^(28|3D|XX)/

async function connect(from: Pool): Promise<pg.PoolClient> {
  let connecting: Promise<pg.PoolClient> | undefined
  try {
    if (Date.now() < from.refusedUntil && !from.idleCount) throw new Error('login refused')
    connecting = from.connect()
    return await withTimeout(from.connectTime, connecting, 'service_unavailable')
  } catch (error) {
    // One that comes too late goes back.
    connecting?.then((client) => client.release(), () => {})
    const { code, message } = error as pg.DatabaseError
    if (refusedLogin.test(code ?? '')) from.refusedUntil = Date.now() + 5000
    throw Object.assign(new Error(message), { code: 'POOL' })
  }
}

/**
 * V8 takes the driver's arrays for long-lived and makes them among what is old: one that still had its
 * row would keep it, and a page of its text, until all garbage is collected, once a second.
 */
function firstRow({ rows }: pg.QueryResult): Rows[number] {
  const [row] = rows
  rows.length = 0
  return row
}

/** Whether Postgres had no room left for something within the last half a minute. */
export const diskWasFull = () => Date.now() - Math.max(pool.fullAt, reservePool.fullAt) < 30_000

/** Whatever happens, nothing of a message stays on the pooled connection. */
export async function runQuery(text: string, time: number, from: Pool): Promise<Rows> {
  const client = await connect(from)
  let broken = true
  try {
    const results = await withTimeout(time, client.query(text), 'timeout')
    broken = false
    return (Array.isArray(results) ? results : [results]).map(firstRow)
  } catch (error) {
    // An error in an implicit transaction leaves the connection clean; anything else drops it.
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
