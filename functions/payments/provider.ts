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

/** The provider's response to our query. Payments are booked from this alone, never from webhooks. */
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
  /** Our refund id. Not every provider returns it. */
  reference?: string | null
  chargeRef: string | null
  status: 'refunded' | 'failed' | 'pending'
  amount: string | null
  currency: string | null
}

/**
 * A webhook with a valid signature. It tells us to query the provider and lets us recognise repeated events.
 */
export type ProviderEvent = {
  kind: 'payment' | 'refund' | 'other'
  /** The provider's own id of the event. Not all providers sign it. */
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
  /** Creates a charge. A second call for the same payment returns the same charge. */
  charge(order: Order): Promise<Charge>
  /**
   * Finds a charge by the provider's id, or by our payment id if we never received the provider's. Null if
   * none exists.
   */
  lookUp(
    payment: { ref: string | null; paymentId: string; createdAt: string },
  ): Promise<ChargeAnswer | null>
  refund(order: RefundOrder): Promise<Pick<RefundAnswer, 'refundRef' | 'status'>>
  lookUpRefund(refundRef: string, chargeRef: string | null): Promise<RefundAnswer | null>
  /** Lists all refunds of a charge. Only for providers that cannot look up a refund by our reference. */
  refundsOf?(chargeRef: string): Promise<RefundAnswer[]>
  /** Returns undefined if the signature is not valid. */
  verify(headers: Headers, raw: Uint8Array): ProviderEvent | undefined
}

/** The provider refused the request, which will never take effect. */
export class ProviderDeclined extends Error {}
/** The provider accepted the request but did something other than requested. */
export class ProviderMismatch extends ProviderDeclined {}
/** There was no readable response, so the request may or may not have taken effect. */
export class ProviderUnreachable extends Error {}
/** The response differs from what the provider's API promises; raises an alarm. */
export class ProviderUnreadable extends ProviderUnreachable {}
