import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { backend, call } from '../../_shared/database/db.ts'
import { log } from '../../_shared/errors/log.ts'
import { causeOf, Refusal } from '../../_shared/errors/refusal.ts'
import { thrownAsZodError } from '../../_shared/input/validation.ts'
import { env } from '../../_shared/settings/env.ts'
import { isOfApp } from '../../_shared/settings/setting-kinds.ts'
import { provider, providerNamed, providers } from '../../payments/configured-providers.ts'
import { type DuePayment, lookUp, receiveEvent } from '../../payments/events.ts'
import {
  type Order,
  type Provider,
  ProviderDeclined,
  type ProviderEvent,
  ProviderMismatch,
  ProviderUnreachable,
} from '../../payments/provider.ts'
import type { Check } from '../http/checks.ts'
import { problem } from '../http/problem.ts'
import { acting, area, body, json, route, send, withoutToken } from '../http/route.ts'
import { Invoice, OneInvoice, providerNames } from './schemas.ts'

const tags = ['payments']

/** Matches custom app schemes and any URL on localhost. Both are allowed outside production. */
const isOfDeveloper = (url: URL) =>
  url.hostname === 'localhost' && /^https?:$/.test(url.protocol) || isOfApp(url)

/** Allows the URLs in RETURN_URLS and paths below them. URLs that merely look similar are refused. */
function isAllowedReturnUrl(address: string): boolean {
  if (!URL.canParse(address) || /[\s\\\p{Cc}]/u.test(address)) return false
  const url = new URL(address)
  if (url.username || url.password) return false
  if (!env.production && isOfDeveloper(url)) return true
  return env.returnUrls.some((entry) => {
    const { protocol, host, pathname } = new URL(entry)
    if (url.protocol !== protocol) return false
    if (!host && !pathname) return true // a custom app scheme, such as myapp://
    const under = pathname.endsWith('/') ? pathname : `${pathname}/`
    return url.host === host &&
      (url.pathname === pathname || url.pathname.startsWith(under))
  })
}

const allowedReturnUrls = env.production
  ? env.returnUrls
  : [...env.returnUrls, 'http://localhost', 'myapp://']

const charge = route({
  ...acting,
  tags,
  operationId: 'charge_invoice',
  method: 'post',
  path: '/charge',
  summary: 'Start paying an invoice; within 15 minutes the same charge is returned',
  description:
    'Open `redirectUrl` in a browser; when the person comes back to `returnUrl`, ask `GET ' +
    '/payments/status/{invoiceId}` until the invoice is paid: coming back alone proves nothing. ' +
    'Within 15 minutes the same charge is returned; with another `returnUrl` people come back ' +
    'there, or it is 409 `payment_in_progress` where the provider cannot change it.',
  errors: [
    'invoice_not_found',
    'invoice_already_paid',
    'payment_in_progress',
    'status_transition_invalid',
    'payment_provider_error',
    'payment_not_configured',
  ],
  idempotent: true,
  request: body(z.strictObject({
    invoiceId: z.uuid().describe('What is to be paid.'),
    returnUrl: z.string().max(250).openapi({
      description: 'One of the allowed addresses (RETURN_URLS), or a path below one; outside ' +
        'production also localhost and any app’s own scheme. A refusal names them in `allowed`.',
      example: env.returnUrls[0],
    }),
  })),
  responses: {
    200: json(
      z.object({
        paymentId: z.uuid(),
        redirectUrl: z.url().describe('The page of the provider where the person pays.'),
      }).openapi('Charge', { description: 'A payment that has begun.' }),
      'Where the person pays.',
    ),
  },
})

type Started = { paymentId: string; redirectUrl?: string; wait?: true; start?: true } & Order

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function startCharge(
  c: ApiContext,
  given: { invoiceId: string; returnUrl: string },
): Promise<string> {
  if (!isAllowedReturnUrl(given.returnUrl)) {
    const fields = [{ path: 'returnUrl', code: 'not_allowed' }]
    throw new Refusal('validation_failed', { fields, allowed: allowedReturnUrls })
  }
  const key = c.var.idempotencyKey
  const deadline = Date.now() + 6000
  for (;;) {
    const text = await call(c, 'charge_invoice', { ...given, idempotencyKey: key }, {
      before: provider && {
        name: 'set_provider',
        args: { provider: provider.name, mode: provider.mode },
      },
    })
    const started: Started = JSON.parse(text)
    if (started.redirectUrl) return text
    if (started.start) return JSON.stringify(await requestCharge(provider!, started, key))
    // Another request is already creating the charge at the provider. Its result is valid for this request,
    // too.
    if (Date.now() > deadline) throw new Refusal('service_unavailable', { retryAfter: 5 })
    await sleep(150)
  }
}

async function requestCharge(provider: Provider, order: Started, idempotencyKey?: string) {
  const { paymentId } = order
  try {
    const { ref, redirectUrl } = await provider.charge(order)
    const answer = await backend('charge_started', {
      paymentId,
      providerRef: ref,
      redirectUrl,
      idempotencyKey,
    })
    if (answer) return answer
  } catch (error) {
    // If the provider was unreachable, it may still have created the charge. The payment stays open, and the
    // next attempt or the job will query the provider with the same reference.
    if (error instanceof ProviderDeclined) {
      const alarming = error instanceof ProviderMismatch
      await backend('charge_refused', { paymentId, why: error.message, alarming })
    } else if (!(error instanceof ProviderUnreachable)) throw error
    log('warn', { provider: provider.name, paymentId, why: error.message })
  }
  throw new Refusal('payment_provider_error')
}

