// A proxy to Postgres that uses TLS like a hosted project, with any certificate.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { Certificate } from './certificates.ts'

// The first message of a client that wants TLS; other clients begin with the startup message.
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

export async function tlsProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const seen = { inClear: 0, verified: 0 }
  let certificate: Certificate | undefined
  const server = createServer((client) => {
    sockets.add(client)
    client.on('close', () => sockets.delete(client)).on('error', () => {})
    client.once('data', (first: Buffer) => {
      if (!first.equals(sslRequest)) {
        seen.inClear++
        return client.destroy()
      }
      if (!certificate) return client.end('N')
      client.write('S')
      const secureContext = createSecureContext(certificate)
      const secure = new TLSSocket(client, { isServer: true, secureContext })
      secure.on('error', () => {})
      // A client that rejects the certificate sends nothing.
      secure.once('data', (startUp: Buffer) => {
        seen.verified++
        const upstream = connect(Number(target.port), target.hostname)
        upstream.on('error', () => client.destroy())
        upstream.write(startUp)
        secure.pipe(upstream).pipe(secure)
      })
    })
  }).listen(0)
  await once(server, 'listening')
  return {
    seen,
    url: (host: string, query = '') => {
      const url = new URL(databaseUrl)
      url.hostname = host
      url.port = String((server.address() as AddressInfo).port)
      url.search = query
      return url.href
    },
    /** Sets the certificate for new connections and closes all others; without a certificate, TLS is off. */
    show: (shown?: Certificate) => {
      certificate = shown
      for (const socket of sockets) socket.destroy()
    },
    stop: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
