import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { callerOf } from '../../_shared/auth/tokens.ts'
import { clientAddress } from '../../_shared/caller/client-address.ts'
import type { ApiEnv } from '../../_shared/caller/context.ts'
import { prefersEnglish } from '../../_shared/errors/error-body.ts'
import { inRequest, log } from '../../_shared/errors/log.ts'
import { requestBegins, requestEnds } from './figures.ts'

export const apiVersion = '2026-11-01'

const levelOf = (status: number) => status < 500 ? 'info' : status === 500 ? 'error' : 'warn'

/**
 * Logs one JSON line per request. It never contains a token, a code, a complete phone number or any input.
 */
export const logRequest: MiddlewareHandler<ApiEnv> = (c, next) =>
  inRequest(c.req.header('traceparent'), async (requestId) => {
    const started = performance.now()
    requestBegins()
    c.set('requestId', requestId)
    c.set('headers', {
      'X-Request-Id': requestId,
      'X-Api-Version': apiVersion,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'private, no-store',
      'Vary': 'Authorization, Origin, Accept-Language',
    })
    await next()
    const { status } = c.res
    const { method } = c.req
    const route = routePath(c, -1)
    const ms = performance.now() - started
    const code = c.get('errorCode')
    requestEnds({ method, route, status, code, seconds: ms / 1000 })
    log(levelOf(status), {
      method,
      route,
      status,
      ms: Math.round(ms),
      account: c.get('caller')?.sub,
      code,
      cause: c.get('cause'),
    })
  })

/**
 * Verifies the token's signature and reads the client address and language. The database later decides
 * whether the token is still valid.
 */
export const authenticate: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const caller = await callerOf(c.req.header('authorization'))
  c.set('caller', caller)
  c.set('english', prefersEnglish(c.req.header('accept-language')))
  c.set('address', clientAddress(c.req.header('x-forwarded-for')))
  if (caller.ignored) c.get('headers')['X-Auth-Ignored'] = '1'
  await next()
}
