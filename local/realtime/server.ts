// The Realtime stand-in: sockets at /realtime/v1/websocket and the calls beside them, to the wire
// formats of Supabase Realtime.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import { readCredentials } from '../gateway/credentials.ts'
import type { KeyRing } from '../keys.ts'
import type { Stack } from '../stack.ts'
import { type Authorization, openAuthorization } from './authorization.ts'
import { answerCall } from './calls.ts'
import { Connection, refusalPause } from './connection.ts'
import { type Json, Message, type Version } from './frames.ts'
import { type Limits, limitsOf, Rate } from './limits.ts'
import { openStream, type Row, type Stream } from './stream.ts'
import { Topics } from './topics.ts'

const largestFrame = 5_000_000
/** Clients send a heartbeat every 25 s. */
const silence = 60_000
const handshakePause = 2000

export type Realtime = {
  stack: Stack
  keys: KeyRing
  limits: Limits
  topics: Topics
  authorization: Authorization
  connections: Set<Connection>
  events: Rate
  joins: Rate
  presence: Rate
  refusalPause: number
  /** True while more happens than the limit of events allows. */
  crowded: () => boolean
  /** Resolves when messages of the database arrive from now on. */
  ready: () => Promise<void>
}

export type RealtimeServer = {
  server: Server
  /** Opens the replication slot ahead of the first join: it waits for all transactions that run. */
  ready: () => Promise<void>
  close: () => Promise<void>
}

export function openRealtime(stack: Stack, keys: KeyRing): RealtimeServer {
  const databaseUrl = stack.databaseUrl('supabase_admin')
  const events = new Rate()
  const limits = limitsOf(stack.rates)
  const database = follow(databaseUrl, (row) => deliver(realtime, row), () => {
    // Nobody can say what was missed: clients connect again and catch up.
    for (const connection of realtime.connections) connection.close(1012)
  })
  const realtime: Realtime = {
    stack,
    keys,
    limits,
    topics: new Topics(),
    authorization: openAuthorization(databaseUrl),
    connections: new Set(),
    events,
    joins: new Rate(),
    presence: new Rate(),
    refusalPause,
    crowded: () => events.average >= limits.eventsPerSecond,
    ready: database.ready,
  }
  const sockets = new WebSocketServer({ noServer: true, maxPayload: largestFrame })
  const server = createServer((request, response) => void answerCall(realtime, request, response))
  server.keepAliveTimeout = 75_000
  server.on('upgrade', (request, socket, head) => {
    void upgrade(realtime, sockets, { request, socket, head })
  })
  const clock = setInterval(() => {
    const now = Date.now()
    for (const connection of realtime.connections) {
      if (now - connection.lastHeard > silence) connection.close(1000)
    }
  }, 10_000)
  const close = async () => {
    clearInterval(clock)
    server.close()
    for (const connection of realtime.connections) connection.close(1001)
    for (let wait = 0; realtime.connections.size > 0 && wait < 1500; wait += 50) await sleep(50)
    database.rest()
    server.closeAllConnections()
    await realtime.authorization.close()
  }
  return { server, ready: database.ready, close }
}

/** Keeps a stream of the database's messages while it is wanted. */
function follow(databaseUrl: string, onRow: (row: Row) => void, onLoss: () => void) {
  let stream: Promise<Stream> | undefined
  const start = async () => {
    const opening = openStream(databaseUrl, onRow)
    stream = opening
    try {
      const { ended } = await opening
      void ended.then(() => {
        // Unless it was told to rest.
        if (stream !== opening) return
        stream = undefined
        onLoss()
      })
    } catch (error) {
      console.error(`UnableToConnectToProject: ${(error as Error).message}`)
      if (stream === opening) stream = undefined
      throw error
    }
  }
  let starting: Promise<void> | undefined
  return {
    ready: async () => {
      if (!stream) starting = start()
      await starting
    },
    rest: () => {
      const resting = stream
      stream = undefined
      void resting?.then(({ close }) => close(), () => {})
    },
  }
}

/** Hands a row of realtime.messages to those who listen to its topic. */
function deliver(realtime: Realtime, row: Row) {
  const { topic: name, event, payload, binary_payload: bytes, id } = row
  if (!name || event === null || row.extension !== 'broadcast' || realtime.crowded()) return
  const topic = realtime.topics.find(name, row.private === 't')
  if (!topic) return
  realtime.events.add()
  const content = bytes
    ? { event: event!, json: false, bytes: Buffer.from(bytes.slice(2), 'hex') }
    : { event, payload: JSON.parse(payload ?? 'null'), type: 'broadcast' }
  topic.publish(new Message(topic.wire, 'broadcast', content, { id: id! }))
}

type Upgrade = { request: IncomingMessage; socket: Duplex; head: Buffer }

/** Opens a connection, or refuses it as the real one does: slowly and in JSON. */
async function upgrade(realtime: Realtime, sockets: WebSocketServer, asked: Upgrade) {
  const { request, socket, head } = asked
  socket.on('error', () => {})
  const { pathname, searchParams } = new URL(request.url!, 'http://realtime')
  const refuse = async (status: string, error: string) => {
    await sleep(handshakePause)
    const body = JSON.stringify({ error })
    if (!socket.writable) return socket.destroy()
    socket.end(
      `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  }
  if (pathname !== '/realtime/v1/websocket') return await refuse('404 Not Found', 'Not found')
  const { 'x-api-key': key } = request.headers
  if (request.headers.apikey === undefined && key) request.headers.apikey = String(key)
  const credentials = readCredentials(realtime.stack, request)
  if ('status' in credentials) return await refuse('401 Unauthorized', 'Invalid API key')
  if (realtime.connections.size >= realtime.limits.connections) {
    return await refuse('429 Too Many Requests', 'Too many connected users')
  }
  // Looked at once more at each join; begun here, so that the first one need not wait.
  realtime.ready().catch(() => {})
  realtime.authorization.ensurePartitions()
  const role = credentials.keyRole
  sockets.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
    const connection = new Connection(realtime, webSocket, {
      version: versionOf(searchParams.get('vsn')),
      identity: { role, claims: { role } },
      headers: ownHeaders(request),
    })
    realtime.connections.add(connection)
  })
}

const versionOf = (text: string | null): Version => text?.startsWith('2.') ? '2.0.0' : '1.0.0'

/** The headers that policies may look at. */
const ownHeaders = ({ headers }: IncomingMessage): Json =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-')))
