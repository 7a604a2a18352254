import { describe, expect, test } from 'vitest'
import { makeAdmin } from '../support/admins.ts'
import { tapSignature, webhookV1, webhookV2 } from './stub-payments.ts'
import { alarmsAbout, findPlan, returnUrl, topUpInvoice, walletOf } from '../support/money.ts'
import { database, signUp } from '../support/client.ts'
import { hasStack, startFacade } from '../support/facade.ts'
import { within } from '../support/promised-times.ts'
import { waitUntil } from '../support/wait.ts'
import {
  agePayment,
  ask,
  type Json,
  paymentsOf,
  portalSecret,
  tapKey,
  useProvider,
} from './provider.ts'
import { runJobsOf } from '../support/jobs.ts'

const ageRefund = (id: string) =>
  database().query(
    `update public.refunds set created_at = now() - interval '1 hour', looked_up_at = null
     where id = $1 and state = 'requested'`,
    [id],
  )

describe.runIf(hasStack).each(['tap', 'myfatoorah'] as const)('%s', (kind) => {
  const provider = useProvider(kind)
  const { begin, deliver, settle, startTopUp, stateOf, webhookOf } = provider

  test('PAY-01 a charge sends what the provider needs, and its webhook pays the invoice', async () => {
    const person = await signUp('نورة الصالح')
    const { invoice, charge, redirectUrl, paymentId } = await startTopUp(person)
    expect(redirectUrl).toMatch(/^https:\/\/pay\.example\//)
    expect((await ask(provider.facade, 'GET', '/health')).body.payments).toBe('sandbox')
    if (kind === 'tap') {
      expect(charge.sent).toMatchObject({
        amount: 12.5,
        currency: 'KWD',
        reference: { transaction: paymentId, order: invoice.number, idempotent: paymentId },
        customer: { first_name: 'نورة الصالح', email: person.identifier },
        redirect: { url: returnUrl },
        source: { id: 'src_all' },
      })
      expect(charge.sent.post.url).toMatch(/\/payments\/webhook\/tap$/)
    } else {
      expect(charge.sent).toMatchObject({
        InvoiceValue: 12.5,
        DisplayCurrencyIso: 'KWD',
        CustomerReference: paymentId,
        CallBackUrl: returnUrl,
        CustomerName: 'نورة الصالح',
        InvoiceItems: [{ Quantity: 1, UnitPrice: 12.5 }],
      })
    }
    settle(charge, true)
    expect(await deliver(webhookOf(charge)))
      .toMatchObject({ status: 200, body: { received: true, duplicate: false } })
    expect(await stateOf(invoice, person)).toBe('paid')
    const { body: { payments } } = await ask(provider.facade, 'GET', `/invoices/${invoice.id}`, {
      person,
    })
    expect(payments).toMatchObject([{ provider: kind, state: 'captured', method: 'KNET' }])
    expect((await walletOf(person)).available).toBe(12.5)
    for (const path of ['', `/${kind}`]) {
      expect(await deliver(webhookOf(charge), path)).toMatchObject({ status: 200 })
    }
    expect((await walletOf(person)).available).toBe(12.5)
  })

  test('PAY-04 the provider is asked, and what it answers must fit', async () => {
    for (const lie of ['amount', 'currency', 'reference'] as const) {
      const { invoice, charge, paymentId } = await startTopUp()
      settle(charge, true)
      const webhook = webhookOf(structuredClone(charge))
      if (kind === 'tap') {
        if (lie === 'amount') charge.amount = 12.499
        if (lie === 'currency') charge.currency = 'USD'
        if (lie === 'reference') charge.reference.transaction = 'other'
      } else {
        if (lie === 'amount') charge.InvoiceValue = 12.499
        if (lie === 'currency') charge.InvoiceTransactions[0].Currency = 'USD'
        if (lie === 'reference') charge.CustomerReference = 'other'
      }
      expect((await deliver(webhook)).status).toBe(200)
      expect(await stateOf(invoice), lie).toBe('processing')
      expect(await alarmsAbout(paymentId)).toEqual(['payment_mismatch'])
    }
  })

  test('PAY-04 a webhook that says paid where the provider says otherwise pays nothing', async () => {
    const { invoice, charge } = await startTopUp()
    const lie = structuredClone(charge)
    settle(lie, true)
    expect((await deliver(webhookOf(lie))).status).toBe(200)
    expect(await stateOf(invoice)).toBe('processing')
    settle(charge, false)
    await deliver(webhookOf(charge))
    expect(await stateOf(invoice)).toBe('failed')
  })

  test('a charge keeps the address it leads back to: another is refused for 15 minutes', async () => {
    const person = await signUp()
    const { invoice, paymentId } = await startTopUp(person)
    const elsewhere = () =>
      ask(provider.facade, 'POST', '/payments/charge', {
        sent: { invoiceId: invoice.id, returnUrl: `${returnUrl}/tablet` },
        person,
      })
    expect(await elsewhere())
      .toMatchObject({ status: 409, body: { error: { code: 'payment_in_progress' } } })
    expect(await begin(invoice, person)).toMatchObject({ status: 200, body: { paymentId } })
    await agePayment(paymentId, '16 minutes')
    const newer = await elsewhere()
    expect(newer.status).toBe(200)
    const [{ sent }] = provider.stub.madeFor(newer.body.paymentId)
    expect(kind === 'tap' ? sent.redirect.url : sent.CallBackUrl).toBe(`${returnUrl}/tablet`)
  })

  test.each(['slow', 'cut', 'http 500', 'html', 'done but silent'] as const)(
    'PAY-11 a provider that is %s: a clean answer in time, and no second charge',
    async (mood) => {
      const person = await signUp()
      const invoice = await topUpInvoice(person)
      provider.stub.behaviour = mood
      const reply = await within(
        'a provider of payments that fails is answered for',
        () => begin(invoice, person),
      )
      expect(reply)
        .toMatchObject({ status: 502, body: { error: { code: 'payment_provider_error' } } })
      expect(provider.stub.requests).toHaveLength(1) // nothing was retried
      const [{ id, state }] = await paymentsOf(invoice.id)
      expect(state).toBe('starting')

      provider.stub.behaviour = 'good'
      await agePayment(id, '10 seconds')
      const again = await begin(invoice, person)
      expect(again).toMatchObject({ status: 200, body: { paymentId: id } })
      expect(provider.stub.madeFor(id)).toHaveLength(1)
      const [charge] = provider.stub.madeFor(id)
      settle(charge, true)
      await deliver(webhookOf(charge))
      expect(await stateOf(invoice, person)).toBe('paid')
    },
  )

  test('PAY-11 a charge whose answer was lost is found by the job', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    provider.stub.behaviour = 'done but silent'
    await begin(invoice, person)
    provider.stub.behaviour = 'good'
    const [{ id }] = await paymentsOf(invoice.id)
    settle(provider.stub.madeFor(id)[0], true)
    // The stack's own job, which cannot reach this stub, may pick up the payment first.
    await waitUntil('the payment that the job found', async () => {
      const ran = await runJobsOf(provider.facade, () => agePayment(id))
      expect(ran).toMatchObject({ look_up_payments: { done: expect.any(Number) } })
      return await stateOf(invoice, person) === 'paid'
    })
    expect(provider.stub.madeFor(id)).toHaveLength(1)
    expect((await walletOf(person)).available).toBe(10)
  })

  test.runIf(kind === 'tap')('PAY-11 a charge over another amount is rejected', async () => {
    const invoice = await topUpInvoice(provider.payer)
    provider.stub.behaviour = 'another amount'
    expect((await begin(invoice)).status).toBe(502)
    const [{ id, state }] = await paymentsOf(invoice.id)
    expect(state).toBe('failed')
    expect(await alarmsAbout(id)).toEqual(['charge_mismatch'])
    expect(await stateOf(invoice)).toBe('failed')
    provider.stub.behaviour = 'good'
    expect((await begin(invoice)).status).toBe(200)
  })

  test('PAY-11 a clear refusal is a failed try, and another may follow', async () => {
    const invoice = await topUpInvoice(provider.payer)
    provider.stub.behaviour = 'refuses'
    const reply = await begin(invoice)
    expect(reply.status).toBe(502)
    provider.stub.behaviour = 'good'
    // Tap's 400 is a refusal. MyFatoorah's 400 has no IsSuccess, so the outcome of the charge is unknown.
    const [{ id, state }] = await paymentsOf(invoice.id)
    expect(state).toBe(kind === 'tap' ? 'failed' : 'starting')
    if (kind === 'myfatoorah') await agePayment(id, '10 seconds')
    expect((await begin(invoice)).status).toBe(200)
  })

  test('PAY-12 a payment without a webhook is found, and a late one has no second effect', async () => {
    const person = await signUp()
    const { invoice, charge, paymentId } = await startTopUp(person)
    settle(charge, true)
    await runJobsOf(provider.facade)
    expect(await stateOf(invoice, person)).toBe('processing') // the payment is younger than ten minutes
    await waitUntil('the payment that the job found', async () => {
      await runJobsOf(provider.facade, () => agePayment(paymentId))
      return await stateOf(invoice, person) === 'paid'
    })
    expect((await deliver(webhookOf(charge))).status).toBe(200)
    expect((await walletOf(person)).available).toBe(12.5)
  })

  test('a webhook while the provider does not answer is asked to retry, and nothing is lost', async () => {
    const { invoice, charge } = await startTopUp()
    settle(charge, true)
    provider.stub.behaviour = 'http 500'
    expect(await deliver(webhookOf(charge)))
      .toMatchObject({ status: 502, body: { error: { code: 'payment_provider_error' } } })
    expect(await stateOf(invoice)).toBe('processing')
    provider.stub.behaviour = 'good'
    expect((await deliver(webhookOf(charge))).body).toMatchObject({ duplicate: false })
    expect(await stateOf(invoice)).toBe('paid')
    provider.stub.behaviour = 'http 500'
    expect((await deliver(webhookOf(charge))).status).toBe(
      kind === 'tap' ? 200 : 502, // a new Event.Reference means a new event
    )
  })

  test('a refund to its source is held, asked for once, and booked when it is done', async () => {
    const [admin, person] = await Promise.all([signUp(), signUp()])
    await makeAdmin(admin)
    const { invoice, charge } = await startTopUp(person, '10')
    settle(charge, true)
    await deliver(webhookOf(charge))
    const give = (amount: number) =>
      ask(provider.facade, 'POST', `/admin/invoices/${invoice.id}/refund`, {
        sent: { to: 'source', reason: 'طلب العميل', amount },
        person: admin,
      })
    const { body } = await give(4)
    expect(body).toMatchObject({ refund: { state: 'requested' }, invoice: { state: 'paid' } })
    expect(await walletOf(person)).toEqual({ available: 6, held: 4, currency: 'KWD' })
    // The amount of the requested refund is reserved, so too little is left.
    expect((await give(7)).status).toBe(422)
    const [[ref, refund]] = [...provider.stub.refunds].slice(-1) as [string, Json][]
    if (kind === 'tap') refund!.status = 'REFUNDED'
    else refund!.RefundStatus = 'Refunded'
    const webhook = kind === 'tap'
      ? { body: refund, headers: { hashstring: tapSignature(refund, tapKey) } }
      : (() => {
        const { body, signature } = webhookV2(2, {
          Refund: { Id: ref, Status: 'REFUNDED', InvoiceId: 1 },
          Amount: { BaseCurrency: 'KWD', ValueInBaseCurrency: '4.000' },
          ReferencedInvoice: { Id: String(charge.InvoiceId) },
        }, portalSecret)
        return { body, headers: { 'myfatoorah-signature': signature } }
      })()
    for (let times = 0; times < 2; times++) expect((await deliver(webhook)).status).toBe(200)
    expect(await walletOf(person)).toEqual({ available: 6, held: 0, currency: 'KWD' })
    expect(await stateOf(invoice, person)).toBe('partially_refunded')
  })

  test('a refund that the provider rejects is money to spend again', async () => {
    const [admin, person] = await Promise.all([signUp(), signUp()])
    await makeAdmin(admin)
    const { invoice, charge } = await startTopUp(person, '10')
    settle(charge, true)
    await deliver(webhookOf(charge))
    const { body } = await ask(provider.facade, 'POST', `/admin/invoices/${invoice.id}/refund`, {
      sent: { to: 'source', reason: 'طلب العميل' },
      person: admin,
    })
    expect(await walletOf(person)).toMatchObject({ available: 0, held: 10 })
    const [[, refund]] = [...provider.stub.refunds].slice(-1) as [string, Json][]
    if (kind === 'tap') refund!.status = 'DECLINED'
    else refund!.RefundStatus = 'Canceled'
    await waitUntil('the refund that the job found', async () => {
      await runJobsOf(provider.facade, () => ageRefund(body.refund.id))
      return (await walletOf(person)).held === 0
    })
    expect(await walletOf(person)).toMatchObject({ available: 10, held: 0 })
    expect(await stateOf(invoice, person)).toBe('paid')
    expect(await alarmsAbout(body.refund.id)).toEqual(['refund_rejected'])
  })

  test('WAL-05 a surplus of a plan that the provider does not refund is money to spend again', async () => {
    const [admin, person] = await Promise.all([signUp(), signUp()])
    await makeAdmin(admin)
    const { id: planId, price } = await findPlan(person, 'plus')
    const { body: { invoice } } = await person.post('/plans/subscribe', {
      planId,
      payWith: 'invoice',
    })
    const first = (await begin(invoice, person)).body
    const [late] = provider.stub.madeFor(first.paymentId)
    settle(late, false)
    await deliver(webhookOf(late))
    const [charge] = provider.stub.madeFor((await begin(invoice, person)).body.paymentId)
    settle(charge, true)
    await deliver(webhookOf(charge))
    settle(late, true)
    await deliver(webhookOf(late))
    expect(await walletOf(person)).toMatchObject({ available: price, held: 0 })
    const { status, body } = await ask(
      provider.facade,
      'POST',
      `/admin/invoices/${invoice.id}/refund`,
      {
        sent: { to: 'source', reason: 'دفعة مكررة', paymentId: first.paymentId },
        person: admin,
      },
    )
    expect(status).toBe(200)
    expect(await walletOf(person)).toMatchObject({ available: 0, held: price })
    const [[, refund]] = [...provider.stub.refunds].slice(-1) as [string, Json][]
    if (kind === 'tap') refund!.status = 'DECLINED'
    else refund!.RefundStatus = 'Canceled'
    await waitUntil('the refund that the job found', async () => {
      await runJobsOf(provider.facade, () => ageRefund(body.refund.id))
      return (await walletOf(person)).held === 0
    })
    expect(await walletOf(person)).toMatchObject({ available: price, held: 0 })
    expect((await person.get('/plans/current')).body.plan.code).toBe('plus')
    expect(await alarmsAbout(body.refund.id)).toEqual(['refund_rejected'])
  })

  test('PAY-05 a refund that is reported before its payment ends as refunded, without a net credit', async () => {
    const person = await signUp()
    const { invoice, charge } = await startTopUp(person, '10')
    settle(charge, true)
    const ref = kind === 'tap' ? `re_${invoice.id}` : String(900_000 + provider.stub.refunds.size)
    const refund: Json = kind === 'tap'
      ? {
        id: ref,
        object: 'refund',
        charge_id: charge.id,
        amount: 10,
        currency: 'KWD',
        status: 'REFUNDED',
        created: '1',
        reference: {},
      }
      : { RefundId: Number(ref), RefundStatus: 'Refunded', InvoiceId: charge.InvoiceId, Amount: 10 }
    provider.stub.refunds.set(ref, refund)
    const webhook = kind === 'tap'
      ? { body: refund, headers: { hashstring: tapSignature(refund, tapKey) } }
      : (() => {
        const { body, signature } = webhookV1(2, {
          RefundId: Number(ref),
          RefundReference: '2026000001',
          CreatedDate: '01102026101500',
          RefundStatus: 'REFUNDED',
          Amount: 10,
          Comments: null,
          InvoiceId: charge.InvoiceId,
          GatewayReference: { any: 1 },
        }, portalSecret)
        return { body, headers: { 'myfatoorah-signature': signature } }
      })()
    expect((await deliver(webhook)).status).toBe(200)
    expect(await stateOf(invoice, person)).toBe('refunded')
    await deliver(webhookOf(charge))
    expect(await stateOf(invoice, person)).toBe('refunded')
    expect(await walletOf(person)).toMatchObject({ available: 0, held: 0 })
  })
})

