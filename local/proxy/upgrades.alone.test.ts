// Sockets through the proxy: who reads slowly, who says goodbye first, who dies. It needs no
// stack.
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { forwardUpgrade } from '../http/forward.ts'
import { waitUntil } from '../../test/support/wait.ts'

describe('a socket through the proxy', () => {
  /** The part behind: it takes every upgrade, and the test has its sockets. */
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

  /** A client that is joined with the part behind. */
  async function joined() {
    const { port } = proxy.address() as AddressInfo
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    client.on('error', () => {})
    client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n')
    const [first] = await once(client, 'data')
    expect(String(first)).toMatch(/^HTTP\/1.1 101 /)
    return { client, part: inner.at(-1)!, door: outer.at(-1)! }
  }

  test('slows the sender down when the other side does not read', async () => {
    const { client, part, door } = await joined()
    client.pause()
    let more = true
    const chunk = Buffer.alloc(1024 * 1024)
    let sent = 0
    for (; more && sent < 200; sent++) {
      more = part.write(chunk)
      if (!more) {
        more = await Promise.race([once(part, 'drain').then(() => true), sleep(500, false)])
      }
    }
    // What the kernel buffers; the proxy itself keeps next to nothing.
    expect(sent).toBeLessThan(100)
    expect(door.writableLength).toBeLessThan(2 * 1024 * 1024)
    let got = 0
    client.on('data', (data) => (got += data.length)).resume()
    await waitUntil('all of it comes', () => got === sent * chunk.length)
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
    part.end(words)
    await sleep(200)
    part.destroy()
    let got = 0
    client.on('data', (data) => (got += data.length)).resume()
    await once(client, 'end')
    expect(got).toBe(words.length)
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
