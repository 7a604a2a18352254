import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import {
  alarmsAbout,
  createCharge,
  findPlan,
  hasSandbox,
  moneyFingerprint,
  sandboxCallback,
  sendCallback,
  submitSandboxPage,
  topUpInvoice,
  walletOf,
} from '../support/money.ts'
import { charges, payWithoutCallback, stateOf } from './payment-steps.ts'

describe.runIf(hasSandbox)('paying', () => {
  test('PAY-05 what comes after paid changes nothing', async () => {
    const person = await signUp()
    const { invoice, ref } = await payWithoutCallback(person)
    await sendCallback(sandboxCallback(ref))
    const before = await moneyFingerprint(person.identityId)
    const lie = (state: string) =>
      database().query('update private.sandbox_charges set state = $2 where id = $1', [ref, state])
    for (const state of ['failed', 'pending', 'paid']) {
      await lie(state)
      expect((await sendCallback(sandboxCallback(ref))).status).toBe(200)
    }
    expect(await stateOf(person, invoice)).toBe('paid')
    expect(await moneyFingerprint(person.identityId)).toBe(before)
  })

  test('PAY-05 a failed try can be tried again, and the late success of the first pays', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const first = await createCharge(person, invoice)
    await submitSandboxPage(first.ref, 'fail', 'once')
    expect(await stateOf(person, invoice)).toBe('failed')
    const notes = await person.get('/notifications')
    expect(notes.body.items.map(({ kind }: { kind: string }) => kind)).toContain('invoice_failed')
    const second = await createCharge(person, invoice)
    expect(second.paymentId).not.toBe(first.paymentId)
    expect(await stateOf(person, invoice)).toBe('processing')

    await submitSandboxPage(first.ref, 'pay', 'once')
    expect(await stateOf(person, invoice)).toBe('paid')
    // The second payment is captured, too, so its money goes to the wallet and an alarm is raised.
    await submitSandboxPage(second.ref, 'pay', 'once')
    expect(await stateOf(person, invoice)).toBe('paid')
    expect((await walletOf(person)).available).toBe(20)
    expect(await alarmsAbout(second.paymentId)).toEqual(['paid_twice'])
    expect(await charges(invoice, ['captured'])).toBe(1)
  })

  test.each(['void', 'expired'])(
    'PAY-05 a plan whose invoice is %s and is paid all the same',
    async (state) => {
      const person = await signUp()
      const plus = await findPlan(person, 'plus')
      const { body: { invoice } } = await person.post('/plans/subscribe', {
        planId: plus.id,
        payWith: 'invoice',
      })
      const { ref } = await createCharge(person, invoice)
      await submitSandboxPage(ref)
      for (const step of ['failed', 'open', state]) {
        await database().query('update public.invoices set state = $2 where id = $1', [
          invoice.id,
          step,
        ])
      }
      await sendCallback(sandboxCallback(ref))
      expect(await stateOf(person, invoice)).toBe('paid')
      const { body } = await person.get('/plans/current')
      if (state === 'expired') {
        expect(body.plan.code).toBe('plus')
        expect(await walletOf(person)).toMatchObject({ available: 0 })
      } else {
        // The plan can no longer be delivered, so the money goes to the wallet.
        expect(body.plan.code).toBe('free')
        expect(await walletOf(person)).toMatchObject({ available: 5 })
        expect(await alarmsAbout(invoice.id)).toEqual(['paid_but_not_given'])
      }
    },
  )

  test('PAY-05 a plan that was withdrawn becomes money in the wallet', async () => {
    const person = await signUp()
    const code = `gone_${randomUUID().slice(0, 8)}`
    const { rows: [plan] } = await database().query(
      `insert into public.plans (code, name_ar, name_en, audience, price, interval_days,
         active_listings, listing_days, photos_per_listing)
       values ($1, 'باقة مؤقتة', 'Short', 'individual', 7.5, 30, 8, 30, 10) returning id`,
      [code],
    )
    const { body: { invoice } } = await person.post('/plans/subscribe', {
      planId: plan.id,
      payWith: 'invoice',
    })
    const { ref } = await createCharge(person, invoice)
    await database().query('update public.plans set on_sale = false where id = $1', [plan.id])
    await submitSandboxPage(ref, 'pay', 'once')
    expect(await stateOf(person, invoice)).toBe('paid')
    expect(await walletOf(person)).toMatchObject({ available: 7.5 })
    expect(await alarmsAbout(invoice.id)).toEqual(['paid_but_not_given'])
  })

  test('PAY-05 an event that arrives before the answer to the charge is not lost', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const begun = await createCharge(person, invoice)
    // Simulates that the provider's response was lost, so that only our own reference is known.
    await database().query(
      `update public.payments set state = 'starting', provider_ref = null, redirect_url = null
       where id = $1`,
      [begun.paymentId],
    )
    await submitSandboxPage(begun.ref)
    await sendCallback(sandboxCallback(begun.ref))
    expect(await stateOf(person, invoice)).toBe('paid')
    const { rows: [{ answer }] } = await database().query(
      `select private.charge_started($1, $2, 'https://pay.example/', null) as answer`,
      [begun.paymentId, begun.ref],
    )
    expect(answer).toMatchObject({ paymentId: begun.paymentId })
    expect(await stateOf(person, invoice)).toBe('paid')
    expect((await walletOf(person)).available).toBe(10)
  })
})
