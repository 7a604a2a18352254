import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, signUp } from '../support/client.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { alarmsAbout, returnUrl, topUpInvoice } from '../support/money.ts'
import { type PaymentStub, startPaymentStub, tapSignature } from './stub-payments.ts'
import { ask, bearer, type Json } from './provider-events.ts'

const tapKey = 'sk_test_of_this_merchant'

describe.runIf(hasStack)('Tap', () => {
  let stub: PaymentStub
  let facade: Facade

  beforeAll(async () => {
    stub = await startPaymentStub('tap')
    facade = await startFacade({
      PAYMENT_PROVIDER: 'tap',
      TAP_SECRET_KEY: tapKey,
      TAP_URL: stub.url,
      SANDBOX_SECRET: undefined,
    })
  })

  afterAll(async () => {
    await facade?.stop()
    await stub?.stop()
  })

  const deliver = (body: Json, signature = tapSignature(body, tapKey)) =>
    ask(facade, '/payments/webhook/tap', body, { hashstring: signature })

  async function begun(person: Person) {
    const invoice = await topUpInvoice(person, 10)
    const sent = { invoiceId: invoice.id, returnUrl }
    const { body } = await ask(facade, '/payments/charge', sent, bearer(person))
    const [charge] = stub.madeFor(body.paymentId)
    charge.status = 'CAPTURED'
    return { invoice, charge, paymentId: body.paymentId as string }
  }

  test('PAY-06 the kind of an event is not signed, and makes no duplicate', async () => {
    const person = await signUp()
    const { invoice, charge } = await begun(person)
    const signature = tapSignature(charge, tapKey)
    expect((await deliver({ ...charge, object: 'authorize' }, signature)).status).toBe(200)
    expect((await deliver(charge)).body.duplicate).toBe(false)
    expect((await person.get(`/payments/status/${invoice.id}`)).body.state).toBe('paid')
  })

  test('PAY-04 a charge reported in another currency pays nothing and raises an alarm', async () => {
    const person = await signUp()
    const { invoice, charge, paymentId } = await begun(person)
    // The signature contains the amount with the decimals of its currency.
    const text = `x_id${charge.id}x_amount10.00x_currencyUSD` +
      `x_gateway_reference${charge.reference.gateway}` +
      `x_payment_reference${charge.reference.payment}` +
      `x_statusCAPTUREDx_created${charge.transaction.created}`
    const signature = createHmac('sha256', tapKey).update(text).digest('hex')
    expect((await deliver({ ...charge, currency: 'USD' }, signature)).status).toBe(200)
    expect((await person.get(`/payments/status/${invoice.id}`)).body.state).toBe('processing')
    expect(await alarmsAbout(paymentId)).toEqual(['payment_mismatch'])
    expect((await deliver(charge)).status).toBe(200)
    expect((await person.get(`/payments/status/${invoice.id}`)).body.state).toBe('paid')
  })

  test('PAY-15 an event without an id is kept as ignored', async () => {
    const body = { object: 'charge', status: 'CAPTURED', amount: 1, currency: 'KWD' }
    const signed = tapSignature({ ...body, id: '' }, tapKey).length === 64
    expect(signed).toBe(true)
    const text = 'x_idx_amount1.000x_currencyKWDx_gateway_referencex_payment_reference' +
      'x_statusCAPTUREDx_created'
    const signature = createHmac('sha256', tapKey).update(text).digest('hex')
    expect((await deliver(body, signature)).status).toBe(200)
  })
})
