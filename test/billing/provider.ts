import { afterAll, beforeAll, beforeEach } from 'vitest'
import { returnUrl, topUpInvoice } from '../support/money.ts'
import { checkReply, database, type Person, signUp } from '../support/client.ts'
import { type Facade, startFacade } from '../support/facade.ts'
import { type PaymentStub, startPaymentStub, tapSignature, webhookV2 } from './stub-payments.ts'

// deno-lint-ignore no-explicit-any
export type Json = any

export const tapKey = 'sk_test_worked_example'
export const portalSecret = 'd29ya2VkLWV4YW1wbGU='

export async function ask(
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
      ...(person?.proof && { 'x-proof': person.proof }),
      ...headers,
    },
    body: sent === undefined ? undefined : typeof sent === 'string' ? sent : JSON.stringify(sent),
  })
  const text = await response.text()
  const reply = { status: response.status, headers: response.headers, body: JSON.parse(text) }
  if (response.headers.has('x-request-id')) await checkReply(method, path, reply, sent)
  return reply
}

export const agePayment = (paymentId: string, interval = '11 minutes') =>
  database().query(
    `update public.payments set created_at = now() - $2::interval, looked_up_at = null,
       requested_at = now() - $2::interval where id = $1`,
    [paymentId, interval],
  )

export const paymentsOf = async (invoiceId: string) =>
  (await database().query(
    'select id, state, provider_ref from public.payments where invoice_id = $1 order by created_at',
    [invoiceId],
  )).rows

export function useProvider(kind: 'tap' | 'myfatoorah') {
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

  // Reads the invoice, because GET /payments/status would query the provider.
  const stateOf = async ({ id }: Json, person = payer) =>
    (await ask(facade, 'GET', `/invoices/${id}`, { person })).body.state

  function settle(charge: Json, paid: boolean, payment = `0707${charge.InvoiceId ?? ''}`) {
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

  async function startTopUp(person = payer, amount = '12.5') {
    const invoice = await topUpInvoice(person, amount)
    const { body } = await begin(invoice, person)
    const [charge] = stub.madeFor(body.paymentId)
    return { invoice, charge, ...body }
  }

  return {
    get stub() {
      return stub
    },
    get facade() {
      return facade
    },
    get payer() {
      return payer
    },
    begin,
    deliver,
    settle,
    startTopUp,
    stateOf,
    webhookOf,
  }
}
