// MyFatoorah, API v2.
import { z } from '@hono/zod-openapi'
import { currencyOf, eventOf } from './myfatoorah-webhooks.ts'
import {
  anAddress,
  anAmount,
  anId,
  type Answer,
  aStatus,
  aText,
  read,
  requestProvider,
} from './provider-api.ts'
import {
  type ChargeAnswer,
  type Provider,
  ProviderDeclined,
  ProviderUnreachable,
  type RefundAnswer,
} from './provider.ts'

type Settings = {
  url: string
  mode: 'live' | 'test'
  token: string
  secrets: string[]
}

const Attempt = z.object({
  TransactionStatus: aText,
  PaymentId: aText,
  PaymentGateway: aText,
  TrackId: aText,
  ReferenceId: aText,
  AuthorizationId: aText,
  Currency: aText,
})

const Status = z.object({
  InvoiceId: anId,
  InvoiceStatus: aStatus,
  CustomerReference: aText,
  InvoiceValue: anAmount,
  ExpiryDate: aText,
  ExpiryTime: aText,
  InvoiceTransactions: z.array(Attempt).nullish(),
})

const NewCharge = z.object({ InvoiceId: anId, InvoiceURL: anAddress })

const NewRefund = z.object({ RefundId: anId })

const Refund = z.object({
  RefundId: anId,
  RefundStatus: aStatus,
  InvoiceId: aText,
  Amount: anAmount,
})

const Refunds = z.object({ RefundStatusResult: z.array(Refund) })

/**
 * Returns the data of a successful response. IsSuccess decides, because failures may also have HTTP status
 * 200.
 */
function dataOf<Shape extends z.ZodType>(shape: Shape, { status, body }: Answer): z.output<Shape> {
  if (body.IsSuccess === true) return read(shape, body.Data)
  if (status >= 500 || status === 429 || body.IsSuccess !== false) {
    throw new ProviderUnreachable(`HTTP ${status}`)
  }
  throw new ProviderDeclined(`HTTP ${status}`)
}

// No prototype, so that a status sent by the provider cannot match an inherited property.
const refundStates: Record<string, RefundAnswer['status']> = {
  __proto__: null!,
  Refunded: 'refunded',
  REFUNDED: 'refunded',
  Canceled: 'failed',
  CANCELED: 'failed',
}

function refundAnswerOf(refund: z.output<typeof Refund>, chargeRef: string | null): RefundAnswer {
  return {
    refundRef: refund.RefundId,
    chargeRef: chargeRef ?? refund.InvoiceId,
    status: refundStates[refund.RefundStatus] ?? 'pending',
    amount: refund.Amount,
    currency: 'KWD',
  }
}

const isSuccess = ({ TransactionStatus: status }: z.output<typeof Attempt>) =>
  status === 'Succss' || status === 'Success' || status === 'SUCCESS'

/** Whether the invoice has expired. MyFatoorah sends dates in Kuwait time, without a time zone. */
function isOver({ ExpiryDate: date, ExpiryTime: time }: z.output<typeof Status>): boolean {
  const day = /^\d{4}-\d\d-\d\d/.exec(String(date))?.[0] ??
    String(date).replace(/^(\w+ \d+, \d{4}).*/, '$1')
  const end = Date.parse(`${day} ${(time ?? '23:59:59').split('.')[0]} GMT+0300`)
  return Number.isFinite(end) && end < Date.now()
}

function chargeAnswerOf(
  status: z.output<typeof Status>,
  mode: ChargeAnswer['mode'],
): ChargeAnswer {
  const success = status.InvoiceTransactions?.find(isSuccess)
  const paid = success !== undefined &&
    ['Paid', 'DuplicatePayment', 'Pending'].includes(status.InvoiceStatus)
  const failed = status.InvoiceStatus === 'Canceled' || isOver(status)
  return {
    ref: status.InvoiceId,
    reference: status.CustomerReference,
    status: paid ? 'paid' : failed ? 'failed' : 'pending',
    amount: status.InvoiceValue,
    currency: success ? currencyOf(success.Currency) : 'KWD',
    mode,
    paymentId: paid ? success.PaymentId : null,
    details: {
      method: success?.PaymentGateway ?? null,
      trackId: success?.TrackId ?? null,
      referenceId: success?.ReferenceId ?? null,
      authorizationId: success?.AuthorizationId ?? null,
    },
  }
}

