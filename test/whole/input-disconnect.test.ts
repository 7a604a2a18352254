import { once } from 'node:events'
import { afterAll, beforeAll, expect } from 'vitest'
import { type Person, signUp } from '../support/client.ts'
import { type Facade, hasStack, startFacade, testLocally } from '../support/facade.ts'
import { type OwnGateway, startGateway } from '../support/own-gateway.ts'
import { sandboxSignature } from '../support/money.ts'
import { jpeg } from '../support/pictures.ts'
import { RawSocket, upgradeHead } from '../support/raw-socket.ts'
import { waitUntil } from '../support/wait.ts'

// Clients that disconnect in the middle of something. On separate processes, whose logs are read:
// a client's disconnect is not our failure, so it is not logged as one.

let functions: Facade
let gateway: OwnGateway
let person: Person

beforeAll(async () => {
  if (!hasStack) return
  ;[functions, gateway, person] = await Promise.all([startFacade({}), startGateway(), signUp()])
})

afterAll(() => Promise.all([functions?.stop(), gateway?.terminate()]))

/** Sends the beginning of a request and disconnects, by closing or by a reset. */
async function leave(url: string, text: string | Buffer, how: 'end' | 'reset') {
  const raw = new RawSocket(url)
  await once(raw.socket, 'connect')
  raw.write(Buffer.from(text))
  await new Promise((resolve) => setTimeout(resolve, 50))
  if (how === 'end') raw.socket.end()
  else raw.socket.resetAndDestroy()
}

type Line = { route?: string; status?: number; code?: string; stack?: string; alert?: string }

const linesOf = (log: string): Line[] =>
  log.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))

/** The lines that come in the log while something is done, once there are as many as expected. */
async function logged(count: number, work: () => Promise<unknown>): Promise<Line[]> {
  const before = functions.output().length
  await work()
  const lines = () => linesOf(functions.output().slice(before))
  await waitUntil(`${count} lines`, () => lines().length >= count)
  return lines()
}

const opening = (method: string, path: string, ...lines: string[]) =>
  [`${method} /api${path} HTTP/1.1`, 'Host: api', ...lines, '', ''].join('\r\n')

const body = 'Content-Type: application/json'
const bearer = () => `Authorization: Bearer ${person.accessToken}`
const pictureForm = Buffer.concat([
  Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'),
  jpeg({ width: 64, height: 64 }),
])

const stages: Record<string, () => [text: string | Buffer, routes: string]> = {
  'a body with a length': () => [
    `${opening('POST', '/auth/login', body, 'Content-Length: 100')}{"identifier":`,
    '/auth/login',
  ],
  'a body of which nothing came': () => [
    opening('PATCH', '/auth/me', body, bearer(), 'Content-Length: 100'),
    '/auth/me',
  ],
  'a body in chunks': () => [
    `${opening('POST', '/search/advanced', body, 'Transfer-Encoding: chunked')}4\r\n{"st\r\n`,
    '/search/advanced',
  ],
  "a webhook's body": () => [
    `${
      opening(
        'POST',
        '/payments/webhook/sandbox',
        body,
        `Sandbox-Signature: ${sandboxSignature('{}')}`,
        'Content-Length: 500',
      )
    }{"id":`,
    '/payments/webhook/:provider',
  ],
  'an upload': () => [
    Buffer.concat([
      Buffer.from(opening(
        'POST',
        '/media/upload/avatar',
        bearer(),
        'Content-Type: multipart/form-data; boundary=x',
        'Content-Length: 100000',
      )),
      pictureForm,
    ]),
    '/media/upload/avatar',
  ],
}

testLocally.each(
  Object.keys(stages).flatMap((stage) =>
    (['end', 'reset'] as const).map((how) => ({ stage, how }))
  ),
)('PR-13 a client that disconnects in $stage ($how) raises no alarm', async ({ stage, how }) => {
  const [text, route] = stages[stage]!()
  const [line, ...more] = await logged(1, () => leave(functions.url, text, how))
  expect(line).toMatchObject({ route, status: 408, code: 'upload_timeout' })
  expect(more).toEqual([])
})

testLocally('a client that disconnects before its answer raises no alarm', async () => {
  // Made once, in which time nobody is served: whoever is gone by then was never there.
  await functions.get('/openapi.json')
  const lines = await logged(6, () =>
    Promise.all([
      leave(functions.url, opening('GET', '/openapi.json'), 'reset'),
      leave(functions.url, opening('GET', '/openapi.json').repeat(3), 'end'),
      leave(
        functions.url,
        opening('GET', `/search?q=${encodeURIComponent('شقة')}`, bearer()),
        'reset',
      ),
      leave(functions.url, opening('GET', '/auth/me', bearer()), 'reset'),
    ]))
  expect(lines.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
  expect(lines.filter(({ stack, alert }) => stack || alert)).toEqual([])
})

testLocally(
  "a client that disconnects in its handshake or frame leaves no trace in the gateway's log",
  async () => {
    const { pathname } = new URL(gateway.url)
    const head = upgradeHead(pathname)
    const http = gateway.url.replace('ws:', 'http:')
    const before = gateway.output().length
    for (const how of ['end', 'reset'] as const) {
      await leave(http, head.slice(0, 40), how)
      await leave(http, head, how)
      await leave(http, Buffer.concat([Buffer.from(head), Buffer.from([0x81, 0xfe, 0x10])]), how)
      await leave(http, `POST ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{`, how)
    }
    const raw = await RawSocket.open(gateway.url)
    expect(raw.status).toBe(101)
    raw.destroy()
    expect(gateway.output().slice(before)).not.toMatch(/error|stack|alert|uncaught|rejection/i)
  },
)

testLocally('and the next client is served', async () => {
  expect((await functions.get('/health')).status).toBe(200)
  expect(functions.output()).not.toMatch(/"stack"|"alert"|"status":50/)
})
