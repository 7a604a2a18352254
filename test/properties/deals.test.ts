import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { agePrices as age, insertListing } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'

const set = (id: string, price: number) => (person: Person) =>
  person.patch(`/properties/${id}`, { price })

async function publishedAWeekAgo(seller: Person, fields: Record<string, unknown>) {
  const made = await publishListing(seller, fields)
  await age(made.id, '7 days')
  return made
}

const deal = async (id: string) => (await guest.get(`/properties/${id}`)).body.deal
const pct = async (id: string) => (await deal(id))?.dropPct ?? null

test('a price drop of 5 percent is a deal for 14 days, less is none', async () => {
  const seller = await signUp()
  const [five, less] = [
    await publishedAWeekAgo(seller, { price: 1000 }),
    await publishedAWeekAgo(seller, { price: 1000 }),
  ]
  await set(five.id, 950)(seller)
  await set(less.id, 950.001)(seller)
  expect(await pct(less.id)).toBe(null)

  const { dropPct, until } = await deal(five.id)
  expect(dropPct).toBe(5)
  const { body } = await guest.get(`/properties/${five.id}/price-history`)
  expect(Date.parse(until) - Date.parse(body.items[0].changedAt)).toBe(14 * 86_400_000)

  await age(five.id, '13 days 23 hours')
  expect(await pct(five.id)).toBe(5)
  await age(five.id, '1 hour')
  expect(await pct(five.id)).toBe(null)
})

test('a deal is measured against the lowest price of the 30 days before it dropped', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller, { price: 800 })
  await age(id, '31 days')
  await set(id, 1000)(seller) // the price is raised first
  await set(id, 900)(seller)
  expect(await pct(id)).toBe(null) // 800 was the price until today
  await set(id, 720)(seller)
  expect(await pct(id)).toBe(10) // percent of 800

  // Here the raise was 31 days ago, so 1000 is the lowest price.
  const other = await publishListing(seller, { price: 800 })
  await set(other.id, 1000)(seller)
  await age(other.id, '31 days')
  await set(other.id, 900)(seller)
  expect(await pct(other.id)).toBe(10)

  // Here the raise was 29 days ago, so 800 still counts.
  const third = await publishListing(seller, { price: 800 })
  await set(third.id, 1000)(seller)
  await age(third.id, '29 days')
  await set(third.id, 900)(seller)
  expect(await pct(third.id)).toBe(null)
})

test('a deal follows later price changes', async () => {
  const seller = await signUp()
  const { id } = await publishedAWeekAgo(seller, { price: 1000 })
  await set(id, 800)(seller)
  const { until } = await deal(id)
  await set(id, 900)(seller)
  expect(await deal(id)).toEqual({ dropPct: 10, until }) // still a deal, until the same time
  await set(id, 960)(seller)
  expect(await deal(id)).toBe(null)
  await set(id, 790)(seller) // not far enough below 800 for a new deal, so the earlier deal counts
  expect(await deal(id)).toEqual({ dropPct: 21, until })
  await set(id, 700)(seller)
  expect(await pct(id)).toBe(11.39) // percent of 790
})

test('a rent is a deal like a sale, and percents are exact to two digits', async () => {
  const seller = await signUp()
  const { id } = await publishedAWeekAgo(seller, { type: 'RENT', price: 666.667 })
  await set(id, 500)(seller)
  expect(await pct(id)).toBe(25)
})

test('a price that falls by more than half is no deal', async () => {
  const seller = await signUp()
  const { id } = await publishedAWeekAgo(seller, { price: 99_999_999_999.999 })
  await set(id, 100_000)(seller)
  expect(await deal(id)).toBe(null)
  const other = await publishedAWeekAgo(seller, { price: 1000 })
  await set(other.id, 500)(seller)
  expect(await pct(other.id)).toBe(50)
  await set(other.id, 499.999)(seller)
  expect(await deal(other.id)).toBe(null)
  await set(other.id, 0)(seller)
  expect(await deal(other.id)).toBe(null)
})

test('whoever has just come has no deal: it is listed for seven days first, pauses apart', async () => {
  const seller = await signUp()
  const early = await publishListing(seller, { price: 1000 })
  await age(early.id, '6 days 23 hours')
  await set(early.id, 900)(seller)
  expect(await deal(early.id)).toBe(null)
  await age(early.id, '2 hours')
  await set(early.id, 899)(seller)
  expect(await pct(early.id)).toBe(null)

  const paused = await publishListing(seller, { price: 1000 })
  const act = (what: string) => seller.post(`/properties/${paused.id}/${what}`)
  const since = (by: string) =>
    database().query(
      `update public.properties set unlisted_since = unlisted_since - $2::interval where id = $1`,
      [paused.id, by],
    )
  await act('pause')
  await age(paused.id, '9 days')
  await since('3 days')
  await act('resume')
  await set(paused.id, 900)(seller) // listed for six days
  expect(await deal(paused.id)).toBe(null)
  await age(paused.id, '1 day')
  await set(paused.id, 855)(seller)
  expect(await pct(paused.id)).toBe(5)
})

/** Applies the definition of a deal to prices, oldest first, each with the days since it was set. */
function expectedDeal(prices: [daysAgo: number, price: number][]) {
  const now = prices.at(-1)![1]
  const standing = (from: number, to: number) =>
    // prices that were valid at some time between `from` and `to` days ago
    prices.filter(([since], nth) => since > to && (prices[nth + 1]?.[0] ?? 0) < from)
  const drop = prices.findLast(([since, price], nth) => {
    const lowest = Math.min(...standing(since + 30, since).map(([, before]) => before))
    return nth > 0 && price < prices[nth - 1]![1] && since < 14 && lowest > 0 &&
      prices[0]![0] - since >= 7 &&
      now <= lowest * 0.95
  })
  if (!drop) return null
  const lowest = Math.min(...standing(drop[0] + 30, drop[0]).map(([, price]) => price))
  if (now < lowest * 0.5) return null
  return { pct: Math.round((lowest - now) / lowest * 10_000) / 100, since: drop[0] }
}

test('whatever the history, a deal is what its words say', async () => {
  const seller = await signUp()
  const upTo = (most: number) => randomInt(most + 1)
  let deals = 0
  for (let round = 0; round < 40; round++) {
    const [least, spread] = round % 4 ? [5, 5] : [0, 11]
    const last = (least + upTo(round % 4 ? 2 : 4)) * 100
    const prices = Array.from(
      { length: 2 + upTo(9) },
      () =>
        [upTo(10_000) / (round % 2 ? 500 : 160), (least + upTo(spread)) * 100] as [number, number],
    ).sort(([one], [other]) => other - one)
    prices.push([0, last])
    const id = await insertListing(seller.identityId, { price: last })
    await database().query(
      `with begun as (delete from public.price_history where property_id = $1)
       insert into public.price_history (property_id, price, changed_at)
       select $1, price, now() - make_interval(secs => days * 86400)
       from unnest($2::float8[], $3::numeric[]) as given (days, price)`,
      [id, prices.map(([days]) => days), prices.map(([, price]) => price)],
    )
    const expected = expectedDeal(prices)
    const shown = await deal(id)
    expect([shown?.dropPct ?? null, JSON.stringify(prices)])
      .toEqual([expected?.pct ?? null, JSON.stringify(prices)])
    if (expected) deals++
  }
  expect(deals).toBeGreaterThan(4)
})
