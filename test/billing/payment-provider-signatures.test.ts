import { describe, expect, test } from 'vitest'
import { hasStack } from '../support/facade.ts'
import { tapSignature, webhookV1, webhookV2 } from './stub-payments.ts'
import { type Json, portalSecret, tapKey, useProvider } from './provider.ts'

const flipped = (char: string) => (char === 'a' ? 'b' : 'a')

describe.runIf(hasStack).each(['tap', 'myfatoorah'] as const)('%s', (kind) => {
  const { deliver, settle, startTopUp, stateOf, webhookOf } = useProvider(kind)

  test('PAY-03 only webhooks that the provider signed are accepted', async () => {
    const { invoice, charge } = await startTopUp()
    settle(charge, true)
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
    const { charge } = await startTopUp()
    const webhook = kind === 'tap'
      ? (() => {
        const body = { ...structuredClone(charge), object: 'authorize' }
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
