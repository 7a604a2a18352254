// MyFatoorah webhooks, versions 1 and 2.
import { hmacSha256 } from '../_shared/input/hashes.ts'
import { text, threeDecimals } from './provider-api.ts'
import type { ProviderEvent } from './provider.ts'
import { isSignedBy, type Json, parseObject } from './webhook-signatures.ts'

export const currencyOf = (value: unknown) => (value === 'KD' ? 'KWD' : text(value))

// The signed fields, as paths inside Data, by event code.
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

/** The string that version 1 signs: all fields of Data except `unsigned`, sorted case-insensitively. */
function signedTextV1({ EventType, Data }: Json): string {
  const lower = (name: string) => name.toLowerCase()
  return Object.keys(Data)
    .filter((name) => name !== unsigned[EventType])
    .sort((a, b) => (lower(a) < lower(b) ? -1 : lower(a) > lower(b) ? 1 : 0))
    .map((name) => `${name}=${Data[name] ?? ''}`)
    .join(',')
}

/** An amount with three decimals. Any other value is returned as a string; undefined if missing. */
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

/** Returns undefined if the signature is not valid. */
export function eventOf(
  signature: string | null,
  raw: Uint8Array,
  secrets: string[],
): ProviderEvent | undefined {
  const body = parseObject(raw)
  if (!signature || signature.length !== 44 || !body || !isObject(body.Data)) return undefined
  const second = isObject(body.Event)
  const signed = second ? signedTextV2(body) : signedTextV1(body)
  if (signed === undefined) return undefined
  if (!isSignedBy(secrets, signature, (secret) => hmacSha256(secret, signed, 'base64'))) {
    return undefined
  }
  return second ? eventV2(body, signed) : eventV1(body, signed)
}
