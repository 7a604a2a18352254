// FAV-06: a price fell if it is 1 to 50 percent below the lowest price of the 30 days before.
import { beforeEach, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { toggleFavorite } from '../favorites/reads.ts'
import { agePrices } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { drain } from '../support/jobs.ts'
import { notificationsOf } from '../support/notifications.ts'

let seller: Person
let buyer: Person
let id: string

beforeEach(async () => {
  ;[seller, buyer] = await Promise.all([signUp(), signUp()])
})

async function save(price: number | null, type = 'SALE') {
  id = (await publishListing(seller, { type, price })).id
  await toggleFavorite(buyer, id)
}

const set = async (price: number | null) =>
  expect((await seller.patch(`/properties/${id}`, { price })).status).toBe(200)

/** Returns the price falls in the buyer's notifications, newest first, such as '1,000 → 900'. */
async function falls(person = buyer): Promise<string[]> {
  await drain('fan_out_listing_events')
  return (await notificationsOf(person, 'favorite_price_drop')).map(({ bodyEn }) =>
    bodyEn.replace(/^.* went from (.*) KWD to (.*) KWD$/, '$1 → $2')
  )
}

const anEventEarlier = (by: string) =>
  database().query(
    `update private.notification_events set notified_at = notified_at - $2::interval
     where property_id = $1`,
    [id, by],
  )

const readAll = () => buyer.post('/notifications/read-all')

test('FAV-06 a price that was raised and comes back has not fallen', async () => {
  await save(100_000)
  await set(150_000)
  await set(100_000)
  expect(await falls()).toEqual([])
  // The same is true if the rise lasted a while, or was made while the listing was hidden.
  await set(150_000)
  await agePrices(id, '29 days 23 hours')
  await set(100_000)
  for (const act of ['pause', 'resume']) await seller.post(`/properties/${id}/${act}`)
  await seller.post(`/properties/${id}/pause`)
  await set(150_000)
  await seller.post(`/properties/${id}/resume`)
  await set(100_000)
  expect(await falls()).toEqual([])
  await set(99_000)
  expect(await falls()).toEqual(['100,000 → 99,000'])
})

test('FAV-06 a price that stood for more than 30 days is what the next falls from', async () => {
  await save(100_000)
  await set(150_000)
  await agePrices(id, '31 days')
  await set(120_000)
  expect(await falls()).toEqual(['150,000 → 120,000'])
})

test.each([
  [990, ['1,000 → 990']],
  [990.001, []],
  [500, ['1,000 → 500']],
  [499.999, []],
  [0, []],
])('FAV-06 a fall from 1,000 to %s is told as %j', async (price, notices) => {
  await save(1000)
  await set(price)
  expect(await falls()).toEqual(notices)
})

test('FAV-06 what had no price has not fallen; a price that was hidden for a while may have', async () => {
  await save(null, 'EXCHANGE')
  await set(1000)
  expect(await falls()).toEqual([])
  await set(null)
  await set(1000)
  expect(await falls()).toEqual([])
  await set(null)
  await set(900)
  expect(await falls()).toEqual(['1,000 → 900'])
})

test('FAV-06 a large fall after a small one within a day is told, in the unread notification', async () => {
  await save(1000)
  await set(985)
  const [first] = await notificationsAfterJob()
  await set(975) // 1 % below 985, but not 5 %
  expect(await falls()).toEqual(['1,000 → 985'])
  await set(585) // 40 % below 975
  expect(await falls()).toEqual(['975 → 585'])
  expect((await notificationsAfterJob()).map(({ id }) => id)).toEqual([first.id])
})

async function notificationsAfterJob() {
  await drain('fan_out_listing_events')
  return await notificationsOf(buyer, 'favorite_price_drop')
}

test('FAV-06 a read one is followed; three in a day, whatever the owner does', async () => {
  await save(1000)
  const notices: string[] = []
  for (
    const [price, says] of [[900, '1,000 → 900'], [855, '900 → 855'], [800, '855 → 800']] as const
  ) {
    await set(price)
    notices.unshift(says)
    expect(await falls()).toEqual(notices)
    await readAll()
  }
  await set(700)
  expect(await falls()).toEqual(notices)
  for (const act of ['pause', 'resume', 'archive', 'restore', 'publish']) {
    expect((await seller.post(`/properties/${id}/${act}`)).status).toBe(200)
  }
  await set(600)
  expect(await falls()).toEqual(notices)
  await anEventEarlier('1 day')
  await set(590) // more than 1 %, and a day has passed
  expect(await falls()).toEqual(['600 → 590', ...notices])
})

test('FAV-06 several before anybody was told are one, as far as they are no mistake together', async () => {
  await save(1000)
  const all = (prices: number[]) =>
    database().query(`do $$ begin
      ${
      prices.map((price) => `update public.properties set price = ${price} where id = '${id}';`)
        .join('\n')
    }
    end $$`)
  await all([600, 400])
  expect(await falls()).toEqual(['600 → 400'])
  await readAll()
  await anEventEarlier('1 day')
  await all([390, 100, 150]) // more than 50 % below 390, so neither counts
  expect(await falls()).toEqual(['600 → 400'])
})

test('FAV-06 who is told while the price falls again is told one price, then the next', async () => {
  await save(1000)
  const late = await signUp()
  await toggleFavorite(late, id)
  const [first, last] = [buyer, late].toSorted((a, b) => a.identityId < b.identityId ? -1 : 1)
  // Simulates a job that stopped after it had notified the first person.
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query('update public.properties set price = 900 where id = $1', [id])
    await client.query(
      `update private.notification_events
       set last_identity_id = $2, details = details || '{"price":900}' where property_id = $1`,
      [id, first!.identityId],
    )
    await client.query('update public.properties set price = 890 where id = $1', [id])
    await client.query('commit')
  } finally {
    client.release()
  }
  expect(await falls(last)).toEqual(['1,000 → 900'])
  expect(await falls(first)).toEqual([]) // 890 is not 5 % below 900
  await set(850)
  expect([await falls(first), await falls(last)]).toEqual([['890 → 850'], ['890 → 850']])
})

test('FAV-06 what some were told counts, also if the listing is paused before the others are', async () => {
  await save(1000)
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query('update public.properties set price = 900 where id = $1', [id])
    await client.query(
      `update private.notification_events
       set last_identity_id = $2, details = details || '{"price":900}' where property_id = $1`,
      [id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    )
    await client.query(`update public.properties set status = 'paused' where id = $1`, [id])
    await client.query('commit')
  } finally {
    client.release()
  }
  expect(await falls()).toEqual([])
  await seller.post(`/properties/${id}/resume`)
  await set(880)
  expect(await falls()).toEqual([])
  await set(850)
  expect(await falls()).toEqual(['880 → 850'])
})

test('FAV-06 six runs at once tell two falls of everybody once', async () => {
  await save(1000)
  await set(900)
  await Promise.all(Array.from({ length: 6 }, () => drain('fan_out_listing_events')))
  await readAll()
  await set(800)
  await Promise.all(Array.from({ length: 6 }, () => drain('fan_out_listing_events')))
  expect(await falls()).toEqual(['900 → 800', '1,000 → 900'])
})
