/** What happens to every request before its route: id, log line, size, headers, caller. */
import type { Context, MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { arrived } from '../../_shared/timeout.ts'
import { env } from '../../_shared/env.ts'
import type { ErrorCode } from '../../_shared/errors.ts'
import type { Check, Env } from './route.ts'
import { checkJson, shadowing, wrongAt } from '../../_shared/json.ts'
import { problem, Refusal } from '../../_shared/problem.ts'
import { callerOf } from '../../_shared/tokens.ts'

export const apiVersion = '2026-11-01'
export const bodyLimit = 256 * 1024
export const uploadLimit = 100 * 1024 * 1024
const bodyTime = 30_000

/** One JSON line per request: never a token, a code, a full number, or what was sent. */
export const logged: MiddlewareHandler<Env> = async (c, next) => {
  const started = performance.now()
  const requestId = crypto.randomUUID()
  c.set('requestId', requestId)
  c.header('X-Request-Id', requestId)
  c.header('X-Api-Version', apiVersion)
  c.header('X-Content-Type-Options', 'nosniff')
  // Before the answer is made: a header that comes after it makes it anew.
  c.header('Cache-Control', 'no-store')
  c.header('Vary', 'Authorization')
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

/** Who calls, from where: the token is verified here, what it is worth is the database's business. */
export const identified: MiddlewareHandler<Env> = async (c, next) => {
  const caller = await callerOf(c.req.header('authorization'))
  c.set('caller', caller)
  c.set('address', addressOf(c.req.header('x-forwarded-for')))
  if (caller.ignored) c.header('X-Auth-Ignored', '1')
  await next()
}

/** The entry counted from the right that our own proxies wrote; IPv6 by /64. No other header counts. */
export function addressOf(forwarded = ''): string {
  const given = forwarded.split(',').at(-env.clientIpHops)?.trim() ?? ''
  const entry = /(\d+\.\d+\.\d+\.\d+)(:\d+)?$/.exec(given)?.[1] ?? given
  if (!entry.includes(':')) return entry || 'unknown'
  const [head, tail = ''] = entry.replace(/^\[|\]$/g, '').split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const groups = entry.includes('::')
    ? [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
    : left
  return `${groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`
}

/** Reads a body up to the limit, counted as it comes. */
export const bounded: Check = async (c) => {
  const { raw } = c.req
  const length = c.req.header('content-length')
  if (length === '0') return
  if (Number(length ?? 0) > bodyLimit) return problem(c, 'body_too_large')
  if (length === undefined && !raw.body) return
  // A body that says its length cannot be longer; only another has to be counted as it comes.
  const bytes = length === undefined
    ? await readUpTo(raw.body!, bodyLimit)
    : new Uint8Array(await arrived(bodyTime, raw.arrayBuffer()))
  if (!bytes) return problem(c, 'body_too_large')
  c.set('body', bytes)
}

/** An upload counts as it reads; one that says itself that it is too large need not begin. */
export const measured: Check = (c) => {
  if (Number(c.req.header('content-length') ?? 0) > uploadLimit) return problem(c, 'body_too_large')
}

/** Headers, query and body in a form that means one thing; after the token, before the schema. */
export const shaped = (unknownKey?: ErrorCode): Check => (c) => {
  const wrong = (path: string) =>
    problem(c, 'validation_failed', { fields: [{ path, code: 'invalid' }] })
  const expected = c.req.header('x-expect-identity')
  if (expected !== undefined && !uuid.test(expected)) return wrong('X-Expect-Identity')
  if (c.get('caller').role === 'authenticated') c.set('expectIdentity', expected)
  const key = c.req.header('idempotency-key')
  if (key !== undefined && !/^[\x20-\x7e]{1,64}$/.test(key)) return wrong('Idempotency-Key')
  c.set('idempotencyKey', key)

  const start = c.req.url.indexOf('?')
  const name = start > 0 && shadowing(new URLSearchParams(c.req.url.slice(start)).keys())
  if (name) throw wrongAt(name, unknownKey ?? 'unknown')
  const code = jsonProblem(c, unknownKey)
  if (code) return problem(c, code)
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Why the body is no JSON that every layer reads alike; otherwise it is kept for the validators. */
function jsonProblem(c: Context<Env>, unknownKey?: ErrorCode): ErrorCode | undefined {
  const bytes = c.get('body')
  if (!bytes) return undefined
  const type = c.req.header('content-type') ?? ''
  if (bytes.length && !/^application\/json *(; *charset="?utf-8"? *)?$/i.test(type.trim())) {
    return 'content_type_unsupported'
  }
  let text: string
  try {
    text = strict.decode(bytes)
    if (text) checkJson(text, unknownKey)
  } catch (error) {
    if (error instanceof Refusal) throw error
    return 'body_not_json'
  }
  c.req.bodyCache.text = Promise.resolve(text) as unknown as string & Promise<string>
  return undefined
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
    return joined(parts, size)
  }
  try {
    return await arrived(bodyTime, reading())
  } finally {
    // What is left of it, if anything, is not waited for.
    reader.cancel().catch(() => {})
  }
}

function joined(parts: Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
