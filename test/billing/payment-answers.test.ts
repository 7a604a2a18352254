// Replaces each value in each provider response by values of all other types. The response must then be
// either read or rejected as unreadable; any other error is a fault.
import { expect, test } from 'vitest'
import { moduleOf, runFacadeCode } from '../support/facade-code.ts'

const attempt = {
  TransactionStatus: 'Succss',
  PaymentId: '07',
  PaymentGateway: 'KNET',
  Currency: 'KD',
}

const charge = {
  id: 'chg_1',
  live_mode: false,
  status: 'CAPTURED',
  amount: 12.5,
  currency: 'KWD',
  reference: { transaction: 'payment', track: 't', payment: 'p' },
  source: { payment_method: 'KNET' },
  transaction: { authorization_id: 'a' },
}

const answers = {
  tap: {
    lookUp: charge,
    find: { has_more: false, charges: [charge] },
    charge: {
      id: 'chg_1',
      amount: 12.5,
      currency: 'KWD',
      transaction: { url: 'https://pay.example/1' },
    },
    refund: {
      id: 're_1',
      status: 'PENDING',
      amount: 1,
      charge_id: 'chg_1',
      reference: { merchant: 'r' },
    },
    lookUpRefund: { id: 're_1', status: 'REFUNDED', amount: 1, reference: { merchant: 'r' } },
    declined: { errors: [{ code: '1117', description: 'no' }] },
  },
  myfatoorah: {
    lookUp: {
      IsSuccess: true,
      Data: {
        InvoiceId: 1,
        InvoiceStatus: 'Paid',
        CustomerReference: 'payment',
        InvoiceValue: 12.5,
        ExpiryDate: 'October 1, 2027',
        ExpiryTime: '10:00:00.000',
        InvoiceTransactions: [attempt],
      },
    },
    charge: { IsSuccess: true, Data: { InvoiceId: 1, InvoiceURL: 'https://pay.example/1' } },
    refund: { IsSuccess: true, Data: { RefundId: 1 } },
    lookUpRefund: {
      IsSuccess: true,
      Data: {
        RefundStatusResult: [{ RefundId: 1, RefundStatus: 'Refunded', InvoiceId: 1, Amount: 1 }],
      },
    },
    declined: { IsSuccess: false, Message: 'no', Data: null },
  },
}

const code = `
import { tap } from ${moduleOf('payments/tap.ts')}
import { myfatoorah } from ${moduleOf('payments/myfatoorah.ts')}
const answers = ${JSON.stringify(answers)}
let given = {}
const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, () =>
  new Response(given.text ?? JSON.stringify(given.value), { status: given.status }))
const url = 'http://127.0.0.1:' + server.addr.port
const providers = {
  tap: tap({ url, keys: ['sk_test_1'], source: 'src_all', callbackUrl: url }),
  myfatoorah: myfatoorah({ url, mode: 'test', token: 't', secrets: ['s'] }),
}
const order = { paymentId: 'payment', amount: '12.500', currency: 'KWD', returnUrl: url, number: '1',
  titleAr: 'شحن', customer: { name: 'بدر', phone: null, email: null, language: 'ar' } }
const refund = { refundId: 'r', chargeRef: '1', paymentId: '07', refundRef: null, amount: '1.000',
  currency: 'KWD', reason: 'x' }
const payment = (ref) => ({ ref, paymentId: 'payment', createdAt: '2026-10-01T10:00:00Z' })
const calls = {
  lookUp: (of) => of.lookUp(payment('1')),
  find: (of) => of.lookUp(payment(null)),
  charge: (of) => of.charge(order),
  refund: (of) => of.refund(refund),
  lookUpRefund: (of) => of.lookUpRefund('1', null),
  declined: (of) => of.charge(order),
}
const others = [null, 7, -1.5, true, '', 'constructor', 'x'.repeat(100_000), [], [null], {}, { toString: 1 }]
function* changed(value) {
  yield* others
  if (value === null || typeof value !== 'object') return
  for (const key of Object.keys(value)) {
    for (const inner of changed(value[key])) {
      const copy = structuredClone(value)
      copy[key] = inner
      yield copy
    }
    const without = structuredClone(value)
    delete without[key]
    yield without
  }
}
async function outcomeOf(name, call, answer) {
  given = answer
  try {
    const read = await calls[call](providers[name])
    return 'read ' + (read?.status ?? typeof read)
  } catch (error) {
    return error.constructor.name
  }
}
const seen = {}
for (const [name, of] of Object.entries(answers)) {
  for (const [call, answer] of Object.entries(of)) {
    const status = call === 'declined' && name === 'tap' ? 400 : 200
    const outcomes = {}
    for (const value of changed(answer)) {
      const outcome = await outcomeOf(name, call, { status, value })
      ;(outcomes[outcome] ??= []).push(JSON.stringify(value).slice(0, 200))
    }
    seen[name + ' ' + call] = {
      good: await outcomeOf(name, call, { status, value: answer }),
      tooLong: await outcomeOf(name, call, { status, text: '"' + 'x'.repeat(3_000_000) + '"' }),
      outcomes,
    }
  }
}
console.log(JSON.stringify(seen))
await server.shutdown()
Deno.exit()
`

type Seen = Record<string, { good: string; tooLong: string; outcomes: Record<string, string[]> }>

test('PAY-11 an answer of another shape is read or is none, at any depth', async () => {
  const seen: Seen = JSON.parse(await runFacadeCode(code))
  const expected = [
    'ProviderDeclined',
    'ProviderMismatch',
    'ProviderUnreachable',
    'ProviderUnreadable',
  ]
  for (const [what, { good, tooLong, outcomes }] of Object.entries(seen)) {
    expect(good, what).toMatch(what.endsWith('declined') ? /^ProviderDeclined$/ : /^read /)
    expect(tooLong, what).toBe('ProviderUnreachable')
    for (const [outcome, values] of Object.entries(outcomes)) {
      if (outcome.startsWith('read ')) {
        expect(outcome, `${what} ${values}`).toMatch(/^read (paid|failed|pending|refunded|object)$/)
      } else expect(expected, `${what} ${outcome} ${values}`).toContain(outcome)
    }
  }
  // A response with a missing or wrong value counts as unreadable, not as a refusal,
  // because money may have moved.
  const { outcomes } = seen['tap lookUp']!
  for (const name of ['reference', 'source', 'transaction']) {
    const isNull = new RegExp(`"${name}":null`)
    expect(outcomes.ProviderUnreadable!.some((value) => isNull.test(value)), name).toBe(true)
  }
})
