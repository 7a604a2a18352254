import { z } from '@hono/zod-openapi'
import { identityType } from '../accounts/schemas.ts'
import { Count, Money, orNull, Time } from '../http/route.ts'

export const currency = z.literal('KWD')
export const providerNames = ['tap', 'myfatoorah', 'sandbox'] as const

export const InvoiceState = z.enum([
  'open',
  'processing',
  'failed',
  'expired',
  'void',
  'paid',
  'partially_refunded',
  'refunded',
]).describe('`processing`: a payment is under way; `failed` can be paid again.')

const purpose = z.enum(['plan', 'topup', 'feature']).describe(
  'A plan, an amount for the wallet, or a feature of a listing.',
)

const Line = z.object({
  kind: purpose,
  titleAr: z.string(),
  titleEn: z.string(),
  quantity: Count.describe('How many.'),
  unitPrice: Money.openapi({ description: 'The price of one, in dinars.' }),
  amount: Money.openapi({ description: 'The price of all, in dinars.' }),
}).openapi('InvoiceLine', { description: 'What an invoice is for, as it was when it was issued.' })

const Payment = z.object({
  id: z.uuid().describe('The reference that the provider knows it by.'),
  provider: z.enum(providerNames),
  state: z.enum(['starting', 'open', 'superseded', 'failed', 'captured', 'surplus']).describe(
    '`starting`: the provider was asked; `open`: it waits for the person; `superseded`: a newer ' +
      'one took its place; `captured`: paid; `surplus`: paid after the invoice was.',
  ),
  amount: Money,
  currency,
  method: z.string().nullable().describe('As the provider names it; null: not known yet.').openapi({
    example: 'KNET',
  }),
  reference: z.string().nullable().describe(
    'By which the provider knows it; null: it has not answered yet.',
  ),
  createdAt: Time,
  capturedAt: Time.nullable().describe('When it was paid; null: it was not.'),
}).openapi('Payment', { description: 'An attempt to pay an invoice at a payment provider.' })

export const Invoice = z.object({
  id: z.uuid(),
  number: z.string().describe('As people quote it; numbers of a year have no gaps.').openapi({
    example: 'INV-2026-000123',
  }),
  purpose,
  lines: z.array(Line).describe('What it is made of.'),
  total: Money.openapi({ description: 'The sum of its lines, in dinars.' }),
  currency,
  state: InvoiceState,
  issuedAt: Time.describe('When it was made.'),
  dueAt: Time.describe('It expires if it is not paid by then.'),
  paidAt: Time.nullable().describe('null: not paid.'),
  paidWith: z.enum(['charge', 'wallet']).nullable().describe(
    'At the payment provider or from the wallet; null: not paid.',
  ),
  refunded: Money.openapi({ description: 'What has been given back so far, in dinars.' }),
  payments: z.array(Payment).describe('Every attempt to pay it, oldest first.'),
}).openapi('Invoice', { description: 'What an identity has to pay, or has paid.' })

export const OneInvoice = z.strictObject({ invoiceId: z.uuid() })

const amount = z.string().describe('In dinars, with three decimals.')
const reference = z.string().nullable().describe('As the provider said it; else null.')

const Seller = z.object({
  nameAr: z.string(),
  nameEn: z.string(),
  registrationNo: z.string().describe('Of the commercial register.'),
  addressAr: z.string().describe('In Arabic.'),
  phone: z.string().describe('As the setting has it.'),
  email: z.string().describe('As the setting has it.'),
}).openapi('Seller', { description: 'Who runs the service.' })

const ReceiptPayment = z.object({
  provider: z.string().describe('The payment provider.'),
  providerRef: reference,
  paymentId: reference,
  method: reference,
  trackId: reference,
  referenceId: reference,
  authorizationId: reference,
}).openapi('ReceiptPayment', { description: 'A payment, by the numbers of its provider.' })

export const RefundDocument = z.object({
  number: z.string().openapi({
    description: 'Numbered without gaps in each year.',
    example: 'CN-2026-000012',
  }),
  invoiceNumber: z.string().describe('The number of the invoice.'),
  issuedAt: Time.describe('When the refund was booked.'),
  amount,
  currency,
  to: z.enum(['wallet', 'source']).describe('The wallet, or the means that paid.'),
  payer: z.string().describe('Who had paid, by the name at that time.'),
  payerType: identityType,
  seller: orNull(Seller).describe('null: the service said nothing of itself.'),
}).openapi('RefundDocument', { description: 'The document of a refund; it never changes.' })

export const ReceiptRecord = z.object({
  number: z.string().describe('The number of the invoice.'),
  issuedAt: Time.describe('When the invoice was made.'),
  paidAt: Time.describe('When it was paid.'),
  paidWith: z.enum(['charge', 'wallet']).describe('At the payment provider or from the wallet.'),
  payerType: identityType,
  payer: z.string().describe('Who paid, by the name at that time.'),
  seller: orNull(Seller).describe('null: the service said nothing of itself.'),
  lines: z.array(z.object({
    titleAr: z.string(),
    titleEn: z.string(),
    quantity: Count.describe('How many.'),
    unitPrice: amount,
    amount,
  })).describe('What was paid for.'),
  tax: amount,
  total: amount,
  currency,
  credited: z.boolean().describe('Whether it went to the wallet.'),
  payment: orNull(ReceiptPayment).describe('At the provider; null: from the wallet.'),
  refunds: z.array(RefundDocument).describe('What of it went back since, oldest first.'),
})

export type Receipt = z.infer<typeof ReceiptRecord>
