// MyFatoorah, API v2; webhooks of version 1 and 2.
import { hmacSha256 } from '../_shared/input/hashes.ts'
import {
  type Answer,
  idOf,
  type Json,
  redirectAddress,
  requestProvider,
  text,
  threeDecimals,
} from './provider-api.ts'
import {
  type ChargeAnswer,
  type Provider,
  ProviderDeclined,
  type ProviderEvent,
  ProviderUnreachable,
  type RefundAnswer,
} from './provider.ts'
import { isSignedBy, parseObject } from './webhook-signatures.ts'

type Settings = {
  url: string
  mode: 'live' | 'test'
  token: string
  secrets: string[]
}

/** Returns the data of a success. An answer with HTTP 200 may be a failure, so IsSuccess decides. */
function dataOf({ status, body }: Answer): Json {
  if (body.IsSuccess === true && body.Data) return body.Data
  if (status >= 500 || status === 429 || typeof body.IsSuccess !== 'boolean') {
    throw new ProviderUnreachable(`HTTP ${status}`)
  }
  throw new ProviderDeclined(`HTTP ${status}`)
}

function refundAnswerOf(refund: Json, chargeRef: string | null): RefundAnswer {
  return {
    refundRef: idOf(refund.RefundId),
    chargeRef: chargeRef ?? text(refund.InvoiceId),
    status: refundStates[refund.RefundStatus] ?? 'pending',
    amount: threeDecimals(refund.Amount),
    currency: 'KWD',
  }
}

const isSuccess = ({ TransactionStatus: status }: Json) =>
  status === 'Succss' || status === 'Success' || status === 'SUCCESS'

const currencyOf = (value: unknown) => (value === 'KD' ? 'KWD' : text(value))

/** True once the invoice has expired. MyFatoorah's dates have no time zone and are in Kuwait time. */
function isOver({ ExpiryDate: date, ExpiryTime: time }: Json): boolean {
  const day = /^\d{4}-\d\d-\d\d/.exec(String(date))?.[0] ??
    String(date).replace(/^(\w+ \d+, \d{4}).*/, '$1')
  const end = Date.parse(`${day} ${String(time ?? '23:59:59').split('.')[0]} GMT+0300`)
  return Number.isFinite(end) && end < Date.now()
}

function chargeAnswerOf(status: Json, mode: ChargeAnswer['mode']): ChargeAnswer {
  const tries: Json[] = Array.isArray(status.InvoiceTransactions) ? status.InvoiceTransactions : []
  const success = tries.find(isSuccess)
  const paid = success !== undefined &&
    ['Paid', 'DuplicatePayment', 'Pending'].includes(status.InvoiceStatus)
  const failed = status.InvoiceStatus === 'Canceled' || isOver(status)
  return {
    ref: idOf(status.InvoiceId),
    reference: text(status.CustomerReference),
    status: paid ? 'paid' : failed ? 'failed' : 'pending',
    amount: threeDecimals(status.InvoiceValue),
    currency: success ? currencyOf(success.Currency) : 'KWD',
    mode,
    paymentId: paid ? text(success.PaymentId) : null,
    details: {
      method: text(success?.PaymentGateway),
      trackId: text(success?.TrackId),
      referenceId: text(success?.ReferenceId),
      authorizationId: text(success?.AuthorizationId),
    },
  }
}

const refundStates: Record<string, RefundAnswer['status']> = {
  Refunded: 'refunded',
  REFUNDED: 'refunded',
  Canceled: 'failed',
  CANCELED: 'failed',
}

// The paths inside Data that are signed, by the event's code.
const signedPaths: Record<number, string[]> = {
  1: [
    'Invoice.Id',
    'Invoice.Status',
    'Transaction.Status',
    'Transaction.PaymentId',
    'Invoice.ExternalIdentifier',
  ],
  2: ['Refund.Id', 'Refund.Status', 'Amount.ValueInBaseCurrency', 'ReferencedInvoice.Id'],
  3: ['Deposit.Reference', 'Deposit.ValueInBaseCurrency', 'Deposit.NumberOfTransactions'],
  4: ['Supplier.Code', 'KycDecision.Status'],
  5: ['Recurring.Id', 'Recurring.Status', 'Recurring.InitialInvoiceId'],
  6: [
    'Dispute.DisputeTransactionId',
    'Dispute.Status',
    'Invoice.Id',
    'Invoice.Status',
    'Transaction.Status',
    'Transaction.PaymentId',
    'Invoice.ExternalIdentifier',
  ],
  7: ['Supplier.Code', 'RequestStatus.Status'],
}

const at = (data: Json, path: string) =>
  path.split('.').reduce((value, name) => value?.[name] ?? undefined, data) ?? ''

function signedTextV2({ Event, Data }: Json): string | undefined {
  return signedPaths[Event.Code]?.map((path) => `${path}=${at(Data, path)}`).join(',')
}

const unsigned: Record<number, string> = { 2: 'GatewayReference', 4: 'KycFeedback' }

/** The text that version 1 signs: every key of Data but `unsigned`, sorted case-insensitively. */
function signedTextV1({ EventType, Data }: Json): string {
  const lower = (name: string) => name.toLowerCase()
  return Object.keys(Data)
    .filter((name) => name !== unsigned[EventType])
    .sort((a, b) => (lower(a) < lower(b) ? -1 : lower(a) > lower(b) ? 1 : 0))
    .map((name) => `${name}=${Data[name] ?? ''}`)
    .join(',')
}

