// The sandbox provider for development. As with Stripe, signatures cover the time and the raw body.
import { backend } from '../_shared/database/db.ts'
import { hmacSha256 } from '../_shared/input/hashes.ts'
import { text } from './provider-api.ts'
import type { ChargeAnswer, Provider, RefundAnswer } from './provider.ts'
import { isSignedBy, parseObject } from './webhook-signatures.ts'

type Settings = { url: string; secret: string }

const tolerance = 300

export function signature(secret: string, raw: string, at = Date.now()): string {
  const time = Math.floor(at / 1000)
  return `t=${time},v1=${hmacSha256(secret, `${time}.${raw}`, 'hex')}`
}

export function sandbox({ url, secret }: Settings): Provider {
  return {
    name: 'sandbox',
    mode: 'test',
    header: 'sandbox-signature',

    async charge({ paymentId, amount, currency, titleAr, number, returnUrl }) {
      const ref = await backend<string>('sandbox_charge', {
        reference: paymentId,
        amount,
        currency,
        title: `${titleAr} (${number})`,
        returnUrl,
      })
      return { ref, redirectUrl: `${url}/sandbox/${ref}` }
    },

    lookUp: ({ ref, paymentId }) =>
      backend<ChargeAnswer | null>('sandbox_look_up', { id: ref, reference: paymentId }),

    refund: ({ chargeRef, refundId, amount }) =>
      backend<RefundAnswer>('sandbox_refund', { chargeId: chargeRef, reference: refundId, amount }),

    lookUpRefund: (refundRef) =>
      backend<RefundAnswer | null>('sandbox_refund_look_up', { id: refundRef, reference: null }),

    verify(given, raw) {
      const [, time, sign] =
        /^t=(\d{10}),v1=([0-9a-f]{64})$/.exec(given.get('sandbox-signature') ?? '') ?? []
      if (!time) return undefined
      const before = new TextEncoder().encode(`${time}.`)
      const signed = new Uint8Array(before.length + raw.length)
      signed.set(before)
      signed.set(raw, before.length)
      if (!isSignedBy([secret], sign, (key) => hmacSha256(key, signed, 'hex'))) return undefined
      if (Math.abs(Date.now() / 1000 - Number(time)) > tolerance) return undefined
      const body = parseObject(raw) ?? {}
      // `signed` leaves out the time, because it changes whenever the same event is sent again.
      const event = {
        reference: text(body.id),
        signed: raw,
        amount: body.amount === undefined ? undefined : String(body.amount),
        currency: body.currency === undefined ? undefined : String(body.currency),
      }
      if (body.type === 'charge' && text(body.chargeId)) {
        return { ...event, kind: 'payment', ref: body.chargeId }
      }
      if (body.type === 'refund' && text(body.refundId)) {
        const ref = text(body.chargeId) ?? undefined
        return { ...event, kind: 'refund', refundRef: body.refundId, ref }
      }
      return { ...event, kind: 'other' }
    },
  }
}
