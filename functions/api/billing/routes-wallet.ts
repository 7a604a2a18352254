/** The wallet of the acting identity. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { acting, area, body, json, pageOf, PageQuery, route, send } from '../http/route.ts'
import { Invoice } from './schemas.ts'

const tags = ['wallet']
const currency = z.literal('KWD')

const wallet = route({
  ...acting,
  tags,
  operationId: 'get_wallet',
  method: 'get',
  path: '/',
  summary: 'Get the balance of my wallet',
  description: '`held` is on its way back to where it came from.',
  responses: {
    200: json(
      z.object({ available: z.number(), held: z.number(), currency }).openapi('Wallet'),
      'held is being refunded to its source.',
    ),
  },
})

const Transaction = z.object({
  id: z.int(),
  transferId: z.uuid(),
  kind: z.enum(['topup', 'payment', 'purchase', 'refund', 'hold', 'release', 'adjustment']),
  part: z.enum(['available', 'held']),
  amount: z.number().openapi({ description: 'Positive for credits, negative for debits.' }),
  balanceAfter: z.number(),
  currency,
  invoiceId: z.uuid().nullable(),
  createdAt: z.string(),
}).openapi('WalletTransaction')

const transactions = route({
  ...acting,
  tags,
  operationId: 'list_wallet_transactions',
  method: 'get',
  path: '/transactions',
  summary: 'List the transactions of my wallet, newest first',
  description: 'The ledger: entries are only ever added.',
  request: { query: PageQuery },
  responses: {
    200: json(pageOf('WalletTransactionPage', Transaction), 'Ledger entries.'),
  },
})

const outside = { error: 'amount_out_of_range' }

const topUp = route({
  ...acting,
  tags,
  operationId: 'top_up_wallet',
  method: 'post',
  path: '/topup',
  summary: 'Create an invoice that tops up my wallet',
  description:
    'From 1 to 1,000 KWD. Pay the invoice with `POST /payments/charge`; then the amount is in ' +
    'the wallet.',
  errors: ['amount_out_of_range'],
  idempotent: true,
  request: body(z.strictObject({
    amount: z.number().min(1, outside).max(1000, outside)
      .refine((amount) => /^\d+(\.\d{1,3})?$/.test(String(amount)), outside),
  })),
  responses: { 201: json(Invoice, 'To be charged.') },
})

export const wallets = area()
  .openapi(wallet, async (c) => send(c, await call(c, 'get_wallet', {})))
  .openapi(transactions, async (c) => {
    const { cursor, limit } = c.req.valid('query')
    return send(
      c,
      await call(c, 'list_wallet_transactions', { pageCursor: cursor, pageSize: limit }),
    )
  })
  .openapi(
    topUp,
    async (c) => send(c, await call(c, 'top_up_wallet', c.req.valid('json')), 201),
  )
