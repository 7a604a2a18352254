import { OpenAPIHono } from '@hono/zod-openapi'
import { cors } from 'hono/cors'
import type { ApiEnv } from '../_shared/caller/context.ts'
import { isAllowedOrigin } from '../_shared/caller/origins.ts'
import { env } from '../_shared/settings/env.ts'
import { providerNamed } from '../payments/configured-providers.ts'
import { contact } from './accounts/routes-contact.ts'
import { passkeys } from './accounts/routes-passkeys.ts'
import { passwords } from './accounts/routes-passwords.ts'
import { registration } from './accounts/routes-registration.ts'
import { settings } from './accounts/routes-settings.ts'
import { signingIn } from './accounts/routes-sign-in.ts'
import { social } from './accounts/routes-social.ts'
import { sudo } from './accounts/routes-sudo.ts'
import { accounts } from './accounts/routes.ts'
import { adminDesk } from './admin/routes-desk.ts'
import { adminPayments } from './admin/routes-payments.ts'
import { reports } from './admin/routes-reports.ts'
import { adminSettings } from './admin/routes-settings.ts'
import { admin } from './admin/routes.ts'
import { service } from './base.ts'
import { invoices } from './billing/routes-invoices.ts'
import { payments } from './billing/routes-payments.ts'
import { plans } from './billing/routes-plans.ts'
import { wallets } from './billing/routes-wallet.ts'
import { sandboxPages } from './billing/sandbox-pages.ts'
import { describeEvents } from './chat/asyncapi.ts'
import { blocks } from './chat/routes-blocks.ts'
import { chat } from './chat/routes.ts'
import { favorites } from './favorites.ts'
import { methodsOf } from './http/allowed-methods.ts'
import { rarelyChanged, send } from './http/answers.ts'
import { cacheForGuests } from './http/checks.ts'
import { describeApi } from './http/description.ts'
import { authenticate, logRequest } from './http/middleware.ts'
import { onError, problem } from './http/problem.ts'
import { adminDocuments, documents } from './media/routes-documents.ts'
import { propertyMedia } from './media/routes-listing.ts'
import { media } from './media/routes.ts'
import { meta } from './meta.ts'
import { devices } from './notifications/routes-devices.ts'
import { notifications } from './notifications/routes.ts'
import { advertisers } from './organisations/routes-advertisers.ts'
import { organisations } from './organisations/routes.ts'
import { accountExport } from './privacy.ts'
import { propertyActions } from './properties/routes-actions.ts'
import { propertyInsights } from './properties/routes-insights.ts'
import { properties } from './properties/routes.ts'
import { reviews } from './reviews.ts'
import { counts } from './search/routes-count.ts'
import { feed } from './search/routes-feed.ts'
import { map } from './search/routes-map.ts'
import { suggestions } from './search/routes-suggest.ts'
import { search } from './search/routes.ts'

// The platform puts the function's name at the beginning of the path.
const prefix = /^\/api(?=\/|$)/
// Fast path for common URLs. Any URL that a parser might change does not match and goes through the parser.
const plainPath = /^http:\/\/[a-z0-9.:-]+(\/[\w/-]*)(?:$|\?)/

function getPath({ url }: Request) {
  const path = plainPath.exec(url)?.[1] ?? new URL(url).pathname
  return path.replace(prefix, '') || '/'
}

export const app = new OpenAPIHono<ApiEnv>({ getPath })

app.onError(onError)
app.use(logRequest)
const crossOrigin = cors({
  origin: (origin) => isAllowedOrigin(origin) ? origin : null,
  allowHeaders: [
    'Authorization',
    'Content-Type',
    'Accept-Language',
    'Idempotency-Key',
    'If-Match',
    'X-Expect-Identity',
    'X-Proof',
    'traceparent',
    // supabase-js sends these headers; `x-region` selects the region of the functions.
    'apikey',
    'x-client-info',
    'x-region',
  ],
  exposeHeaders: [
    'X-Request-Id',
    'X-Api-Version',
    'X-Auth-Ignored',
    'Deprecation',
    'Sunset',
    'Retry-After',
    'ETag',
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
  ],
  maxAge: 600,
})
app.use(async (c, next) => {
  if (!c.req.header('origin')) return await next()
  const preflight = await crossOrigin(c, next)
  if (preflight) {
    for (const [name, value] of Object.entries(c.get('headers'))) preflight.headers.set(name, value)
  } else c.res.headers.set('Vary', c.get('headers').Vary) // crossOrigin has overwritten it
  return preflight
})
app.use(authenticate)

app.route('/', service)
app.route('/admin', admin)
app.route('/admin', adminDesk)
app.route('/admin', adminSettings)
const ofAuth = [registration, signingIn, social, passwords, contact, sudo, passkeys, accounts]
for (const part of ofAuth) app.route('/auth', part)
app.route('/auth', accountExport)
app.route('/auth', documents)
app.route('/blocks', blocks)
app.route('/conversations', chat)
app.route('/devices', devices)
app.route('/favorites', favorites)
app.route('/feed', feed)
app.route('/map', map)
app.route('/media', media)
app.route('/meta', meta)
app.route('/notifications', notifications)
app.route('/', organisations)
app.route('/identities', advertisers)
app.route('/reports', reports)
app.route('/reviews', reviews)
app.route('/search', search)
app.route('/search', counts)
app.route('/search', suggestions)
app.route('/plans', plans)
app.route('/wallet', wallets)
app.route('/invoices', invoices)
app.route('/payments', payments)
app.route('/admin', adminPayments)
app.route('/admin', adminDocuments)
app.route('/settings', settings)
for (const part of [properties, propertyActions, propertyInsights, propertyMedia]) {
  app.route('/properties', part)
}

let description: Promise<string> | undefined
const described = () => description ??= describe()

async function describe() {
  // Imported on demand, because only this route needs the file.
  const { default: file } = await import('../../docs/examples.json', { with: { type: 'json' } })
  const { generated: _generated, ...examples } = file
  return JSON.stringify(describeApi(app, env.apiUrl, examples))
}

app.get('/openapi.json', async (c) => {
  await cacheForGuests(rarelyChanged)(c)
  return send(c, await described())
})
if (env.htmlPages && providerNamed('sandbox')) sandboxPages(app)
let events: string | undefined
app.get('/asyncapi.json', async (c) => {
  await cacheForGuests(rarelyChanged)(c)
  return send(c, events ??= JSON.stringify(describeEvents()))
})

if (env.docsUrl) {
  const headers = { Location: env.docsUrl }
  app.get(
    '/docs',
    (c) => new Response(null, { status: 302, headers: { ...c.get('headers'), ...headers } }),
  )
}

const allowed = methodsOf(app)
app.notFound((c) => {
  const methods = allowed(c.req.path)
  if (!methods.length) return problem(c, 'route_not_found')
  c.get('headers').Allow = methods.join(', ')
  return problem(c, 'method_not_allowed')
})
