import pg from 'pg'

export type Tx = pg.PoolClient

const timestamptz = 1184
const timestamp = 1114

/** Opens a pool that returns times as text, because a Date loses microseconds. */
export function openPool(connectionString: string, options: pg.PoolConfig): pg.Pool {
  const types = {
    getTypeParser:
      ((oid: number, format?: 'text') =>
        oid === timestamptz || oid === timestamp
          ? rfc3339
          : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
  }
  const pool = new pg.Pool({
    connectionString,
    max: 6,
    types,
    connectionTimeoutMillis: 5000,
    ...options,
  })
  // The pool replaces a broken idle connection; without this listener its error would end the process.
  pool.on('error', () => {})
  // If a connection breaks during a transaction, its queries fail, so the event itself can be ignored.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Converts a time from Postgres's format to RFC 3339. The server's time zone is UTC. */
export function rfc3339(text: string): string {
  return text.replace(' ', 'T').replace(/\+00(:00)?$/, '').replace(/$/, 'Z')
}

/** Runs `work` in a transaction. With `undone`, the transaction is rolled back after `work` has returned. */
export async function transaction<T>(
  pool: pg.Pool,
  work: (tx: Tx) => Promise<T>,
  undone = false,
): Promise<T> {
  const tx = await pool.connect()
  let broken: Error | undefined
  try {
    await tx.query('begin')
    const result = await work(tx)
    await tx.query(undone ? 'rollback' : 'commit')
    return result
  } catch (error) {
    await tx.query('rollback').catch((failure) => (broken = failure))
    throw error
  } finally {
    tx.release(broken)
  }
}
