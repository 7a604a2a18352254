import { describe, expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { walletOf } from '../support/money.ts'
import { within } from '../support/promised-times.ts'
import { waitUntil } from '../support/wait.ts'
import { agePayment, ask, type Json, useProvider } from './provider.ts'

const setTimes = (paymentId: string, created: string, lookedUp: string) =>
  database().query(
    `update public.payments set created_at = now() - $2::interval,
       looked_up_at = now() - $3::interval where id = $1`,
    [paymentId, created, lookedUp],
  )

describe.runIf(hasStack).each(['tap', 'myfatoorah'] as const)('back from %s', (kind) => {
  const provider = useProvider(kind)
  const { deliver, settle, startTopUp, stateOf, webhookOf } = provider

  const statusOf = ({ id }: Json, person = provider.payer) =>
    ask(provider.facade, 'GET', `/payments/status/${id}`, { person })
  // On a slow machine the provider's response may be booked only after the first call.
  const untilIs = (state: string, invoice: Json, person = provider.payer) =>
    waitUntil(
      `the invoice is ${state}`,
      async () => (await statusOf(invoice, person)).body.state === state,
    )
  const lookUps = () =>
    provider.stub.requests.filter((one) => !/ \/(charges|v2\/SendPayment)$/.test(one)).length
  const untilAsked = () => waitUntil('the provider is asked', () => lookUps() > 0)

  test('PAY-12 the status of a payment without a webhook is asked of the provider', async () => {
    const person = await signUp()
    const { invoice, charge, paymentId } = await startTopUp(person)
    settle(charge, true)
    await setTimes(paymentId, '-1 hour', '1 hour') // the payment is younger than five seconds
    expect((await statusOf(invoice, person)).body.state).toBe('processing')
    expect(lookUps()).toBe(0)
    await agePayment(paymentId, '6 seconds')
    await untilIs('paid', invoice, person)
    const { status, body } = await statusOf(invoice, person)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { state: 'paid', payments: [{ state: 'captured', method: 'KNET' }] },
    })
    expect(body).toEqual(
      (await ask(provider.facade, 'GET', `/invoices/${invoice.id}`, { person })).body,
    )
    const before = lookUps()
    expect(before).toBeGreaterThan(0)
    await agePayment(paymentId)
    expect((await statusOf(invoice, person)).body.state).toBe('paid')
    expect(lookUps()).toBe(before)
    expect((await deliver(webhookOf(charge))).status).toBe(200)
    expect((await walletOf(person)).available).toBe(12.5)
  })

  test('PAY-12 many at once ask once, and again after ten seconds', async () => {
    const { invoice, charge, paymentId } = await startTopUp()
    await agePayment(paymentId, '6 seconds')
    const answers = await Promise.all(Array.from({ length: 8 }, () => statusOf(invoice)))
    expect(answers.map(({ body }) => body.state)).toEqual(Array(8).fill('processing'))
    await untilAsked()
    expect(lookUps()).toBe(1)
    await setTimes(paymentId, '1 minute', '-1 hour') // the payment was looked up less than ten seconds ago
    expect((await statusOf(invoice)).body.state).toBe('processing')
    expect(lookUps()).toBe(1)
    settle(charge, false)
    await setTimes(paymentId, '1 minute', '11 seconds')
    await untilIs('failed', invoice)
    expect(lookUps()).toBeGreaterThan(1)
  })

  test.each(['slow', 'cut', 'http 500', 'html', 'refuses'] as const)(
    'PAY-12 a provider that is asked and answers with: %s',
    async (mood) => {
      const { invoice, charge, paymentId } = await startTopUp()
      settle(charge, true)
      await agePayment(paymentId, '6 seconds')
      provider.stub.behaviour = mood
      const { status, body } = await within(
        'a status is answered although the provider is slow',
        () => statusOf(invoice),
      )
      expect({ status, body }).toMatchObject({ status: 200, body: { state: 'processing' } })
      expect(await stateOf(invoice)).toBe('processing')
      provider.stub.behaviour = 'good'
      await agePayment(paymentId, '6 seconds')
      await untilIs('paid', invoice)
    },
  )

  test('PAY-12 an answer that is too late for the caller is booked when it comes', async () => {
    const { invoice, charge, paymentId } = await startTopUp()
    settle(charge, true)
    provider.stub.behaviour = 'late'
    // On a slow machine even the service's own request may time out, so everything is repeated.
    await waitUntil('a late answer is booked', async () => {
      await agePayment(paymentId, '6 seconds')
      const { body } = await statusOf(invoice)
      for (const send of provider.stub.late.splice(0)) send()
      return body.state === 'paid'
    })
  })

  test('PAY-12 a stranger learns nothing and causes no question', async () => {
    const [stranger, { invoice, paymentId }] = await Promise.all([signUp(), startTopUp()])
    await agePayment(paymentId, '6 seconds')
    expect(await statusOf(invoice, stranger))
      .toMatchObject({ status: 404, body: { error: { code: 'invoice_not_found' } } })
    expect(lookUps()).toBe(0)
    await statusOf(invoice)
    await untilAsked()
    expect(lookUps()).toBe(1)
  })

  const odd: object[] = kind === 'tap'
    ? [{ reference: null }, { source: null }, { amount: { value: 12.5 } }, { status: null }]
    : [{ InvoiceTransactions: [null] }, { InvoiceStatus: null }, { InvoiceValue: [12.5] }]
  test.each(odd)('PAY-11 an answer of another shape, %o, is none', async (change) => {
    const { invoice, charge, paymentId } = await startTopUp()
    settle(charge, true)
    const webhook = structuredClone(webhookOf(charge))
    const before = structuredClone(charge)
    Object.assign(charge, change)
    expect(await deliver(webhook))
      .toMatchObject({ status: 502, body: { error: { code: 'payment_provider_error' } } })
    await agePayment(paymentId, '6 seconds')
    expect((await statusOf(invoice)).body.state).toBe('processing')
    Object.assign(charge, before)
    expect((await deliver(webhook)).status).toBe(200)
    expect(await stateOf(invoice)).toBe('paid')
  })
})
