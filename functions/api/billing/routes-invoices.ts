import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { acting, area, json, pageOf, PageQuery, route, send } from '../http/route.ts'
import { receiptPage } from './receipt-page.ts'
import { Invoice, InvoiceState, type Receipt, ReceiptRecord, RefundDocument } from './schemas.ts'

const tags = ['invoices']
const OneInvoice = z.strictObject({ id: z.uuid() })

const list = route({
  ...acting,
  tags,
  operationId: 'list_invoices',
  method: 'get',
  path: '/',
  summary: 'List my invoices, newest first',
  description: 'Each with its payments.',
  request: {
    query: PageQuery.extend({ state: InvoiceState.optional().describe('Invoices in this state.') }),
  },
  responses: {
    200: json(pageOf('InvoicePage', Invoice), 'Of the acting identity.'),
  },
})

const one = route({
  ...acting,
  tags,
  operationId: 'get_invoice',
  method: 'get',
  path: '/{id}',
  summary: 'Get an invoice',
  description: 'The same record as in the list.',
  errors: ['invoice_not_found'],
  request: { params: OneInvoice },
  responses: { 200: json(Invoice, 'As it is now.') },
})

const receipt = route({
  ...acting,
  tags,
  operationId: 'get_receipt',
  method: 'get',
  path: '/{id}/receipt',
  summary: 'Get the receipt of a paid invoice, with a printable page',
  description: 'Only once it is paid. `html` is a page in Arabic, to show or to print.',
  errors: ['invoice_not_found', 'not_found'],
  request: { params: OneInvoice },
  responses: {
    200: json(
      z.object({
        receipt: ReceiptRecord.describe('What the page shows.'),
        html: z.string().describe('A complete page in Arabic.'),
      }).openapi('Receipt', { description: 'The receipt of a paid invoice.' }),
      'As it was when the invoice was paid, with `refunds` beside it.',
    ),
  },
})

const refunds = route({
  ...acting,
  tags,
  operationId: 'list_invoice_refunds',
  method: 'get',
  path: '/{id}/refunds',
  summary: 'List the documents of the refunds of an invoice',
  description: 'One for each refund that is booked, oldest first.',
  errors: ['invoice_not_found'],
  request: { params: OneInvoice },
  responses: {
    200: json(
      z.object({ items: z.array(RefundDocument).describe('All of them.') }).openapi(
        'RefundDocumentList',
        { description: 'The documents of refunds.' },
      ),
      'None: `items` is empty.',
    ),
  },
})

export const invoices = area()
  .openapi(list, async (c) => {
    const { state, cursor, limit } = c.req.valid('query')
    return send(
      c,
      await call(c, 'list_invoices', { state, pageCursor: cursor, pageSize: limit }),
    )
  })
  .openapi(receipt, async (c) => {
    const { id } = c.req.valid('param')
    const { payer, receipt, refunds } = JSON.parse(await call(c, 'get_receipt', { invoiceId: id }))
    const whole: Receipt = { ...receipt, payer, refunds }
    return send(c, JSON.stringify({ receipt: whole, html: String(receiptPage(whole)) }))
  })
  .openapi(refunds, async (c) => {
    const { id } = c.req.valid('param')
    return send(c, await call(c, 'list_invoice_refunds', { invoiceId: id }))
  })
  .openapi(one, async (c) => {
    const { id } = c.req.valid('param')
    return send(c, await call(c, 'get_invoice', { invoiceId: id }))
  })
