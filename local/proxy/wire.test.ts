import { once } from 'node:events'
import {
  Agent,
  createServer as createHttpServer,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { forward, forwardUpgrade } from '../http/forward.ts'
import { Connection, type Exchange } from '../http/upstream.ts'
import { waitUntil } from '../../test/support/wait.ts'

describe('the proxy', () => {
  test('passes bodies on as they come, in both directions', async () => {
    const left: IncomingMessage[] = []
    const upstream = createHttpServer((request, response) => {
      const { url } = request
      if (url === '/echo') request.pipe(response.writeHead(200, { 'x-way': 'there and back' }))
      else if (url === '/empty') response.writeHead(204).end()
      else if (url === '/same') response.writeHead(304, { etag: '"1"' }).end()
      else if (url === '/with-body') {
        const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
        response.writeHead(200, { 'x-body': length ?? encoding ?? 'none' }).end()
      } else if (url === '/cut') {
        response.writeHead(200, { 'content-length': 100 })
          .write('half', () => response.destroy())
      } else if (url === '/left') left.push(request.resume())
      else response.end(`${request.method} ${request.headers['x-forwarded-for']}`)
    })
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    const proxy = createHttpServer((request, response) =>
      forward(request, response, {
        port,
        path: request.url!,
        peer: '192.0.2.1',
        unavailable: () => response.writeHead(503).end(),
      })
    )
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const big = 'محتوى'.repeat(400_000)
    const echo = await fetch(`${url}/echo`, { method: 'POST', body: big })
    expect(echo.headers.get('x-way')).toBe('there and back')
    expect(await echo.text()).toBe(big)
    const stream = { method: 'POST', body: new Blob([big]).stream(), duplex: 'half' }
    const chunked = await fetch(`${url}/echo`, stream as RequestInit)
    expect(await chunked.text()).toBe(big)
    const forged = { 'x-forwarded-for': '198.51.100.1' }
    expect(await (await fetch(`${url}/who`, { headers: forged })).text()).toBe('GET 192.0.2.1')
    expect((await fetch(`${url}/empty`)).status).toBe(204)
    expect((await fetch(`${url}/same`)).status).toBe(304)
    expect((await fetch(`${url}/who`, { method: 'HEAD' })).status).toBe(200)
    await expect(fetch(`${url}/cut`).then((response) => response.text())).rejects.toThrow()
    // The body of a GET is dropped and must not be read as the next request.
    for (const method of ['GET', 'HEAD']) {
      for (const headers of [{ 'content-length': 6 }, { 'transfer-encoding': 'chunked' }]) {
        const request = httpRequest(`${url}/with-body`, { method, headers })
        request.end('GET / ')
        const [answered] = await once(request, 'response')
        expect([answered.statusCode, answered.headers['x-body']]).toEqual([200, 'none'])
        answered.resume()
        expect(await (await fetch(`${url}/who`)).text()).toBe('GET 192.0.2.1')
      }
    }
    // A client that disconnects before its answer must not affect the next request.
    const leaver = httpRequest(`${url}/left`, { method: 'POST' })
    leaver.on('error', () => {})
    leaver.write('and gone')
    await waitUntil('it has come', () => left.length === 1)
    leaver.destroy()
    await waitUntil('the proxy lets go', () => left[0]!.destroyed)
    const many = await Promise.all(Array.from({ length: 100 }, () => fetch(`${url}/who`)))
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200]))
    upstream.close()
    upstream.closeAllConnections()
    await waitUntil(
      'nobody is behind the proxy',
      async () => (await fetch(`${url}/who`)).status === 503,
    )
    proxy.close()
    proxy.closeAllConnections()
  })

  /** Sends a request over a connection. `more` is returned by onBody for each chunk of the response. */
  const ask = (connection: Connection, more = true) => {
    let exchange: Exchange
    const answered = new Promise<boolean>((resolve) => {
      exchange = {
        head: false,
        onHead: () => {},
        onBody: (_, last) => {
          if (last) resolve(true)
          return more
        },
        onFailure: () => resolve(false),
      }
      connection.begin(exchange, 'GET / HTTP/1.1\r\nHost: upstream\r\n\r\n', true)
    })
    return { exchange: exchange!, answered }
  }

  test('a refused upload is read to the end, and its connection serves on', async () => {
    const upstream = createHttpServer(({ url }, response) =>
      url === '/refused' ? response.writeHead(413).end('too much') : response.end('well')
    ).listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    const proxy = createHttpServer((request, response) =>
      forward(request, response, {
        port: request.url === '/gone' ? 1 : port,
        path: request.url!,
        peer: '192.0.2.1',
        unavailable: () => response.writeHead(503).end(),
      })
    ).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const to = { port: (proxy.address() as AddressInfo).port }
    for (const [path, status] of [['/refused', 413], ['/gone', 503]] as const) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const upload = httpRequest({
        ...to,
        agent,
        path,
        method: 'POST',
        headers: { 'content-length': 5_000_000 },
      })
      const answered = once(upload, 'response')
      upload.write(Buffer.alloc(1_000_000))
      const [answer] = await answered
      upload.end(Buffer.alloc(4_000_000))
      answer.resume()
      await once(answer, 'end')
      await waitUntil('its connection is free', () => Object.keys(agent.freeSockets).length > 0)
      const next = httpRequest({ ...to, agent, path: '/well' }).end()
      const [well] = await once(next, 'response')
      expect([answer.statusCode, well.statusCode, next.reusedSocket]).toEqual([status, 200, true])
      agent.destroy()
    }
    proxy.close()
    upstream.close()
    upstream.closeAllConnections()
  })

  test('a slow reader who leaves does not stall the next request on its connection', async () => {
    const upstream = createServer((socket) =>
      // Both chunks and the end arrive in one packet, so all data is there when the pause begins.
      socket.on('data', () => {
        const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
        socket.write(`${head}1\r\na\r\n1\r\nb\r\n0\r\n\r\n`)
      })
    ).listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    const connection = Connection.to(port)
    expect(await ask(connection, false).answered).toBe(true)
    expect(Connection.to(port)).toBe(connection)
    const next = ask(connection).answered
    expect(await next).toBe(true)
    connection.socket.destroy()
    upstream.close()
  })

  test('a client that leaves late does not disturb another request', async () => {
    const upstream = createHttpServer((_, response) => response.end('answer')).listen(
      0,
      '127.0.0.1',
    )
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    const connection = Connection.to(port)
    const first = ask(connection)
    expect(await first.answered).toBe(true)
    expect(Connection.to(port)).toBe(connection)
    const second = ask(connection)
    connection.abandon(first.exchange)
    expect(await second.answered).toBe(true)
    upstream.close()
    upstream.closeAllConnections()
  })
})

