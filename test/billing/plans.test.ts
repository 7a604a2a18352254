import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import {
  createCharge,
  findPlan,
  giveMoney,
  hasSandbox,
  submitSandboxPage,
  walletOf,
} from '../support/money.ts'
import { runJobs } from '../support/jobs.ts'
import { givePlan } from '../support/plans.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'

const give = (person: Person, amount: number) => giveMoney(person.identityId, amount)

const current = async (person: Person) => (await person.get('/plans/current')).body

const kinds = async (person: Person): Promise<string[]> =>
  (await person.get('/notifications')).body.items.map(({ kind }: { kind: string }) => kind)

const endsIn = (person: Person, interval: string) =>
  database().query(
    `update public.subscriptions
     set starts_at = now() - interval '40 days', ends_at = now() + $2::interval
     where identity_id = $1 and status = 'active'`,
    [person.identityId, interval],
  )

test('every project has the plans of the contract', async () => {
  const person = await signUp()
  const { body } = await person.get('/plans')
  const row = (code: string) => body.items.find((plan: { code: string }) => plan.code === code)
  expect(row('free')).toMatchObject({
    audience: 'individual',
    price: 0,
    listingDays: 30,
    photosPerListing: 10,
  })
  expect(row('plus')).toMatchObject({
    price: 5,
    activeListings: 10,
    listingDays: 60,
    photosPerListing: 20,
  })
  expect(row('office')).toMatchObject({
    audience: 'office',
    price: 25,
    activeListings: 60,
    listingDays: 60,
    photosPerListing: 30,
  })
  expect(row('company')).toMatchObject({
    audience: 'company',
    price: 60,
    activeListings: 250,
    listingDays: 90,
    photosPerListing: 40,
  })
  for (const plan of body.items) expect(plan.nameAr).toMatch(/[ء-ي]/)
})

describe('subscribing', () => {
  test('a plan bought from the wallet is paid at once, with an invoice of its own', async () => {
    const person = await signUp()
    const { id } = await findPlan(person, 'plus')
    expect(await person.post('/plans/subscribe', { planId: id, payWith: 'wallet' }))
      .toMatchObject({ status: 402, body: { error: { code: 'wallet_insufficient' } } })
    expect((await person.get('/invoices')).body.items).toEqual([])
    await give(person, 6)
    const { status, body } = await person.post('/plans/subscribe', {
      planId: id,
      payWith: 'wallet',
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      invoice: { state: 'paid', paidWith: 'wallet', total: 5, payments: [], purpose: 'plan' },
      current: { plan: { code: 'plus' }, subscription: { payWith: 'wallet', renews: true } },
    })
    expect(await walletOf(person)).toMatchObject({ available: 1 })
    expect(await person.post('/plans/subscribe', { planId: id, payWith: 'invoice' }))
      .toMatchObject({ status: 409, body: { error: { code: 'already_subscribed' } } })
  })

  test("the wallet then pays the plan's existing unpaid invoice", async () => {
    const person = await signUp()
    const { id } = await findPlan(person, 'plus')
    const open = await person.post('/plans/subscribe', { planId: id, payWith: 'invoice' })
    await give(person, 5)
    const paid = await person.post('/plans/subscribe', { planId: id, payWith: 'wallet' })
    expect(paid.body.invoice).toMatchObject({ id: open.body.invoice.id, state: 'paid' })
  })

  test('a changed price is on new invoices; an old one keeps its own', async () => {
    const person = await signUp()
    const { rows: [plan] } = await database().query(
      `insert into public.plans (code, name_ar, name_en, audience, price, interval_days,
         active_listings, listing_days, photos_per_listing, position)
       values ($1, 'باقة متغيرة', 'Changing', 'individual', 3, 30, 7, 30, 10, 999) returning id`,
      [`p_${randomUUID().slice(0, 8)}`],
    )
    const ask = () => person.post('/plans/subscribe', { planId: plan.id, payWith: 'invoice' })
    const first = await ask()
    await database().query('update public.plans set price = 4 where id = $1', [plan.id])
    const second = await ask()
    expect([first.body.invoice.total, second.body.invoice.total]).toEqual([3, 4])
    expect(second.body.invoice.id).not.toBe(first.body.invoice.id)
  })

  test('plans that cannot be bought are refused', async () => {
    const person = await signUp()
    const companyId = await insertOrganisation(person.id)
    const ask = (planId: unknown, payWith: unknown = 'invoice') =>
      person.post('/plans/subscribe', { planId, payWith })
    expect(await ask(randomUUID())).toMatchObject({
      status: 404,
      body: { error: { code: 'plan_not_found' } },
    })
    expect(await ask((await findPlan(person, 'company')).id))
      .toMatchObject({ status: 409, body: { error: { code: 'plan_audience_mismatch' } } })
    expect(await ask((await findPlan(person, 'free')).id))
      .toMatchObject({ status: 409, body: { error: { code: 'already_subscribed' } } })
    for (const [planId, payWith] of [['x', 'invoice'], [randomUUID(), 'cash'], [null, null]]) {
      expect((await ask(planId, payWith)).status).toBe(422)
    }
    await person.post('/auth/identity/switch', { identityId: companyId })
    expect((await ask((await findPlan(person, 'company')).id)).status).toBe(201)
    expect((await current(person)).plan.code).toBe('free')
  })
})

