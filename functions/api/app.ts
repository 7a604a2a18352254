/** The REST facade: which areas there are, and what surrounds them. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { cors } from 'hono/cors'
import { accounts } from './accounts.ts'
import { env } from './env.ts'
import { favorites } from './favorites.ts'
import type { Env } from './http.ts'
import { meta } from './meta.ts'
import { passwords } from './passwords.ts'
import { onError, problem } from './problem.ts'
import { registration } from './registration.ts'
import { bounded, identified, logged } from './request.ts'
import { routesOf } from './routes.ts'
import { signingIn } from './sign-in.ts'

export const app = new OpenAPIHono<Env>().basePath('/api')

app.onError(onError)
app.use(logged)
app.use(cors({
  origin: env.corsOrigins,
  allowHeaders: [
    'Authorization',
    'Content-Type',
    'Accept-Language',
    'Idempotency-Key',
    'If-Match',
    'X-Expect-Identity',
  ],
  exposeHeaders: ['X-Request-Id', 'X-Api-Version', 'X-Auth-Ignored', 'Retry-After', 'ETag'],
  maxAge: 600,
}))
app.use(identified)
app.use(bounded)

for (const part of [registration, signingIn, passwords, accounts]) app.route('/auth', part)
app.route('/favorites', favorites)
app.route('/meta', meta)

// A known path with another method is 405; only what is no path at all is 404.
const allowed = routesOf(app)
app.notFound((c) => {
  const methods = allowed(c.req.path)
  if (!methods.length) return problem(c, 'route_not_found')
  c.header('Allow', methods.join(', '))
  return problem(c, 'method_not_allowed')
})
