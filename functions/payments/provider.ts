/** What every payment provider has to do. */

type Mode = 'live' | 'test'

/** A charge as a provider needs to know it, as private.charge_order gives it. */
export type Order = {
  paymentId: string
  /** Always with three decimals. */
  amount: string
  currency: string
  returnUrl: string
  number: string
  titleAr: string
  customer: { name: string; phone: string | null; email: string | null; language: string }
}

export type Charge = { ref: string; redirectUrl: string }

/** What the provider answers when it is asked: the only thing that is believed. */
export type ChargeAnswer = {
  ref: string
  /** Our payment's id, as it was given when the charge was made. */
  reference: string | null
  status: 'paid' | 'failed' | 'pending'
  amount: string | null
  currency: string | null
  mode: Mode
  /** The provider's id of the money taken. */
  paymentId: string | null
  details: Record<string, string | null>
}

export type RefundOrder = {
  refundId: string
  chargeRef: string
  paymentId: string | null
  refundRef: string | null
  amount: string
  currency: string
  reason: string
}

export type RefundAnswer = {
  refundRef: string
  /** Our refund's id; not every provider returns it. */
  reference?: string | null
  chargeRef: string | null
  status: 'refunded' | 'failed' | 'pending'
  amount: string | null
  currency: string | null
}

/** What a webhook with a valid signature is about: a hint only, and what identifies a repetition. */
export type ProviderEvent = {
  kind: 'payment' | 'refund' | 'other'
  /** The provider's own name of the event, where there is one: not all sign it. */
  reference?: string | null
  /** What the signature covers. */
  signed: string | Uint8Array
  ref?: string
  refundRef?: string
  /** Amount and currency where the signature covers them. */
  amount?: string
  currency?: string
}

export type Provider = {
  name: 'tap' | 'myfatoorah' | 'sandbox'
  mode: Mode
  /** The header that its signature comes in. */
  header: string
  /** Makes a charge; the same one again for the same payment. */
  charge(order: Order): Promise<Charge>
  /** By its own id, or where that never came by ours. Null when the provider knows none. */
  lookUp(
    payment: { ref: string | null; paymentId: string; createdAt: string },
  ): Promise<ChargeAnswer | null>
  refund(order: RefundOrder): Promise<Pick<RefundAnswer, 'refundRef' | 'status'>>
  lookUpRefund(refundRef: string, chargeRef: string | null): Promise<RefundAnswer | null>
  /** All refunds of a charge, where the provider does not know them by our name. */
  refundsOf?(chargeRef: string): Promise<RefundAnswer[]>
  /** Undefined unless the signature over the raw body is valid. */
  verify(headers: Headers, raw: Uint8Array): ProviderEvent | undefined
}

/** The provider said no: there is no charge, and there will be none. */
export class ProviderDeclined extends Error {}
/** The provider did something else than it was asked for. */
export class ProviderMismatch extends ProviderDeclined {}
/** No answer, or none that can be read: whether it did anything is unknown. */
export class ProviderUnreachable extends Error {}
