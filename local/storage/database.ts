import pg from 'pg'
import type { Claims } from '../stack/signing-keys.ts'

/** Who asks: a role of the database and the claims of the token behind it. */
export type Caller = { role: string; claims: Claims }

export type Tx = pg.PoolClient

/** A pool as the role that owns Storage's tables. */
export function openPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 6,
    connectionTimeoutMillis: 5000,
    statement_timeout: 10_000,
    application_name: 'storage',
    types: {
      getTypeParser: ((oid: number, format?: 'text') =>
        // Times stay text, because a Date loses microseconds.
        oid === 1184
          ? (text: string) => text.replace(' ', 'T').replace(/\+00$/, 'Z')
          : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  })
  // A connection that dies idle is replaced; one that dies at work fails its query, which tells.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

type Options = {
  /** As what policies see the call: storage.object.upload and the like. */
  operation: string
  /** Only to learn whether it would be allowed. */
  undone?: boolean
}

/** Runs work with the caller's role and claims, so that policies decide. */
export async function asCaller<T>(
  pool: pg.Pool,
  { role, claims }: Caller,
  { operation, undone = false }: Options,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return await transaction(pool, async (tx) => {
    await tx.query(
      `select set_config('role', $1, true), set_config('request.jwt.claims', $2, true),
        set_config('request.jwt.claim.sub', $3, true), set_config('request.jwt.claim.role', $1, true),
        set_config('storage.operation', $4, true),
        set_config('storage.allow_delete_query', 'true', true)`,
      [role, JSON.stringify(claims), claims.sub ?? '', operation],
    )
    return await work(tx)
  }, undone)
}

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
