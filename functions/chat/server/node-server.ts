// Runs the gateway as a separate process, where sockets may stay open as long as the process. It runs on
// Node, because the Deno version of the functions never answers refused upgrades and crashes on HTTP/1.0
// upgrades (denoland/deno#32311, #27106).
import { once } from 'node:events'
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import type { Duplex } from 'node:stream'
import { type ServerOptions, WebSocketServer } from 'ws'
import { logFailure } from '../../_shared/errors/log.ts'
import { countHere, mayReadMetrics, metrics } from '../../_shared/figures/metrics.ts'
import { env } from '../../_shared/settings/env.ts'
import { closeCodes, limits } from '../protocol.ts'
import { familiesOf, handshakes } from './figures.ts'
import { agreedSubprotocol, openGateway } from './gateway.ts'
import { type HttpRefusal, malformed, notUpgrade, refusalResponse } from './http-refusal.ts'
import { NodeSocket, serveNodeSocket } from './node-socket.ts'
import { realtimeFigures } from './realtime-connection.ts'
import { type Times, times } from './times.ts'

type Options = {
  hostname: string
  port: number
  changed?: Partial<Times>
}

const socketOptions: ServerOptions<typeof NodeSocket> & { closeTimeout: number } = {
  noServer: true,
  WebSocket: NodeSocket,
  clientTracking: false,
  // node-socket.ts answers pings itself, with a limit.
  autoPong: false,
  maxPayload: limits.frameBytes,
  maxFragments: 64,
  // In milliseconds: how long to wait for the client's close frame.
  closeTimeout: 2000,
  handleProtocols: (offered) => agreedSubprotocol([...offered]) ?? false,
}

export async function serveChat({ hostname, port, changed }: Options) {
  Object.assign(times, changed)
  const { headTime } = times
  const httpOptions = {
    headersTimeout: headTime,
    requestTimeout: headTime,
    connectionsCheckingInterval: headTime / 10,
    maxHeaderSize: 16 * 1024,
  }
  const age = env.gatewayMaxAge * 1000 || Infinity
  const gateway = openGateway({ endOf: (opened) => opened + age })
  const sockets = new WebSocketServer(socketOptions)
  sockets.on('wsClientError', (_error, socket) => refuse(socket, notUpgrade))

  const decide = (request: IncomingMessage) => {
    const { httpVersion, url = '' } = request
    if (httpVersion !== '1.1' || !URL.canParse(url, 'http://gateway')) return malformed
    const { pathname: path, searchParams: query } = new URL(url, 'http://gateway')
    return gateway.decide({ path, query, headers: headersOf(request) })
  }

  countHere(() => familiesOf({ sockets: gateway.sockets(), ...realtimeFigures() }))

  const server = createServer(httpOptions, (request, response) => {
    const { method, url, headers } = request
    if (method === 'GET' && url === '/metrics' && mayReadMetrics(headers.authorization)) {
      return void metrics(headers.accept).then(({ type, text }) => {
        response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(text)
      })
    }
    const decision = decide(request)
    refuse(request.socket, 'refuse' in decision ? decision : notUpgrade)
  })
  server.on('upgrade', (request, socket, head) => {
    const decision = decide(request)
    if ('refuse' in decision) return refuse(socket, decision)
    // The ws library would also accept version 8.
    if (request.headers['sec-websocket-version'] !== '13') return refuse(socket, notUpgrade)
    sockets.handleUpgrade(request, socket, head, (opened) => {
      handshakes.add({ status: '101' })
      serveNodeSocket(opened, socket, decision.open)
    })
  })
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy()
    else refuse(socket, malformed)
  })

  // An error in one socket must not end the process.
  process.on('unhandledRejection', (reason) => logFailure('a promise', reason))

  server.listen({ host: hostname, port, backlog: 4096 })
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      await gateway.stop(closeCodes.stopping)
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value)
  }
  return headers
}

function refuse(socket: Duplex, refusal: HttpRefusal) {
  const { status, headers, body } = refusalResponse(refusal)
  handshakes.add({ status: String(status) })
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${new TextEncoder().encode(body).length}`,
    'Connection: close',
  ]
  socket.on('error', () => socket.destroy())
  socket.once('finish', () => socket.destroy())
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
