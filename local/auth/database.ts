import type pg from 'pg'
import { transaction as inTransaction, type Tx } from '../postgres/pool.ts'

export { rfc3339, type Tx } from '../postgres/pool.ts'

export type Db = pg.Pool | Tx

/** An error for the caller that does not undo the transaction. */
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
  const result = await inTransaction(pool, work)
  if (result instanceof CommittedError) throw result.error
  return result
}
