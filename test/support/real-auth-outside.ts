// Stand-ins for the services that the real Auth calls: Google and Apple with the suite's keys, and a
// Turnstile that accepts no token. Auth reaches them over TLS through a proxy; openssl makes the certificate.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createProxy } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const providers: Record<string, string> = {
  'accounts.google.com': 'google',
  'appleid.apple.com': 'apple',
}
const turnstile = 'challenges.cloudflare.com'

/** Starts the stand-ins for the issuer at this address and returns the settings for a stack. */
export async function startOutside(issuerUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'property-outside-'))
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const names = [...Object.keys(providers), turnstile].map((name) => `DNS:${name}`)
  execFileSync('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=outside'],
    ...['-addext', `subjectAltName=${names}`, '-keyout', key, '-out', certificate],
  ], { stdio: 'ignore' })

  const server = createServer(
    { key: readFileSync(key), cert: readFileSync(certificate) },
    async ({ url, headers: { host } }, response) => {
      const name = host!.split(':')[0]!
      const said = name === turnstile
        ? { success: false, 'error-codes': ['invalid-input-secret'] }
        : url === '/.well-known/openid-configuration'
        ? {
          issuer: `https://${name}`,
          jwks_uri: `https://${name}/keys`,
          authorization_endpoint: `https://${name}/authorize`,
          token_endpoint: `https://${name}/token`,
          id_token_signing_alg_values_supported: ['RS256'],
        }
        : await (await fetch(`${issuerUrl}/${providers[name]}/keys`)).json()
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
    },
  )
  const port = await listening(server)
  const open = new Set<{ destroy(): unknown }>()
  const proxy = createProxy((_, response) => void response.writeHead(404).end())
  proxy.on('connect', (request, socket) => {
    const known = [...Object.keys(providers), turnstile].some((name) =>
      request.url === `${name}:443`
    )
    if (!known) return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    for (const end of [socket, upstream]) {
      end.on('error', () => (socket.destroy(), upstream.destroy()))
    }
  })
  return {
    settings: {
      REAL_AUTH_PROXY: `http://127.0.0.1:${await listening(proxy)}`,
      REAL_AUTH_CA: certificate,
    },
    stop() {
      for (const one of open) one.destroy()
      for (const one of [proxy, server]) one.close().closeAllConnections()
      rmSync(folder, { recursive: true })
    },
  }
}

async function listening(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
