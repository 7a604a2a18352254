import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import {
  acting,
  area,
  body,
  json,
  Money,
  pageOf,
  PageQuery,
  route,
  send,
  Time,
} from '../http/route.ts'
import { currency, Invoice } from './schemas.ts'

const tags = ['wallet']

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
      z.object({
        available: Money.openapi({ description: 'What can be spent, in dinars.' }),
        held: Money.openapi({
          description: 'What is on its way back to where it came from, in dinars.',
        }),
        currency,
      }).openapi('Wallet', { description: 'The balance of an identity.' }),
      'held is being refunded to its source.',
    ),
  },
})

const Transaction = z.object({
  id: z.int().min(1).describe('Grows with every entry.'),
  transferId: z.uuid().describe('The same for the entries that belong together.'),
  kind: z.enum([
    'topup',
    'payment',
    'purchase',
    'refund',
    'hold',
    'release',
    'adjustment',
    'forfeit',
    'payout',
  ])
    .describe(
      '`purchase` is paid from the wallet, `payment` at a provider; `hold` is a refund to its ' +
        'source that has begun, `release` one that was rejected; an administrator makes an ' +
        '`adjustment`; `forfeit` and `payout` empty the wallet of a deleted account.',
    ),
  part: z.enum(['available', 'held']).describe('Which part of the wallet it changed.'),
  amount: Money.openapi({ description: 'In dinars: positive came in, negative went out.' }),
  balanceAfter: Money.openapi({ description: 'What that part held afterwards, in dinars.' }),
  currency,
  invoiceId: z.uuid().nullable().describe('The invoice that it belongs to; null without one.'),
  createdAt: Time,
}).openapi('WalletTransaction', { description: 'An entry of the ledger.' })

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
  description: 'From 1 to 1,000 KWD; five may be unpaid at a time. Pay the invoice with `POST ' +
    '/payments/charge`; then the amount is in the wallet.',
  errors: ['amount_out_of_range', 'topups_full'],
  idempotent: true,
  request: body(z.strictObject({
    amount: Money.min(1, outside).max(1000, outside)
      .refine((amount) => /^\d+(\.\d{1,3})?$/.test(String(amount)), outside)
      .openapi({ description: 'How much to add, in dinars.', minimum: 1, maximum: 1000 }),
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
