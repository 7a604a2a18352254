/** Clients whose requests are counted, and services that do as they are told. */
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

export type Watched = { client: Client; storage: Storage; requests: string[] }

/** A client of the project, with the requests that it made. */
export function watchedClient(options: Partial<ClientOptions> = {}): Watched {
  const storage = options.storage ?? memoryStorage()
  const requests: string[] = []
  const client = createClient({
    url: projectUrl,
    fetch: (input, init) => {
      requests.push(`${init?.method} ${String(input).replace(/.*\/api/, '')}`)
      return fetch(input, init)
    },
    ...options,
    storage,
  })
  return { client, storage, requests }
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

/** Changes the session that a client left: the next one of the same app finds it like that. */
export async function changeKept(storage: Storage, change: { until?: number; token?: string }) {
  const kept = JSON.parse((await storage.getItem(key))!)
  if (change.until !== undefined) kept.until = change.until
  if (change.token !== undefined) kept.session.accessToken = change.token
  await storage.setItem(key, JSON.stringify(kept))
}

export type SentRequest = { method: string; path: string; key: string | undefined; at: number }
/** A status with a body, or nothing: then the connection is cut. */
export type Said =
  | [status: number, body?: unknown, headers?: Record<string, string>]
  | 'cut'
  | 'silence'

/** A service that gives these answers, one after another and then the last again. */
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

export const problem = (code: string, more: object = {}) => ({ error: { code, ...more } })