const status = route({
  ...acting,
  tags,
  operationId: 'get_payment_status',
  method: 'get',
  path: '/status/{invoiceId}',
  summary: 'Get the status of an invoice, the same as in the list of invoices',
  description:
    'The same record as in the list of invoices. Made to be asked again every few seconds: while the ' +
    'invoice is unpaid, the provider is asked about its payment every ten seconds at most, and its ' +
    'answer awaited for three.',
  errors: ['invoice_not_found'],
  request: { params: OneInvoice },
  responses: { 200: json(Invoice, 'As it is now.') },
})

// The timeout may be 250 ms late, and users should wait three seconds at most.
const lookUpTime = 2700

async function currentStatus(c: ApiContext, given: { invoiceId: string }): Promise<string> {
  const answer = await call(c, 'get_payment_status', given)
  const { invoice, due }: { invoice: string; due: DuePayment | null } = JSON.parse(answer)
  if (!due) return invoice
  try {
    await lookUp(due, lookUpTime)
  } catch (error) {
    // A late response, a webhook, the next request or the job will update the status.
    log('warn', { paymentId: due.paymentId, why: causeOf(error as Error) })
  }
  return await call(c, 'get_invoice', given)
}

const verifiedEvents = new WeakMap<Request, { from: Provider; event: ProviderEvent }>()

/** Verifies the signature of the raw body before the input is parsed. */
const verifySignature: Check = (c) => {
  const named = c.req.param('provider')
  const from = named
    ? providerNamed(named)
    : providers.find(({ header }) => c.req.header(header) !== undefined)
  const event = from && eventIn(c, from)
  if (!from || !event) return problem(c, 'webhook_signature_invalid')
  verifiedEvents.set(c.req.raw, { from, event })
}

function eventIn(c: ApiContext, from: Provider): ProviderEvent | undefined {
  try {
    return from.verify(c.req.raw.headers, c.var.body ?? new Uint8Array())
  } catch (error) {
    // If the signature check throws, the body cannot come from a provider.
    thrownAsZodError(error)
  }
}

const WebhookReceived = z.object({
  received: z.literal(true).describe('It need not be sent again.'),
  duplicate: z.boolean().describe('Whether this event had come before.'),
}).openapi('WebhookTaken', { description: 'The event is stored.' })

const webhook = {
  ...withoutToken,
  tags,
  method: 'post',
  unlimited: true,
  always: true,
  checks: [verifySignature],
  errors: ['webhook_signature_invalid', 'payment_provider_error'],
  responses: { 200: json(WebhookReceived, 'Received, now or before.') },
} as const

const signature = z.string().optional()

const anyEvent = {
  // Each provider sends a different one of these headers, which identifies it.
  headers: z.object({
    hashstring: signature.describe(
      'Of Tap: HMAC-SHA256 in hex over the fields of the event, with the secret key.',
    ),
    'myfatoorah-signature': signature.describe(
      'Of MyFatoorah: HMAC-SHA256 in Base64 over the fields of the event, with the webhook secret.',
    ),
    'sandbox-signature': signature
      .openapi({ example: `t=1793491200,v1=${'0a'.repeat(32)}` })
      .describe('Of the sandbox: seconds, and HMAC-SHA256 in hex over them, a dot and the body.'),
  }),
  ...body(
    z.looseObject({}).openapi('ProviderEvent', { description: 'As the provider defines it.' }),
  ),
}

const webhookAny = route({
  ...webhook,
  operationId: 'receive_webhook',
  path: '/webhook',
  summary: 'Webhook of payment providers; their own API is asked what happened',
  description:
    'For payment providers alone. The provider is known by the header that its signature comes ' +
    'in, over the raw body; what happened is then asked of its own API. An event that comes ' +
    'again changes nothing.',
  request: anyEvent,
})

const webhookOf = route({
  ...webhook,
  operationId: 'receive_webhook_of',
  path: '/webhook/{provider}',
  summary: 'Webhook of one payment provider',
  description: 'The same, for the provider in the path.',
  request: {
    ...anyEvent,
    params: z.strictObject({ provider: z.enum(providerNames) }),
  },
})

async function receive(c: ApiContext) {
  const { from, event } = verifiedEvents.get(c.req.raw)!
  try {
    const { duplicate } = await receiveEvent(from, event, c.var.body!)
    return send(c, JSON.stringify({ received: true, duplicate }))
  } catch (error) {
    if (!(error instanceof ProviderUnreachable || error instanceof ProviderDeclined)) throw error
    c.set('cause', error.message)
    // The error makes the provider send the event again.
    throw new Refusal('payment_provider_error')
  }
}

export const payments = area()
  .openapi(charge, async (c) => send(c, await startCharge(c, c.req.valid('json'))))
  .openapi(status, async (c) => send(c, await currentStatus(c, c.req.valid('param'))))
  .openapi(webhookAny, receive)
  .openapi(webhookOf, receive)