test('a cancelled plan lasts to its end, withdraws its unpaid invoice, and can be bought again', async () => {
  const person = await signUp()
  expect(await person.post('/plans/cancel')).toMatchObject({ status: 404 })
  await give(person, 15)
  const { id } = await findPlan(person, 'plus')
  await person.post('/plans/subscribe', { planId: id, payWith: 'wallet' })
  await endsIn(person, '2 days')
  await database().query(
    `update public.subscriptions set pay_with = 'invoice' where identity_id = $1`,
    [
      person.identityId,
    ],
  )
  await runJobs()
  const { body: { items: [renewal] } } = await person.get('/invoices?state=open')
  expect(renewal).toMatchObject({ total: 5, purpose: 'plan' })
  for (let times = 0; times < 2; times++) {
    const { status, body } = await person.post('/plans/cancel')
    expect([status, body.plan.code, body.subscription.renews]).toEqual([200, 'plus', false])
  }
  expect((await person.get(`/invoices/${renewal.id}`)).body.state).toBe('void')
  const again = await person.post('/plans/subscribe', { planId: id, payWith: 'wallet' })
  expect(again.body.current.subscription.renews).toBe(true)
  const left = (Date.parse(again.body.current.subscription.endsAt) - Date.now()) / 86_400_000
  expect(Math.round(left)).toBe(32)
})

