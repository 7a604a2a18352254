import pg from 'pg'

export type Db = pg.Pool | pg.PoolClient
export type Tx = pg.PoolClient

const timestamptz = 1184
const timestamp = 1114

/** A pool as Auth's own role. Times stay text, because a Date loses microseconds. */
export function openPool(url: string): pg.Pool {
  const types = {
    getTypeParser:
      ((oid: number, format?: 'text') =>
        oid === timestamptz || oid === timestamp
          ? rfc3339
          : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: 6,
    types,
    connectionTimeoutMillis: 5000,
    application_name: 'auth',
  })
  // A connection that dies idle is replaced by the pool; without a listener it would end us.
  pool.on('error', () => {})
  // Nor one that dies in the middle of a transaction: its queries fail and tell.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** From Postgres' way to write a time (the server speaks UTC) to the one in JSON. */
export function rfc3339(text: string): string {
  return text.replace(' ', 'T').replace(/\+00(:00)?$/, '').replace(/$/, 'Z')
}

/** An error that the caller gets although what was written stays. */
export class CommittedError {
  readonly error: Error

  constructor(error: Error) {
    this.error = error
  }
}

/** Runs work in one transaction; a returned CommittedError is thrown after the commit. */
export async function transaction<T>(
  pool: pg.Pool,
  work: (tx: Tx) => Promise<T | CommittedError>,
): Promise<T> {
  const tx = await pool.connect()
  let broken: Error | undefined
  let result: T | CommittedError
  try {
    await tx.query('begin')
    result = await work(tx)
    await tx.query('commit')
  } catch (error) {
    await tx.query('rollback').catch((failure) => (broken = failure))
    throw error
  } finally {
    tx.release(broken)
  }
  if (result instanceof CommittedError) throw result.error
  return result
}
