/** Tap and MyFatoorah against stubs that speak their formats: good, slow, failing, lying, repeating. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { variable } from '../../local/environment.ts'
import { alarmsAbout, returnUrl, topUpInvoice, walletOf } from '../support/money.ts'
import { checkReply, database, type Person, signUp } from '../support/client.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { waitUntil } from '../support/wait.ts'
import {
  type PaymentStub,
  startPaymentStub,
  tapSignature,
  webhookV1,
  webhookV2,
} from './stub-payments.ts'
import { makeAdmin } from '../support/admins.ts'

// deno-lint-ignore no-explicit-any
type Json = any

const flipped = (char: string) => (char === 'a' ? 'b' : 'a')

const tapKey = 'sk_test_worked_example'
const portalSecret = 'd29ya2VkLWV4YW1wbGU='

async function ask(
  facade: Facade,
  method: string,
  path: string,
  { sent, person, headers = {} }: { sent?: Json; person?: Person; headers?: Json } = {},
) {
  const response = await fetch(facade.url + path, {
    method,
    headers: {
      ...(sent !== undefined && { 'content-type': 'application/json' }),
      ...(person && { authorization: `Bearer ${person.accessToken}` }),
      ...headers,
    },
    body: sent === undefined ? undefined : typeof sent === 'string' ? sent : JSON.stringify(sent),
  })
  const text = await response.text()
  const reply = { status: response.status, headers: response.headers, body: JSON.parse(text) }
  if (response.headers.has('x-request-id')) await checkReply(method, path, reply)
  return reply
}

/** Runs the scheduled work in the same process. */
const runJobs = (facade: Facade) =>
  fetch(facade.url.replace(/\/api$/, '/jobs'), {
    method: 'POST',
    headers: { apikey: variable('SUPABASE_SECRET_KEY')! },
  }).then((response) => response.json())

/** As if a payment had been begun so long ago. */
const age = (paymentId: string, interval = '11 minutes') =>
  database().query(
    `update public.payments set created_at = now() - $2::interval, looked_up_at = null,
       asked_at = now() - $2::interval where id = $1`,
    [paymentId, interval],
  )

const paymentOf = async (invoiceId: string) =>
  (await database().query(
    'select id, state, provider_ref from public.payments where invoice_id = $1 order by created_at',
    [invoiceId],
  )).rows