describe('scheduled work', () => {
  test('in its last week the owner is notified once, with an invoice that renews', async () => {
    const person = await signUp()
    await givePlan(person.identityId, 'plus')
    await endsIn(person, '70 hours')
    await runJobs()
    await runJobs()
    expect((await kinds(person)).filter((kind) => kind === 'plan_expiring')).toHaveLength(1)
    const { body: { items } } = await person.get('/invoices')
    expect(items).toHaveLength(1)
  })

  test.runIf(hasSandbox)(
    'the invoice that renews adds an interval to the one that ends',
    async () => {
      const person = await signUp()
      await givePlan(person.identityId, 'plus')
      await endsIn(person, '70 hours')
      await runJobs()
      const { body: { items } } = await person.get('/invoices')
      const { ref } = await createCharge(person, items[0])
      await submitSandboxPage(ref, 'pay', 'once')
      const { subscription } = await current(person)
      expect(Math.round((Date.parse(subscription.endsAt) - Date.now()) / 86_400_000)).toBe(33)
    },
  )

  test('a plan paid by wallet is renewed from it, once, or ends when the balance is too low', async () => {
    const [rich, poor] = await Promise.all([signUp(), signUp()])
    const { id } = await findPlan(rich, 'plus')
    for (const [person, amount] of [[rich, 20], [poor, 5]] as const) {
      await give(person, amount)
      await person.post('/plans/subscribe', { planId: id, payWith: 'wallet' })
      await endsIn(person, '20 hours')
    }
    await runJobs()
    await runJobs()
    expect(await walletOf(rich)).toMatchObject({ available: 10 })
    const { subscription } = await current(rich)
    expect(Date.parse(subscription.endsAt)).toBeGreaterThan(Date.now() + 30 * 86_400_000)
    expect(await walletOf(poor)).toMatchObject({ available: 0 })
    await endsIn(poor, '-1 second')
    expect((await current(poor)).plan.code).toBe('free')
    await runJobs()
    const { rows } = await database().query(
      'select status from public.subscriptions where identity_id = $1',
      [poor.identityId],
    )
    expect(rows).toEqual([{ status: 'expired' }])
  })

  test('when a plan ends the job pauses listings over the quota, newest first', async () => {
    const person = await signUp()
    const { rows: [plan] } = await database().query(
      `insert into public.plans (code, name_ar, name_en, audience, price, interval_days,
         active_listings, listing_days, photos_per_listing, position)
       values ($1, 'باقة كبيرة', 'Large', 'individual', 9, 30, 50, 30, 10, 999) returning code`,
      [`l_${randomUUID().slice(0, 8)}`],
    )
    await givePlan(person.identityId, plan.code)
    for (let i = 0; i < 3; i++) {
      await insertListing(person.identityId, {
        published_at: new Date(Date.now() - 1e6 + i * 1000),
      })
    }
    await endsIn(person, '-1 second')
    await runJobs()
    // The suite's free plan has room for all three; with room for only one, the two newest are paused.
    const client = await database().connect()
    try {
      await client.query('begin')
      await client.query(`select private.plan_of($1)`, [person.identityId])
      await client.query(`update public.plans set active_listings = 1 where code = $1`, [plan.code])
      await client.query(
        `insert into public.subscriptions (identity_id, plan_id, ends_at, pay_with)
         select $1, id, now() + interval '1 day', 'invoice' from public.plans where code = $2`,
        [person.identityId, plan.code],
      )
      const { rows: [{ paused }] } = await client.query(
        'select private.pause_over_quota($1) as paused',
        [person.identityId],
      )
      const { rows } = await client.query(
        `select status from public.properties where owner_identity_id = $1 order by published_at`,
        [person.identityId],
      )
      expect([paused, rows.map(({ status }) => status)])
        .toEqual([2, ['active', 'paused', 'paused']])
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  test('an invoice that nobody pays in time expires', async () => {
    const person = await signUp()
    const { body: invoice } = await person.post('/wallet/topup', { amount: 5 })
    await database().query('update public.invoices set due_at = now() where id = $1', [invoice.id])
    await runJobs()
    expect((await person.get(`/invoices/${invoice.id}`)).body.state).toBe('expired')
  })

  test.runIf(hasSandbox)('PAY-12 a payment that nobody reported is found', async () => {
    const person = await signUp()
    const invoices = await Promise.all(['pay', 'fail', 'leave'].map(async (outcome) => {
      const { body: invoice } = await person.post('/wallet/topup', { amount: 2 })
      const { ref, paymentId } = await createCharge(person, invoice)
      await submitSandboxPage(ref, outcome as 'pay')
      await database().query(
        `update public.payments set created_at = now() - interval '11 minutes' where id = $1`,
        [paymentId],
      )
      return invoice
    }))
    await runJobs()
    const states = await Promise.all(
      invoices.map(async ({ id }) => (await person.get(`/invoices/${id}`)).body.state),
    )
    expect(states).toEqual(['paid', 'failed', 'processing'])
    expect(await walletOf(person)).toMatchObject({ available: 2 })
    await runJobs()
    expect(await walletOf(person)).toMatchObject({ available: 2 })
  })
})
