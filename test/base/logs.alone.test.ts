import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ChatSocket } from '../support/chat-socket.ts'
import { database, projectUrl, secretKey, signUp } from '../support/client.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { startFacadeProcess } from '../support/facade-process.ts'
import { startGateway } from '../support/own-gateway.ts'
import { waitUntil } from '../support/wait.ts'
import { forget } from './facade-requests.ts'
import { jsonAnswer, startProjectProxy } from './project-proxy.ts'

type Line = Record<string, unknown>

const linesIn = (output: string): Line[] =>
  output.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))

async function lineOf(output: () => string, isIt: (line: Line) => boolean): Promise<Line> {
  let found: Line | undefined
  await waitUntil('the line is there', () => {
    found = linesIn(output()).find(isIt)
    return found !== undefined
  })
  return found!
}

const trace = () => randomUUID().replaceAll('-', '')
const parent = (traceId: string) => `00-${traceId}-00f067aa0ba902b7-01`
const common = {
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  region: 'ap-south-1',
}
const region = { SB_REGION: 'ap-south-1' }
const spanOf = (requestId: unknown) => String(requestId).replaceAll('-', '').slice(16)

describe.runIf(hasStack)('OPS-01 every line', () => {
  let way: Awaited<ReturnType<typeof startProjectProxy>>
  let facade: Facade

  beforeAll(async () => {
    way = await startProjectProxy()
    facade = await startFacade({ ...way.settings, ...region })
  })
  afterAll(async () => {
    await facade?.stop()
    way?.stop()
  })

  test('of a request says when, how bad, which version, where and which request', async () => {
    const reply = await facade.get('/meta/kinds')
    const requestId = reply.headers.get('x-request-id')
    const line = await lineOf(facade.output, (one) => one.requestId === requestId)
    expect(line).toMatchObject({ ...common, level: 'info', route: '/meta/kinds', status: 200 })
    expect(line).not.toHaveProperty('traceId')
  })

  test('of its alarms and failures too, and a failure is worse', async () => {
    await database().query('alter function api.list_kinds() rename to list_kinds_away')
    try {
      const reply = await fetch(`${facade.url}/meta/kinds`)
      expect(reply.status).toBe(500)
      const requestId = reply.headers.get('x-request-id')
      const lines = () => linesIn(facade.output()).filter((one) => one.requestId === requestId)
      await waitUntil('stack, alarm and request are there', () => lines().length === 3)
      for (const line of lines()) expect(line).toMatchObject({ ...common, level: 'error' })
      expect(lines().filter(({ alert }) => alert)).toHaveLength(1)
    } finally {
      await database().query('alter function api.list_kinds_away() rename to list_kinds')
      await forget('internal')
    }
  })

  test('joins the trace of its request, and so does what Auth is asked', async () => {
    const received: unknown[] = []
    way.answers.set('/auth/v1/token', (response, _sent, { traceparent }) => {
      received.push(traceparent)
      jsonAnswer(400, { code: 'invalid_credentials' })(response)
    })
    const logIn = async (headers: Record<string, string>) => {
      const { identifier } = await signUp()
      const given = { identifier, password: randomUUID() }
      const reply = await facade.post('/auth/login', given, headers)
      expect(reply.status).toBe(401)
      const requestId = reply.headers.get('x-request-id')
      return await lineOf(facade.output, (one) => one.requestId === requestId)
    }
    const traceId = trace()
    const { requestId, ...line } = await logIn({ traceparent: parent(traceId) })
    expect(line.traceId).toBe(traceId)
    expect(received).toEqual([`00-${traceId}-${spanOf(requestId)}-01`])
    for (
      const wrong of [
        parent('0'.repeat(32)),
        parent(traceId).replace(/^00/, 'ff'),
        parent(traceId).toUpperCase(),
        `${parent(traceId)}, ${parent(traceId)}`,
        'garbage',
      ]
    ) expect(await logIn({ traceparent: wrong }), wrong).not.toHaveProperty('traceId')
    expect(received.slice(1)).toEqual(received.slice(1).map(() => undefined))
    way.answers.delete('/auth/v1/token')
  })

  test('of the jobs names their run, and of a socket its handshake', async () => {
    const jobs = await startFacade(region, 'jobs')
    const gateway = await startGateway(region)
    try {
      const traceId = trace()
      const headers = { apikey: secretKey, traceparent: parent(traceId) }
      await (await fetch(jobs.url, { method: 'POST', headers })).text()
      await lineOf(jobs.output, (line) => line.job === 'reconcile_media')
      const run = linesIn(jobs.output()).filter((line) => line.job)
      expect(run.length).toBeGreaterThan(10)
      expect(new Set(run.map(({ requestId }) => requestId)).size).toBe(1)
      for (const line of run) expect(line).toMatchObject({ ...common, traceId })

      const person = await signUp()
      const socket = await ChatSocket.connect(person, gateway.url)
      socket.close()
      const of = (what: string) =>
        lineOf(gateway.output, (one) => one.account === person.id && one.socket === what)
      const [opened, closed] = [await of('opened'), await of('closed')]
      expect(opened).toMatchObject({ ...common, level: 'info', requestId: expect.any(String) })
      expect(closed.requestId).toBe(opened.requestId)
    } finally {
      await jobs.stop()
      await gateway.terminate()
    }
  })

  test('of a process says the same, from its first on', async () => {
    const own = await startFacadeProcess(region)
    try {
      const [first] = linesIn(own.said())
      expect(first).toMatchObject({ ...common, level: 'info', listening: expect.any(String) })
    } finally {
      own.kill()
    }
  })
})

test('a page in a browser may send traceparent', async () => {
  const response = await fetch(`${projectUrl}/functions/v1/api/meta/kinds`, {
    method: 'OPTIONS',
    headers: {
      'origin': 'http://localhost:3000',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'traceparent',
    },
  })
  expect(response.headers.get('access-control-allow-headers')).toContain('traceparent')
})
