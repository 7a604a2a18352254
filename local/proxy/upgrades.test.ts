import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { forwardUpgrade } from '../http/forward.ts'
import { waitUntil } from '../../test/support/wait.ts'

const megabyte = 1024 * 1024

describe('a socket through the proxy', () => {
  let behind: ReturnType<typeof createServer>
  let proxy: ReturnType<typeof createHttpServer>
  const inner: Socket[] = []
  let outer: Socket[] = []

  beforeEach(async () => {
    behind = createServer({ allowHalfOpen: true })
    proxy = createHttpServer()
    behind.on('connection', (socket) => {
      inner.push(socket)
      socket.on('error', () => {})
      socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
    })
    behind.listen(0, '127.0.0.1')
    await once(behind, 'listening')
    const { port } = behind.address() as AddressInfo
    proxy.on('upgrade', (request, socket, head) => {
      outer.push(socket as Socket)
      const unavailable = () => socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n')
      const target = { port, path: '/', peer: '192.0.2.1', unavailable }
      forwardUpgrade(request, socket as Socket, head, target)
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
  })

  afterEach(() => {
    for (const socket of [...inner.splice(0), ...outer]) socket.destroy()
    outer = []
    proxy.close()
    behind.close()
  })

  async function joined() {
    const { port } = proxy.address() as AddressInfo
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    client.on('error', () => {})
    client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n')
    const [first] = await once(client, 'data')
    expect(String(first)).toMatch(/^HTTP\/1.1 101 /)
    return { client, part: inner.at(-1)!, door: outer.at(-1)! }
  }

  function received(client: Socket) {
    const got = { bytes: 0 }
    client.on('data', (data) => (got.bytes += data.length)).resume()
    return got
  }

  test('slows the sender down when the other side does not read', async () => {
    const { client, part, door } = await joined()
    client.pause()
    part.write(Buffer.alloc(200 * megabyte))
    // Once this much data has passed through another connection, the data for the paused client would have
    // passed too.
    const beside = await joined()
    const passing = received(beside.client)
    beside.part.write(Buffer.alloc(50 * megabyte))
    await waitUntil('what goes by has gone', () => passing.bytes === 50 * megabyte)
    // The kernel buffers some of the data; the proxy itself buffers almost nothing.
    expect(part.writableLength).toBeGreaterThan(100 * megabyte)
    expect(door.writableLength).toBeLessThan(2 * megabyte)
    const got = received(client)
    await waitUntil('all of it comes', () => got.bytes === 200 * megabyte)
  })

  test('passes on the end of one side, and what the other still sends', async () => {
    const { client, part } = await joined()
    part.resume()
    client.end('last words')
    await once(part, 'end')
    part.end('answer')
    const [data] = await once(client, 'data')
    expect(String(data)).toBe('answer')
    await once(client, 'end')
    await waitUntil('nothing is left', () => outer.every(({ destroyed }) => destroyed))
  })

  test('delivers the last bytes of a server that closes', async () => {
    const { client, part } = await joined()
    client.pause()
    const words = Buffer.alloc(300_000, 'x')
    await new Promise<void>((resolve) => part.end(words, resolve))
    part.destroy()
    const got = received(client)
    await once(client, 'end')
    expect(got.bytes).toBe(words.length)
  })

  test('is cleaned up when either side dies', async () => {
    for (const dies of ['client', 'part'] as const) {
      const { client, part, door } = await joined()
      const other = dies === 'client' ? part : client
      const gone = once(other.resume(), 'close')
      ;(dies === 'client' ? client : part).resetAndDestroy()
      await waitUntil('the proxy lets go', () => door.destroyed)
      other.end()
      await gone
    }
  })

  test('is refused with 503 while the server is down', async () => {
    behind.close()
    const { port } = proxy.address() as AddressInfo
    const client = connect({ port, host: '127.0.0.1' })
    client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n')
    const [data] = await once(client, 'data')
    expect(String(data)).toMatch(/^HTTP\/1.1 503 /)
    client.destroy()
  })
})
