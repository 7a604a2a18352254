import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import {
  alarmsAbout,
  createCharge,
  giveMoney,
  hasSandbox,
  sandboxCallback,
  sendCallback,
  submitSandboxPage,
  topUpInvoice,
  walletOf,
} from '../support/money.ts'
import { race } from '../support/races.ts'
import { signUpAdmin } from '../support/admins.ts'
import { agePlans, buy, currentPlan, newPlan, personWithMoney, refund } from './purchases.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

describe.runIf(hasSandbox)('what goes back to its source', () => {
  test('a charged plan is refunded like one from the wallet', async () => {
    const [person, plan] = await Promise.all([personWithMoney(), newPlan()])
    const invoice = await buy(person, plan, 'invoice')
    await submitSandboxPage((await createCharge(person, invoice)).ref, 'pay', 'once')
    await buy(person, plan)
    await agePlans(person, 10)
    expect(await refund(admin, invoice, { to: 'source' }))
      .toMatchObject({ status: 200, body: { refund: { state: 'settled' } } })
    expect(await currentPlan(person)).toEqual([plan, 30])
  })

  test('a refund reported by the provider takes back what its invoice gave', async () => {
    const [person, plan] = await Promise.all([personWithMoney(), newPlan()])
    const invoice = await buy(person, plan, 'invoice')
    const { ref } = await createCharge(person, invoice)
    await submitSandboxPage(ref, 'pay', 'once')
    await buy(person, plan)
    await reported(ref)
    expect(await currentPlan(person)).toEqual([plan, 30])
    expect((await person.get(`/invoices/${invoice.id}`)).body.state).toBe('refunded')
  })

  async function reported(ref: string, amount = 10, more: Record<string, unknown> = {}) {
    const { rows: [{ made }] } = await database().query(
      'select private.sandbox_refund($1, $2, $3) as made',
      [ref, randomUUID(), amount],
    )
    const raw = sandboxCallback(ref, { type: 'refund', refundId: made.refundRef, ...more })
    expect((await sendCallback(raw)).status).toBe(200)
    return made.refundRef as string
  }

  /** Pays an invoice twice, so that the surplus is in the wallet. */
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
      refund(admin, invoice, { to: 'source', paymentId: second.paymentId, ...sent })
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
    expect(await refund(admin, invoice, { to: 'source', paymentId: first.paymentId }))
      .toMatchObject({ status: 200, body: { invoice: { state: 'refunded' } } })
    expect(await walletOf(person)).toEqual({ available: 0, held: 0, currency: 'KWD' })
  })

  test('a surplus can be refunded after its invoice, and only once of twenty at once', async () => {
    const person = await signUp()
    const { invoice, second } = await paidTwice(person)
    await refund(admin, invoice, { to: 'source' })
    const replies = await race(Array.from({ length: 20 }, () => ({
      path: `/admin/invoices/${invoice.id}/refund`,
      body: { to: 'source', reason: 'دفعة مكررة', paymentId: second.paymentId },
      headers: [['authorization', `Bearer ${admin.accessToken}`], ['x-proof', admin.proof]] as [
        string,
        string,
      ][],
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
    expect(await refund(admin, invoice, { to: 'source', paymentId: second.paymentId }))
      .toMatchObject({ status: 402, body: { error: { code: 'wallet_insufficient' } } })
    expect(await walletOf(person)).toEqual({ available: 0, held: 0, currency: 'KWD' })
  })

  test('a surplus that the provider reports as refunded leaves the wallet', async () => {
    const person = await signUp()
    const { invoice, second } = await paidTwice(person)
    const refundRef = await reported(second.ref)
    expect(await walletOf(person)).toEqual({ available: 10, held: 0, currency: 'KWD' })
    expect((await person.get(`/invoices/${invoice.id}`)).body)
      .toMatchObject({ state: 'paid', refunded: 0 })
    expect(await alarmsAbout(refundRef)).toEqual([])
  })

  test.each(['surplus', 'top-up'])(
    'a partly spent %s that the provider reports as refunded raises an alarm',
    async (what) => {
      const person = await signUp()
      const { first, second } = await paidTwice(person)
      await buy(person, await newPlan())
      await giveMoney(person.identityId, -7)
      const refundRef = await reported(what === 'surplus' ? second.ref : first.ref)
      expect(await walletOf(person)).toEqual({ available: 0, held: 0, currency: 'KWD' })
      const { rows } = await database().query(
        `select alarms.kind, alarms.details ->> 'available' as available, refunds.state
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

  test('PAY-04 a refund reported with another amount or currency changes nothing', async () => {
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
