import type pg from 'pg'
import { openPool, transaction as inTransaction, type Tx } from '../postgres/pool.ts'

export { rfc3339, type Tx } from '../postgres/pool.ts'

export type Db = pg.Pool | Tx

/** Opens a pool that prepares each statement once per connection, as Auth's driver does. */
export function openDatabase(url: string): pg.Pool {
  const pool = openPool(url, { application_name: 'auth', idleTimeoutMillis: 0 })
  const names = new Map<string, string>()
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((text: unknown, values?: unknown, done?: unknown) => {
      if (typeof text !== 'string' || !Array.isArray(values)) return query(text, values, done)
      const name = names.get(text) ?? `auth ${names.size}`
      names.set(text, name)
      return query({ name, text, values }, done)
    }) as typeof client.query
  })
  return pool
}

/** Returned by the work of a transaction to commit it and then throw `error`. */
export class CommittedError {
  readonly error: Error

  constructor(error: Error) {
    this.error = error
  }
}

export async function transaction<T>(
  pool: pg.Pool,
  work: (tx: Tx) => Promise<T | CommittedError>,
): Promise<T> {
  const result = await inTransaction(pool, work)
  if (result instanceof CommittedError) throw result.error
  return result
}
