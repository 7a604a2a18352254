// Tests the table in docs/contract/billing.md: every state of our payments and refunds with every status that
// a provider may report. The last status reported is booked or raises an alarm.
import { randomInt, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { hasSandbox, sandboxCallback, sendCallback } from '../support/money.ts'
import { isNightly } from '../support/nightly.ts'
import { type Json, portalSecret, tapKey, useProvider } from './provider.ts'
import { tapSignature, webhookV2 } from './stub-payments.ts'

const query = (sql: string, values: unknown[] = []) => database().query(sql, values)

type Provider = 'tap' | 'myfatoorah' | 'sandbox'
type Word = 'paid' | 'refunded' | 'failed' | 'pending' | 'unknown'

/** Stands for any status that a provider may introduce later. */
const anotherWord = 'HELD_FOR_REVIEW'

/** What each provider's statuses mean; `unknown` means that the provider has no such charge or refund. */
const chargeWords: Record<Provider, Record<string, Word>> = {
  tap: {
    CAPTURED: 'paid',
    ABANDONED: 'failed',
    CANCELLED: 'failed',
    EXPIRED: 'failed',
    FAILED: 'failed',
    DECLINED: 'failed',
    RESTRICTED: 'failed',
    VOID: 'failed',
    INITIATED: 'pending',
    IN_PROGRESS: 'pending',
    AUTHORIZED: 'pending',
    TIMEDOUT: 'pending',
    UNKNOWN: 'pending',
    [anotherWord]: 'pending',
    '': 'unknown',
  },
  myfatoorah: {
    'Paid, Succss': 'paid',
    'DuplicatePayment, Succss': 'paid',
    'Pending, Succss': 'paid',
    'Canceled, Failed': 'failed',
    'Pending, InProgress': 'pending',
    'Pending, Failed': 'pending',
    'Pending, Authorize': 'pending',
    [`Pending, ${anotherWord}`]: 'pending',
    [`${anotherWord}, ${anotherWord}`]: 'pending',
    '': 'unknown',
  },
  sandbox: { paid: 'paid', failed: 'failed', pending: 'pending', '': 'unknown' },
}
const refundWords: Record<Provider, Record<string, Word>> = {
  tap: {
    REFUNDED: 'refunded',
    CANCELLED: 'failed',
    FAILED: 'failed',
    DECLINED: 'failed',
    RESTRICTED: 'failed',
    PENDING: 'pending',
    IN_PROGRESS: 'pending',
    ACCEPTED: 'pending',
    TIMEDOUT: 'pending',
    TIMED_OUT: 'pending',
    AUTHORIZED: 'pending',
    UNKNOWN: 'pending',
    [anotherWord]: 'pending',
    '': 'unknown',
  },
  myfatoorah: {
    Refunded: 'refunded',
    Canceled: 'failed',
    Pending: 'pending',
    [anotherWord]: 'pending',
    '': 'unknown',
  },
  sandbox: { refunded: 'refunded', '': 'unknown' },
}

/** In nightly runs returns all statuses; otherwise one of each meaning, chosen by `index`. */
const someOfEach = (words: Record<string, Word>, index: number): [string, Word][] => {
  const all = Object.entries(words)
  return all.filter(([word, means]) => {
    const alike = all.filter((one) => one[1] === means)
    return isNightly || alike[index % alike.length]![0] === word
  })
}

const payments: Record<string, Partial<Record<Word, [state: string, ...alarms: string[]]>>> = {
  starting: { paid: ['captured'], failed: ['failed'] },
  open: { paid: ['captured'], failed: ['failed'] },
  superseded: { paid: ['captured'], failed: ['failed'] },
  failed: { paid: ['captured'] },
  captured: { failed: ['captured', 'payment_reversed'] },
  surplus: { failed: ['surplus', 'paid_twice', 'payment_reversed'] },
}

type Refunded = [state: string, available: number, held: number, ...alarms: string[]]
/**
 * A refund of 4 out of 10 dinars. Each entry is its state, the available and held money, and the open alarms.
 */
const refunds: Record<string, { before: Refunded } & Partial<Record<Word, Refunded>>> = {
  'requested, without an answer': {
    before: ['requested', 6, 4],
    refunded: ['settled', 6, 0],
    failed: ['rejected', 10, 0, 'refund_rejected'],
  },
  'requested, known there': {
    before: ['requested', 6, 4],
    refunded: ['settled', 6, 0],
    failed: ['rejected', 10, 0, 'refund_rejected'],
  },
  rejected: {
    before: ['rejected', 10, 0, 'refund_rejected'],
    refunded: ['settled', 6, 0],
    pending: ['rejected', 10, 0, 'refund_rejected', 'refund_under_way'],
  },
  settled: {
    before: ['settled', 6, 0],
    failed: ['settled', 6, 0, 'refund_reversed'],
  },
  "none: the provider's own": { before: ['none', 10, 0], refunded: ['settled', 6, 0] },
}

describe.runIf(hasStack).each(['tap', 'myfatoorah', 'sandbox'] as const)('%s', (kind) => {
  const provider = kind === 'sandbox' ? undefined : useProvider(kind)
  let account: string
  beforeAll(async () => {
    account = (await signUp()).id
  })

  async function charged(state = 'open') {
    const identity = await insertOrganisation(account)
    const ref = kind === 'myfatoorah' ? String(randomInt(2e9, 4e9)) : `chg_${randomUUID()}`
    const { rows: [{ invoice }] } = await query(
      `select private.issue_invoice($1, 'topup', now() + interval '1 day', 'شحن', 'Top-up', 10)
       as invoice`,
      [identity],
    )
    for (const step of ['processing', ...(state === 'failed' ? ['failed'] : [])]) {
      await query('update public.invoices set state = $2 where id = $1', [invoice, step])
    }
    const paymentOf = async (state: string, providerRef: string | null) =>
      (await query(
        `insert into public.payments
           (invoice_id, provider, mode, amount, return_url, state, provider_ref)
         values ($1, $2, 'test', 10, 'https://app.example/', $3, $4) returning id`,
        [invoice, kind, state, providerRef],
      )).rows[0].id as string
    const isTaken = ['captured', 'surplus'].includes(state)
    if (state === 'surplus') await capture(await paymentOf('superseded', null), `${ref}0`)
    const payment = await paymentOf(
      isTaken ? 'superseded' : state,
      state === 'starting' ? null : ref,
    )
    if (isTaken) await capture(payment, ref)
    return { identity, invoice: invoice as string, payment, ref }
  }

  const capture = (payment: string, ref: string) =>
    query(
      `select private.settle_payment($1, jsonb_build_object('ref', $2::text, 'paymentId', $2::text))`,
      [payment, ref],
    )

  async function chargeIs(ref: string, payment: string, word: string) {
    if (kind === 'sandbox') {
      await query('delete from private.sandbox_charges where id = $1', [ref])
      if (!word) return
      await query(
        `insert into private.sandbox_charges (id, reference, amount, currency, title, return_url, state)
         values ($1, $2, 10, 'KWD', 'شحن', 'https://app.example/', $3)`,
        [ref, payment, word],
      )
      return
    }
    const [InvoiceStatus, TransactionStatus] = word.split(', ')
    const charge = kind === 'tap'
      ? {
        id: ref,
        object: 'charge',
        live_mode: false,
        status: word,
        amount: 10,
        currency: 'KWD',
        reference: { transaction: payment },
        transaction: { created: '1790000000000' },
      }
      : {
        InvoiceId: Number(ref),
        InvoiceStatus,
        CustomerReference: payment,
        InvoiceValue: 10,
        InvoiceTransactions: [{ PaymentId: `07${ref}`, TransactionStatus, Currency: 'KD' }],
      }
    if (word) provider!.stub.charges.set(ref, charge)
    else provider!.stub.charges.delete(ref)
    return charge
  }

  async function reportCharge(ref: string, charge: Json) {
    if (kind === 'sandbox') return await sendCallback(sandboxCallback(ref))
    if (kind === 'tap') {
      const headers = { hashstring: tapSignature(charge, tapKey) }
      return await provider!.deliver({ body: charge, headers })
    }
    const { body, signature } = webhookV2(1, {
      Invoice: { Id: ref, Status: 'PAID', ExternalIdentifier: charge.CustomerReference },
      Transaction: { Status: 'SUCCESS', PaymentId: `07${ref}` },
    }, portalSecret)
    return await provider!.deliver({ body, headers: { 'myfatoorah-signature': signature } })
  }

  async function reportRefund(charge: string, ref: string, word: string, ours: string | null) {
    if (kind === 'sandbox') {
      if (word) {
        await query(
          `insert into private.sandbox_refunds (id, charge_id, reference, amount) values ($1, $2, $3, 4)`,
          [ref, charge, ours ?? randomUUID()],
        )
      }
      return await sendCallback(sandboxCallback(charge, { type: 'refund', refundId: ref }))
    }
    const refund = kind === 'tap'
      ? {
        id: ref,
        object: 'refund',
        charge_id: charge,
        amount: 4,
        currency: 'KWD',
        status: word,
        created: '1',
        reference: { merchant: ours },
      }
      : { RefundId: Number(ref), RefundStatus: word, InvoiceId: Number(charge), Amount: 4 }
    if (word) provider!.stub.refunds.set(ref, refund)
    if (kind === 'tap') {
      const headers = { hashstring: tapSignature(refund, tapKey) }
      return await provider!.deliver({ body: refund, headers })
    }
    const { body, signature } = webhookV2(2, {
      Refund: { Id: ref, Status: word.toUpperCase() },
      Amount: { ValueInBaseCurrency: '4.000' },
      ReferencedInvoice: { Id: charge },
    }, portalSecret)
    return await provider!.deliver({ body, headers: { 'myfatoorah-signature': signature } })
  }

  const openAlarms = async (...subjects: (string | null)[]) =>
    (await query(
      `select kind from private.alarms where subject_id = any ($1) and settled_at is null
       order by kind`,
      [subjects],
    )).rows.map(({ kind }) => kind)

  const cells = Object.keys(payments).flatMap((state, index) =>
    someOfEach(chargeWords[kind], index).map(([word, means]) => [state, word, means] as const)
  )
  test.each(cells)('PAY-19 a payment that is %s, %j: %s', async (state, word, means) => {
    if (kind === 'sandbox' && !hasSandbox) return
    const { payment, ref } = await charged(state)
    const [after, ...alarms] = payments[state]![means] ??
      [state, ...(state === 'surplus' ? ['paid_twice'] : [])]
    const charge = await chargeIs(ref, payment, word)
    expect((await reportCharge(ref, charge)).status).toBe(200)
    const { rows } = await query('select state from public.payments where id = $1', [payment])
    expect([rows[0].state, ...await openAlarms(payment, ref)]).toEqual([after, ...alarms])
  })

  const refundCells = Object.keys(refunds).flatMap((state, index) =>
    someOfEach(refundWords[kind], index).map(([word, means]) => [state, word, means] as const)
  )
  test.each(refundCells)(
    'PAY-19 a refund that is %s, %j: %s',
    async (state, word, means) => {
      if (kind === 'sandbox' && !hasSandbox) return
      const { identity, invoice, payment, ref } = await charged('captured')
      await chargeIs(
        ref,
        payment,
        { tap: 'CAPTURED', myfatoorah: 'Paid, Succss', sandbox: 'paid' }[kind],
      )
      const requestId = randomUUID()
      const there = kind === 'myfatoorah' ? String(randomInt(2e9, 4e9)) : `re_${randomUUID()}`
      const isOurs = !state.startsWith('none')
      if (isOurs) {
        await query(
          `select private.make_refund(null, $1, $2, 4, 'source', 'سبب', null, true)`,
          [requestId, invoice],
        )
        if (!state.endsWith('without an answer')) {
          const said = { rejected: 'failed', settled: 'refunded' }[state] ?? 'pending'
          await query('select private.refund_answered($1, $2, $3)', [requestId, there, said])
        }
      }
      const seen = async (): Promise<Refunded> => {
        const { rows: [made] } = await query(
          'select id, state from public.refunds where payment_id = $1',
          [payment],
        )
        const { rows: parts } = await query(
          'select part, balance::float from public.wallets where identity_id = $1',
          [identity],
        )
        const inPart = (name: string) => parts.find(({ part }) => part === name)?.balance ?? 0
        return [
          made?.state ?? 'none',
          inPart('available'),
          inPart('held'),
          ...await openAlarms(made?.id, there),
        ]
      }
      const { before, ...after } = refunds[state]!
      expect(await seen()).toEqual(before)
      for (let times = 0; times < 2; times++) {
        const { status } = await reportRefund(ref, there, word, isOurs ? requestId : null)
          .catch((error) => {
            if (error.code === '23505') return { status: 200 } // the sandbox already has this refund
            throw error
          })
        expect(status).toBe(200)
        expect(await seen()).toEqual(after[means] ?? before)
      }
    },
  )
})
