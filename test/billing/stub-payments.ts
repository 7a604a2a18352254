import { createHmac, randomInt, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// deno-lint-ignore no-explicit-any
type Json = any

/** How the stub behaves until a test changes it. With some values, requests time out. */
type Behaviour =
  | 'good'
  | 'slow'
  | 'late'
  | 'cut'
  | 'http 500'
  | 'html'
  | 'refuses'
  | 'refuses refunds'
  | 'another amount'
  | 'done but silent'

export type PaymentStub = {
  url: string
  behaviour: Behaviour
  /** Requests as `METHOD /path`, oldest first. */
  requests: string[]
  charges: Map<string, Json>
  refunds: Map<string, Json>
  /** Functions that send the responses held back while the behaviour is `late`. */
  late: (() => void)[]
  /**
   * The first id that the stub assigns. Each stub has its own range of ids,
   * because jobs look up all payments.
   */
  firstId: number
  madeFor: (paymentId: string) => Json[]
  stop: () => Promise<void>
}

const body = async (request: IncomingMessage): Promise<Json> => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text ? JSON.parse(text) : {}
}

const send = (response: ServerResponse, status: number, value: Json) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

const failure = (status: number, code: string) => ({
  status,
  value: { errors: [{ code, description: 'no' }] },
})

function tap(stub: PaymentStub, method: string, path: string, sent: Json) {
  if (method === 'POST' && path === '/charges') {
    const known = stub.madeFor(sent.reference.idempotent)[0]
    const id = known?.id ?? `chg_${randomUUID().replaceAll('-', '')}`
    const charge = known ?? {
      id,
      object: 'charge',
      live_mode: false,
      status: 'INITIATED',
      amount: stub.behaviour === 'another amount' ? sent.amount + 1 : sent.amount,
      currency: sent.currency,
      transaction: { url: `https://pay.example/${id}`, created: String(Date.now()) },
      reference: {
        ...sent.reference,
        gateway: `gw${stub.charges.size}`,
        payment: `pay${stub.charges.size}`,
        track: `trk${stub.charges.size}`,
      },
      source: { payment_method: 'KNET' },
      sent,
    }
    stub.charges.set(id, charge)
    return { status: 200, value: charge }
  }
  if (path === '/charges/list') {
    const { from, to } = sent.period.date
    const charges = [...stub.charges.values()].filter(({ transaction }) =>
      Number(transaction?.created) >= Number(from) && Number(transaction?.created) <= Number(to)
    )
    return { status: 200, value: { has_more: false, charges } }
  }
  if (method === 'POST' && path === '/refunds') {
    const known = [...stub.refunds.values()]
      .find(({ reference }) => reference.idempotent === sent.reference.idempotent)
    const id = known?.id ?? `re_${randomUUID().replaceAll('-', '')}`
    const refund = known ?? { ...sent, id, object: 'refund', status: 'PENDING', created: '1' }
    stub.refunds.set(id, refund)
    return { status: 200, value: refund }
  }
  const [, kind, id] = /^\/(charges|refunds)\/(.+)$/.exec(path) ?? []
  const found = kind === 'refunds' ? stub.refunds.get(id!) : stub.charges.get(id!)
  return found ? { status: 200, value: found } : failure(404, '1144')
}

const good = (Data: Json) => ({ status: 200, value: { IsSuccess: true, Message: '', Data } })
const bad = (Message: string) => ({ status: 200, value: { IsSuccess: false, Message, Data: null } })

function myFatoorah(stub: PaymentStub, path: string, sent: Json, key?: string) {
  const byReference = (reference: string) =>
    [...stub.charges.values()].find(({ CustomerReference }) => CustomerReference === reference)
  switch (path) {
    case '/v2/SendPayment': {
      const known = key && [...stub.charges.values()].find((one) => one.key === key)
      const InvoiceId = known ? known.InvoiceId : stub.firstId + stub.charges.size
      stub.charges.set(
        String(InvoiceId),
        known || {
          key,
          InvoiceId,
          InvoiceStatus: 'Pending',
          CustomerReference: sent.CustomerReference,
          InvoiceValue: sent.InvoiceValue,
          InvoiceTransactions: [],
          sent,
        },
      )
      return good({ InvoiceId, InvoiceURL: `https://pay.example/${InvoiceId}` })
    }
    case '/v2/GetPaymentStatus': {
      const found = sent.KeyType === 'CustomerReference'
        ? byReference(sent.Key)
        : stub.charges.get(String(sent.Key))
      return found ? good(found) : bad('No data match the provided value')
    }
    case '/v2/MakeRefund': {
      const known = key && [...stub.refunds.values()].find((one) => one.key === key)
      const RefundId = known ? known.RefundId : stub.firstId + stub.refunds.size
      stub.refunds.set(
        String(RefundId),
        known || {
          key,
          RefundId,
          RefundStatus: 'Pending',
          InvoiceId: Number(sent.Key),
          Amount: sent.Amount,
          RefundReference: `R${RefundId}`,
        },
      )
      return good({ Key: sent.Key, RefundId, Amount: sent.Amount })
    }
    case '/v2/GetRefundStatus': {
      const field = sent.KeyType === 'InvoiceId' ? 'InvoiceId' : 'RefundId'
      const found = [...stub.refunds.values()].filter((one) => String(one[field]) === sent.Key)
      return found.length ? good({ RefundStatusResult: found }) : bad('No data')
    }
    default:
      return { status: 404, value: { Message: 'No HTTP resource', MessageDetail: '' } }
  }
}

