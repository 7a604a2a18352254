import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import {
  type Client,
  type ClientOptions,
  createClient,
  memoryStorage,
  type Storage,
} from '../../client/src/index.ts'
import { type Person, projectUrl } from '../support/client.ts'

type Watched = {
  client: Client
  storage: Storage
  requests: string[]
  headers: Record<string, string>[]
}

export function watchedClient(options: Partial<ClientOptions> = {}): Watched {
  const { fetch: fetchWith = fetch, storage = memoryStorage(), ...rest } = options
  const requests: string[] = []
  const headers: Record<string, string>[] = []
  const client = createClient({
    url: projectUrl,
    fetch: (input, init) => {
      requests.push(`${init?.method} ${String(input).replace(/.*\/api/, '')}`)
      headers.push(init?.headers as Record<string, string>)
      return fetchWith(input, init)
    },
    ...rest,
    storage,
  })
  return { client, storage, requests, headers }
}

export async function signedIn(
  { identifier, password }: Person,
  options: Partial<ClientOptions> = {},
): Promise<Watched> {
  const watched = watchedClient(options)
  await watched.client.auth.signIn({ identifier, password })
  watched.requests.splice(0)
  return watched
}

const key = 'kuwait-property.session'

export const storedSession = async (storage: Storage) => await storage.getItem(key) ?? undefined

export const spoilt = (token: string) => token.replace(/[^.]+$/, 'A'.repeat(86))

/** Changes the stored session, which the app's next client reads. */
export async function changeKept(storage: Storage, change: { until?: number; spoilt?: true }) {
  const stored = JSON.parse((await storedSession(storage))!)
  if (change.until !== undefined) stored.until = change.until
  if (change.spoilt) stored.session.accessToken = spoilt(stored.session.accessToken)
  await storage.setItem(key, JSON.stringify(stored))
}

type SentRequest = { method: string; path: string; key: string | undefined; at: number }
/** A response (status, body, headers), a broken connection, or no response at all. */
export type Said =
  | [status: number, body?: unknown, headers?: Record<string, string>]
  | 'cut'
  | 'silence'

export async function service(...answers: Said[]) {
  const requests: SentRequest[] = []
  const server = createServer((request, response) => {
    const key = request.headers['idempotency-key'] as string | undefined
    const path = request.url!.replace('/functions/v1/api', '')
    requests.push({ method: request.method!, path, key, at: Date.now() })
    const said = answers[requests.length - 1] ?? answers.at(-1)!
    if (said === 'cut') return request.socket.destroy()
    if (said === 'silence') return
    const [status, body, headers] = said
    response.writeHead(status, headers)
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close }
}

export const problem = (code: string, more: object = {}) => ({
  error: { code, message: code, messageEn: code, requestId: randomUUID(), ...more },
})
