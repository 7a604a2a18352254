type Mode = 'live' | 'test'

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

/** The provider's answer to a query, which is the only source that is trusted. */
export type ChargeAnswer = {
  ref: string
  reference: string | null
  status: 'paid' | 'failed' | 'pending'
  amount: string | null
  currency: string | null
  mode: Mode
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
  /** The id of our refund; not every provider returns it. */
  reference?: string | null
  chargeRef: string | null
  status: 'refunded' | 'failed' | 'pending'
  amount: string | null
  currency: string | null
}

/** A webhook with a valid signature: a hint to query the provider, and a way to recognise repetitions. */
export type ProviderEvent = {
  kind: 'payment' | 'refund' | 'other'
  /** The provider's own name of the event; not all providers sign it. */
  reference?: string | null
  signed: string | Uint8Array
  ref?: string
  refundRef?: string
  amount?: string
  currency?: string
}

export type Provider = {
  name: 'tap' | 'myfatoorah' | 'sandbox'
  mode: Mode
  header: string
  /** Makes a charge; repeated for the same payment, it returns the same charge. */
  charge(order: Order): Promise<Charge>
  /** Finds a charge by the provider's id, or by our id if that one never arrived; null if none exists. */
  lookUp(
    payment: { ref: string | null; paymentId: string; createdAt: string },
  ): Promise<ChargeAnswer | null>
  refund(order: RefundOrder): Promise<Pick<RefundAnswer, 'refundRef' | 'status'>>
  lookUpRefund(refundRef: string, chargeRef: string | null): Promise<RefundAnswer | null>
  /** Lists all refunds of a charge; for a provider that does not find them by our reference. */
  refundsOf?(chargeRef: string): Promise<RefundAnswer[]>
  /** Returns undefined unless the signature is valid. */
  verify(headers: Headers, raw: Uint8Array): ProviderEvent | undefined
}

/** The provider refused the request, so it has no effect and will have none. */
export class ProviderDeclined extends Error {}
/** The provider did something other than requested. */
export class ProviderMismatch extends ProviderDeclined {}
/** There was no readable answer, so the effect is unknown. */
export class ProviderUnreachable extends Error {}
/** The answer differs from what the provider's API promises; raises an alarm. */
export class ProviderUnreadable extends ProviderUnreachable {}
