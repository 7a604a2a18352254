// Stands in for Google and Apple: serves their key sets, signs any id token, and, as Apple, exchanges
// authorization codes and revokes tokens. One issuer serves the whole run (setup.ts starts it).
import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, SignJWT } from 'jose'
import { variable } from '../../local/config/environment.ts'

export type Provider = 'google' | 'apple'
type Json = Record<string, unknown>

export const clientIds = {
  google: ['web.apps.example', 'ios.apps.example'],
  apple: ['kw.property.app', 'kw.property.web'],
}

const issuers = { google: 'https://accounts.google.com', apple: 'https://appleid.apple.com' }

const bodyOf = async (request: IncomingMessage) => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

/** Starts the issuer and returns its address and the settings with which a stack trusts it. */
export async function startIssuer() {
  const keys = { google: rsa(), apple: rsa(), stranger: rsa() }
  const sets = {
    '/google/keys': { keys: [{ ...await exportJWK(keys.google.publicKey), ...about('google') }] },
    '/apple/keys': { keys: [{ ...await exportJWK(keys.apple.publicKey), ...about('apple') }] },
  }
  const requests: { path: string; form: Record<string, string> }[] = []
  const server = createServer(async (request, response) => {
    const path = request.url!
    const text = await bodyOf(request)
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (Object.hasOwn(sets, path)) return send(200, sets[path as keyof typeof sets])
    if (path === '/sign') {
      const { by, header, claims } = JSON.parse(text) as {
        by: keyof typeof keys
        header: Json
        claims: Json
      }
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: by, ...header })
        .sign(keys[by].privateKey)
      return send(200, token)
    }
    if (path === '/requests') return send(200, requests)
    const form = Object.fromEntries(new URLSearchParams(text))
    requests.push({ path, form })
    const fails = /fail/.test(form.code ?? '')
    if (fails) return send(400, { error: 'invalid_grant' })
    if (path === '/auth/token') return send(200, { refresh_token: `refresh of ${form.code}` })
    if (path === '/auth/revoke') return send(200, {})
    send(404, {})
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    url,
    settings: {
      GOOGLE_CLIENT_IDS: clientIds.google.join(','),
      GOOGLE_JWKS_URL: `${url}/google/keys`,
      APPLE_CLIENT_IDS: clientIds.apple.join(', '),
      APPLE_JWKS_URL: `${url}/apple/keys`,
      APPLE_URL: url,
      APPLE_TEAM_ID: 'TEAM123456',
      APPLE_KEY_ID: 'KEY1234567',
      APPLE_PRIVATE_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    },
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const about = (kid: Provider) => ({ kid, alg: 'RS256', use: 'sig' })

/** The issuer's address; empty for a project that does not trust it. */
export const issuerUrl = variable('SOCIAL_ISSUER_URL') ?? ''

const now = () => Math.floor(Date.now() / 1000)

export const hashed = (nonce: string) => createHash('sha256').update(nonce).digest('hex')

/** Returns the claims of a valid token with these changes; undefined removes a claim. */
export const claims = (provider: Provider, changes: Json = {}): Json => ({
  iss: issuers[provider],
  aud: clientIds[provider][0],
  sub: randomUUID(),
  email: `${randomUUID()}@example.com`,
  email_verified: provider === 'google' ? true : 'true',
  jti: randomUUID(),
  iat: now(),
  exp: now() + 600,
  ...changes,
})

export async function token(
  by: Provider | 'stranger',
  said: Json,
  header: Json = {},
): Promise<string> {
  const response = await fetch(`${issuerUrl}/sign`, {
    method: 'POST',
    body: JSON.stringify({ by, claims: said, header }),
  })
  return await response.json()
}

export async function requestsWith(text: string): Promise<{ path: string; form: Json }[]> {
  const requests = await (await fetch(`${issuerUrl}/requests`)).json()
  return requests.filter((one: unknown) => JSON.stringify(one).includes(text))
}
