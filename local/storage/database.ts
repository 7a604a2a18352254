import type pg from 'pg'
import { transaction, type Tx } from '../postgres/pool.ts'
import type { Claims } from '../config/signing-keys.ts'

export type Caller = { role: string; claims: Claims }

type Options = {
  /** The operation that policies see, such as storage.object.upload. */
  operation: string
  /** Whether to roll back, which tests whether the work is allowed without doing it. */
  undone?: boolean
}

/** Runs `work` with the caller's role and claims, so that policies apply. */
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
