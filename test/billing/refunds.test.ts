/** What a refund takes back, in every order, and what was paid twice. Money itself: wallet.test.ts. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { database, type Person, projectUrl, secretKey, signUp } from '../support/client.ts'
import {
  alarmsAbout,
  createCharge,
  hasSandbox,
  type Invoice,
  sandboxCallback,
  sendCallback,
  submitSandboxPage,
  topUpInvoice,
  walletOf,
} from '../support/money.ts'
import { race } from '../support/races.ts'
import { makeAdmin } from '../support/admins.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUp()
  await makeAdmin(admin)
})

async function rich(amount = 100): Promise<Person> {
  const person = await signUp()
  await database().query('select private.adjust_wallet($1, $2, $3)', [
    person.identityId,
    amount,
    randomUUID(),
  ])
  return person
}

/** A plan for 10.000 and 30 days that only this test knows. */
async function newPlan({ credits = 0, days = 30 } = {}): Promise<string> {
  const { rows: [{ id }] } = await database().query(
    `insert into public.plans (code, name_ar, name_en, audience, price, interval_days,
       active_listings, listing_days, photos_per_listing, featured_credits, position)
     values ($1, 'باقة تجريبية', 'Trial', 'individual', 10, $2, 7, 30, 10, $3, 999) returning id`,
    [`r_${randomUUID().slice(0, 8)}`, days, credits],
  )
  return id
}

/** Buys one more interval of a plan; a plan that renews by itself is cancelled first. */
async function buy(person: Person, planId: string, payWith = 'wallet'): Promise<Invoice> {
  await person.post('/plans/cancel')
  const { status, body } = await person.post('/plans/subscribe', { planId, payWith })
  if (status !== 201) throw new Error(`subscribe: ${JSON.stringify(body)}`)
  return body.invoice
}

const refund = (invoice: Invoice, sent: Record<string, unknown> = {}) =>
  admin.post(`/admin/invoices/${invoice.id}/refund`, {
    to: 'wallet',
    reason: 'طلب العميل',
    ...sent,
  })

/** As if so many days had gone by since the plans were bought. */
const pass = (person: Person, days: number) =>
  database().query(
    `update public.subscriptions
     set starts_at = starts_at - make_interval(days => $2),
         ends_at = ends_at - make_interval(days => $2)
     where identity_id = $1`,
    [person.identityId, days],
  )

/** The plan that holds and the days that it still does: `[code or id, days]`. */
async function holds(person: Person): Promise<[string, number]> {
  const { body: { plan, subscription } } = await person.get('/plans/current')
  if (!subscription) return [plan.code, 0]
  return [plan.id, Math.round((Date.parse(subscription.endsAt) - Date.now()) / 86_400_000)]
}

const creditsOf = async (person: Person) =>
  (await person.get('/plans/current')).body.usage.featuredCredits.left

const runJobs = () =>
  fetch(`${projectUrl}/functions/v1/jobs`, { method: 'POST', headers: { apikey: secretKey } })

