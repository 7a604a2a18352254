import { once } from 'node:events'
import { afterAll, beforeAll, expect } from 'vitest'
import { type Person, signUp } from '../support/client.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import {
  defaultSettings,
  type Facade,
  hasStack,
  startFacade,
  testLocally,
} from '../support/facade.ts'
import { type OwnGateway, startGateway } from '../support/own-gateway.ts'
import { sandboxSignature } from '../support/money.ts'
import { jpeg } from '../support/pictures.ts'
import { RawSocket, upgradeHead } from '../support/raw-socket.ts'
import { pause, waitUntil } from '../support/wait.ts'

// Clients disconnect in the middle of a request. A disconnect is not our error and must not be logged as one,
// so the functions and the gateway run in separate processes whose logs the tests read.

let database: Awaited<ReturnType<typeof startCountingProxy>>
let functions: Facade
let gateway: OwnGateway
let person: Person

beforeAll(async () => {
  if (!hasStack) return
  database = await startCountingProxy(defaultSettings().FACADE_DB_URL!)
  ;[functions, gateway, person] = await Promise.all([
    startFacade({ FACADE_DB_URL: database.url }),
    startGateway(),
    signUp(),
  ])
})

afterAll(async () => {
  await Promise.all([functions?.stop(), gateway?.terminate()])
  database?.stop()
})

async function connected(url: string, text: string | Buffer): Promise<RawSocket> {
  const raw = new RawSocket(url)
  await once(raw.socket, 'connect')
  raw.write(Buffer.from(text))
  return raw
}

const leave = ({ socket }: RawSocket, how: 'end' | 'reset') =>
  void (how === 'end' ? socket.end() : socket.resetAndDestroy())

type Line = { route?: string; status?: number; code?: string; stack?: string; alert?: string }

const linesOf = (log: string): Line[] =>
  log.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))

async function logged(count: number, work: () => Promise<unknown>): Promise<Line[]> {
  const before = functions.output().length
  await work()
  const lines = () => linesOf(functions.output().slice(before))
  await waitUntil(`${count} lines`, () => lines().length >= count)
  return lines()
}

const opening = (method: string, path: string, ...lines: string[]) =>
  [`${method} /api${path} HTTP/1.1`, 'Host: api', ...lines, '', ''].join('\r\n')

// A 100 (Continue) shows that the functions have begun to read.
const body = 'Content-Type: application/json\r\nExpect: 100-continue'
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
        'Expect: 100-continue',
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
  const [line, ...more] = await logged(1, async () => {
    const raw = await connected(functions.url, text)
    await waitUntil('it is being read', () => raw.text().startsWith('HTTP/1.1 100 '))
    leave(raw, how)
  })
  expect(line).toMatchObject({ route, status: 408, code: 'upload_timeout' })
  expect(more).toEqual([])
})

testLocally.each(['end', 'reset'] as const)(
  'a client that disconnects (%s) before its answer raises no alarm',
  async (how) => {
    const authorization = `Bearer ${person.accessToken}`
    await logged(1, () => functions.get('/auth/me', { authorization }))
    for (const path of [`/search?q=${encodeURIComponent('شقة')}`, '/auth/me', '/favorites']) {
      const [line, ...more] = await logged(1, async () => {
        database.takeMessages()
        database.hold()
        const raw = await connected(functions.url, opening('GET', path, bearer()))
        await waitUntil('the database is asked', () => database.takeMessages().length > 0)
        leave(raw, how)
        await once(raw.socket, 'close')
        database.release()
      })
      expect(line).toMatchObject({ route: path.replace(/\?.*/, ''), status: 200 })
      expect(more).toEqual([])
    }
  },
)

testLocally(
  "a client that disconnects in its handshake or frame leaves no trace in the gateway's log",
  async () => {
    const { pathname } = new URL(gateway.url)
    const head = upgradeHead(pathname)
    const http = gateway.url.replace('ws:', 'http:')
    const before = gateway.output().length
    for (const how of ['end', 'reset'] as const) {
      for (
        const begun of [
          head.slice(0, 40),
          head,
          Buffer.concat([Buffer.from(head), Buffer.from([0x81, 0xfe, 0x10])]),
          `POST ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{`,
        ]
      ) {
        const raw = await connected(http, begun)
        await pause(50, 'any moment is right')
        leave(raw, how)
      }
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