export async function startPaymentStub(kind: 'tap' | 'myfatoorah'): Promise<PaymentStub> {
  const held = new Set<ServerResponse>()
  const server = createServer(async (request, response) => {
    const path = request.url!
    const sent = await body(request)
    stub.requests.push(`${request.method} ${path}`)
    const moods: Partial<Record<Behaviour, () => unknown>> = {
      slow: () => held.add(response),
      cut: () => request.socket.destroy(),
      'http 500': () => send(response, 500, { errors: [{ code: '9999' }] }),
      refuses: () => send(response, 400, { errors: [{ code: '1117', description: 'amount' }] }),
      html: () => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
    }
    const odd = moods[stub.behaviour]
    if (odd) return odd()
    const key = request.headers['idempotency-key'] as string | undefined
    const isRefund = request.method === 'POST' && /\/(refunds|MakeRefund)$/.test(path)
    const { status, value } = stub.behaviour === 'refuses refunds' && isRefund
      ? kind === 'tap' ? failure(400, '1161') : bad('The amount is more than what is left')
      : kind === 'tap'
      ? tap(stub, request.method!, path, sent)
      : myFatoorah(stub, path, sent, key)
    if (stub.behaviour === 'done but silent') return held.add(response)
    if (stub.behaviour === 'late') return stub.late.push(() => send(response, status, value))
    send(response, status, value)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stub: PaymentStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviour: 'good',
    requests: [],
    charges: new Map(),
    refunds: new Map(),
    late: [],
    firstId: randomInt(1_000_000, 1_000_000_000),
    madeFor: (paymentId) =>
      [...stub.charges.values()].filter((one) =>
        one.reference?.transaction === paymentId || one.CustomerReference === paymentId
      ),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return stub
}

export function tapSignature(sent: Json, secret: string): string {
  const { id, amount, currency, status, reference = {}, transaction = {} } = sent
  const created = sent.object === 'refund' ? sent.created : transaction.created
  const text = `x_id${id}x_amount${Number(amount).toFixed(3)}x_currency${currency}` +
    `x_gateway_reference${reference.gateway ?? ''}x_payment_reference${reference.payment ?? ''}` +
    `x_status${status}x_created${created}`
  return createHmac('sha256', secret).update(text).digest('hex')
}

export function webhookV2(Code: number, Data: Json, secret: string, Reference = randomUUID()) {
  const paths = Code === 1
    ? [
      'Invoice.Id',
      'Invoice.Status',
      'Transaction.Status',
      'Transaction.PaymentId',
      'Invoice.ExternalIdentifier',
    ]
    : ['Refund.Id', 'Refund.Status', 'Amount.ValueInBaseCurrency', 'ReferencedInvoice.Id']
  const at = (path: string) => path.split('.').reduce((value, name) => value?.[name], Data) ?? ''
  const text = paths.map((path) => `${path}=${at(path)}`).join(',')
  return {
    body: { Event: { Code, Name: 'EVENT', CountryIsoCode: 'KWT', Reference }, Data },
    signature: createHmac('sha256', secret).update(text).digest('base64'),
  }
}

export function webhookV1(EventType: number, Data: Json, secret: string) {
  const text = Object.keys(Data).filter((name) => name !== 'GatewayReference')
    .sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    .map((name) => `${name}=${Data[name] ?? ''}`).join(',')
  return {
    body: { EventType, Event: 'EVENT', DateTime: '01102026101500', CountryIsoCode: 'KWT', Data },
    signature: createHmac('sha256', secret).update(text).digest('base64'),
  }
}
