// The reverse proxy, which serves all parts on one port under the paths of a Supabase project.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { forwardToRealAuth } from '../auth/real-proxy.ts'
import { forwardToRealDataApi } from '../data-api/real-proxy.ts'
import { forwardToRealRealtime, upgradeToRealRealtime } from '../realtime/real-proxy.ts'
import { type Auth, openPaths } from '../auth/server.ts'
import type { KeyRing } from '../config/signing-keys.ts'
import type { Stack } from '../config/stack.ts'
import type { Storage } from '../storage/server.ts'
import type { Workers } from '../functions/workers.ts'
import { serveDocs } from '../docs/serve.ts'
import { hs256Token } from '../http/hs256.ts'
import { bodyOf } from '../http/body.ts'
import { type Hold, lateAnswers } from '../processes/late-answers.ts'
import { answer, endSocket, socketUnavailable, unavailable } from '../http/answers.ts'
import { chatPort } from './chat.ts'
import {
  clientOf,
  type Credentials,
  hasKey,
  peerOf,
  readCredentials,
  type Rejection,
} from '../http/credentials.ts'
import { toFunctions, upgradeFunction } from './functions.ts'
import { forward, forwardUpgrade } from '../http/forward.ts'
import { acceptUtf8RequestLines } from './utf8-request-lines.ts'

type Given = { stack: Stack; auth: Auth; keys: KeyRing; storage: Storage; workers: Workers }
type Parts = Given & { hold: Hold }

