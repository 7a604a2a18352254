import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { alarmsAbout, type Invoice, returnUrl, topUpInvoice, walletOf } from '../support/money.ts'
import { type PaymentStub, startPaymentStub, webhookV1, webhookV2 } from './stub-payments.ts'
import { waitUntil } from '../support/wait.ts'
import { makeAdmin } from '../support/admins.ts'
import { runJobsOf } from '../support/jobs.ts'
import { ask, bearer, type Json } from './provider-events.ts'

const portalSecret = 'c2lnbmluZy1rZXktb2YtdGhlLXBvcnRhbA=='

const eventsOf = async (paymentId: string) =>
  (await database().query(
    'select outcome, event_key from public.payment_events where payment_id = $1 order by id',
    [paymentId],
  )).rows

describe.runIf(hasStack)('MyFatoorah', () => {
  let stub: PaymentStub
  let facade: Facade

  beforeAll(async () => {
    stub = await startPaymentStub('myfatoorah')
    facade = await startFacade(
      {
        PAYMENT_PROVIDER: 'myfatoorah',
        MYFATOORAH_TOKEN: 'token-of-the-merchant',
        MYFATOORAH_WEBHOOK_SECRET: portalSecret,
        MYFATOORAH_URL: stub.url,
        SANDBOX_SECRET: undefined,
      },
      'api',
      'jobs',
    )
  })

  afterAll(async () => {
    await facade?.stop()
    await stub?.stop()
  })

  beforeEach(() => (stub.behaviour = 'good'))

  async function begun(person: Person, amount = 10) {
    const invoice = await topUpInvoice(person, amount)
    const sent = { invoiceId: invoice.id, returnUrl }
    const { body } = await ask(facade, '/payments/charge', sent, bearer(person))
    const [charge] = stub.madeFor(body.paymentId)
    return { invoice, charge, paymentId: body.paymentId as string }
  }

  function pay(charge: Json, PaymentId = `0909${charge.InvoiceId}`) {
    charge.InvoiceStatus = 'Paid'
    charge.InvoiceTransactions.push({
      PaymentId,
      TransactionStatus: 'Succss',
      PaymentGateway: 'KNET',
      Currency: 'KD',
    })
  }

  const eventOf = (charge: Json, reference?: unknown) => {
    const { body, signature } = webhookV2(1, {
      Invoice: {
        Id: String(charge.InvoiceId),
        Status: 'PAID',
        ExternalIdentifier: charge.CustomerReference,
      },
      Transaction: { Status: 'SUCCESS', PaymentId: `0909${charge.InvoiceId}` },
    }, portalSecret)
    const Event: Json = { ...body.Event }
    if (reference === undefined) delete Event.Reference
    else Event.Reference = reference
    return { body: { ...body, Event } as Json, signature }
  }

  const deliver = ({ body, signature }: { body: Json; signature: string }) =>
    ask(facade, '/payments/webhook/myfatoorah', body, { 'myfatoorah-signature': signature })

  const stateOf = async (person: Person, { id }: Invoice) =>
    (await person.get(`/payments/status/${id}`)).body.state

  test("PAY-06 an unsigned reference makes nobody else's event a duplicate", async () => {
    const [mallory, person] = await Promise.all([signUp(), signUp()])
    const own = await begun(mallory)
    const theirs = await begun(person)
    pay(own.charge)
    pay(theirs.charge)
    // First comes a genuine event about the first charge, with the reference that the
    // second charge's event will have.
    const taken = `ref-${theirs.paymentId}`
    expect((await deliver(eventOf(own.charge, taken))).body.duplicate).toBe(false)
    expect((await deliver(eventOf(theirs.charge, taken))).body.duplicate).toBe(false)
    expect(await stateOf(person, theirs.invoice)).toBe('paid')
    expect((await deliver(eventOf(theirs.charge, taken))).body.duplicate).toBe(true)
  })

  test('PAY-06 unsigned fields cannot make a genuine event a duplicate of something else', async () => {
    for (const change of [{ Code: '1' }, { Code: [1] }, { Name: 'OTHER' }]) {
      const person = await signUp()
      const { invoice, charge, paymentId } = await begun(person)
      const event = eventOf(charge, `ref-${paymentId}`)
      const changed = structuredClone(event)
      Object.assign(changed.body.Event, change)
      expect((await deliver(changed)).status).toBe(200)
      pay(charge)
      expect((await deliver(event)).status).toBe(200)
      expect(await stateOf(person, invoice), JSON.stringify(change)).toBe('paid')
    }
  })

  test.each([
    ['missing', undefined],
    ['null', null],
    ['the text undefined', 'undefined'],
    ['an object', { a: 1 }],
    ['of 501 characters', 'r'.repeat(501)],
    ['of 100,000 characters', 'r'.repeat(100_000)],
  ])('PAY-15 a reference that is %s: each event is distinct', async (_name, reference) => {
    const person = await signUp()
    const [one, two] = [await begun(person, 1), await begun(person, 2)]
    for (const { charge } of [one, two]) {
      pay(charge)
      expect(await deliver(eventOf(charge, reference)))
        .toMatchObject({ status: 200, body: { duplicate: false } })
      expect((await deliver(eventOf(charge, reference))).body.duplicate).toBe(true)
    }
    expect(await walletOf(person)).toMatchObject({ available: 3 })
  })

  test.each([['a NUL', 'a\0b'], ['a half character', '\ud800']])(
    'PAY-15 a reference with %s is refused, and harms nothing',
    async (_name, reference) => {
      const person = await signUp()
      const { invoice, charge } = await begun(person)
      pay(charge)
      expect((await deliver(eventOf(charge, reference))).status).toBe(422)
      expect((await deliver(eventOf(charge, `ref-${invoice.id}`))).status).toBe(200)
      expect(await stateOf(person, invoice)).toBe('paid')
    },
  )

  test('PAY-15 long references that begin alike are different events', async () => {
    const person = await signUp()
    const { charge, paymentId } = await begun(person)
    pay(charge)
    const long = 'r'.repeat(600)
    expect((await deliver(eventOf(charge, `${long}1`))).body.duplicate).toBe(false)
    expect((await deliver(eventOf(charge, `${long}2`))).body.duplicate).toBe(false)
    const events = await eventsOf(paymentId)
    expect(events.map(({ outcome }) => outcome)).toEqual(['paid', 'repeated'])
    for (const { event_key } of events) expect(event_key.length).toBeLessThanOrEqual(500)
  })

  test('PAY-05 an event whose look-up said pending is looked up again when it comes again', async () => {
    const person = await signUp()
    const { invoice, charge, paymentId } = await begun(person)
    const event = eventOf(charge, `ref-${paymentId}`)
    for (let times = 0; times < 2; times++) {
      expect(await deliver(event)).toMatchObject({ status: 200, body: { duplicate: false } })
      expect(await stateOf(person, invoice)).toBe('processing')
    }
    // The payment is still pending. If the service cannot query the provider, it returns an error, so that
    // the provider sends the event again.
    stub.behaviour = 'http 500'
    expect((await deliver(event)).status).toBe(502)
    stub.behaviour = 'good'
    pay(charge)
    expect((await deliver(event)).body.duplicate).toBe(false)
    expect(await stateOf(person, invoice)).toBe('paid')
    expect((await deliver(event)).body.duplicate).toBe(true)
    stub.behaviour = 'http 500'
    expect((await deliver(event)).body.duplicate).toBe(true)
    expect((await walletOf(person)).available).toBe(10)
    expect(await eventsOf(paymentId)).toMatchObject([{ outcome: 'paid' }])
  })

  test('PAY-05 an event about what the provider did not know yet is looked up again', async () => {
    const person = await signUp()
    const { invoice, charge, paymentId } = await begun(person)
    const event = eventOf(charge, `ref-${paymentId}`)
    stub.charges.delete(String(charge.InvoiceId))
    expect((await deliver(event)).body.duplicate).toBe(false)
    stub.charges.set(String(charge.InvoiceId), charge)
    pay(charge)
    expect((await deliver(event)).body.duplicate).toBe(false)
    expect(await stateOf(person, invoice)).toBe('paid')
  })

  test('I-14 the money of one charge does not pay another: an alarm, and the provider gets 200', async () => {
    const person = await signUp()
    const [one, two] = [await begun(person), await begun(person)]
    pay(one.charge, `same-${one.paymentId}`)
    pay(two.charge, `same-${one.paymentId}`)
    expect((await deliver(eventOf(one.charge, `a-${one.paymentId}`))).status).toBe(200)
    for (let times = 0; times < 2; times++) {
      expect((await deliver(eventOf(two.charge, `b-${times}-${two.paymentId}`))).status).toBe(200)
    }
    expect(await stateOf(person, two.invoice)).toBe('processing')
    expect(await alarmsAbout(two.paymentId)).toEqual(['payment_mismatch'])
    expect((await walletOf(person)).available).toBe(10)
  })

  test.each([['KWD', 'paid'], ['KD', 'paid'], ['USD', 'processing'], ['', 'paid']])(
    'PAY-04 version 1 reports currency %j: %s',
    async (BaseCurrency, state) => {
      const person = await signUp()
      const { invoice, charge, paymentId } = await begun(person)
      pay(charge)
      const event = webhookV1(1, {
        InvoiceId: charge.InvoiceId,
        TransactionStatus: 'SUCCESS',
        PaymentId: `0909${charge.InvoiceId}`,
        InvoiceValueInBaseCurrency: '10.000',
        BaseCurrency,
      }, portalSecret)
      expect((await deliver(event)).status).toBe(200)
      expect(await stateOf(person, invoice)).toBe(state)
      expect(await alarmsAbout(paymentId)).toEqual(state === 'paid' ? [] : ['payment_mismatch'])
    },
  )

  describe('a refund whose answer was lost', () => {
    async function lost(amount: number) {
      const [admin, person] = await Promise.all([signUp(), signUp()])
      await makeAdmin(admin)
      const { invoice, charge } = await begun(person)
      pay(charge)
      await deliver(eventOf(charge, `ref-${invoice.id}`))
      const before = new Set(stub.refunds.keys())
      stub.behaviour = 'done but silent'
      const { body } = await ask(
        facade,
        `/admin/invoices/${invoice.id}/refund`,
        { to: 'source', reason: 'طلب العميل', amount },
        bearer(admin),
      )
      stub.behaviour = 'good'
      expect(body.refund.state).toBe('requested')
      expect(await walletOf(person)).toMatchObject({ available: 10 - amount, held: amount })
      const made = [...stub.refunds].find(([ref, refund]) =>
        !before.has(ref) && refund.InvoiceId === charge.InvoiceId
      )!
      return { person, invoice, charge, refundId: body.refund.id as string, made }
    }

    const refunded = (ref: string, charge: Json, amount: number) =>
      webhookV2(2, {
        Refund: { Id: ref, Status: 'REFUNDED' },
        Amount: { ValueInBaseCurrency: amount.toFixed(3) },
        ReferencedInvoice: { Id: String(charge.InvoiceId) },
      }, portalSecret)

    const due = (refundId: string) =>
      database().query(
        `update public.refunds set created_at = now() - interval '1 hour', looked_up_at = null
         where id = $1`,
        [refundId],
      )

    test.each([4, 10])('is booked once when the provider reports %s.000', async (amount) => {
      const { person, invoice, charge, refundId, made: [ref, refund] } = await lost(amount)
      refund.RefundStatus = 'Refunded'
      expect((await deliver(refunded(ref, charge, amount))).status).toBe(200)
      expect(await walletOf(person)).toEqual({ available: 10 - amount, held: 0, currency: 'KWD' })
      const ran = await runJobsOf(facade, () => due(refundId))
      expect(ran).toMatchObject({ look_up_refunds: { done: expect.any(Number) } })
      expect(await walletOf(person)).toEqual({ available: 10 - amount, held: 0, currency: 'KWD' })
      expect((await person.get(`/invoices/${invoice.id}`)).body.refunded).toBe(amount)
      expect(await alarmsAbout(refundId)).toEqual([])
    })

    test('is found by the job at the provider, and not asked for again', async () => {
      const { person, charge, refundId, made: [ref, refund] } = await lost(4)
      const count = () =>
        [...stub.refunds.values()].filter(({ InvoiceId }) => InvoiceId === charge.InvoiceId).length
      await waitUntil('the refund that the job found', async () => {
        await runJobsOf(facade, () => due(refundId))
        const { rows } = await database().query(
          'select provider_ref from public.refunds where id = $1',
          [refundId],
        )
        return rows[0].provider_ref === ref
      })
      expect(count()).toBe(1)
      expect(await walletOf(person)).toMatchObject({ available: 6, held: 4 })
      refund.RefundStatus = 'Refunded'
      await deliver(refunded(ref, charge, 4))
      expect(await walletOf(person)).toEqual({ available: 6, held: 0, currency: 'KWD' })
      expect(count()).toBe(1)
    })

    test('that is already booked under its own id frees what was held', async () => {
      const { person, refundId, made: [ref] } = await lost(4)
      // Inserts a row as left by an older release, which did not match refunds by their amount.
      await database().query(
        `with made as (
           insert into public.refunds (invoice_id, payment_id, destination, amount, reason, requested_here, provider_ref)
           select invoice_id, payment_id, 'source', amount, 'made at the provider', false, $2
           from public.refunds where id = $1 returning id
         ) select private.book_refund(id) from made`,
        [refundId, ref],
      )
      await database().query(`select private.refund_answered($1, $2, 'pending')`, [refundId, ref])
      expect(await walletOf(person)).toMatchObject({ held: 0 })
      expect((await alarmsAbout(refundId)).sort()).toEqual(['refund_mismatch', 'refund_rejected'])
    })

    test('two of one amount are two refunds, whichever is reported first', async () => {
      const { person, invoice, charge, made: [first, one] } = await lost(4)
      const ref = String(Number(first) + 500_000)
      stub.refunds.set(ref, { ...one, RefundId: Number(ref), RefundStatus: 'Refunded' })
      one.RefundStatus = 'Refunded'
      await deliver(refunded(ref, charge, 4))
      await deliver(refunded(first, charge, 4))
      expect(await walletOf(person)).toEqual({ available: 2, held: 0, currency: 'KWD' })
      expect((await person.get(`/invoices/${invoice.id}`)).body.refunded).toBe(8)
    })
  })

  test('a row that makes a job fail stops no others, and raises an alarm', async () => {
    const person = await signUp()
    const [odd, good] = [await begun(person), await begun(person)]
    pay(good.charge)
    odd.charge.InvoiceTransactions = [null]
    await waitUntil('the payment that the job found', async () => {
      await runJobsOf(facade, () =>
        database().query(
          `update public.payments set created_at = now() - interval '11 minutes', looked_up_at = null
           where id = any ($1) and state = 'open'`,
          [[odd.paymentId, good.paymentId]],
        ))
      return await stateOf(person, good.invoice) === 'paid' &&
        (await alarmsAbout(`look_up_payment ${odd.paymentId}`)).length > 0
    })
    expect(await alarmsAbout(`look_up_payment ${odd.paymentId}`)).toEqual(['job_failed'])
  })
})
