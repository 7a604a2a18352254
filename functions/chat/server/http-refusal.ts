import { errorBody, jsonHeaders } from '../../_shared/errors/error-body.ts'
import type { ErrorCode } from '../../_shared/errors/errors.ts'

export type HttpRefusal = { refuse: number; code: ErrorCode; path?: string }

export function refusalResponse({ refuse: status, code, path }: HttpRefusal) {
  const detail = path === undefined ? {} : { fields: [{ path, code: 'invalid' }] }
  const error = errorBody(code, detail, { english: false, requestId: crypto.randomUUID() })
  const headers: Record<string, string> = {
    ...jsonHeaders,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...(status === 426 && { 'Upgrade': 'websocket', 'Sec-WebSocket-Version': '13' }),
    ...(error.retryAfter !== undefined && { 'Retry-After': String(error.retryAfter) }),
  }
  return { status, headers, body: JSON.stringify({ error }) }
}

/** The request is not a valid WebSocket handshake of version 13. */
export const notUpgrade: HttpRefusal = { refuse: 426, code: 'validation_failed', path: 'Upgrade' }

/** The request is not valid HTTP/1.1. */
export const malformed: HttpRefusal = { refuse: 422, code: 'validation_failed', path: '' }
