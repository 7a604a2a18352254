// A shared cache in front of the API, like a CDN, that counts hits and requests. It obeys Cache-Control and
// Vary, and does not cache requests with Authorization.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

type Kept = { until: number; requests: [name: string, value?: string][]; answer: Answer }
type Answer = { status: number; headers: Headers; body: string }

export type SharedCache = Awaited<ReturnType<typeof startSharedCache>>

/** Returns the seconds for which a shared cache may store a response; 0 means not at all. */
export function secondsKept({ status, headers }: Pick<Answer, 'status' | 'headers'>): number {
  const rules = (headers.get('cache-control') ?? '').toLowerCase().split(/\s*,\s*/)
  if (![200, 203, 204, 301, 404, 405, 410, 414, 501].includes(status)) return 0
  if (rules.includes('private') || rules.includes('no-store') || headers.get('vary') === '*') {
    return 0
  }
  const of = (name: string) => rules.find((rule) => rule.startsWith(`${name}=`))?.split('=')[1]
  return Number(of('s-maxage') ?? of('max-age') ?? 0)
}

/** A test may pass its own clock as `now`, so that no response expires when the test is slow. */
export async function startSharedCache(origin: string, now = Date.now) {
  const cached = new Map<string, Kept[]>()
  const counts = { hits: 0, requests: 0, passedBy: 0 }

  async function ask(path: string, method: string, given: IncomingHttpHeaders): Promise<Answer> {
    const headers = Object.fromEntries(
      Object.entries(given).filter(([name]) => !['host', 'connection'].includes(name)),
    ) as Record<string, string>
    const response = await fetch(origin + path, { method, headers })
    return { status: response.status, headers: response.headers, body: await response.text() }
  }

  async function answer(path: string, method: string, given: IncomingHttpHeaders): Promise<Answer> {
    if (given.authorization !== undefined || method !== 'GET') {
      counts.passedBy++
      return await ask(path, method, given)
    }
    const valueOf = (name: string) => given[name]?.toString()
    const found = cached.get(path)?.find(({ until, requests }) =>
      until > now() && requests.every(([name, value]) => valueOf(name) === value)
    )
    if (found) {
      counts.hits++
      return found.answer
    }
    counts.requests++
    const fresh = await ask(path, method, given)
    const seconds = secondsKept(fresh)
    if (seconds > 0) {
      const varies = (fresh.headers.get('vary') ?? '').toLowerCase().split(/\s*,\s*/).filter(
        Boolean,
      )
      const requests = varies.map((name): [string, string?] => [name, valueOf(name)])
      const entry = { until: now() + 1000 * seconds, requests, answer: fresh }
      cached.set(path, [...(cached.get(path) ?? []), entry])
    }
    return fresh
  }

  const server = createServer((request, response) => {
    answer(request.url!, request.method!, request.headers).then(({ status, headers, body }) => {
      const own = ['connection', 'content-length', 'content-encoding', 'transfer-encoding']
      for (const [name, value] of headers) if (!own.includes(name)) response.setHeader(name, value)
      response.writeHead(status).end(body)
    }, () => response.writeHead(502).end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeCounts: () => {
      const taken = { ...counts }
      counts.hits = counts.requests = counts.passedBy = 0
      return taken
    },
    texts: () => [...cached.values()].flat().map(({ answer }) => answer.body),
    stop: () => server.close(),
  }
}