export function myfatoorah({ url, mode, token, secrets }: Settings): Provider {
  const headers = { authorization: `Bearer ${token}` }
  const post = (path: string, sent: unknown, once?: string) =>
    requestProvider('POST', `${url}/v2/${path}`, {
      ...headers,
      ...(once && { 'idempotency-key': once }),
    }, sent)

  /** Returns null if the provider responds that the record does not exist. */
  async function found<Shape extends z.ZodType>(shape: Shape, path: string, sent: unknown) {
    const answer = await post(path, sent)
    try {
      return dataOf(shape, answer)
    } catch (error) {
      if (!(error instanceof ProviderDeclined)) throw error
      // These statuses reject our credentials and say nothing about the charge.
      if (answer.status === 401 || answer.status === 403) {
        throw new ProviderUnreachable(`HTTP ${answer.status}`)
      }
      return null
    }
  }

  async function refundsBy(KeyType: 'RefundId' | 'InvoiceId', Key: string) {
    const data = await found(Refunds, 'GetRefundStatus', { KeyType, Key })
    return data?.RefundStatusResult ?? []
  }

  return {
    name: 'myfatoorah',
    mode,
    header: 'myfatoorah-signature',

    async charge(order) {
      const { name, phone, email, language } = order.customer
      const amount = Number(order.amount)
      const data = dataOf(
        NewCharge,
        await post('SendPayment', {
          NotificationOption: 'LNK',
          CustomerName: name,
          InvoiceValue: amount,
          DisplayCurrencyIso: order.currency,
          ...(phone && { MobileCountryCode: '+965', CustomerMobile: phone.slice(-8) }),
          ...(email && { CustomerEmail: email }),
          CallBackUrl: order.returnUrl,
          ErrorUrl: order.returnUrl,
          Language: language,
          CustomerReference: order.paymentId,
          UserDefinedField: order.number,
          // MyFatoorah reads a time without a zone as Kuwait time, which is three hours ahead of UTC.
          ExpiryDate: new Date(Date.now() + (3 * 60 + 30) * 60_000).toISOString().slice(0, 19),
          InvoiceItems: [{ ItemName: order.titleAr, Quantity: 1, UnitPrice: amount }],
        }, order.paymentId),
      )
      return { ref: data.InvoiceId, redirectUrl: data.InvoiceURL }
    },

    async lookUp({ ref, paymentId }) {
      const status = await found(
        Status,
        'GetPaymentStatus',
        ref ? { Key: ref, KeyType: 'InvoiceId' } : { Key: paymentId, KeyType: 'CustomerReference' },
      )
      return status && chargeAnswerOf(status, mode)
    },

    async refund({ refundId, chargeRef, amount, reason }) {
      const { RefundId } = dataOf(
        NewRefund,
        await post('MakeRefund', {
          KeyType: 'InvoiceId',
          Key: chargeRef,
          Amount: Number(amount),
          ServiceChargeOnCustomer: false,
          Comment: reason,
          ExternalIdentifier: refundId,
          AmountDeductedFromSupplier: 0,
        }, refundId),
      )
      // A refund stays pending until MyFatoorah approves it.
      return { refundRef: RefundId, status: 'pending' }
    },

    async lookUpRefund(refundRef, chargeRef) {
      const refunds = await refundsBy('RefundId', refundRef)
      const refund = refunds.find(({ RefundId }) => RefundId === refundRef)
      return refund ? refundAnswerOf(refund, chargeRef) : null
    },

    async refundsOf(chargeRef) {
      const refunds = await refundsBy('InvoiceId', chargeRef)
      return refunds.map((refund) => refundAnswerOf(refund, chargeRef))
    },

    verify: (given, raw) => eventOf(given.get('myfatoorah-signature'), raw, secrets),
  }
}
