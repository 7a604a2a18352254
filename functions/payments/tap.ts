// Tap Payments: https://api.tap.company/v2.
import { z } from '@hono/zod-openapi'
import { hmacSha256 } from '../_shared/input/hashes.ts'
import { beginning } from '../_shared/input/texts.ts'
import {
  anAddress,
  anAmount,
  anId,
  type Answer,
  aStatus,
  aText,
  errorCodeIn,
  read,
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
import { isSignedBy, type Json, parseObject } from './webhook-signatures.ts'

type Settings = {
  url: string
  /** The secret API key, which also signs webhooks. There are two while the key is being rotated. */
  keys: string[]
  source: string
  callbackUrl: string
}

// No prototype, so that a status sent by the provider cannot match an inherited property.
const states: Record<string, ChargeAnswer['status']> = {
  __proto__: null!,
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
  __proto__: null!,
  REFUNDED: 'refunded',
  CANCELLED: 'failed',
  FAILED: 'failed',
  DECLINED: 'failed',
  RESTRICTED: 'failed',
}

const Charge = z.object({
  id: anId,
  status: aStatus,
  amount: anAmount,
  currency: aText,
  live_mode: z.boolean().optional(),
  reference: z.object({ transaction: aText, track: aText, payment: aText }).partial().default({}),
  source: z.object({ payment_method: aText }).partial().default({}),
  transaction: z.object({ authorization_id: aText }).partial().default({}),
})

const NewCharge = z.object({
  id: anId,
  amount: anAmount,
  currency: aText,
  transaction: z.object({ url: anAddress }),
})

const Listed = z.object({ id: anId, reference: z.object({ transaction: aText }) })

const List = z.object({ has_more: z.boolean().optional(), charges: z.array(z.unknown()) })

const Refund = z.object({
  id: anId,
  status: aStatus,
  amount: anAmount,
  currency: aText,
  charge_id: aText,
  reference: z.object({ merchant: aText }).partial().default({}),
})

function chargeAnswerOf(answer: unknown): ChargeAnswer {
  const { id, status, amount, currency, live_mode, reference, source, transaction } = read(
    Charge,
    answer,
  )
  return {
    ref: id,
    reference: reference.transaction ?? null,
    status: states[status] ?? 'pending',
    amount,
    currency,
    mode: live_mode ? 'live' : 'test',
    paymentId: status === 'CAPTURED' ? id : null,
    details: {
      method: source.payment_method ?? null,
      trackId: reference.track ?? null,
      referenceId: reference.payment ?? null,
      authorizationId: transaction.authorization_id ?? null,
    },
  }
}

function refundAnswerOf(answer: unknown): RefundAnswer {
  const { id, status, amount, currency, charge_id, reference } = read(Refund, answer)
  return {
    refundRef: id,
    reference: reference.merchant ?? null,
    chargeRef: charge_id,
    status: refundStates[status] ?? 'pending',
    amount,
    currency,
  }
}

const decimals: Record<string, number> = { KWD: 3, BHD: 3, OMR: 3 }

/** The string that Tap signs: each field, in Tap's order, after its label. Missing fields are empty. */
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
  const unknown = (answer: Answer) =>
    answer.status === 404 || answer.status === 400 && errorCodeIn(answer) === '1144'
  const mode = key.startsWith('sk_live') ? 'live' : 'test'

  async function find(paymentId: string, createdAt: string): Promise<ChargeAnswer | null> {
    const from = Date.parse(createdAt)
    let after: string | undefined
    for (let page = 0; page < 4; page++) {
      const answer = await requestProvider('POST', `${url}/charges/list`, headers, {
        period: { date: { from: String(from - 300_000), to: String(from + 3_600_000) } },
        limit: 50,
        ...(after && { starting_after: after }),
      })
      const { charges, has_more } = read(List, successBody(answer))
      // The list also contains charges that were not made by us, which may lack a reference.
      const found = charges.find((one) =>
        Listed.safeParse(one).data?.reference.transaction === paymentId
      )
      if (found) return chargeAnswerOf(found)
      if (!has_more || !charges.length) break
      after = read(z.object({ id: anId }), charges.at(-1)).id
    }
    return null
  }

  return {
    name: 'tap',
    mode,
    header: 'hashstring',

    async charge(order) {
      const { name, phone, email } = order.customer
      const answer = await requestProvider('POST', `${url}/charges`, headers, {
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
      })
      const { id, amount, currency, transaction } = read(NewCharge, successBody(answer))
      if (amount !== order.amount || currency !== order.currency) {
        throw new ProviderMismatch('a different charge than requested')
      }
      return { ref: id, redirectUrl: transaction.url }
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
      const answer = await requestProvider('POST', `${url}/refunds`, headers, {
        charge_id: chargeRef,
        amount: Number(amount),
        currency,
        reason: beginning(reason, 240),
        reference: { merchant: refundId, idempotent: refundId },
        post: { url: callbackUrl },
      })
      return refundAnswerOf(successBody(answer))
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
