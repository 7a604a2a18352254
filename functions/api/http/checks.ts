import { z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { ApiContext, ApiEnv } from '../../_shared/caller/context.ts'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import { invalidField, Refusal } from '../../_shared/errors/refusal.ts'
import { receiveWithin } from '../../_shared/errors/timeout.ts'
import { checkJson, findReservedName } from '../../_shared/input/json.ts'
import { isUuid } from '../../_shared/input/uuid.ts'
import { env } from '../../_shared/settings/env.ts'
import { invalid, problem } from './problem.ts'

export type Check = (c: ApiContext) => Response | undefined | void | Promise<Response | undefined>

/** Runs checks in order. Awaits only those that are asynchronous. */
export const inOrder = (checks: readonly Check[]): MiddlewareHandler<ApiEnv> => async (c, next) => {
  for (const check of checks) {
    const result = check(c)
    const refusal = result instanceof Promise ? await result : result
    if (refusal) return refusal
  }
  await next()
}

export const uploadLimit = 100 * 1024 * 1024
const bodyTime = 30_000

export const readBody = (bodyLimit: number): Check => async (c) => {
  const { raw } = c.req
  const length = c.req.header('content-length')
  if (length === '0') return
  if (Number(length ?? 0) > bodyLimit) return problem(c, 'body_too_large')
  if (length === undefined && !raw.body) return
  // A body cannot exceed its Content-Length. A body without this header is counted as it arrives.
  const bytes = length === undefined
    ? await readUpTo(raw.body!, bodyLimit)
    : new Uint8Array(await receiveWithin(bodyTime, raw.arrayBuffer()))
  if (!bytes) return problem(c, 'body_too_large')
  c.set('body', bytes)
}

/** Refuses an upload whose Content-Length is too large. All uploads are also counted as they are read. */
export const rejectLargeUpload: Check = (c) => {
  if (Number(c.req.header('content-length') ?? 0) > uploadLimit) return problem(c, 'body_too_large')
}

/** Responds with 401 unless the request has a valid token. Runs before the input is validated. */
export const requireToken: Check = (c) => {
  const caller = c.get('caller')
  if (caller.role === 'anon') return problem(c, caller.ignored ?? 'token_missing')
  c.set('required', true)
}

export type GuestCache = string | (() => string)

/**
 * Lets shared caches store responses to anonymous users (`rule`). Responses to requests with a token may be
 * stored only by the client itself (`own`).
 */
export const cacheForGuests = (rule: GuestCache, own?: string): Check => (c) => {
  const { role, ignored } = c.get('caller')
  if (!env.guestCache) return
  if (role !== 'anon' || ignored) c.set('cache', own && `private, ${own}`)
  else c.set('cache', `public, ${typeof rule === 'string' ? rule : rule()}`)
}

/**
 * Validates headers and the names of query parameters, and ensures that JavaScript and Postgres read the JSON
 * in the same way. Runs before the schemas.
 */
export const validateEnvelope = (unknownKey?: ErrorCode, idempotent = false): Check => (c) => {
  const wrong = (path: string) =>
    problem(c, 'validation_failed', { fields: [{ path, code: 'invalid' }] })
  const expected = c.req.header('x-expect-identity')
  if (expected !== undefined && !isUuid(expected)) return wrong('X-Expect-Identity')
  if (c.get('caller').role === 'authenticated') c.set('expectIdentity', expected)
  c.set('proof', c.req.header('x-proof'))
  const key = c.req.header('idempotency-key')
  if (key !== undefined && !/^[\x20-\x7e]{1,64}$/.test(key)) return wrong('Idempotency-Key')
  if (idempotent) c.set('idempotencyKey', key)

  const start = c.req.url.indexOf('?')
  const name = start > 0 && findReservedName(new URLSearchParams(c.req.url.slice(start)).keys())
  if (name) throw invalidField(name, unknownKey ?? 'unknown')
  const code = parseBody(c, unknownKey)
  if (code) return problem(c, code)
}

// Strips a byte order mark.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Keeps the text of a JSON body for the validators. Returns an error code if the body is not acceptable JSON.
 */
function parseBody(c: ApiContext, unknownKey?: ErrorCode): ErrorCode | undefined {
  const bytes = c.get('body')
  if (!bytes) return undefined
  const type = c.req.header('content-type') ?? ''
  if (bytes.length && !/^application\/json *(; *charset="?utf-8"? *)?$/i.test(type.trim())) {
    return 'content_type_unsupported'
  }
  let text: string
  try {
    text = strictUtf8.decode(bytes)
    if (text) text = checkJson(text, unknownKey)
  } catch (error) {
    if (error instanceof Refusal) throw error
    return 'body_not_json'
  }
  c.req.bodyCache.text = Promise.resolve(text) as unknown as string & Promise<string>
  return undefined
}

/** Removes an empty body from the request, whatever its content type. */
export const dropEmptyBody: Check = async (c) => {
  if (c.get('body') && await c.req.text()) return undefined
  const { url, method, headers: given } = c.req.raw
  const headers = new Headers(given)
  headers.delete('content-type')
  c.req.raw = new Request(url, { method, headers })
  c.req.bodyCache = {}
  return undefined
}

export const rejectBody: Check = async (c) => {
  if (!c.get('body')) return
  const text = await c.req.text()
  if (text && text.trim() !== '{}') {
    return problem(c, 'validation_failed', { fields: [{ path: '', code: 'unknown' }] })
  }
}

const nothing = z.strictObject({})

export const rejectQuery: Check = (c) => {
  if (!c.req.url.includes('?')) return
  const { error } = nothing.safeParse(c.req.query())
  if (error) return invalid(c, error)
}

async function readUpTo(stream: ReadableStream<Uint8Array>, limit: number) {
  const reader = stream.getReader()
  const parts: Uint8Array[] = []
  let size = 0
  const reading = async () => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      size += read.value.length
      if (size > limit) return undefined
      parts.push(read.value)
    }
    return concatenate(parts, size)
  }
  try {
    return await receiveWithin(bodyTime, reading())
  } finally {
    // Do not wait for the rest of the body.
    reader.cancel().catch(() => {})
  }
}

function concatenate(parts: Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