describe('a full refund takes back what its own invoice gave', () => {
  // Bought in this order, so many days ago, these refunded one after the other; days that are left.
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
    const [person, plan] = await Promise.all([rich(), newPlan()])
    const invoices: Invoice[] = []
    for (let i = 0; i < bought; i++) invoices.push(await buy(person, plan))
    expect(await holds(person)).toEqual([plan, 30 * bought])
    await pass(person, passed)
    for (const i of refunded) {
      expect(await refund(invoices[i]))
        .toMatchObject({ status: 200, body: { invoice: { state: 'refunded' } } })
    }
    expect(await holds(person)).toEqual(left ? [plan, left] : ['free', 0])
    expect(await walletOf(person)).toMatchObject({
      available: 100 - 10 * (bought - refunded.length),
    })
  })

  test('the old invoice of a plan that lapsed leaves the one that was bought since', async () => {
    const [person, plan] = await Promise.all([rich(), newPlan()])
    const old = await buy(person, plan)
    await pass(person, 31)
    await runJobs()
    const newer = await buy(person, plan)
    expect((await refund(old)).status).toBe(200)
    expect(await holds(person)).toEqual([plan, 30])
    expect((await refund(newer)).status).toBe(200)
    expect(await holds(person)).toEqual(['free', 0])
  })

  test('with another plan between: what was replaced is not taken again, nor comes back', async () => {
    const [person, small, large] = await Promise.all([rich(), newPlan(), newPlan()])
    const first = await buy(person, small)
    const upgrade = await buy(person, large)
    await refund(first)
    expect(await holds(person)).toEqual([large, 30])
    const again = await buy(person, small)
    await refund(upgrade)
    expect(await holds(person)).toEqual([small, 30])
    await refund(again)
    expect(await holds(person)).toEqual(['free', 0])
  })

  test('an upgrade that is refunded ends; the plan before it stays replaced', async () => {
    const [person, small, large] = await Promise.all([rich(), newPlan(), newPlan()])
    await buy(person, small)
    await refund(await buy(person, large))
    expect(await holds(person)).toEqual(['free', 0])
  })

  test('days that an admin gave stay', async () => {
    const [person, plan] = await Promise.all([rich(), newPlan()])
    const invoice = await buy(person, plan)
    await database().query(
      `update public.subscriptions set ends_at = ends_at + interval '7 days'
       where identity_id = $1`,
      [person.identityId],
    )
    await refund(invoice)
    expect(await holds(person)).toEqual([plan, 7])
  })

  test('an interval keeps the length that it was bought with', async () => {
    const [person, plan] = await Promise.all([rich(), newPlan()])
    const short = await buy(person, plan)
    await database().query('update public.plans set interval_days = 90 where id = $1', [plan])
    await buy(person, plan)
    expect(await holds(person)).toEqual([plan, 120])
    await refund(short)
    expect(await holds(person)).toEqual([plan, 90])
  })

  test('a part takes nothing; the last part takes all', async () => {
    const [person, plan] = await Promise.all([rich(), newPlan()])
    const [first] = [await buy(person, plan), await buy(person, plan)]
    await refund(first, { amount: 4 })
    expect(await holds(person)).toEqual([plan, 60])
    await refund(first)
    expect(await holds(person)).toEqual([plan, 30])
  })

  test('two invoices of one plan, refunded ten times each at once', async () => {
    const [person, plan] = await Promise.all([rich(), newPlan()])
    const invoices = [await buy(person, plan), await buy(person, plan), await buy(person, plan)]
    await pass(person, 10)
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
    expect(await holds(person)).toEqual([plan, 30])
    expect(await walletOf(person)).toMatchObject({ available: 90 })
  })

  test('unused featured credits of that invoice, also when its interval is over', async () => {
    const [person, plan] = await Promise.all([rich(), newPlan({ credits: 3 })])
    const [first, second, third] = [
      await buy(person, plan),
      await buy(person, plan),
      await buy(person, plan),
    ]
    expect(await creditsOf(person)).toBe(9)
    // Two were used; which is only known by SQL until listings can be featured.
    await database().query(
      'update public.featured_credits set credits = credits - 2 where invoice_id = $1',
      [first.id],
    )
    await pass(person, 35)
    await refund(second, { amount: 5 })
    expect(await creditsOf(person)).toBe(7)
    await refund(first)
    expect(await creditsOf(person)).toBe(6)
    await refund(third)
    expect(await creditsOf(person)).toBe(3)
    await refund(second)
    expect(await creditsOf(person)).toBe(0)
  })

  test('a renewal that is given back to the wallet is not taken from it again', async () => {
    const [person, plan] = await Promise.all([rich(20), newPlan()])
    await person.post('/plans/subscribe', { planId: plan, payWith: 'wallet' })
    await pass(person, 29)
    await database().query(
      `update public.subscriptions set ends_at = ends_at - interval '4 hours'
       where identity_id = $1`,
      [person.identityId],
    )
    await runJobs()
    const { body: { items: [renewal] } } = await person.get('/invoices')
    expect(await walletOf(person)).toMatchObject({ available: 0 })
    await refund(renewal)
    await runJobs()
    expect(await walletOf(person)).toMatchObject({ available: 10 })
    expect(await holds(person)).toEqual([plan, 1])
  })

  test('MIG-02 what was bought before intervals were kept gets its invoice, once', async () => {
    const [person, small, large] = await Promise.all([
      rich(),
      newPlan({ credits: 2 }),
      newPlan({ credits: 1 }),
    ])
    const invoices = [
      await buy(person, small),
      await buy(person, small),
      await buy(person, large),
    ]
    const fill = readFileSync(new URL('../../sql/92_fills.sql', import.meta.url), 'utf8')
      .split(/^-- Which invoice paid which interval/m)[1]!.replace(/^.*\n/, '')
    const client = await database().connect()
    try {
      await client.query('begin')
      const kept = async () =>
        (await client.query(
          `select subscription_intervals.invoice_id, plan_id, days, credits
           from public.subscription_intervals
           join public.subscriptions on subscriptions.id = subscription_id
           join public.featured_credits
             on featured_credits.invoice_id = subscription_intervals.invoice_id
           where subscriptions.identity_id = $1 order by subscription_intervals.id`,
          [person.identityId],
        )).rows
      const before = await kept()
      expect(before.map(({ invoice_id }) => invoice_id)).toEqual(invoices.map(({ id }) => id))
      const { rowCount } = await client.query(
        `delete from public.subscription_intervals where invoice_id = any ($1)`,
        [invoices.map(({ id }) => id)],
      )
      expect(rowCount).toBe(3)
      await client.query('delete from public.featured_credits where identity_id = $1', [
        person.identityId,
      ])
      await client.query(
        'insert into public.featured_credits (identity_id, credits) values ($1, 5)',
        [person.identityId],
      )
      for (let times = 0; times < 2; times++) {
        await client.query(fill)
        expect(await kept()).toEqual(before)
        const { rows } = await client.query(
          'select sum(credits)::integer as all from public.featured_credits where identity_id = $1',
          [person.identityId],
        )
        expect(rows).toEqual([{ all: 5 }])
      }
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})

describe.runIf(hasSandbox)('what goes back to its source', () => {
  test('a plan that was charged: as one from the wallet', async () => {
    const [person, plan] = await Promise.all([rich(), newPlan()])
    const invoice = await buy(person, plan, 'invoice')
    await submitSandboxPage((await createCharge(person, invoice)).ref, 'pay', 'once')
    await buy(person, plan)
    await pass(person, 10)
    expect(await refund(invoice, { to: 'source' }))
      .toMatchObject({ status: 200, body: { refund: { state: 'settled' } } })
    expect(await holds(person)).toEqual([plan, 30])
  })

  test('a refund that the provider reports takes back what its invoice gave', async () => {
    const [person, plan] = await Promise.all([rich(), newPlan()])
    const invoice = await buy(person, plan, 'invoice')
    const { ref } = await createCharge(person, invoice)
    await submitSandboxPage(ref, 'pay', 'once')
    await buy(person, plan)
    await reported(ref)
    expect(await holds(person)).toEqual([plan, 30])
    expect((await person.get(`/invoices/${invoice.id}`)).body.state).toBe('refunded')
  })

  /** Somebody gives money back at the provider, and the provider tells. */
  async function reported(ref: string, amount = 10, more: Record<string, unknown> = {}) {
    const { rows: [{ made }] } = await database().query(
      'select private.sandbox_refund($1, $2, $3) as made',
      [ref, randomUUID(), amount],
    )
    const raw = sandboxCallback(ref, { type: 'refund', refundId: made.refundRef, ...more })
    expect((await sendCallback(raw)).status).toBe(200)
    return made.refundRef as string
  }

  /** An invoice that was paid twice: the second payment stands in the wallet. */
  async function paidTwice(person: Person) {
    const invoice = await topUpInvoice(person)
    const first = await createCharge(person, invoice)
    await submitSandboxPage(first.ref, 'fail', 'once')
    const second = await createCharge(person, invoice)
    await submitSandboxPage(first.ref, 'pay', 'once')
    await submitSandboxPage(second.ref, 'pay', 'once')
    return { invoice, first, second }
  }

  test('a surplus leaves the wallet for its source, and the invoice stays paid', async () => {
    const person = await signUp()
    const { invoice, first, second } = await paidTwice(person)
    const back = (sent: Record<string, unknown> = {}) =>
      refund(invoice, { to: 'source', paymentId: second.paymentId, ...sent })
    expect((await back({ to: 'wallet' })).status).toBe(422)
    expect((await back({ paymentId: randomUUID() })).status).toBe(422)
    expect((await back({ paymentId: 'x' })).status).toBe(422)
    expect(await back({ amount: 10.001 }))
      .toMatchObject({ status: 422, body: { error: { code: 'amount_out_of_range' } } })
    expect(await back({ amount: 4 })).toMatchObject({
      status: 200,
      body: { refund: { state: 'settled', amount: 4 }, invoice: { state: 'paid', refunded: 0 } },
    })
    expect((await back()).body.refund.amount).toBe(6)
    expect(await back()).toMatchObject({ status: 409 })
    expect(await walletOf(person)).toEqual({ available: 10, held: 0, currency: 'KWD' })
    // Its own payment can still be given back.
    expect(await refund(invoice, { to: 'source', paymentId: first.paymentId }))
      .toMatchObject({ status: 200, body: { invoice: { state: 'refunded' } } })
    expect(await walletOf(person)).toEqual({ available: 0, held: 0, currency: 'KWD' })
  })

  test('a surplus goes back also after its invoice did, and twenty times at once only once', async () => {
    const person = await signUp()
    const { invoice, second } = await paidTwice(person)
    await refund(invoice, { to: 'source' })
    const replies = await race(Array.from({ length: 20 }, () => ({
      path: `/admin/invoices/${invoice.id}/refund`,
      body: { to: 'source', reason: 'دفعة مكررة', paymentId: second.paymentId },
      headers: [['authorization', `Bearer ${admin.accessToken}`]] as [string, string][],
    })))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(19)
    expect(await walletOf(person)).toEqual({ available: 0, held: 0, currency: 'KWD' })
  })

  test('a surplus that was spent is 402, and nothing is held', async () => {
    const person = await signUp()
    const { invoice, second } = await paidTwice(person)
    await buy(person, await newPlan())
    await buy(person, await newPlan())
    expect(await refund(invoice, { to: 'source', paymentId: second.paymentId }))
      .toMatchObject({ status: 402, body: { error: { code: 'wallet_insufficient' } } })
    expect(await walletOf(person)).toEqual({ available: 0, held: 0, currency: 'KWD' })
  })

  test('a surplus that the provider reports as given back leaves the wallet', async () => {
    const person = await signUp()
    const { invoice, second } = await paidTwice(person)
    const refundRef = await reported(second.ref)
    expect(await walletOf(person)).toEqual({ available: 10, held: 0, currency: 'KWD' })
    expect((await person.get(`/invoices/${invoice.id}`)).body)
      .toMatchObject({ state: 'paid', refunded: 0 })
    expect(await alarmsAbout(refundRef)).toEqual([])
  })

  test.each(['surplus', 'top-up'])(
    'a %s that the provider reports as given back, of which a part was spent, is an alarm',
    async (what) => {
      const person = await signUp()
      const { first, second } = await paidTwice(person)
      await buy(person, await newPlan())
      await database().query('select private.adjust_wallet($1, -7, $2)', [
        person.identityId,
        randomUUID(),
      ])
      const refundRef = await reported(what === 'surplus' ? second.ref : first.ref)
      expect(await walletOf(person)).toEqual({ available: 0, held: 0, currency: 'KWD' })
      const { rows } = await database().query(
        `select alarms.kind, alarms.facts ->> 'available' as available, refunds.state
         from public.refunds join private.alarms on alarms.subject_id = refunds.id::text
         where refunds.provider_ref = $1`,
        [refundRef],
      )
      expect(rows).toEqual([{ kind: 'refund_uncovered', available: '3', state: 'settled' }])
      const { rows: sides } = await database().query(
        `select coalesce(system_account, part) as wallet, wallet_entries.amount::float from public.wallet_entries
         join public.wallets on wallets.id = wallet_id
         join public.wallet_transfers on wallet_transfers.id = transfer_id
         join public.refunds on refunds.id = source_id
         where refunds.provider_ref = $1 order by 1`,
        [refundRef],
      )
      expect(sides).toEqual([
        { wallet: 'adjustments', amount: -7 },
        { wallet: 'available', amount: -3 },
        { wallet: 'provider', amount: 10 },
      ])
    },
  )

  test('PAY-04 a refund told with another amount or currency changes nothing', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const { ref } = await createCharge(person, invoice)
    await submitSandboxPage(ref, 'pay', 'once')
    for (const lie of [{ amount: '9.000' }, { amount: 'ten' }, { currency: 'USD' }]) {
      const refundRef = await reported(ref, 4, lie)
      expect(await alarmsAbout(refundRef), JSON.stringify(lie)).toEqual(['refund_mismatch'])
    }
    expect(await walletOf(person)).toMatchObject({ available: 10 })
    await reported(ref, 4, { amount: '4.0', currency: 'KWD' })
    expect(await walletOf(person)).toMatchObject({ available: 6 })
  })
})
