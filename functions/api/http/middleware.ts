import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { callerOf } from '../../_shared/auth/tokens.ts'
import { clientAddress } from '../../_shared/caller/client-address.ts'
import type { ApiEnv } from '../../_shared/caller/context.ts'
import { prefersEnglish } from '../../_shared/errors/error-body.ts'

export const apiVersion = '2026-11-01'

/** Logs one JSON line per request, which never contains a token, a code, a full number or any input. */
export const logRequest: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const started = performance.now()
  const requestId = crypto.randomUUID()
  c.set('requestId', requestId)
  c.set('headers', {
    'X-Request-Id': requestId,
    'X-Api-Version': apiVersion,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'private, no-store',
    'Vary': 'Authorization, Origin, Accept-Language',
  })
  await next()
  console.log(JSON.stringify({
    time: new Date().toISOString(),
    requestId,
    method: c.req.method,
    route: routePath(c, -1),
    status: c.res.status,
    ms: Math.round(performance.now() - started),
    account: c.get('caller')?.sub,
    code: c.get('errorCode'),
    cause: c.get('cause'),
  }))
}

/** Verifies the token, reads address and language. The database decides if the token is still valid. */
export const authenticate: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const caller = await callerOf(c.req.header('authorization'))
  c.set('caller', caller)
  c.set('english', prefersEnglish(c.req.header('accept-language')))
  c.set('address', clientAddress(c.req.header('x-forwarded-for')))
  if (caller.ignored) c.get('headers')['X-Auth-Ignored'] = '1'
  await next()
}
