import { z } from '@hono/zod-openapi'
import { type Args, backend, call } from '../../_shared/database/db.ts'
import { text } from '../../_shared/input/texts.ts'
import { provider, providerNamed } from '../../payments/configured-providers.ts'
import { askForRefund as askProvider } from '../../payments/events.ts'
import { ProviderUnreachable } from '../../payments/provider.ts'
import { Invoice } from '../billing/schemas.ts'
import { area, body, forAdmins, json, Money, pageOf, route, send, Time } from '../http/route.ts'
import { jsonOrCsv, sendList } from './csv.ts'
import { PaymentEventQuery } from './schemas-lists.ts'
import { PaymentEvent } from './schemas.ts'

const tags = ['admin']

const to = z.enum(['wallet', 'source']).describe(
  'To the wallet of the payer, or to where the payment came from.',
)

const Refund = z.object({
  id: z.uuid(),
  amount: Money.openapi({ description: 'What is given back, in dinars.' }),
  to,
  state: z.enum(['requested', 'settled', 'rejected']).describe(
    '`requested` until the provider settles or rejects it.',
  ),
  reason: z.string().describe('In the words of the administrator.'),
  createdAt: Time,
  settledAt: Time.nullable().describe('When the money was given back; null: not yet.'),
}).openapi('Refund', { description: 'Money of an invoice that is given back.' })

const outside = { error: 'amount_out_of_range' }

const refund = route({
  ...forAdmins,
  proof: true,
  tags,
  operationId: 'refund_invoice',
  method: 'post',
  path: '/invoices/{invoiceId}/refund',
  summary: 'Refund an invoice, in full or in part',
  description:
    'Without `amount` everything that is left. A full refund takes back what the invoice gave: ' +
    'the rest of its plan interval, unused credits. To the wallet it is done at once; to the ' +
    'source of the payment it is `requested` until the provider settles it, and needs a proof ' +
    '(`X-Proof`). Without an `Idempotency-Key` the same amount of the same payment is refused for 10 ' +
    'minutes: `refund_repeated`.',
  errors: [
    'invoice_not_found',
    'amount_out_of_range',
    'wallet_insufficient',
    'status_transition_invalid',
    'refund_repeated',
  ],
  idempotent: true,
  request: {
    params: z.strictObject({ invoiceId: z.uuid() }),
    ...body(z.strictObject({
      amount: Money.positive(outside)
        .refine((amount) => /^\d+(\.\d{1,3})?$/.test(String(amount)), outside).optional()
        .openapi({
          description: 'How much, in dinars; without it all that is left.',
          exclusiveMinimum: 0,
        }),
      to,
      reason: text(500).trim().min(1).describe('Why; kept with the refund.'),
      paymentId: z.uuid().optional().describe(
        'Which payment, if an invoice was paid twice: its surplus leaves the wallet.',
      ),
    })),
  },
  responses: {
    200: json(
      z.object({ refund: Refund, invoice: Invoice }).openapi('Refunded', {
        description: 'A refund, and its invoice as it is now.',
      }),
      'To the wallet at once; to its source it is settled when the provider says so.',
    ),
  },
})

const events = route({
  ...forAdmins,
  tags,
  operationId: 'list_payment_events',
  method: 'get',
  path: '/payments/events',
  summary: 'Events of payment providers and their outcome, newest first or as sorted',
  description:
    'What providers reported and what came of it. An event with outcome `mismatch` needs ' +
    'attention. With `Accept: text/csv` up to 10,000 rows from `cursor` on.',
  request: {
    query: PaymentEventQuery,
  },
  responses: {
    200: jsonOrCsv(
      pageOf('PaymentEventPage', PaymentEvent),
      'An event with outcome mismatch needs attention.',
    ),
  },
})

/** Requests the refund from the provider. If it does not respond, a job will try again. */
async function askForRefund(answer: string): Promise<string> {
  const { refund: { id: refundId, to, state } } = JSON.parse(answer)
  if (to !== 'source' || state !== 'requested') return answer
  const order = await backend<{ provider: string } | null>('refund_order', { refundId })
  const provider = order && providerNamed(order.provider)
  const answered = provider && await askProvider(provider, refundId).catch((error) => {
    if (!(error instanceof ProviderUnreachable)) throw error
  })
  return answered ? JSON.stringify(answered) : answer
}

export const adminPayments = area()
  .openapi(refund, async (c) => {
    const { to, ...rest } = c.req.valid('json')
    const given = { ...c.req.valid('param'), ...rest, destination: to }
    const answer = await call(c, 'refund_invoice', given, {
      before: provider && {
        name: 'set_provider',
        args: { provider: provider.name, mode: provider.mode },
      },
    })
    return send(c, await askForRefund(answer))
  })
  .openapi(events, async (c) => {
    const ask = (page: Args<'list_payment_events'>) => call(c, 'list_payment_events', page)
    return await sendList(c, 'payment_events', c.req.valid('query'), ask)
  })
