import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { KeyRing } from '../config/signing-keys.ts'
import type { Stack } from '../config/stack.ts'

export type Rejection = { status: number; body: unknown; headers?: Record<string, string> }

export type Credentials = {
  keyRole: 'anon' | 'service_role'
  bearer?: string
  bearerIsKey: boolean
}

const reject = (message: string, hint: string): Rejection => ({
  status: 401,
  body: { message, hint },
})

/** Checks the API key and reads the Authorization header; the token is verified later. */
export function readCredentials(stack: Stack, request: IncomingMessage): Credentials | Rejection {
  const key = keyIn(request)
  if (!key) {
    return reject(
      'No API key found in request',
      'No `apikey` request header or url param was found.',
    )
  }
  const { publishableKey, secretKey } = stack.secrets
  const keyRole = key === secretKey ? 'service_role' : key === publishableKey ? 'anon' : undefined
  const bearer = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
  const foreign = bearer?.startsWith('sb_') && bearer !== key
  // A request with two Authorization headers is rejected, because it is unclear which one is meant.
  const doubled = (request.headersDistinct.authorization?.length ?? 0) > 1
  if (!keyRole || foreign || doubled) {
    return reject('Invalid API key', 'Double check the API key of your Supabase project.')
  }
  if (keyRole === 'service_role' && /mozilla/i.test(request.headers['user-agent'] ?? '')) {
    return reject(
      'Forbidden use of secret API key in browser',
      'Secret API keys can only be used in a protected environment and should never be used in ' +
        'browser. Delete this secret API key immediately.',
    )
  }
  return { keyRole, bearer, bearerIsKey: bearer === key }
}

function keyIn({ headers, url = '' }: IncomingMessage): string | undefined {
  if (typeof headers.apikey === 'string') return headers.apikey
  const start = url.indexOf('?')
  return start < 0 ? undefined : new URLSearchParams(url.slice(start)).get('apikey') ?? undefined
}

/** Returns an Authorization header with a token for the API key, or none if the request has its own token. */
export async function tokenForKey(
  { issuer: iss }: Stack,
  keys: KeyRing,
  { keyRole: role, bearer, bearerIsKey }: Credentials,
): Promise<Record<string, string>> {
  if (bearer !== undefined && !bearerIsKey) return {}
  const exp = Math.floor(Date.now() / 1000) + 60
  const token = await keys.sign({ role, aud: 'authenticated', iss, exp })
  return { authorization: `Bearer ${token}` }
}

export const hasKey = (request: IncomingMessage) => Boolean(keyIn(request))

export function peerOf(request: IncomingMessage): string {
  return (request.socket.remoteAddress ?? '127.0.0.1').replace(/^::ffff:/, '')
}

/** Returns the client address for Auth's rate limits. A server with the secret key may name another one. */
export function clientOf(request: IncomingMessage, credentials: Credentials): string {
  const named = request.headers['sb-forwarded-for']
  const trusted = credentials.keyRole === 'service_role' && typeof named === 'string'
  return trusted && isIP(named.trim()) ? named.trim() : peerOf(request)
}