export function openProxy(given: Given): Server {
  const parts = { ...given, hold: lateAnswers(given.stack.lateSeed) }
  const server = createServer({
    // Node checks at this interval for requests that take too long.
    connectionsCheckingInterval: 2000,
    // A missing Host header is rejected below, with a message.
    requireHostHeader: false,
    // Requests to upgrade to other protocols than WebSocket are handled as plain requests.
    shouldUpgradeCallback: ({ headers }) => /websocket/i.test(headers.upgrade ?? ''),
  }, (request, response) => {
    if (!request.headers.host && request.httpVersion !== '1.0') {
      return answer(response, 400, { message: 'Bad request' }, { connection: 'close' })
    }
    // A request target may be a whole URL.
    const url = request.url = request.url!.replace(/^https?:\/\/[^/?#]*(?=\/)/i, '')
    if (/^\/(auth|storage|realtime)\/v1\//.test(url)) parts.hold(request.socket)
    if (url.startsWith('/functions/v1/')) void toFunctions(parts.workers, request, response)
    else if (url.startsWith('/auth/v1/')) void toAuth(parts, request, response)
    else if (url.startsWith('/rest/v1/')) void toDataApi(parts, request, response)
    else if (url.startsWith('/storage/v1/')) void toStorage(parts, request, response)
    else if (url.startsWith('/realtime/v1/')) void toRealtime(parts, request, response)
    else if (/^\/docs(?=[/?]|$)/.test(url)) void serveDocs(parts.stack.url, request, response)
    else notFound(request, response)
  })
  // Idle connections stay open longer than clients keep them, so that none closes just as a request arrives.
  server.keepAliveTimeout = 75_000
  // A client that sends its headers byte by byte must not occupy a connection for long.
  server.headersTimeout = 10_000
  acceptUtf8RequestLines(server)
  // As on the platform, expectations other than 100-continue, which Node answers itself, are ignored.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('upgrade', (request, socket: Socket, head) => upgrade(parts, request, socket, head))
  server.on('clientError', (error: ParseError, socket: Socket) => {
    if (error.code === 'ECONNRESET') return socket.destroy()
    if (error.code !== 'HPE_HEADER_OVERFLOW') {
      return endSocket(socket, '400 Bad Request', 'Bad request')
    }
    const line = error.rawPacket?.indexOf('\n') ?? -1
    if (line < 0 || line > longestLine) {
      return endSocket(socket, '414 URI Too Long', 'Request-URI too large')
    }
    endSocket(socket, '431 Request Header Fields Too Large', 'Request header fields too large')
  })
  return server
}

const longestLine = 8192

type ParseError = Error & { code?: string; rawPacket?: Buffer }

const reject = (response: ServerResponse, { status, body, headers }: Rejection) =>
  answer(response, status, body, { ...cors, ...headers })

const realtimeTarget = ({ stack }: Parts, request: IncomingMessage) => ({
  port: stack.ports.realtime,
  path: request.url!,
  peer: peerOf(request),
})

async function toRealtime(parts: Parts, request: IncomingMessage, response: ServerResponse) {
  if (preflight(request, response)) return
  const { stack, keys } = parts
  if (stack.realRealtime) {
    const credentials = readCredentials(stack, request)
    if ('status' in credentials) return reject(response, credentials)
    return await forwardToRealRealtime(stack, keys, request, response, credentials)
  }
  const target = realtimeTarget(parts, request)
  forward(request, response, { ...target, unavailable: unavailable(response) })
}

// The functions answer CORS preflights themselves. For the platform's parts, the proxy does.
const cors = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'X-Total-Count, Link, X-Supabase-Api-Version, Content-Range',
}

function preflight(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.method !== 'OPTIONS') return false
  const names = request.headers['access-control-request-headers']
  answer(response, 204, undefined, {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS',
    'access-control-allow-headers': names ?? 'Accept, Authorization, Content-Type, X-Client-IP, ' +
        'X-Client-Info, X-JWT-AUD, x-use-cookie, X-Supabase-Api-Version, apikey',
    'access-control-max-age': '3600',
  })
  return true
}

/** Auth has the same limit. */
const bodyLimit = 1024 * 1024

async function toAuth(parts: Parts, request: IncomingMessage, response: ServerResponse) {
  if (preflight(request, response)) return
  const { pathname, searchParams } = new URL(request.url!, 'http://proxy')
  const path = pathname.slice('/auth/v1'.length).replace(/(.)\/$/, '$1')
  let credentials: Credentials | Rejection = { keyRole: 'anon', bearerIsKey: false }
  if (!openPaths.includes(path)) credentials = readCredentials(parts.stack, request)
  if ('status' in credentials) return reject(response, credentials)
  const { stack, keys } = parts
  if (stack.realAuth) return await forwardToRealAuth(stack, keys, request, response, credentials)
  try {
    const body = await bodyOf(request, bodyLimit)
    if (!body) {
      const error = { code: 413, error_code: 'request_entity_too_large', msg: 'Body too large' }
      return answer(response, 413, error, { ...cors, connection: 'close' })
    }
    const { status, headers, body: content } = await parts.auth.handle({
      method: request.method!,
      path,
      query: searchParams,
      headers: request.headers,
      body,
      ip: clientOf(request, credentials),
      ...credentials,
    })
    answer(response, status, content, { ...cors, ...headers })
  } catch {
    // The client disconnected while sending its body.
    response.destroy()
  }
}

async function toDataApi(parts: Parts, request: IncomingMessage, response: ServerResponse) {
  if (preflight(request, response)) return
  const { stack, keys } = parts
  const credentials = readCredentials(stack, request)
  if ('status' in credentials) return reject(response, credentials)
  if (stack.realDataApi) {
    return await forwardToRealDataApi(stack, keys, request, response, credentials)
  }
  const { keyRole, bearer, bearerIsKey } = credentials
  try {
    const claims = bearer === undefined || bearerIsKey
      ? { role: keyRole }
      : await keys.verify(bearer)
    const schema = schemaOf(request, stack.config.api.schemas)
    if (typeof schema !== 'string') return reject(response, schema)
    forward(request, response, {
      port: stack.ports.dataApi,
      path: request.url!,
      peer: peerOf(request),
      unavailable: unavailable(response),
    }, {
      authorization: `Bearer ${await hs256Token(stack.secrets.dataApi, claims)}`,
      // Without these headers, the package would use the schema public even if it is not exposed.
      'accept-profile': schema,
      'content-profile': schema,
    })
  } catch (error) {
    const expired = (error as { code?: string }).code === 'ERR_JWT_EXPIRED'
    reject(response, {
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
      body: {
        code: expired ? 'PGRST303' : 'PGRST301',
        details: null,
        hint: null,
        message: expired ? 'JWT expired' : 'JWT cryptographic operation failed',
      },
    })
  }
}

async function toStorage(parts: Parts, request: IncomingMessage, response: ServerResponse) {
  if (preflight(request, response)) return
  const url = request.url!.slice('/storage/v1'.length)
  // Storage needs no API key, because private files require a token. But if a key is sent, it must be valid.
  const credentials = hasKey(request) ? readCredentials(parts.stack, request) : undefined
  if (credentials && 'status' in credentials) return reject(response, credentials)
  for (const [name, value] of Object.entries(cors)) response.setHeader(name, value)
  await parts.storage.handle(request, response, url, credentials)
}

/** Returns the schema that a request names, or the first exposed one. Rejects all schemas not exposed. */
function schemaOf(request: IncomingMessage, exposed: string[]): string | Rejection {
  const reading = request.method === 'GET' || request.method === 'HEAD'
  const named = request.headers[reading ? 'accept-profile' : 'content-profile']
  const schema = typeof named === 'string' ? named : exposed[0]!
  if (exposed.includes(schema)) return schema
  return {
    status: 406,
    body: {
      code: 'PGRST106',
      details: null,
      hint: `Only the following schemas are exposed: ${exposed.join(', ')}`,
      message: `Invalid schema: ${schema}`,
    },
  }
}

function notFound(_request: IncomingMessage, response: ServerResponse) {
  answer(response, 404, { message: 'no Route matched with those values' })
}

function upgrade(parts: Parts, request: IncomingMessage, socket: Socket, head: Buffer) {
  const url = request.url!
  if (url.startsWith('/functions/v1/')) {
    return upgradeFunction(parts.workers, request, socket, head, chatPort(parts.stack, url))
  }
  if (!/^\/realtime\/v1\/websocket(\?|$)/.test(url)) {
    return endSocket(socket, '404 Not Found', 'no Route matched with those values')
  }
  const { stack, keys } = parts
  if (stack.realRealtime) {
    void upgradeToRealRealtime(stack, keys, request, socket, head)
    return
  }
  forwardUpgrade(request, socket, head, {
    ...realtimeTarget(parts, request),
    hold: parts.hold,
    unavailable: socketUnavailable(socket),
  })
}
