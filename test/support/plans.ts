import pg from 'pg'
import { databaseAt } from '../../local/schema/connection.ts'
import { database } from './client.ts'

/** Lifts the free plan's quota (tested in quotas.alone.test.ts) and returns a function that restores it. */
export async function liftQuota(url: string): Promise<() => Promise<void>> {
  // Opens a connection per query: an open one would break in tests that stop the database.
  const ask = async (text: string, values: unknown[] = []) => {
    const client = new pg.Client(databaseAt(url))
    await client.connect()
    await client.query(`set edits.by = 'tests'`)
    return await client.query(text, values).finally(() => client.end())
  }
  const set = (most: number) =>
    ask(`update public.plans set active_listings = $1 where code = 'free'`, [most])
  const { rows: [free] } = await ask(
    `select active_listings as most from public.plans where code = 'free'`,
  )
  await set(1_000_000)
  return async () => {
    await set(free.most)
  }
}

export async function givePlan(identityId: string, code: string, days = 30): Promise<string> {
  const { rows: [{ id }] } = await database().query(
    `insert into public.subscriptions (identity_id, plan_id, ends_at, pay_with)
     select $1, plans.id, now() + make_interval(days => $3), 'invoice' from public.plans
     where plans.code = $2 returning id`,
    [identityId, code, days],
  )
  return id
}
