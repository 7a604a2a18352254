// The test briefly disables a trigger, which locks the table, so it runs alone.
import { expect, test } from 'vitest'
import { database, guest, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'

const pct = async (id: string) => (await guest.get(`/properties/${id}`)).body.deal?.dropPct ?? null

test('a price is changed as soon after 20,000 others as after two', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller, { price: 1000 })
  const client = await database().connect()
  try {
    // Inserts the rows without the trigger, which would read the whole history after each row.
    await client.query(`begin; set local lock_timeout = '2min';
      alter table public.price_history disable trigger price_history_makes_deals`)
    await client.query(
      `insert into public.price_history (property_id, price, changed_at)
       select $1, 1000 + nth % 7, now() - interval '13 days' + nth * interval '1 minute' * 0.9
       from generate_series(1, 20000) as nth`,
      [id],
    )
    await client.query(`
      alter table public.price_history enable trigger price_history_makes_deals; commit`)
  } finally {
    client.release()
  }
  // The work must fit in the time limit of one statement, which a quadratic algorithm would exceed.
  expect(await seller.patch(`/properties/${id}`, { price: 990 })).toMatchObject({
    status: 200,
    body: { price: 990 },
  })
  expect(await pct(id)).toBe(null)
  await seller.patch(`/properties/${id}`, { price: 940 })
  expect(await pct(id)).toBe(5.05) // percent of 990
})
