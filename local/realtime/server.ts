import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import { readCredentials } from '../http/credentials.ts'
import type { KeyRing } from '../config/signing-keys.ts'
import type { Stack } from '../config/stack.ts'
import { openAuthorization } from './authorization.ts'
import { answerHttp } from './http-api.ts'
import { Connection } from './connection.ts'
import { type Json, Message, type Version } from './frames.ts'
import { connectedUsers, type Realtime, type RealtimeOptions } from './interfaces.ts'
import { type Limits, limitsOf, Rate } from './limits.ts'
import type { Row } from './stream.ts'
import { openTenant, type Tenant } from './tenant.ts'
import { Topics } from './topics.ts'

const maxFrameBytes = 5_000_000
/** A socket is closed after this many milliseconds without a frame. Clients send a heartbeat every 25 s. */
const heartbeatTimeout = 60_000
const failedHandshakeDelay = 2000
/** The stream from the database is closed after this many milliseconds without connections. */
const idleTimeout = 660_000

const defaults: RealtimeOptions = {
  plan: 'free',
  privateOnly: true,
  failedJoinDelay: 5000,
  rateInterval: 5000,
  reconnectDelays: { min: 5000, max: 300_000 },
  partitionDelay: 200,
  connectionCheck: 300_000,
  readyTimeout: 60_000,
  joinDelay: () => 0,
}

type RealtimeServer = {
  server: Server
  tenant: Tenant
  limits: Limits
  channels: () => number
  /** Makes all clients reconnect, as after a change of the project's keys. */
  disconnectAll: () => void
  close: () => Promise<void>
}

export function openRealtime(
  stack: Stack,
  keys: KeyRing,
  options: Partial<RealtimeOptions> = {},
): RealtimeServer {
  const databaseUrl = stack.databaseUrl('supabase_admin')
  const chosen = { ...defaults, ...options }
  const limits = limitsOf(chosen.plan, stack.rates)
  const authorization = openAuthorization(databaseUrl)
  const tenant = openTenant(databaseUrl, authorization, {
    delays: chosen.reconnectDelays,
    partitionDelay: chosen.partitionDelay,
    onRow: (row) => deliver(realtime, row),
  })
  const realtime: Realtime = {
    ...chosen,
    stack,
    keys,
    limits,
    topics: new Topics(),
    authorization,
    tenant,
    connections: new Set(),
    events: new Rate(limits.eventsPerSecond, chosen.rateInterval),
    joins: new Rate(limits.joinsPerSecond, chosen.rateInterval),
    presence: new Rate(limits.presencePerSecond, chosen.rateInterval),
  }
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxFrameBytes })
  const server = createServer((request, response) => void answerHttp(realtime, request, response))
  server.keepAliveTimeout = 75_000
  server.on('upgrade', (request, socket, head) => {
    void upgrade(realtime, sockets, { request, socket, head })
  })
  let used = Date.now()
  let knownKeys = JSON.stringify(keys.jwks())
  const clock = setInterval(() => {
    const now = Date.now()
    for (const connection of realtime.connections) {
      if (now - connection.lastHeard > heartbeatTimeout) connection.close(1000)
    }
    if (realtime.connections.size > 0) used = now
    else if (now - used > idleTimeout) tenant.disconnect()
    const keysNow = JSON.stringify(keys.jwks())
    if (keysNow !== knownKeys) disconnectAll(realtime)
    knownKeys = keysNow
  }, 10_000)
  const check = setInterval(() => {
    if (realtime.connections.size > 0) void tenant.connect()
  }, chosen.connectionCheck)
  const close = async () => {
    clearInterval(clock)
    clearInterval(check)
    server.close()
    for (const connection of realtime.connections) connection.close(1001)
    for (let wait = 0; realtime.connections.size > 0 && wait < 1500; wait += 50) await sleep(50)
    tenant.disconnect()
    server.closeAllConnections()
    await authorization.close()
  }
  const channels = () =>
    [...realtime.connections].reduce((sum, connection) => sum + connection.channels.size, 0)
  return { server, tenant, limits, channels, disconnectAll: () => disconnectAll(realtime), close }
}

/**
 * Disconnects every client. Each channel first gets a system frame with the status ok. A client that checks
 * only the status may mistake this frame for the report that the stream is connected.
 */
function disconnectAll({ connections }: Realtime) {
  const payload = { extension: 'system', status: 'ok', message: 'Server requested disconnect' }
  for (const connection of connections) {
    for (const channel of connection.channels.values()) connection.push(channel, 'system', payload)
    connection.close(1012)
  }
}

function deliver({ topics, events, limits }: Realtime, row: Row) {
  const { topic: name, event, payload, binary_payload: hex, id } = row
  if (!name || !event || row.extension !== 'broadcast' || events.triggered) return
  // The payload is passed on unchanged, as for a user's broadcast.
  const bytes = hex ? Buffer.from(hex.slice(2), 'hex') : payload ? Buffer.from(payload) : undefined
  if (!bytes || bytes.length > limits.payloadBytes) return
  events.add()
  const topic = topics.find(name, row.private === 't')
  topic?.publish(new Message(topic.wire, 'broadcast', { event, json: !hex, bytes }, { id: id! }))
}

type Upgrade = { request: IncomingMessage; socket: Duplex; head: Buffer }

/** Opens a connection, or rejects it like the real Realtime: with a JSON body, after a delay. */
async function upgrade(realtime: Realtime, sockets: WebSocketServer, incoming: Upgrade) {
  const { request, socket, head } = incoming
  socket.on('error', () => {})
  const url = URL.parse(request.url!, 'http://realtime')
  const refuse = async (status: string, error: string) => {
    await sleep(failedHandshakeDelay)
    const body = JSON.stringify({ error })
    if (!socket.writable) return socket.destroy()
    socket.end(
      `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  }
  if (url?.pathname !== '/realtime/v1/websocket') return await refuse('404 Not Found', 'Not found')
  const { 'x-api-key': key } = request.headers
  if (request.headers.apikey === undefined && key) request.headers.apikey = String(key)
  const credentials = readCredentials(realtime.stack, request)
  if ('status' in credentials) return await refuse('401 Unauthorized', 'Invalid API key')
  if (connectedUsers(realtime) >= realtime.limits.connections) {
    return await refuse('429 Too Many Requests', 'Too many connected users')
  }
  if (realtime.joins.triggered) {
    return await refuse('429 Too Many Requests', 'Too many joins per second')
  }
  const role = credentials.keyRole
  sockets.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
    const connection = new Connection(realtime, webSocket, {
      version: versionOf(url.searchParams.get('vsn')),
      identity: { role, claims: { role } },
      headers: ownHeaders(request),
    })
    realtime.connections.add(connection)
  })
}

const versionOf = (text: string | null): Version => text?.startsWith('2.') ? '2.0.0' : '1.0.0'

const ownHeaders = ({ headers }: IncomingMessage): Json =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-')))
