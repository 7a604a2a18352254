// Tap Payments: https://api.tap.company/v2.
import { hmacSha256 } from '../_shared/input/hashes.ts'
import {
  type Answer,
  idOf,
  type Json,
  redirectAddress,
  requestProvider,
  successBody,
  text,
  threeDecimals,
} from './provider-api.ts'
import {
  type ChargeAnswer,
  type Provider,
  ProviderMismatch,
  type RefundAnswer,
} from './provider.ts'
import { isSignedBy, parseObject } from './webhook-signatures.ts'

type Settings = {
  url: string
  /** The secret API key, which also signs webhooks; a second one while it is being changed. */
  keys: string[]
  source: string
  callbackUrl: string
}

const states: Record<string, ChargeAnswer['status']> = {
  CAPTURED: 'paid',
  ABANDONED: 'failed',
  CANCELLED: 'failed',
  EXPIRED: 'failed',
  FAILED: 'failed',
  DECLINED: 'failed',
  RESTRICTED: 'failed',
  VOID: 'failed',
}

const refundStates: Record<string, RefundAnswer['status']> = {
  REFUNDED: 'refunded',
  CANCELLED: 'failed',
  FAILED: 'failed',
  DECLINED: 'failed',
  RESTRICTED: 'failed',
}

function chargeAnswerOf(charge: Json): ChargeAnswer {
  const { reference = {}, source = {}, transaction = {} } = charge
  return {
    ref: idOf(charge.id),
    reference: text(reference.transaction),
    status: states[charge.status] ?? 'pending',
    amount: threeDecimals(charge.amount),
    currency: text(charge.currency),
    mode: charge.live_mode === true ? 'live' : 'test',
    paymentId: charge.status === 'CAPTURED' ? text(charge.id) : null,
    details: {
      method: text(source.payment_method),
      trackId: text(reference.track),
      referenceId: text(reference.payment),
      authorizationId: text(transaction.authorization_id),
    },
  }
}

const refundAnswerOf = (refund: Json): RefundAnswer => ({
  refundRef: idOf(refund.id),
  reference: text(refund.reference?.merchant),
  chargeRef: text(refund.charge_id),
  status: refundStates[refund.status] ?? 'pending',
  amount: threeDecimals(refund.amount),
  currency: text(refund.currency),
})

const decimals: Record<string, number> = { KWD: 3, BHD: 3, OMR: 3 }

/** The text that Tap signs: the fields in Tap's order, each after its label; missing ones are empty. */
function signedText(body: Json): string {
  const reference = body.reference ?? {}
  const amount = Number(body.amount).toFixed(decimals[body.currency] ?? 2)
  const created = body.object === 'refund' ? body.created : body.transaction?.created
  const fields = body.object === 'invoice'
    ? {
      id: body.id,
      amount,
      currency: body.currency,
      updated: body.updated,
      status: body.status,
      created: body.created,
    }
    : {
      id: body.id,
      amount,
      currency: body.currency,
      gateway_reference: reference.gateway,
      payment_reference: reference.payment,
      status: body.status,
      created,
    }
  return Object.entries(fields).map(([name, value]) => `x_${name}${value ?? ''}`).join('')
}

export function tap({ url, keys, source, callbackUrl }: Settings): Provider {
  const [key] = keys
  const headers = { authorization: `Bearer ${key}` }
  const unknown = ({ status, body }: Answer) =>
    status === 404 || status === 400 && String(body.errors?.[0]?.code) === '1144'
  const mode = key.startsWith('sk_live') ? 'live' : 'test'

  async function find(paymentId: string, createdAt: string): Promise<ChargeAnswer | null> {
    const from = Date.parse(createdAt)
    let after: string | undefined
    for (let page = 0; page < 4; page++) {
      const answer = successBody(
        await requestProvider('POST', `${url}/charges/list`, headers, {
          period: { date: { from: String(from - 300_000), to: String(from + 3_600_000) } },
          limit: 50,
          ...(after && { starting_after: after }),
        }),
      )
      const charges: Json[] = Array.isArray(answer.charges) ? answer.charges : []
      const found = charges.find(({ reference }) => reference?.transaction === paymentId)
      if (found) return chargeAnswerOf(found)
      if (!answer.has_more || !charges.length) break
      after = charges.at(-1).id
    }
    return null
  }

  return {
    name: 'tap',
    mode,
    header: 'hashstring',

    async charge(order) {
      const { name, phone, email } = order.customer
      const charge = successBody(
        await requestProvider('POST', `${url}/charges`, headers, {
          amount: Number(order.amount),
          currency: order.currency,
          customer_initiated: true,
          threeDSecure: true,
          save_card: false,
          description: order.titleAr,
          metadata: { invoice: order.number },
          reference: {
            transaction: order.paymentId,
            order: order.number,
            idempotent: order.paymentId,
          },
          receipt: { email: false, sms: false },
          customer: {
            first_name: name,
            ...(email && { email }),
            ...(phone && { phone: { country_code: '965', number: phone.slice(-8) } }),
          },
          source: { id: source },
          post: { url: callbackUrl },
          redirect: { url: order.returnUrl },
          transaction: { expiry: { period: 15, type: 'MINUTE' } },
        }),
      )
      const ref = text(charge.id)
      if (
        !ref || threeDecimals(charge.amount) !== order.amount || charge.currency !== order.currency
      ) throw new ProviderMismatch('a different charge than requested')
      return { ref, redirectUrl: redirectAddress(charge.transaction?.url) }
    },

    async lookUp({ ref, paymentId, createdAt }) {
      if (!ref) return await find(paymentId, createdAt)
      const answer = await requestProvider(
        'GET',
        `${url}/charges/${encodeURIComponent(ref)}`,
        headers,
      )
      if (unknown(answer)) return null
      return chargeAnswerOf(successBody(answer))
    },

    async refund({ refundId, chargeRef, amount, currency, reason }) {
      const refund = successBody(
        await requestProvider('POST', `${url}/refunds`, headers, {
          charge_id: chargeRef,
          amount: Number(amount),
          currency,
          reason: reason.slice(0, 240),
          reference: { merchant: refundId, idempotent: refundId },
          post: { url: callbackUrl },
        }),
      )
      return refundAnswerOf(refund)
    },

    async lookUpRefund(refundRef) {
      const answer = await requestProvider(
        'GET',
        `${url}/refunds/${encodeURIComponent(refundRef)}`,
        headers,
      )
      if (unknown(answer)) return null
      return refundAnswerOf(successBody(answer))
    },

    verify(given, raw) {
      const signature = given.get('hashstring')?.toLowerCase()
      const body = parseObject(raw)
      if (!signature || signature.length !== 64 || !body) return undefined
      const signed = signedText(body)
      if (!isSignedBy(keys, signature, (secret) => hmacSha256(secret, signed, 'hex'))) {
        return undefined
      }
      const event = {
        reference: `${body.id}:${body.status}`,
        signed,
        amount: threeDecimals(body.amount) ?? String(body.amount),
        currency: text(body.currency) ?? undefined,
      }
      const id = text(body.id)
      if (!id) return { ...event, kind: 'other' }
      if (body.object === 'refund') {
        const ref = text(body.charge_id) ?? undefined
        return { ...event, kind: 'refund', refundRef: id, ref }
      }
      return body.object === 'charge'
        ? { ...event, kind: 'payment', ref: id }
        : { ...event, kind: 'other' }
    },
  }
}