describe.runIf(hasStack).each(['tap', 'myfatoorah'] as const)('%s', (kind) => {
  let stub: PaymentStub
  let facade: Facade
  let payer: Person

  beforeAll(async () => {
    ;[stub, payer] = await Promise.all([startPaymentStub(kind), signUp('بدر الهاجري')])
    facade = await startFacade(
      {
        PAYMENT_PROVIDER: kind,
        TAP_SECRET_KEY: kind === 'tap' ? tapKey : undefined,
        TAP_SECRET_KEY_OLD: kind === 'tap' ? 'sk_test_used_before' : undefined,
        TAP_URL: stub.url,
        MYFATOORAH_TOKEN: kind === 'myfatoorah' ? 'token-of-the-merchant' : undefined,
        MYFATOORAH_WEBHOOK_SECRET: kind === 'myfatoorah' ? portalSecret : undefined,
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

  beforeEach(() => {
    stub.behaviour = 'good'
    stub.requests.length = 0
  })

  const begin = (invoice: Json, person = payer) =>
    ask(facade, 'POST', '/payments/charge', { sent: { invoiceId: invoice.id, returnUrl }, person })

  const stateOf = async ({ id }: Json, person = payer) =>
    (await ask(facade, 'GET', `/payments/status/${id}`, { person })).body.state

  /** What the person does at the provider. */
  function outcome(charge: Json, paid: boolean, payment = `0707${charge.InvoiceId ?? ''}`) {
    if (kind === 'tap') {
      charge.status = paid ? 'CAPTURED' : 'DECLINED'
      return
    }
    charge.InvoiceStatus = paid ? 'Paid' : 'Canceled'
    charge.InvoiceTransactions.push({
      PaymentId: payment,
      TransactionStatus: paid ? 'Succss' : 'Failed',
      PaymentGateway: 'KNET',
      TrackId: 'T1',
      ReferenceId: 'R1',
      AuthorizationId: 'A1',
      Currency: 'KD',
    })
  }

  function webhookOf(charge: Json): { body: Json; headers: Json } {
    if (kind === 'tap') {
      return { body: charge, headers: { hashstring: tapSignature(charge, tapKey) } }
    }
    const last = charge.InvoiceTransactions.at(-1) ?? {}
    const { body, signature } = webhookV2(1, {
      Invoice: {
        Id: String(charge.InvoiceId),
        Status: charge.InvoiceStatus.toUpperCase(),
        ExternalIdentifier: charge.CustomerReference,
      },
      Transaction: {
        Status: last.TransactionStatus === 'Succss' ? 'SUCCESS' : 'FAILED',
        PaymentId: last.PaymentId,
      },
      Amount: { BaseCurrency: 'KWD', ValueInBaseCurrency: String(charge.InvoiceValue) },
    }, portalSecret)
    return { body, headers: { 'myfatoorah-signature': signature } }
  }

  const deliver = ({ body, headers }: { body: Json; headers: Json }, path = `/${kind}`) =>
    ask(facade, 'POST', `/payments/webhook${path}`, { sent: body, headers })

  async function begun(person = payer, amount = '12.5') {
    const invoice = await topUpInvoice(person, amount)
    const { body } = await begin(invoice, person)
    const [charge] = stub.madeFor(body.paymentId)
    return { invoice, charge, ...body }
  }

  test('PAY-01 a charge sends what the provider needs, and its webhook pays the invoice', async () => {
    const person = await signUp('نورة الصالح')
    const { invoice, charge, redirectUrl, paymentId } = await begun(person)
    expect(redirectUrl).toMatch(/^https:\/\/pay\.example\//)
    expect((await ask(facade, 'GET', '/health')).body.payments).toBe('sandbox')
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
    outcome(charge, true)
    expect(await deliver(webhookOf(charge)))
      .toMatchObject({ status: 200, body: { received: true, duplicate: false } })
    expect(await stateOf(invoice, person)).toBe('paid')
    const { body: { payments } } = await ask(facade, 'GET', `/invoices/${invoice.id}`, { person })
    expect(payments).toMatchObject([{ provider: kind, state: 'captured', method: 'KNET' }])
    expect((await walletOf(person)).available).toBe(12.5)
    // The same again, at the address that all share, and after a restart of memory.
    for (const path of ['', `/${kind}`]) {
      expect(await deliver(webhookOf(charge), path)).toMatchObject({ status: 200 })
    }
    expect((await walletOf(person)).available).toBe(12.5)
  })

  test('PAY-03 only webhooks that the provider signed are accepted', async () => {
    const { invoice, charge } = await begun()
    outcome(charge, true)
    const { body, headers } = webhookOf(charge)
    const [[name, right]] = Object.entries(headers) as [string, string][]
    const wrong: [string, Json][] = [
      ['none', {}],
      ['empty', { [name]: '' }],
      ['cut short', { [name]: right.slice(0, -2) }],
      ['long', { [name]: right + 'a'.repeat(1000) }],
      ['of zeros', { [name]: right.replace(/[^=]/g, '0') }],
      ['two', { [name]: `${right}, ${right}` }],
      ['another header', { 'x-signature': right }],
      ['the sandbox way', { 'sandbox-signature': `t=1,v1=${right}` }],
    ]
    for (const [what, given] of wrong) {
      expect(await deliver({ body, headers: given }), what)
        .toMatchObject({ status: 401, body: { error: { code: 'webhook_signature_invalid' } } })
    }
    const changed = structuredClone(body)
    if (kind === 'tap') changed.id = 'chg_other'
    else changed.Data.Invoice.Id = '1'
    expect((await deliver({ body: changed, headers })).status).toBe(401)
    if (kind === 'tap') {
      const old = { hashstring: tapSignature(charge, 'sk_test_used_before') }
      const other = { hashstring: tapSignature(charge, 'sk_test_other') }
      expect((await deliver({ body, headers: other })).status).toBe(401)
      expect(await stateOf(invoice)).toBe('processing')
      expect((await deliver({ body, headers: old })).status).toBe(200)
    } else {
      const other = webhookV2(1, body.Data, 'other')
      expect((await deliver({ body, headers: { [name]: other.signature } })).status).toBe(401)
      expect(await stateOf(invoice)).toBe('processing')
      expect((await deliver({ body, headers })).status).toBe(200)
    }
    expect(await stateOf(invoice)).toBe('paid')
  })

  test('PAY-04 the provider is asked, and what it answers must fit', async () => {
    for (const lie of ['amount', 'currency', 'reference'] as const) {
      const { invoice, charge, paymentId } = await begun()
      outcome(charge, true)
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
    const { invoice, charge } = await begun()
    const lie = structuredClone(charge)
    outcome(lie, true)
    expect((await deliver(webhookOf(lie))).status).toBe(200)
    expect(await stateOf(invoice)).toBe('processing')
    outcome(charge, false)
    await deliver(webhookOf(charge))
    expect(await stateOf(invoice)).toBe('failed')
  })

  test.each(['slow', 'cut', 'http 500', 'html', 'done but silent'] as const)(
    'PAY-11 a provider that is %s: a clean answer in time, and no second charge',
    async (mood) => {
      const person = await signUp()
      const invoice = await topUpInvoice(person)
      stub.behaviour = mood
      const began = performance.now()
      expect(await begin(invoice, person))
        .toMatchObject({ status: 502, body: { error: { code: 'payment_provider_error' } } })
      expect(performance.now() - began).toBeLessThan(10_000)
      expect(stub.requests).toHaveLength(1) // nothing was tried twice
      const [{ id, state }] = await paymentOf(invoice.id)
      expect(state).toBe('starting')

      stub.behaviour = 'good'
      await age(id, '10 seconds')
      const again = await begin(invoice, person)
      expect(again).toMatchObject({ status: 200, body: { paymentId: id } })
      expect(stub.madeFor(id)).toHaveLength(1)
      const [charge] = stub.madeFor(id)
      outcome(charge, true)
      await deliver(webhookOf(charge))
      expect(await stateOf(invoice, person)).toBe('paid')
    },
  )

  test('PAY-11 a charge whose answer was lost is found by the job', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    stub.behaviour = 'done but silent'
    await begin(invoice, person)
    stub.behaviour = 'good'
    const [{ id }] = await paymentOf(invoice.id)
    outcome(stub.madeFor(id)[0], true)
    // The stack's own job, which does not know this stub, may be the one that takes it.
    await waitUntil('the payment that the job found', async () => {
      await age(id)
      const ran = await runJobs(facade)
      expect(ran).toMatchObject({ look_up_payments: { done: expect.any(Number) } })
      return await stateOf(invoice, person) === 'paid'
    })
    expect(stub.madeFor(id)).toHaveLength(1)
    expect((await walletOf(person)).available).toBe(10)
  })

  test.runIf(kind === 'tap')('PAY-11 a charge over another amount is rejected', async () => {
    const invoice = await topUpInvoice(payer)
    stub.behaviour = 'another amount'
    expect((await begin(invoice)).status).toBe(502)
    const [{ id, state }] = await paymentOf(invoice.id)
    expect(state).toBe('failed')
    expect(await alarmsAbout(id)).toEqual(['charge_mismatch'])
    expect(await stateOf(invoice)).toBe('failed')
    stub.behaviour = 'good'
    expect((await begin(invoice)).status).toBe(200)
  })

  test('PAY-11 a clear refusal is a failed try, and another may follow', async () => {
    const invoice = await topUpInvoice(payer)
    stub.behaviour = 'refuses'
    const reply = await begin(invoice)
    expect(reply.status).toBe(502)
    stub.behaviour = 'good'
    // Tap's 400 is a no; MyFatoorah's has no IsSuccess, so nobody knows.
    const [{ id, state }] = await paymentOf(invoice.id)
    expect(state).toBe(kind === 'tap' ? 'failed' : 'starting')
    if (kind === 'myfatoorah') await age(id, '10 seconds')
    expect((await begin(invoice)).status).toBe(200)
  })

  test('PAY-12 a payment without a webhook is found, and a late one has no second effect', async () => {
    const person = await signUp()
    const { invoice, charge, paymentId } = await begun(person)
    outcome(charge, true)
    await runJobs(facade)
    expect(await stateOf(invoice, person)).toBe('processing') // not ten minutes yet
    await age(paymentId)
    await runJobs(facade)
    expect(await stateOf(invoice, person)).toBe('paid')
    expect((await deliver(webhookOf(charge))).status).toBe(200)
    expect((await walletOf(person)).available).toBe(12.5)
  })

  test('a webhook while the provider does not answer is asked to retry, and nothing is lost', async () => {
    const { invoice, charge } = await begun()
    outcome(charge, true)
    stub.behaviour = 'http 500'
    expect(await deliver(webhookOf(charge)))
      .toMatchObject({ status: 502, body: { error: { code: 'payment_provider_error' } } })
    expect(await stateOf(invoice)).toBe('processing')
    stub.behaviour = 'good'
    expect((await deliver(webhookOf(charge))).body).toMatchObject({ duplicate: false })
    expect(await stateOf(invoice)).toBe('paid')
    stub.behaviour = 'http 500'
    expect((await deliver(webhookOf(charge))).status).toBe(
      kind === 'tap' ? 200 : 502, // a new Event.Reference is another event
    )
  })

  test('a refund to its source is held, asked for once, and booked when it is done', async () => {
    const [admin, person] = await Promise.all([signUp(), signUp()])
    await makeAdmin(admin)
    const { invoice, charge } = await begun(person, '10')
    outcome(charge, true)
    await deliver(webhookOf(charge))
    const give = (amount: number) =>
      ask(facade, 'POST', `/admin/invoices/${invoice.id}/refund`, {
        sent: { to: 'source', reason: 'طلب العميل', amount },
        person: admin,
      })
    const { body } = await give(4)
    expect(body).toMatchObject({ refund: { state: 'requested' }, invoice: { state: 'paid' } })
    expect(await walletOf(person)).toEqual({ available: 6, held: 4, currency: 'KWD' })
    expect((await give(7)).status).toBe(422) // what is asked for counts already
    const [[ref, refund]] = [...stub.refunds].slice(-1) as [string, Json][]
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
    const { invoice, charge } = await begun(person, '10')
    outcome(charge, true)
    await deliver(webhookOf(charge))
    const { body } = await ask(facade, 'POST', `/admin/invoices/${invoice.id}/refund`, {
      sent: { to: 'source', reason: 'طلب العميل' },
      person: admin,
    })
    expect(await walletOf(person)).toMatchObject({ available: 0, held: 10 })
    const [[, refund]] = [...stub.refunds].slice(-1) as [string, Json][]
    if (kind === 'tap') refund!.status = 'DECLINED'
    else refund!.RefundStatus = 'Canceled'
    await database().query(
      `update public.refunds set created_at = now() - interval '1 hour', asked_at = null
       where id = $1`,
      [body.refund.id],
    )
    await runJobs(facade)
    expect(await walletOf(person)).toMatchObject({ available: 10, held: 0 })
    expect(await stateOf(invoice, person)).toBe('paid')
    expect(await alarmsAbout(body.refund.id)).toEqual(['refund_rejected'])
  })

  test('PAY-05 a refund that is reported before its payment ends as refunded, without a net credit', async () => {
    const person = await signUp()
    const { invoice, charge } = await begun(person, '10')
    outcome(charge, true)
    const ref = kind === 'tap' ? `re_${invoice.id}` : String(900_000 + stub.refunds.size)
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
    stub.refunds.set(ref, refund)
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

  test('worked examples of the signatures are accepted', async () => {
    const examples: [Json, string][] = kind === 'tap'
      ? [[
        {
          id: 'chg_DOC0001',
          object: 'charge',
          amount: 12.5,
          currency: 'KWD',
          reference: { gateway: 'gw123456', payment: 'pay987654' },
          status: 'CAPTURED',
          transaction: { created: '1790000000000' },
        },
        '30dbb72efb88f4ea6cc591c2f7d5f8aa6fb3cf0f2a9e3558cff4246a3b33fcd3',
      ]]
      : [
        [
          {
            Event: { Code: 1, Reference: 'example-1' },
            Data: {
              Invoice: { Id: '1001', Status: 'PAID', ExternalIdentifier: null },
              Transaction: { Status: 'SUCCESS', PaymentId: '07070001' },
            },
          },
          'ZTAukArvM4al8Zhx6lJbXvHAC3VUYGvoJ/14rG9sB1Y=',
        ],
        [
          {
            Event: { Code: 2, Reference: 'example-2' },
            Data: {
              Refund: { Id: 2001, Status: 'REFUNDED' },
              Amount: { ValueInBaseCurrency: '3.250' },
              ReferencedInvoice: { Id: '1001' },
            },
          },
          '7i6MdhsqJRvp9YiLsD2PTrRXnrGq+g/4jK1JvuH3Mc0=',
        ],
        [
          {
            EventType: 2,
            Event: 'RefundStatusChanged',
            Data: {
              RefundId: 2001,
              RefundReference: '2026000001',
              CreatedDate: '01102026101500',
              RefundStatus: 'REFUNDED',
              Amount: 3.25,
              Comments: null,
              InvoiceId: 1001,
              GatewayReference: { any: 'thing' },
            },
          },
          'x1dD6lQfZYvvJWhMzDF4Hc8QzHvY4sok58PlWBtTY88=',
        ],
      ]
    const header = kind === 'tap' ? 'hashstring' : 'myfatoorah-signature'
    for (const [body, signature] of examples) {
      expect((await deliver({ body, headers: { [header]: signature } })).status).toBe(200)
      expect(
        (await deliver({ body, headers: { [header]: signature.replace(/^./, flipped) } })).status,
      )
        .toBe(401)
    }
  })

  test('PAY-15 events that are not about a payment are kept as ignored', async () => {
    const webhook = kind === 'tap'
      ? (() => {
        const body = { ...structuredClone([...stub.charges.values()][0]), object: 'authorize' }
        return { body, headers: { hashstring: tapSignature(body, tapKey) } }
      })()
      : (() => {
        const { body, signature } = webhookV1(
          5,
          { RecurringId: 'R1', Status: 'ACTIVE' },
          portalSecret,
        )
        return { body, headers: { 'myfatoorah-signature': signature } }
      })()
    expect((await deliver(webhook)).status).toBe(200)
  })
})

describe.runIf(hasStack)('what is not configured', () => {
  test('PAY-11 without a provider charges are 503, and all webhooks are refused', async () => {
    const none = { PAYMENT_PROVIDER: undefined, SANDBOX_SECRET: undefined }
    const facade = await startFacade(none)
    try {
      const person = await signUp()
      const invoice = await topUpInvoice(person)
      expect(
        await ask(facade, 'POST', '/payments/charge', {
          sent: { invoiceId: invoice.id, returnUrl },
          person,
        }),
      ).toMatchObject({ status: 503, body: { error: { code: 'payment_not_configured' } } })
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
})
