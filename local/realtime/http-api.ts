import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyOf } from '../http/body.ts'
import { readCredentials } from '../http/credentials.ts'
import type { Caller } from './authorization.ts'
import { type Json, Message, type UserBroadcast } from './frames.ts'
import type { Realtime } from './interfaces.ts'
import { identify } from './tokens.ts'

const maxBodyBytes = 5_000_000

class HttpError extends Error {
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: unknown) {
    super(String(status))
    this.status = status
    this.body = body
  }
}

export async function answerHttp(
  realtime: Realtime,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { status, body } = await call(realtime, request)
    answer(realtime, response, status, body)
  } catch (error) {
    if (error instanceof HttpError) return answer(realtime, response, error.status, error.body)
    console.error(`realtime: ${(error as Error).stack}`)
    answer(realtime, response, 500, { message: 'Internal Server Error' })
  }
}

function answer(
  { events, limits }: Realtime,
  response: ServerResponse,
  status: number,
  body: unknown,
) {
  if (response.destroyed) return
  const text = body === undefined ? '' : JSON.stringify(body)
  const rolling = Math.trunc(events.average)
  response.writeHead(status, {
    ...(text && { 'content-type': 'application/json; charset=utf-8' }),
    'access-control-allow-origin': '*',
    'x-rate-rolling': rolling,
    ...(Number.isFinite(limits.eventsPerSecond) && {
      'x-rate-limit': limits.eventsPerSecond,
      'x-rate-limit-remaining': limits.eventsPerSecond - rolling,
    }),
  })
  response.end(text)
}

type Answer = { status: number; body?: unknown }

async function call(realtime: Realtime, request: IncomingMessage): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url!, 'http://realtime')
  const path = pathname.replace(/^\/realtime\/v1\/api/, '')
  if (request.method === 'GET' && path === '/ping') return ping(realtime, request)
  if (request.method !== 'POST') throw new HttpError(404, { message: 'Not found' })
  const single = /^\/broadcast\/([^/]+)\/events\/([^/]+)$/.exec(path)
  if (path !== '/broadcast' && !single) throw new HttpError(404, { message: 'Not found' })
  const caller = await callerOf(realtime, request)
  const body = await read(request)
  if (!single) return await sendAll(realtime, caller, messagesIn(request, body))
  const [topic, event] = single.slice(1).map(decoded)
  const message = {
    topic: topic!,
    private: searchParams.get('private') === 'true',
    content: singleContent(request, event!, body),
  }
  checkRate(realtime, 1)
  if (!await send(realtime, caller, message)) throw new HttpError(403, { message: 'Forbidden' })
  return { status: 202 }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new HttpError(404, { message: 'Not found' })
  }
}

/** Responds to a ping. On hosted projects the API gateway, and not Realtime itself, requires an API key. */
function ping({ stack }: Realtime, request: IncomingMessage): Answer {
  if ('status' in readCredentials(stack, request)) {
    throw new HttpError(401, { message: 'Unauthorized' })
  }
  return { status: 200, body: { message: 'Success' } }
}

async function callerOf({ stack, keys }: Realtime, request: IncomingMessage): Promise<Caller> {
  const credentials = readCredentials(stack, request)
  if ('status' in credentials) throw new HttpError(401, { message: 'Unauthorized' })
  const { keyRole: role, bearer, bearerIsKey } = credentials
  const headers = request.headers as Json
  if (bearer === undefined || bearerIsKey) return { role, claims: { role }, headers }
  try {
    const identity = await identify(keys, bearer)
    return { ...identity, headers }
  } catch {
    throw new HttpError(401, { message: 'Unauthorized' })
  }
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const body = await bodyOf(request, maxBodyBytes)
  if (!body) throw new HttpError(413, { message: 'Request Entity Too Large' })
  return body
}

const typeOf = ({ headers }: IncomingMessage) =>
  (headers['content-type'] ?? '').split(';')[0]!.trim()

const isJson = (request: IncomingMessage) => typeOf(request) === 'application/json'

type Sent = { topic: string; private: boolean; content: Json | UserBroadcast }

function singleContent(request: IncomingMessage, event: string, body: Buffer): Sent['content'] {
  if (typeOf(request) === 'application/octet-stream') return { event, json: false, bytes: body }
  if (!isJson(request)) throw new HttpError(415, { message: 'Unsupported Media Type' })
  const payload = parsed(body)
  return { event, payload, type: 'broadcast' }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new HttpError(400, { message: 'Bad Request' })
  }
}

/** Returns the messages in a body. A body whose content type is not JSON is ignored. */
function messagesIn(request: IncomingMessage, body: Buffer): unknown {
  return isJson(request) ? Object(parsed(body)).messages : undefined
}

/** Sends several messages. Private messages that the caller may not send are silently skipped. */
async function sendAll(realtime: Realtime, caller: Caller, messages: unknown): Promise<Answer> {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new HttpError(422, { errors: { messages: ["can't be blank"] } })
  }
  const errors = messages.map((message) => validationErrors(realtime, Object(message)))
  if (errors.some((each) => Object.keys(each).length > 0)) {
    throw new HttpError(422, { errors: { messages: errors } })
  }
  checkRate(realtime, messages.length)
  const allowed = new Map<string, boolean>()
  for (const { topic, event, payload, private: isPrivate } of messages) {
    if (allowed.get(topic) === false && isPrivate === true) continue
    const content = { event, payload, type: 'broadcast' }
    const message = { topic, private: isPrivate === true, content }
    const sent = await send(realtime, caller, message, allowed.get(topic))
    if (isPrivate === true) allowed.set(topic, sent)
  }
  return { status: 202 }
}

function validationErrors({ limits }: Realtime, message: Json): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (const name of ['topic', 'event']) {
    if (typeof message[name] !== 'string' || message[name] === '') found[name] = ["can't be blank"]
  }
  const { payload } = message
  if (typeof payload !== 'object' || payload === null) found.payload = ["can't be blank"]
  else if (Buffer.byteLength(JSON.stringify(payload)) > limits.payloadBytes) {
    found.payload = ['Payload size exceeds tenant limit']
  }
  return found
}

function checkRate({ events, limits }: Realtime, count: number) {
  const { average } = events
  const refuse = (message: string) => {
    throw new HttpError(429, { message })
  }
  if (Math.trunc(average) >= limits.eventsPerSecond) refuse('Too many requests')
  if (count + average > limits.eventsPerSecond) {
    refuse('Too many messages to broadcast, please reduce the batch size')
  }
}

/** Sends a message. Returns false if it is private and the caller may not send it. */
async function send(
  { authorization, topics, events }: Realtime,
  caller: Caller,
  { topic: name, private: isPrivate, content }: Sent,
  known?: boolean,
): Promise<boolean> {
  if (isPrivate && known === undefined) {
    if (!await authorization.writable(name, caller, 'broadcast')) return false
  }
  events.add()
  const topic = topics.find(name, isPrivate)
  topic?.publish(new Message(topic.wire, 'broadcast', content))
  return true
}
