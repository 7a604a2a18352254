import { beforeAll, describe, expect, test } from 'vitest'
import { database, type Person } from '../support/client.ts'
import { type Invoice, walletOf } from '../support/money.ts'
import { race } from '../support/races.ts'
import { signUpAdmin } from '../support/admins.ts'
import { agePlans, buy, currentPlan, newPlan, personWithMoney, refund } from './purchases.ts'
import { runJobs } from '../support/jobs.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

const creditsOf = async (person: Person) =>
  (await person.get('/plans/current')).body.usage.featuredCredits.left

describe('a full refund takes back what its own invoice gave', () => {
  // Each row has the intervals bought, the days since then, the purchases to refund in
  // this order, and the days left.
  const orders: [name: string, bought: number, passed: number, refunded: number[], left: number][] =
    [
      ['the one that runs: the next begins at once, with its whole length', 2, 10, [0], 30],
      ['the renewal ahead: what runs goes on', 2, 10, [1], 20],
      ['both, the older first: nothing is left', 2, 10, [0, 1], 0],
      ['both, the newer first: nothing is left', 2, 10, [1, 0], 0],
      ['one that is over: nothing is taken', 2, 35, [0], 25],
      ['one that is over, then the one that runs', 2, 35, [0, 1], 0],
      ['the one that runs, after another', 2, 35, [1], 0],
      ['the middle one of three', 3, 10, [1], 50],
      ['the first two of three', 3, 10, [0, 1], 30],
      ['the first and the last of three', 3, 10, [2, 0], 30],
      ['all three, the middle one last', 3, 10, [0, 2, 1], 0],
      ['the only one, on its first day', 1, 0, [0], 0],
    ]

  test.each(orders)('%s', async (_name, bought, passed, refunded, left) => {
    const [person, plan] = await Promise.all([personWithMoney(), newPlan()])
    const invoices: Invoice[] = []
    for (let i = 0; i < bought; i++) invoices.push(await buy(person, plan))
    expect(await currentPlan(person)).toEqual([plan, 30 * bought])
    await agePlans(person, passed)
    for (const i of refunded) {
      expect(await refund(admin, invoices[i]))
        .toMatchObject({ status: 200, body: { invoice: { state: 'refunded' } } })
    }
    expect(await currentPlan(person)).toEqual(left ? [plan, left] : ['free', 0])
    expect(await walletOf(person)).toMatchObject({
      available: 100 - 10 * (bought - refunded.length),
    })
  })

  test('refunding the invoice of an expired plan leaves the one bought since', async () => {
    const [person, plan] = await Promise.all([personWithMoney(), newPlan()])
    const old = await buy(person, plan)
    await agePlans(person, 31)
    await runJobs()
    const newer = await buy(person, plan)
    expect((await refund(admin, old)).status).toBe(200)
    expect(await currentPlan(person)).toEqual([plan, 30])
    expect((await refund(admin, newer)).status).toBe(200)
    expect(await currentPlan(person)).toEqual(['free', 0])
  })

  test('days that an admin gave stay', async () => {
    const [person, plan] = await Promise.all([personWithMoney(), newPlan()])
    const invoice = await buy(person, plan)
    await database().query(
      `update public.subscriptions set ends_at = ends_at + interval '7 days'
       where identity_id = $1`,
      [person.identityId],
    )
    await refund(admin, invoice)
    expect(await currentPlan(person)).toEqual([plan, 7])
  })

  test('an interval keeps the length that it was bought with', async () => {
    const [person, plan] = await Promise.all([personWithMoney(), newPlan()])
    const short = await buy(person, plan)
    await database().query('update public.plans set interval_days = 90 where id = $1', [plan])
    await buy(person, plan)
    expect(await currentPlan(person)).toEqual([plan, 30]) // the longer plan follows
    await refund(admin, short)
    expect(await currentPlan(person)).toEqual([plan, 90])
  })

  test('a partial refund takes nothing; the last part takes all', async () => {
    const [person, plan] = await Promise.all([personWithMoney(), newPlan()])
    const [first] = [await buy(person, plan), await buy(person, plan)]
    await refund(admin, first, { amount: 4 })
    expect(await currentPlan(person)).toEqual([plan, 60])
    await refund(admin, first)
    expect(await currentPlan(person)).toEqual([plan, 30])
  })

  test('two invoices of one plan, refunded ten times each at once', async () => {
    const [person, plan] = await Promise.all([personWithMoney(), newPlan()])
    const invoices = [await buy(person, plan), await buy(person, plan), await buy(person, plan)]
    await agePlans(person, 10)
    const shots = invoices.slice(0, 2).flatMap(({ id }) =>
      Array.from({ length: 10 }, () => ({
        path: `/admin/invoices/${id}/refund`,
        body: { to: 'wallet', reason: 'مكرر' },
        headers: [['authorization', `Bearer ${admin.accessToken}`]] as [string, string][],
      }))
    )
    const replies = await race(shots)
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(18)
    expect(await currentPlan(person)).toEqual([plan, 30])
    expect(await walletOf(person)).toMatchObject({ available: 90 })
  })

  test('unused featured credits of that invoice, also when its interval is over', async () => {
    const [person, plan] = await Promise.all([personWithMoney(), newPlan({ credits: 3 })])
    const [first, second, third] = [
      await buy(person, plan),
      await buy(person, plan),
      await buy(person, plan),
    ]
    expect(await creditsOf(person)).toBe(9)
    // Uses up two of the credits, which only SQL can do until listings can be featured.
    await database().query(
      'update public.featured_credits set credits = credits - 2 where invoice_id = $1',
      [first.id],
    )
    await agePlans(person, 35)
    await refund(admin, second, { amount: 5 })
    expect(await creditsOf(person)).toBe(7)
    await refund(admin, first)
    expect(await creditsOf(person)).toBe(6)
    await refund(admin, third)
    expect(await creditsOf(person)).toBe(3)
    await refund(admin, second)
    expect(await creditsOf(person)).toBe(0)
  })

  test('a renewal refunded to the wallet is not charged to it again', async () => {
    const [person, plan] = await Promise.all([personWithMoney(20), newPlan()])
    await person.post('/plans/subscribe', { planId: plan, payWith: 'wallet' })
    await agePlans(person, 29)
    await database().query(
      `update public.subscriptions set ends_at = ends_at - interval '4 hours'
       where identity_id = $1`,
      [person.identityId],
    )
    await runJobs()
    const { body: { items: [renewal] } } = await person.get('/invoices')
    expect(await walletOf(person)).toMatchObject({ available: 0 })
    await refund(admin, renewal)
    await runJobs()
    expect(await walletOf(person)).toMatchObject({ available: 10 })
    expect(await currentPlan(person)).toEqual([plan, 1])
  })
})