describe.runIf(hasStack)('what is not configured', () => {
  test('PAY-11 without a provider charges are 503, and all webhooks are refused', async () => {
    const none = { PAYMENT_PROVIDER: undefined, SANDBOX_SECRET: undefined }
    const facade = await startFacade(none)
    try {
      const person = await signUp()
      const invoice = await topUpInvoice(person)
      const refused = await ask(facade, 'POST', '/payments/charge', {
        sent: { invoiceId: invoice.id, returnUrl },
        person,
      })
      expect(refused).toMatchObject({
        status: 503,
        body: { error: { code: 'payment_not_configured' } },
      })
      expect([refused.headers.get('retry-after'), refused.body.error.retryAfter])
        .toEqual([null, undefined])
      expect((await ask(facade, 'GET', '/health')).body.payments).toBe('off')
      for (const path of ['', '/tap', '/myfatoorah', '/sandbox']) {
        expect((await ask(facade, 'POST', `/payments/webhook${path}`, { sent: {} })).status).toBe(
          401,
        )
      }
    } finally {
      await facade.stop()
    }
  })

  test('the sandbox does not exist in production', async () => {
    const facade = await startFacade({ ENVIRONMENT: 'production' })
    try {
      expect((await ask(facade, 'GET', '/health')).body.payments).toBe('off')
      expect((await fetch(`${facade.url}/sandbox/done`)).status).toBe(404)
      expect((await ask(facade, 'POST', '/payments/webhook/sandbox', { sent: {} })).status).toBe(
        401,
      )
      expect(facade.output()).toContain('provider_not_configured')
    } finally {
      await facade.stop()
    }
  })

  test('production sends people back only where it is listed, also into an app', async () => {
    const listed = ['https://shop.example/back', 'dar://']
    const facade = await startFacade({
      ENVIRONMENT: 'production',
      // Invalid entries allow no addresses, and do not affect the valid ones.
      RETURN_URLS: ['your.site/back', ...listed, 'javascript:alert(1)'].join(','),
    })
    try {
      const person = await signUp()
      const invoice = await topUpInvoice(person)
      const chargeTo = (address: string) =>
        ask(facade, 'POST', '/payments/charge', {
          sent: { invoiceId: invoice.id, returnUrl: address },
          person,
        })
      for (const address of ['https://shop.example/back/1', 'dar://pay', 'dar://']) {
        // The address was accepted. It is checked first; the error comes later, because
        // this facade has no provider.
        expect((await chargeTo(address)).body.error.code, address).toBe('payment_not_configured')
      }
      for (
        const address of ['http://localhost/', 'myapp://pay', 'https://shop.example/', returnUrl]
      ) {
        expect(await chargeTo(address), address).toMatchObject({
          status: 422,
          body: {
            error: { allowed: listed, fields: [{ path: 'returnUrl', code: 'not_allowed' }] },
          },
        })
      }
    } finally {
      await facade.stop()
    }
  })
})