describe('the proxy and WebSockets', () => {
  test('joins both ends once the upgrade is agreed', async () => {
    const upstream = createHttpServer().on('upgrade', (request, socket, first) => {
      const { upgrade, connection, 'x-forwarded-for': peer } = request.headers
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n')
      socket.write(`${upgrade} ${connection} ${peer} ${request.url};`)
      socket.write(first)
      socket.pipe(socket)
    })
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    const proxy = createHttpServer().on(
      'upgrade',
      (request, socket, head) =>
        forwardUpgrade(request, socket as Socket, head, {
          port,
          path: '/chat',
          peer: '192.0.2.1',
          unavailable: () => socket.destroy(),
        }),
    )
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const socket = connect((proxy.address() as AddressInfo).port, '127.0.0.1')
    let read = ''
    socket.on('data', (data) => (read += data))
    socket.write('GET /functions/v1/chat HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\n')
    socket.write('Connection: Upgrade\r\nX-Forwarded-For: 198.51.100.1\r\n\r\nhello')
    await waitUntil('it answers', () => read.includes('hello'))
    expect(read).toMatch(/^HTTP\/1.1 101 .*echo Upgrade 192.0.2.1 \/chat;hello$/s)
    upstream.close()
    upstream.closeAllConnections()
    socket.destroy()
    proxy.close()
  })
})
