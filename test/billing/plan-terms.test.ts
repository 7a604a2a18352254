// A plan keeps the terms at which it was sold, and is not renewed automatically at worse
// ones (contract, section 7).
import { describe, expect, test } from 'vitest'
import { database, type Person } from '../support/client.ts'
import { drain } from '../support/jobs.ts'
import { walletOf } from '../support/money.ts'
import { notificationsOf } from '../support/notifications.ts'
import { agePlans, buy, currentPlan, newPlan, personWithMoney } from './purchases.ts'

const current = async (person: Person) => (await person.get('/plans/current')).body

const change = (plan: string, column: string, value: unknown) =>
  database().query(`update public.plans set ${column} = $2 where id = $1`, [plan, value])

async function subscriber(figures: Parameters<typeof newPlan>[0] = {}, payWith = 'wallet') {
  const [person, plan] = await Promise.all([personWithMoney(), newPlan(figures)])
  await buy(person, plan)
  await database().query('update public.subscriptions set pay_with = $2 where identity_id = $1', [
    person.identityId,
    payWith,
  ])
  return { person, plan }
}

/** Moves the plan some days into the past and runs the plan jobs. */
async function pass(person: Person, days: number) {
  await agePlans(person, days)
  for (const job of ['downgrade_plans', 'remind_of_plans', 'renew_plans']) await drain(job)
}

/** Returns the last day of the current plan in the format of notifications. */
async function lastDay(person: Person): Promise<string> {
  const { subscription } = await current(person)
  return new Date(Date.parse(subscription.endsAt) + 3 * 3_600_000)
    .toISOString().slice(0, 10).replaceAll('-', '/')
}

const textsOf = async (person: Person, kind: string): Promise<string[]> =>
  (await notificationsOf(person, kind)).map(({ bodyEn }) => bodyEn)

test('WAL-10 a plan keeps price, days and quotas of its purchase', async () => {
  const { person, plan } = await subscriber()
  for (
    const [column, value] of Object.entries({
      price: 40,
      interval_days: 10,
      active_listings: 1,
      listing_days: 7,
      photos_per_listing: 2,
    })
  ) await change(plan, column, value)
  expect(await current(person)).toMatchObject({
    plan: {
      id: plan,
      price: 10,
      intervalDays: 30,
      activeListings: 7,
      listingDays: 30,
      photosPerListing: 10,
    },
    usage: { activeListings: { limit: 7 }, photosPerListing: { limit: 10 } },
  })
})

test('WAL-10 an invoice gives what it was issued for', async () => {
  const [person, plan] = await Promise.all([personWithMoney(), newPlan()])
  const { body: { invoice } } = await person.post('/plans/subscribe', {
    planId: plan,
    payWith: 'invoice',
  })
  for (const [column, value] of [['price', 40], ['interval_days', 10], ['active_listings', 1]]) {
    await change(plan, column as string, value)
  }
  await database().query('select private.pay_from_wallet($1)', [invoice.id])
  expect(await currentPlan(person)).toEqual([plan, 30])
  expect((await current(person)).plan).toMatchObject({ price: 10, activeListings: 7 })
  expect(await walletOf(person)).toMatchObject({ available: 90 })
})

