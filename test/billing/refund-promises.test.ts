import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { act, why } from '../admin/studio.ts'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { runJobs, runJobsOf } from '../support/jobs.ts'
import { alarmsAbout, giveMoney, walletOf } from '../support/money.ts'
import { waitUntil } from '../support/wait.ts'
import { ask, type Json, portalSecret, tapKey, useProvider } from './provider.ts'
import { tapSignature, webhookV2 } from './stub-payments.ts'

const query = (sql: string, values: unknown[] = []) => database().query(sql, values)

const openAlarms = async (subject: string) =>
  (await query(
    'select kind from private.alarms where subject_id = $1 and settled_at is null order by kind',
    [subject],
  )).rows.map(({ kind }) => kind)

const settleByHand = (subject: string) =>
  query(
    `update private.alarms set settled_at = now(), settled_note = 'اطلعت عليه'
     where subject_id = $1 and settled_at is null`,
    [subject],
  )

const refundOf = async (id: string) =>
  (await query('select state, provider_ref, sent_at from public.refunds where id = $1', [id]))
    .rows[0]

describe.runIf(hasStack).each(['tap', 'myfatoorah'] as const)('%s', (kind) => {
  const provider = useProvider(kind)
  const { deliver, settle, startTopUp, webhookOf } = provider
  let admin: Person
  beforeAll(async () => {
    admin = await signUpAdmin()
  })

  async function paid() {
    const person = await signUp()
    const { invoice, charge, paymentId } = await startTopUp(person, '10')
    settle(charge, true)
    await deliver(webhookOf(charge))
    const ref = String(charge.id ?? charge.InvoiceId)
    return { person, invoice, charge, paymentId: paymentId as string, ref }
  }

  const refund = async (invoice: Json, amount: number) =>
    (await ask(provider.facade, 'POST', `/admin/invoices/${invoice.id}/refund`, {
      sent: { to: 'source', reason: why, amount },
      person: admin,
    })).body.refund

  const askAgain = (id: string, sent = '1 hour') =>
    runJobsOf(provider.facade, () =>
      query(
        `update public.refunds set created_at = now() - interval '1 hour', looked_up_at = null,
           sent_at = now() - $2::interval where id = $1 and state = 'requested'`,
        [id, sent],
      ))

  type Word = 'refunded' | 'pending' | 'failed'
  type Told = { ref: string; event: { body: Json; headers: Json } }

  /**
   * Creates a completed refund at the provider and returns its event. With `ours`, it
   * carries out our refund of this id.
   */
  function paidBack(charge: Json, amount: number, ours?: string, ref?: string): Told {
    ref ??= kind === 'tap'
      ? `re_${randomUUID()}`
      : String(provider.stub.firstId + 500_000 + provider.stub.refunds.size)
    return refundEvent(charge, amount, ref, 'refunded', ours)
  }

  function refundEvent(charge: Json, amount: number, ref: string, word: Word, ours?: string): Told {
    if (kind === 'tap') {
      const made = {
        id: ref,
        object: 'refund',
        charge_id: charge.id,
        amount,
        currency: 'KWD',
        status: word.toUpperCase(),
        created: '1',
        reference: { merchant: ours },
      }
      provider.stub.refunds.set(ref, made)
      return { ref, event: { body: made, headers: { hashstring: tapSignature(made, tapKey) } } }
    }
    const status = { refunded: 'Refunded', pending: 'Pending', failed: 'Canceled' }[word]
    provider.stub.refunds.set(ref, {
      RefundId: Number(ref),
      RefundStatus: status,
      InvoiceId: charge.InvoiceId,
      Amount: amount,
    })
    const { body, signature } = webhookV2(2, {
      Refund: { Id: ref, Status: status.toUpperCase() },
      Amount: { ValueInBaseCurrency: amount.toFixed(3) },
      ReferencedInvoice: { Id: String(charge.InvoiceId) },
    }, portalSecret)
    return { ref, event: { body, headers: { 'myfatoorah-signature': signature } } }
  }

  /** Requests a refund over a connection that breaks, so that its outcome is unknown. */
  async function lost(amount: number) {
    const made = await paid()
    provider.stub.behaviour = 'cut'
    const { id, state } = await refund(made.invoice, amount)
    expect([state, (await refundOf(id)).provider_ref]).toEqual(['requested', null])
    provider.stub.behaviour = 'good'
    return { ...made, id: id as string }
  }

  test('PAY-20 no to the first request is no refund', async () => {
    const { person, invoice } = await paid()
    provider.stub.behaviour = 'refuses refunds'
    expect((await refund(invoice, 4)).state).toBe('rejected')
    expect(await walletOf(person)).toMatchObject({ available: 10, held: 0 })
  })

  test.runIf(kind === 'tap')(
    'PAY-20 no to a repetition is no word about the first: it waits with an alarm, and is booked',
    async () => {
      const { person, charge, id } = await lost(4)
      provider.stub.behaviour = 'refuses refunds'
      await waitUntil('the alarm', async () => {
        await askAgain(id)
        return (await openAlarms(id)).length > 0
      })
      expect([(await refundOf(id)).state, ...await openAlarms(id)])
        .toEqual(['requested', 'refund_unclear'])
      expect(await walletOf(person)).toMatchObject({ available: 6, held: 4 })
      const { ref, event } = paidBack(charge, 4, id)
      expect((await deliver(event)).status).toBe(200)
      expect(await refundOf(id)).toMatchObject({ state: 'settled', provider_ref: ref })
      expect(await walletOf(person)).toMatchObject({ available: 6, held: 0 })
      expect(await openAlarms(id)).toEqual([])
    },
  )

  test.runIf(kind === 'tap')(
    'PAY-20 after a day it is not asked for again: a no says that there is none, silence does not',
    async () => {
      const [refused, silent] = [await lost(4), await lost(4)]
      provider.stub.behaviour = 'refuses refunds'
      await waitUntil('the alarm', async () => {
        await askAgain(refused.id)
        return (await openAlarms(refused.id)).length > 0
      })
      // Settling the alarm does not change the refund: the provider's refusal stays recorded.
      await settleByHand(refused.id)
      provider.stub.behaviour = 'good'
      await waitUntil('both', async () => {
        await askAgain(refused.id, '25 hours')
        await askAgain(silent.id, '25 hours')
        return (await refundOf(refused.id)).state === 'rejected' &&
          (await openAlarms(silent.id)).length > 0
      })
      expect(await openAlarms(refused.id)).toEqual(['refund_rejected'])
      expect([(await refundOf(silent.id)).state, ...await openAlarms(silent.id)])
        .toEqual(['requested', 'refund_unanswered'])
      const charges = [refused.ref, silent.ref]
      const made = [...provider.stub.refunds.values()].filter(({ charge_id }) =>
        charges.includes(charge_id)
      )
      expect(made).toEqual([])
    },
  )

  test.runIf(kind === 'myfatoorah')(
    'PAY-20 where the list of refunds has none, no to a repetition is no refund',
    async () => {
      const { person, id } = await lost(4)
      provider.stub.behaviour = 'refuses refunds'
      await waitUntil('the outcome', async () => {
        await askAgain(id)
        return (await refundOf(id)).state !== 'requested'
      })
      expect((await refundOf(id)).state).toBe('rejected')
      expect(await walletOf(person)).toMatchObject({ available: 10, held: 0 })
    },
  )

  test('PAY-20 a refund that was taken as rejected and is paid all the same is booked, the act too', async () => {
    const { person, invoice, charge } = await paid()
    const row = await act({ act: 'refund', target: invoice.number, to: 'source', reason: why })
    expect(row.state).toBe('waiting')
    await query(`select private.refund_answered($1, null, 'failed')`, [row.id])
    const stateOf = async () =>
      (await query('select state from public.admin_acts where id = $1', [row.id])).rows[0].state
    expect(await stateOf()).toBe('refused')
    expect(await walletOf(person)).toMatchObject({ available: 10, held: 0 })
    const { event } = paidBack(charge, 10, row.id)
    for (let times = 0; times < 2; times++) expect((await deliver(event)).status).toBe(200)
    expect(await stateOf()).toBe('done')
    expect(await walletOf(person)).toMatchObject({ available: 0, held: 0 })
    expect(await openAlarms(row.id)).toEqual([])
    expect(
      (await ask(provider.facade, 'POST', `/admin/invoices/${invoice.id}/refund`, {
        sent: { to: 'source', reason: why },
        person: admin,
      })).status,
    ).toBe(409)
  })

  test("PAY-20 a refund of the provider's own without room is booked when it comes again and there is room", async () => {
    const { person, invoice, charge } = await paid()
    const ours = await refund(invoice, 10)
    expect(ours.state).toBe('requested')
    const { ref, event } = paidBack(charge, 3)
    expect((await deliver(event)).body.duplicate).toBe(false)
    expect(await openAlarms(ref)).toEqual(['refund_unmatched'])
    // Until some of the payment's amount is free again, reporting the refund again only keeps the alarm open.
    expect((await deliver(event)).body.duplicate).toBe(false)
    await query(`update public.refunds set amount = 4 where id = $1`, [ours.id])
    await deliver(event)
    expect(await openAlarms(ref)).toEqual([])
    expect((await person.get(`/invoices/${invoice.id}`)).body.refunded).toBe(3)
    expect((await deliver(event)).body.duplicate).toBe(true)
    // Restores the amount to 10, which is what the wallet holds for this refund.
    await query(`update public.refunds set amount = 10 where id = $1`, [ours.id])
  })

  test('PAY-20 it is booked by itself when our own refund is refused, its alarm settled or not', async () => {
    const { person, invoice, charge } = await paid()
    const ours = await refund(invoice, 10)
    const { ref, event } = paidBack(charge, 3)
    await deliver(event)
    await settleByHand(ref)
    await query(`select private.refund_answered($1, null, 'failed')`, [ours.id])
    expect(await openAlarms(ref)).toEqual([])
    expect((await person.get(`/invoices/${invoice.id}`)).body.refunded).toBe(3)
    expect(await walletOf(person)).toMatchObject({ available: 7, held: 0 })
  })

  test('PAY-20 one that is reported before its payment is booked after it', async () => {
    const person = await signUp()
    const { invoice, charge } = await startTopUp(person, '10')
    const { ref, event } = paidBack(charge, 3)
    expect((await deliver(event)).status).toBe(200)
    expect(await openAlarms(ref)).toEqual(['refund_unmatched'])
    settle(charge, true)
    await deliver(webhookOf(charge))
    expect(await openAlarms(ref)).toEqual([])
    expect((await person.get(`/invoices/${invoice.id}`)).body)
      .toMatchObject({ state: 'partially_refunded', refunded: 3 })
    expect(await walletOf(person)).toMatchObject({ available: 7, held: 0 })
  })

  const noted = async (ref: string) =>
    (await query('select from private.unmatched_refunds where refund_ref = $1', [ref])).rowCount

  test('PAY-20 one without room that fails after all is not booked when there is room', async () => {
    const { person, invoice, charge } = await paid()
    const ours = await refund(invoice, 10)
    const { ref, event } = paidBack(charge, 3)
    await deliver(event)
    expect(await openAlarms(ref)).toEqual(['refund_unmatched'])
    expect((await deliver(refundEvent(charge, 3, ref, 'failed').event)).status).toBe(200)
    expect([await openAlarms(ref), await noted(ref)]).toEqual([[], 0])
    await query(`select private.refund_answered($1, null, 'failed')`, [ours.id])
    expect((await person.get(`/invoices/${invoice.id}`)).body.refunded).toBe(0)
    expect(await walletOf(person)).toMatchObject({ available: 10, held: 0 })
  })

  test('PAY-20 one of ours that was taken as rejected, paid without room and then failed is booked no more', async () => {
    const { person, invoice, charge } = await paid()
    const first = await refund(invoice, 4)
    await query(`select private.refund_answered($1, null, 'failed')`, [first.id])
    const second = await refund(invoice, 10)
    const { ref, event } = paidBack(charge, 4, first.id)
    await deliver(event)
    expect(await noted(ref)).toBe(1)
    await deliver(refundEvent(charge, 4, ref, 'failed', first.id).event)
    expect([await openAlarms(ref), await noted(ref)]).toEqual([[], 0])
    await query(`select private.refund_answered($1, null, 'failed')`, [second.id])
    expect(await walletOf(person)).toMatchObject({ available: 10, held: 0 })
  })

  test('PAY-20 one that is pending and then paid back before its payment is known is booked after it', async () => {
    const person = await signUp()
    const { invoice, charge } = await startTopUp(person, '10')
    // The provider's id of the charge is not known yet, as if its response to the charge were late.
    await query('update public.payments set provider_ref = null where invoice_id = $1', [
      invoice.id,
    ])
    const { ref } = paidBack(charge, 3)
    for (const word of ['pending', 'refunded'] as const) {
      expect((await deliver(refundEvent(charge, 3, ref, word).event)).status).toBe(200)
      expect(await noted(ref)).toBe(word === 'pending' ? 0 : 1)
    }
    expect(await openAlarms(ref)).toEqual(['refund_unmatched'])
    settle(charge, true)
    await deliver(webhookOf(charge))
    expect(await openAlarms(ref)).toEqual([])
    expect((await person.get(`/invoices/${invoice.id}`)).body.refunded).toBe(3)
    expect(await walletOf(person)).toMatchObject({ available: 7, held: 0 })
  })

  test('PAY-20 nothing is kept of one that is pending or failed of a charge that is not ours', async () => {
    const elsewhere = { id: `chg_${randomUUID()}`, InvoiceId: provider.stub.firstId - 1 }
    const { ref } = paidBack(elsewhere, 3)
    for (const word of ['pending', 'failed', 'refunded', 'failed'] as const) {
      expect((await deliver(refundEvent(elsewhere, 3, ref, word).event)).status).toBe(200)
      const isRecorded = word === 'refunded'
      expect([await openAlarms(ref), await noted(ref)])
        .toEqual(isRecorded ? [['refund_unmatched'], 1] : [[], 0])
    }
  })

  /**
   * Deletes an account that has 10 dinars from a payment and 3.5 from elsewhere. The
   * provider refuses the refund.
   */
  async function left() {
    const made = await paid()
    await giveMoney(made.person.identityId, 3.5)
    const { person } = made
    await person.post('/auth/me/delete', { password: person.password, money: 'refund' })
    await query(
      `update public.accounts set delete_at = now() - interval '1 second' where id = $1`,
      [
        person.id,
      ],
    )
    await waitUntil('the deletion', async () => {
      await runJobs()
      return (await payouts(person)).length > 0
    })
    const [own] = await payouts(person)
    await query(`select private.refund_answered($1, null, 'failed')`, [own.id])
    return { ...made, own: own.id as string }
  }

  const payouts = async ({ id }: Person) =>
    (await query(
      `select id, amount::float, state from public.wallet_payouts where account_id = $1
       order by amount desc, state`,
      [id],
    )).rows
  const amounts = async (person: Person) =>
    (await payouts(person)).map(({ amount, state }) => [amount, state])
  const owed = async (person: Person) =>
    (await payouts(person)).filter(({ state }) => state === 'open')
      .reduce((sum, { amount }) => sum + amount, 0)
  const decide = (id: string) =>
    ask(provider.facade, 'POST', `/admin/moderation/${id}/decide`, {
      sent: { decision: 'paid_out', note: 'NBK 2026-118' },
      person: admin,
    })

  test("PAY-20 what the provider's portal pays back to a deleted account is paid out no more", async () => {
    const { person, charge, own } = await left()
    expect(await amounts(person)).toEqual([[10, 'open'], [3.5, 'open']])
    const { event } = paidBack(charge, 10)
    for (let times = 0; times < 2; times++) await deliver(event)
    expect(await amounts(person)).toEqual([[10, 'refunded'], [3.5, 'open']])
    expect((await decide(own)).status).toBe(409)
    expect(await heldBy(person)).toBe(0)
  })

  const heldBy = async ({ identityId }: Person) =>
    Number(
      (await query(
        'select sum(balance) as sum from public.wallets where identity_id = $1',
        [identityId],
      )).rows[0].sum,
    )

  test('PAY-20 a part of it leaves the rest to be paid out', async () => {
    const { person, charge } = await left()
    await deliver(paidBack(charge, 4).event)
    expect(await amounts(person)).toEqual([[6, 'open'], [4, 'refunded'], [3.5, 'open']])
    expect([await owed(person), await heldBy(person)]).toEqual([9.5, 0])
  })

  test('PAY-20 what was paid out and is paid back by the provider as well is an alarm', async () => {
    const { person, charge, own } = await left()
    const [, rest] = await payouts(person)
    for (const id of [own, rest.id]) expect((await decide(id)).status).toBe(200)
    await deliver(paidBack(charge, 10).event)
    expect(await amounts(person)).toEqual([[10, 'paid_out'], [3.5, 'paid_out']])
    const { rows: [{ id }] } = await query(
      `select id from public.refunds where state = 'settled' and invoice_id in (
         select id from public.invoices where account_id = $1)`,
      [person.id],
    )
    expect(await alarmsAbout(id)).toContain('refund_uncovered')
    expect(await heldBy(person)).toBe(0)
  })
})
