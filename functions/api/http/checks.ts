/** Checks of a request before its route sees it: size, token, form. */
import { z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { ApiContext, ApiEnv } from '../../_shared/context.ts'
import { env } from '../../_shared/env.ts'
import type { ErrorCode } from '../../_shared/errors.ts'
import { checkJson, findReservedName } from '../../_shared/json.ts'
import { invalidField, Refusal } from '../../_shared/refusal.ts'
import { receiveWithin } from '../../_shared/timeout.ts'
import { isUuid } from '../../_shared/uuid.ts'
import { invalid, problem } from './problem.ts'

/** Gives the refusal, or nothing. */
export type Check = (c: ApiContext) => Response | undefined | void | Promise<Response | undefined>

/** One check after another, without waiting for those that are done at once. */
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

/** Reads a body up to a limit, counted as it comes. */
export const readBody = (bodyLimit: number): Check => async (c) => {
  const { raw } = c.req
  const length = c.req.header('content-length')
  if (length === '0') return
  if (Number(length ?? 0) > bodyLimit) return problem(c, 'body_too_large')
  if (length === undefined && !raw.body) return
  // A body that says its length cannot be longer; only another has to be counted as it comes.
  const bytes = length === undefined
    ? await readUpTo(raw.body!, bodyLimit)
    : new Uint8Array(await receiveWithin(bodyTime, raw.arrayBuffer()))
  if (!bytes) return problem(c, 'body_too_large')
  c.set('body', bytes)
}

/** An upload is counted while it is read; one that declares itself too large need not begin. */
export const rejectLargeUpload: Check = (c) => {
  if (Number(c.req.header('content-length') ?? 0) > uploadLimit) return problem(c, 'body_too_large')
}

/** 401 before anything else is looked at, unless the request carries a valid token. */
export const requireToken: Check = (c) => {
  const caller = c.get('caller')
  if (caller.role === 'anon') return problem(c, caller.ignored ?? 'token_missing')
  c.set('required', true)
}

/** How long caches may keep an answer to a guest, as in Cache-Control. */
export type GuestCache = string | (() => string)

/**
 * Lets caches in front keep the answer to a guest, unless it is an error. Who sends any Authorization
 * has an answer of their own: no cache keeps it, but theirs where it is the same for everybody.
 */
export const cacheForGuests = (rule: GuestCache, own?: string): Check => (c) => {
  const { role, ignored } = c.get('caller')
  if (!env.guestCache) return
  if (role !== 'anon' || ignored) c.set('cache', own && `private, ${own}`)
  else c.set('cache', `public, ${typeof rule === 'string' ? rule : rule()}`)
}

/** Headers, names in the query, and a body that every layer reads alike; before the schemas. */
export const validateEnvelope = (unknownKey?: ErrorCode, idempotent = false): Check => (c) => {
  const wrong = (path: string) =>
    problem(c, 'validation_failed', { fields: [{ path, code: 'invalid' }] })
  const expected = c.req.header('x-expect-identity')
  if (expected !== undefined && !isUuid(expected.toLowerCase())) return wrong('X-Expect-Identity')
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

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Keeps the text of a JSON body for the validators; gives the error of any other body. */
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
    if (text) checkJson(text, unknownKey)
  } catch (error) {
    if (error instanceof Refusal) throw error
    return 'body_not_json'
  }
  c.req.bodyCache.text = Promise.resolve(text) as unknown as string & Promise<string>
  return undefined
}

/** For a route that takes no body. */
export const rejectBody: Check = async (c) => {
  if (!c.get('body')) return
  const text = await c.req.text()
  if (text && text.trim() !== '{}') {
    return problem(c, 'validation_failed', { fields: [{ path: '', code: 'unknown' }] })
  }
}

const nothing = z.strictObject({})

/** For a route that takes no query. */
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
    // What is left of it, if anything, is not waited for.
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