describe('WAL-10 a renewal', () => {
  test('that is dearer is announced 7 days before, and made by who subscribes again', async () => {
    const { person, plan } = await subscriber()
    await change(plan, 'price', 40)
    await pass(person, 22.5)
    expect(await textsOf(person, 'plan_terms_changed')).toEqual([])
    await pass(person, 1)
    await pass(person, 0)
    const day = await lastDay(person)
    expect(await textsOf(person, 'plan_terms_changed')).toEqual([
      expect.stringMatching(new RegExp(`ends on ${day}.* 40\\.000 KWD`)),
    ])
    expect((await current(person)).subscription.renews).toBe(false)
    await pass(person, 5.75)
    expect(await walletOf(person)).toMatchObject({ available: 90 })

    const { status, body } = await person.post('/plans/subscribe', {
      planId: plan,
      payWith: 'wallet',
    })
    expect(status).toBe(201)
    expect(body.current).toMatchObject({
      plan: { price: 10 },
      next: { plan: { id: plan, price: 40 }, startsAt: body.current.subscription.endsAt },
    })
    expect(await person.post('/plans/subscribe', { planId: plan, payWith: 'wallet' }))
      .toMatchObject({ status: 409, body: { error: { code: 'already_subscribed' } } })
    await pass(person, 1)
    expect(await current(person)).toMatchObject({ plan: { id: plan, price: 40 }, next: null })
    expect(await walletOf(person)).toMatchObject({ available: 50 })
  })

  test.each([
    ['dearer', 'price', 10.001],
    ['for fewer days', 'interval_days', 29],
    ['with fewer listings', 'active_listings', 6],
    ['with listings that live shorter', 'listing_days', 29],
    ['with fewer pictures', 'photos_per_listing', 9],
    ['with fewer featured listings', 'featured_credits', 0],
  ])('that is %s is neither paid nor invoiced by itself', async (_name, column, value) => {
    for (const payWith of ['wallet', 'invoice']) {
      const { person, plan } = await subscriber({ credits: 1 }, payWith)
      await pass(person, 22.5) // the reminder is not due yet
      await change(plan, column, value)
      await pass(person, 6.75)
      expect(await walletOf(person)).toMatchObject({ available: 90 })
      expect((await person.get('/invoices')).body.items).toHaveLength(1)
      expect(await textsOf(person, 'plan_terms_changed')).toHaveLength(1)
      await pass(person, 1)
      expect(await currentPlan(person)).toEqual(['free', 0])
    }
  })

  test('for less, or with more, is made by itself and begins after what is paid', async () => {
    const { person, plan } = await subscriber()
    await change(plan, 'price', 8)
    await change(plan, 'active_listings', 9)
    await pass(person, 29.25)
    expect(await walletOf(person)).toMatchObject({ available: 82 })
    expect(await current(person)).toMatchObject({
      plan: { price: 10, activeListings: 7 },
      next: { plan: { id: plan, price: 8, activeListings: 9 } },
    })
    expect(await textsOf(person, 'plan_terms_changed')).toEqual([])
  })

  test('of a plan that is no longer offered is not made, which is said 30 days before', async () => {
    const { person, plan } = await subscriber({ days: 60 })
    await change(plan, 'on_sale', false)
    await pass(person, 29)
    expect(await textsOf(person, 'plan_terms_changed')).toEqual([])
    await pass(person, 2)
    expect(await textsOf(person, 'plan_terms_changed')).toEqual([
      expect.stringContaining(`ends on ${await lastDay(person)} and is not renewed`),
    ])
    await pass(person, 28.25)
    expect(await walletOf(person)).toMatchObject({ available: 90 })
    expect(await textsOf(person, 'plan_expiring')).toEqual([
      expect.stringContaining('no longer offered'),
    ])
    await pass(person, 1)
    expect(await currentPlan(person)).toEqual(['free', 0])
  })

  test.each([
    ['wallet', 'renewed from your wallet for 10\\.000 KWD'],
    ['invoice', 'Pay the invoice of 10\\.000 KWD'],
  ])('by %s has a reminder that names amount and day', async (payWith, words) => {
    const { person } = await subscriber({}, payWith)
    await pass(person, 22.5)
    expect(await textsOf(person, 'plan_expiring')).toEqual([])
    await pass(person, 1)
    expect(await textsOf(person, 'plan_expiring')).toEqual([
      expect.stringMatching(new RegExp(`ends on ${await lastDay(person)}.*${words}`)),
    ])
  })

  test('that was cancelled has one, too', async () => {
    const { person } = await subscriber()
    await person.post('/plans/cancel')
    await pass(person, 27.5)
    expect(await textsOf(person, 'plan_expiring')).toEqual([
      expect.stringMatching(new RegExp(`ends on ${await lastDay(person)}.*Renew it for 10\\.000`)),
    ])
  })
})
