import { beforeAll, describe, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { drain, runJobs } from '../support/jobs.ts'
import {
  alarmsAbout,
  createCharge,
  hasSandbox,
  type Invoice,
  sandboxCallback,
  submitSandboxPage,
  walletOf,
} from '../support/money.ts'
import { givePlan } from '../support/plans.ts'
import { race } from '../support/races.ts'
import { webhook } from './payment-steps.ts'
import { agePlans, buy, currentPlan, newPlan, personWithMoney, refund } from './purchases.ts'
import { expectBalanced, subscribe } from './wallets.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

const current = async (person: Person) => (await person.get('/plans/current')).body

/** Returns the id of the next plan and its length in days, or null. */
async function nextPlan(person: Person): Promise<[string, number] | null> {
  const { subscription, next } = await current(person)
  if (!next) return null
  expect(next.startsAt).toBe(subscription.endsAt)
  expect(subscription.renews).toBe(false)
  return [
    next.plan.id,
    Math.round((Date.parse(next.endsAt) - Date.parse(next.startsAt)) / 86_400_000),
  ]
}

const alreadySubscribed = { status: 409, body: { error: { code: 'already_subscribed' } } }

const order = (person: Person, planId: string, payWith = 'wallet') =>
  person.post('/plans/subscribe', { planId, payWith })

async function valueOf(invoice: Invoice): Promise<number | null> {
  const { rows: [{ value }] } = await database().query(
    'select value::float from public.subscription_intervals where invoice_id = $1',
    [invoice.id],
  )
  return value
}

const pays = async (person: Person, invoice: Invoice) =>
  await submitSandboxPage((await createCharge(person, invoice)).ref, 'pay', 'once')

describe('what begins at once', () => {
  test.each(
    [
      ['is dearer by the day, though cheaper in all', { price: 8, days: 20 }, true],
      ['costs the same by the day', { price: 20, days: 60 }, false],
      ['is cheaper by the day, though dearer in all', { price: 15, days: 60 }, false],
      ['has more listings', { price: 1, listings: 8 }, true],
      ['has listings that live longer', { price: 1, listingDays: 31 }, true],
      ['has more pictures', { price: 1, photos: 11 }, true],
      ['has more featured listings', { price: 1, credits: 1 }, true],
      ['has less of all', { price: 9, listings: 6, listingDays: 29, photos: 9 }, false],
    ] as const,
  )('a plan that %s', async (_name, figures, atOnce) => {
    const [person, old, other] = await Promise.all([
      personWithMoney(),
      newPlan(),
      newPlan(figures),
    ])
    await buy(person, old)
    const { body } = await order(person, other)
    expect(body.invoice.state).toBe('paid')
    expect(body.current.plan.id).toBe(atOnce ? other : old)
    expect(body.current.next?.plan.id).toBe(atOnce ? undefined : other)
  })
})

describe('what is left goes over as time, by its value', () => {
  test('and over again, each interval with its invoice', async () => {
    const [person, small, large, vast] = await Promise.all([
      personWithMoney(),
      newPlan(),
      newPlan({ price: 20 }),
      newPlan({ price: 40, days: 40 }),
    ])
    const first = await buy(person, small)
    await agePlans(person, 12)
    // 18 of the 30 days that cost 10 dinars are left. They are worth 6 dinars, or 9 days of the new plan.
    const second = await buy(person, large)
    expect(await currentPlan(person)).toEqual([large, 39])
    expect(await valueOf(first)).toBeCloseTo(6, 2)
    await agePlans(person, 3)
    // Of those 6 dinars, 4 are left (6 of the 9 days). Of the second plan's 20 dinars, all are left. A day of
    // the third plan costs a dinar.
    const third = await buy(person, vast)
    expect(await currentPlan(person)).toEqual([vast, 40 + 4 + 20])
    expect(await valueOf(first)).toBeCloseTo(4, 2)
    expect(await valueOf(first)).toBeLessThanOrEqual(4)
    expect(await valueOf(second)).toBeCloseTo(20, 2)
    expect(await walletOf(person)).toMatchObject({ available: 30 })
    await agePlans(person, 1)
    for (const [invoice, left] of [[second, 43], [first, 40], [third, 0]] as const) {
      expect(await refund(admin, invoice)).toMatchObject({ status: 200 })
      expect(await currentPlan(person)).toEqual(left ? [vast, left] : ['free', 0])
    }
    expect(await walletOf(person)).toMatchObject({ available: 100 })
    await expectBalanced([person])
  })

  test('a renewal ahead goes over whole, an interval that is over not at all', async () => {
    const [person, small, large] = await Promise.all([
      personWithMoney(),
      newPlan(),
      newPlan({ price: 30 }),
    ])
    const [over, whole] = [await buy(person, small), await buy(person, small)]
    await agePlans(person, 30)
    await buy(person, large)
    expect(await currentPlan(person)).toEqual([large, 40])
    expect(await valueOf(over)).toBeNull()
    await refund(admin, over)
    expect(await currentPlan(person)).toEqual([large, 40])
    await refund(admin, whole)
    expect(await currentPlan(person)).toEqual([large, 30])
  })

  test('to a cheaper plan that has more of a quota too', async () => {
    const [person, old, more] = await Promise.all([
      personWithMoney(),
      newPlan(),
      newPlan({ price: 5, photos: 12 }),
    ])
    await buy(person, old)
    await agePlans(person, 15)
    await buy(person, more)
    expect(await currentPlan(person)).toEqual([more, 60])
  })

  test.each([['before', 36], ['after', 42]])(
    'a part that was refunded %s the change counts no more at the next one',
    async (when, days) => {
      const [person, old, large, vast] = await Promise.all([
        personWithMoney(),
        newPlan(),
        newPlan({ price: 20 }),
        newPlan({ price: 40 }),
      ])
      const invoice = await buy(person, old)
      await agePlans(person, 6)
      if (when === 'before') await refund(admin, invoice, { amount: 5 })
      await buy(person, large)
      if (when === 'after') await refund(admin, invoice, { amount: 5 })
      expect(await currentPlan(person)).toEqual([large, days])
      await buy(person, vast)
      // The third plan costs 40 dinars for 30 days. The 4 dinars left of the first plan's 5 pay for 3 days,
      // and the second plan's 20 dinars for 15.
      expect(await currentPlan(person)).toEqual([vast, 30 + 3 + 15])
    },
  )

  test('a gift has the value of its plan, with an interval or without', async () => {
    for (const withInterval of [true, false]) {
      const [person, large] = await Promise.all([personWithMoney(), newPlan({ price: 50 })])
      const id = await givePlan(person.identityId, 'plus')
      if (withInterval) {
        await database().query(
          'insert into public.subscription_intervals (subscription_id, days) values ($1, 30)',
          [id],
        )
      }
      await agePlans(person, 10)
      await buy(person, large) // 20 days of a plan for 5 dinars pay for 2 days at 50
      expect(await currentPlan(person)).toEqual([large, 32])
    }
  })

  test('time of a very cheap plan ends in the calendar', async () => {
    const [person, dear, cheap] = await Promise.all([
      personWithMoney(100_000),
      newPlan({ price: 90_000 }),
      newPlan({ price: 0.001, photos: 40, days: 3660 }),
    ])
    await buy(person, dear)
    await buy(person, cheap)
    expect(await currentPlan(person)).toEqual([cheap, 36_525 + 3660])
  })

  test('listings over the quota of the new plan are paused at once', async () => {
    const [person, old, fewer] = await Promise.all([
      personWithMoney(),
      newPlan(),
      newPlan({ price: 20, listings: 1 }),
    ])
    await buy(person, old)
    for (let i = 0; i < 2; i++) await insertListing(person.identityId)
    await buy(person, fewer)
    const { rows } = await database().query(
      'select status from public.properties where owner_identity_id = $1 order by status',
      [person.identityId],
    )
    expect(rows).toEqual([{ status: 'active' }, { status: 'paused' }])
  })
})

describe('a plan that follows', () => {
  /** Creates a person with 20 days left of a 30-day plan, followed by a smaller plan for 30 days. */
  async function followed() {
    const [person, old, small] = await Promise.all([
      personWithMoney(),
      newPlan(),
      newPlan({ price: 5, listings: 2 }),
    ])
    const first = await buy(person, old)
    await agePlans(person, 10)
    const { body } = await order(person, small)
    expect(await currentPlan(person)).toEqual([old, 20])
    expect(await nextPlan(person)).toEqual([small, 30])
    return { person, old, small, first, second: body.invoice as Invoice }
  }

  test('is the only one; a better one may be bought, and then begins first', async () => {
    const { person, old, small } = await followed()
    const [other, large] = await Promise.all([newPlan({ price: 4 }), newPlan({ price: 20 })])
    for (const planId of [other, small, old]) {
      for (const payWith of ['wallet', 'invoice']) {
        expect(await order(person, planId, payWith)).toMatchObject(alreadySubscribed)
      }
    }
    expect(await walletOf(person)).toMatchObject({ available: 85 })
    expect(await order(person, large)).toMatchObject({ status: 201 })
    expect(await order(person, large)).toMatchObject(alreadySubscribed)
    expect(await currentPlan(person)).toEqual([large, 40])
    expect(await nextPlan(person)).toEqual([small, 30])
  })

  test('begins when what is paid ends, before any job comes, with its own quota', async () => {
    const { person, small } = await followed()
    for (let i = 0; i < 3; i++) {
      await insertListing(person.identityId, {
        published_at: new Date(Date.now() - 1e6 + i * 1000),
      })
    }
    await agePlans(person, 21)
    for (const job of [false, true]) {
      if (job) await runJobs()
      expect(await currentPlan(person)).toEqual([small, 29])
      expect((await current(person)).next).toBeNull()
    }
    const { rows } = await database().query(
      'select status from public.properties where owner_identity_id = $1 order by published_at',
      [person.identityId],
    )
    expect(rows.map(({ status }) => status)).toEqual(['active', 'active', 'paused'])
    const { rows: subscriptions } = await database().query(
      `select status, renews from public.subscriptions
       where identity_id = $1 order by starts_at`,
      [person.identityId],
    )
    expect(subscriptions)
      .toEqual([{ status: 'expired', renews: false }, { status: 'active', renews: true }])
  })

  test('the current one is neither renewed nor reminded of; the one that follows is', async () => {
    const { person, small } = await followed()
    await agePlans(person, 19.25)
    for (const job of ['remind_of_plans', 'renew_plans']) await drain(job)
    expect(await walletOf(person)).toMatchObject({ available: 85 })
    const kinds = async () =>
      (await person.get('/notifications')).body.items.map(({ kind }: { kind: string }) => kind)
    expect(await kinds()).not.toContain('plan_expiring')
    await agePlans(person, 30)
    for (const job of ['downgrade_plans', 'remind_of_plans', 'renew_plans']) await drain(job)
    expect(await kinds()).toContain('plan_expiring')
    expect(await walletOf(person)).toMatchObject({ available: 80 })
    expect(await currentPlan(person)).toEqual([small, 31])
  })

  test('moves with the end of the current one, and begins at once where that is refunded', async () => {
    const { person, old, small, first } = await followed()
    const { rows: [{ id }] } = await database().query(
      `select private.issue_plan_invoice($1, plans, now() + interval '1 day') as id
       from public.plans where id = $2`,
      [person.identityId, old],
    )
    await database().query('select private.pay_from_wallet($1)', [id])
    expect(await currentPlan(person)).toEqual([old, 50])
    expect(await nextPlan(person)).toEqual([small, 30])
    await refund(admin, { id } as Invoice)
    expect(await currentPlan(person)).toEqual([old, 20])
    expect(await nextPlan(person)).toEqual([small, 30])
    await refund(admin, first)
    expect(await currentPlan(person)).toEqual([small, 30])
    expect((await current(person)).next).toBeNull()
  })

  test('goes with its own refund; the current one stays', async () => {
    const { person, old, small, second } = await followed()
    expect(await refund(admin, second)).toMatchObject({ status: 200 })
    expect(await currentPlan(person)).toEqual([old, 20])
    expect(await nextPlan(person)).toBeNull()
    await order(person, small)
    expect(await nextPlan(person)).toEqual([small, 30])
  })

  test('a paid one stays when the plan is cancelled, and renews no more either', async () => {
    const { person, small } = await followed()
    expect((await person.post('/plans/cancel')).body)
      .toMatchObject({ subscription: { renews: false }, next: { renews: false } })
    expect(await nextPlan(person)).toEqual([small, 30])
  })

  test('an unpaid one is withdrawn when the plan is cancelled; a better one is not', async () => {
    const [person, old, small, large] = await Promise.all([
      personWithMoney(),
      newPlan(),
      newPlan({ price: 5 }),
      newPlan({ price: 20 }),
    ])
    await buy(person, old)
    const ids = []
    for (const planId of [small, large]) {
      const { body } = await order(person, planId, 'invoice')
      expect(body.current).toMatchObject({ subscription: { renews: true }, next: null })
      ids.push(body.invoice.id)
    }
    await person.post('/plans/cancel')
    const states = await Promise.all(
      ids.map(async (id) => (await person.get(`/invoices/${id}`)).body.state),
    )
    expect(states).toEqual(['void', 'open'])
  })

  test('withdraws the unpaid invoices that it makes needless', async () => {
    const [person, old, small, other] = await Promise.all([
      personWithMoney(),
      newPlan(),
      newPlan({ price: 5 }),
      newPlan({ price: 4 }),
    ])
    await buy(person, old)
    const { rows: [{ id: renewal }] } = await database().query(
      `select private.issue_plan_invoice($1, plans, now() + interval '1 day') as id
       from public.plans where id = $2`,
      [person.identityId, old],
    )
    const { body: { invoice } } = await order(person, other, 'invoice')
    await order(person, small)
    for (const id of [renewal, invoice.id]) {
      expect((await person.get(`/invoices/${id}`)).body.state).toBe('void')
    }
  })

  test('of ten ordered at once one follows, and is paid once', async () => {
    const [person, old] = await Promise.all([personWithMoney(), newPlan()])
    await buy(person, old)
    const plans = await Promise.all(Array.from({ length: 10 }, () => newPlan({ price: 5 })))
    const replies = await race(plans.map((id) => subscribe(person, id)))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)])
    expect(await walletOf(person)).toMatchObject({ available: 85 })
  })

  test.runIf(hasSandbox)(
    'of three that are paid at once at the provider one follows, the others are money',
    async () => {
      const [person, old] = await Promise.all([personWithMoney(10), newPlan()])
      await buy(person, old)
      const paid = await Promise.all(Array.from({ length: 3 }, async () => {
        const { body } = await order(person, await newPlan({ price: 5 }), 'invoice')
        const { ref } = await createCharge(person, body.invoice)
        await submitSandboxPage(ref)
        return { id: body.invoice.id as string, raw: sandboxCallback(ref) }
      }))
      const replies = await race(paid.map(({ raw }) => webhook(raw)))
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
      expect((await nextPlan(person))?.[1]).toBe(30)
      expect(await walletOf(person)).toMatchObject({ available: 10 })
      const alarms = await Promise.all(paid.map(({ id }) => alarmsAbout(id)))
      expect(alarms.flat()).toEqual(['paid_but_not_given', 'paid_but_not_given'])
    },
  )

  test.runIf(hasSandbox)('a better plan that is paid before its turn is not trumped', async () => {
    const [person, old, large, vast] = await Promise.all([
      personWithMoney(10),
      newPlan(),
      newPlan({ price: 20 }),
      newPlan({ price: 40 }),
    ])
    await buy(person, old)
    const [first, second] = [
      (await order(person, large, 'invoice')).body.invoice,
      (await order(person, vast, 'invoice')).body.invoice,
    ]
    const charge = await createCharge(person, first)
    await pays(person, second)
    expect((await currentPlan(person))[0]).toBe(vast)
    await submitSandboxPage(charge.ref, 'pay', 'once')
    expect((await currentPlan(person))[0]).toBe(vast)
    expect(await nextPlan(person)).toEqual([large, 30])
  })

  test('a renewal and a better plan at once never put the old plan behind it', async () => {
    const [person, old, large] = await Promise.all([
      personWithMoney(),
      newPlan(),
      newPlan({ price: 20 }),
    ])
    await order(person, old)
    await agePlans(person, 29.25)
    const [bought] = await Promise.all([order(person, large), drain('renew_plans')])
    expect(bought.status).toBe(201)
    await drain('renew_plans')
    const { rows } = await database().query(
      `select plan_id, status from public.subscriptions where identity_id = $1 order by starts_at`,
      [person.identityId],
    )
    expect(rows).toEqual([{ plan_id: old, status: 'replaced' }, {
      plan_id: large,
      status: 'active',
    }])
    expect([60, 70]).toContain((await walletOf(person)).available)
  })
})
