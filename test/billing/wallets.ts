import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { database, type Person } from '../support/client.ts'
import type { RawRequest } from '../support/races.ts'

export async function planFor(price: number | string): Promise<string> {
  const { rows: [{ id }] } = await database().query(
    `insert into public.plans (code, name_ar, name_en, audience, price, interval_days,
       active_listings, listing_days, photos_per_listing, position)
     values ($1, 'باقة قصيرة', 'Short', 'individual', $2, 30, 7, 30, 10, 999) returning id`,
    [`t_${randomUUID().slice(0, 8)}`, price],
  )
  return id
}

export const subscribe = (person: Person, planId: string, payWith = 'wallet'): RawRequest => ({
  path: '/plans/subscribe',
  body: { planId, payWith },
  headers: [['authorization', `Bearer ${person.accessToken}`]],
})

/** Expects that each balance of these people is the sum of its entries and is not negative. */
export async function expectBalanced(people: Person[]) {
  const { rows } = await database().query(
    `select wallets.id from public.wallets
     left join public.wallet_entries on wallet_entries.wallet_id = wallets.id
     where wallets.identity_id = any ($1)
     group by wallets.id, wallets.balance
     having wallets.balance <> coalesce(sum(amount), 0) or wallets.balance < 0`,
    [people.map(({ identityId }) => identityId)],
  )
  expect(rows).toEqual([])
}