/** A signed amount with three decimals, or as it is written if it has no such form; undefined if missing. */
const amountOf = (value: unknown) =>
  value === undefined || value === null || value === ''
    ? undefined
    : threeDecimals(value) ?? String(value)

function eventV2({ Event, Data }: Json, signed: string): ProviderEvent {
  const event = { reference: text(Event.Reference), signed }
  const code = Number(Event.Code)
  if (code === 1) return { ...event, kind: 'payment', ref: String(at(Data, 'Invoice.Id')) }
  if (code !== 2) return { ...event, kind: 'other' }
  return {
    ...event,
    kind: 'refund',
    refundRef: String(at(Data, 'Refund.Id')),
    ref: String(at(Data, 'ReferencedInvoice.Id')),
    amount: amountOf(at(Data, 'Amount.ValueInBaseCurrency')),
  }
}

function eventV1({ EventType, Data }: Json, signed: string): ProviderEvent {
  const event = { reference: text(EventType), signed }
  const number = Number(EventType)
  const ref = text(Data.InvoiceId) ?? undefined
  if (number === 1) {
    return {
      ...event,
      kind: 'payment',
      ref,
      amount: amountOf(Data.InvoiceValueInBaseCurrency),
      currency: currencyOf(Data.BaseCurrency) ?? undefined,
    }
  }
  if (number !== 2) return { ...event, kind: 'other' }
  return {
    ...event,
    kind: 'refund',
    refundRef: text(Data.RefundId) ?? undefined,
    ref,
    amount: amountOf(Data.Amount),
  }
}

const isObject = (value: unknown) =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

export function myfatoorah({ url, mode, token, secrets }: Settings): Provider {
  const headers = { authorization: `Bearer ${token}` }
  const post = (path: string, sent: unknown, once?: string) =>
    requestProvider('POST', `${url}/v2/${path}`, {
      ...headers,
      ...(once && { 'idempotency-key': once }),
    }, sent)

  /** Returns null if the provider answers that what was queried does not exist. */
  async function found(path: string, sent: unknown): Promise<Json | null> {
    const answer = await post(path, sent)
    try {
      return dataOf(answer)
    } catch (error) {
      if (!(error instanceof ProviderDeclined)) throw error
      // These statuses refuse the caller and reveal nothing about the charge.
      if (answer.status === 401 || answer.status === 403) {
        throw new ProviderUnreachable(`HTTP ${answer.status}`)
      }
      return null
    }
  }

  async function refundsBy(KeyType: 'RefundId' | 'InvoiceId', Key: string): Promise<Json[]> {
    const data = await found('GetRefundStatus', { KeyType, Key })
    return Array.isArray(data?.RefundStatusResult) ? data.RefundStatusResult : []
  }

  return {
    name: 'myfatoorah',
    mode,
    header: 'myfatoorah-signature',

    async charge(order) {
      const { name, phone, email, language } = order.customer
      const amount = Number(order.amount)
      const data = dataOf(
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
          // A time without a zone is read as Kuwait time, three hours ahead of UTC.
          ExpiryDate: new Date(Date.now() + (3 * 60 + 30) * 60_000).toISOString().slice(0, 19),
          InvoiceItems: [{ ItemName: order.titleAr, Quantity: 1, UnitPrice: amount }],
        }, order.paymentId),
      )
      const ref = text(data.InvoiceId)
      if (!ref) throw new ProviderUnreachable('no invoice id')
      return { ref, redirectUrl: redirectAddress(data.InvoiceURL) }
    },

    async lookUp({ ref, paymentId }) {
      const status = await found(
        'GetPaymentStatus',
        ref ? { Key: ref, KeyType: 'InvoiceId' } : { Key: paymentId, KeyType: 'CustomerReference' },
      )
      return status && chargeAnswerOf(status, mode)
    },

    async refund({ refundId, chargeRef, amount, reason }) {
      const data = dataOf(
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
      const refundRef = text(data.RefundId)
      if (!refundRef) throw new ProviderUnreachable('no refund id')
      // The refund waits for approval at MyFatoorah.
      return { refundRef, status: 'pending' }
    },

    async lookUpRefund(refundRef, chargeRef) {
      const refunds = await refundsBy('RefundId', refundRef)
      const refund = refunds.find(({ RefundId }) => String(RefundId) === refundRef)
      return refund ? refundAnswerOf(refund, chargeRef) : null
    },

    async refundsOf(chargeRef) {
      const refunds = await refundsBy('InvoiceId', chargeRef)
      return refunds.map((refund) => refundAnswerOf(refund, chargeRef))
    },

    verify(given, raw) {
      const signature = given.get('myfatoorah-signature')
      const body = parseObject(raw)
      if (!signature || signature.length !== 44 || !body || !isObject(body.Data)) return undefined
      const second = isObject(body.Event)
      const signed = second ? signedTextV2(body) : signedTextV1(body)
      if (signed === undefined) return undefined
      if (!isSignedBy(secrets, signature, (secret) => hmacSha256(secret, signed, 'base64'))) {
        return undefined
      }
      return second ? eventV2(body, signed) : eventV1(body, signed)
    },
  }
}
