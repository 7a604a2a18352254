// The test disables a trigger for a moment, which locks the table, so it runs alone.
import { expect, test } from 'vitest'
import { database, guest, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'

const pct = async (id: string) => (await guest.get(`/properties/${id}`)).body.deal?.dropPct ?? null

test('a price is changed as soon after 20,000 others as after two', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller, { price: 1000 })
  const client = await database().connect()
  try {
    // The rows are inserted without the trigger, which reads the whole history after each row.
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
  // All the work must fit in one statement's time limit, which quadratic work would exceed.
  expect(await seller.patch(`/properties/${id}`, { price: 990 })).toMatchObject({
    status: 200,
    body: { price: 990 },
  })
  expect(await pct(id)).toBe(null)
  await seller.patch(`/properties/${id}`, { price: 940 })
  expect(await pct(id)).toBe(5.05) // percent of 990
})
