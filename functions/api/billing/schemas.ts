/** Invoices and payments as clients see them. */
import { z } from '@hono/zod-openapi'

const Amount = z.number().openapi({ description: 'KWD, exact to the fils.' })

export const InvoiceState = z.enum([
  'open',
  'processing',
  'failed',
  'expired',
  'void',
  'paid',
  'partially_refunded',
  'refunded',
])

const Line = z.object({
  kind: z.enum(['plan', 'topup', 'feature']),
  titleAr: z.string(),
  titleEn: z.string(),
  quantity: z.int(),
  unitPrice: Amount,
  amount: Amount,
}).openapi('InvoiceLine')

const Payment = z.object({
  id: z.uuid(),
  provider: z.enum(['tap', 'myfatoorah', 'sandbox']),
  state: z.enum(['starting', 'open', 'superseded', 'failed', 'captured', 'surplus']),
  amount: Amount,
  currency: z.literal('KWD'),
  method: z.string().nullable(),
  reference: z.string().nullable().openapi({ description: "The provider's." }),
  createdAt: z.string(),
  capturedAt: z.string().nullable(),
}).openapi('Payment')

export const Invoice = z.object({
  id: z.uuid(),
  number: z.string().openapi({ example: 'INV-2026-000123' }),
  purpose: z.enum(['plan', 'topup', 'feature']),
  lines: z.array(Line),
  total: Amount,
  currency: z.literal('KWD'),
  state: InvoiceState,
  issuedAt: z.string(),
  dueAt: z.string(),
  paidAt: z.string().nullable(),
  paidWith: z.enum(['charge', 'wallet']).nullable(),
  refunded: Amount,
  payments: z.array(Payment),
}).openapi('Invoice')

export const OneInvoice = z.strictObject({ invoiceId: z.uuid() })
