// PR-13: values that code reads before the route's schema has checked them, or that could make the schema
// throw.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { moduleOf, runFacadeCode } from '../support/facade-code.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { signUp } from '../support/client.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { type OwnGateway, startGateway } from '../support/own-gateway.ts'
import { waitUntil } from '../support/wait.ts'

const odd = [
  '{"toString":1,"valueOf":1}',
  '{"__proto__":{"a":1}}',
  '[{"toString":1}]',
  '"constructor"',
  '"__proto__"',
  '"toString"',
  'null',
  '[]',
  '{}',
  '1e400',
  `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
]

describe.runIf(hasStack)('a webhook of a provider without its signature', () => {
  let functions: Facade

  beforeAll(async () => {
    functions = await startFacade({
      TAP_SECRET_KEY: 'sk_test_of_nobody_at_all',
      MYFATOORAH_TOKEN: 'token of nobody at all',
      MYFATOORAH_WEBHOOK_SECRET: 'secret of nobody at all',
    })
  })
  afterAll(() => functions?.stop())

  // The parts of an event that each provider's code reads before it has checked the signature.
  const events: Record<string, { header: string; sign: string; bodies: string[] }> = {
    tap: {
      header: 'hashstring',
      sign: 'a'.repeat(64),
      bodies: [
        '@',
        ...['id', 'amount', 'currency', 'status', 'created', 'updated', 'transaction', 'reference']
          .flatMap((name) => [
            `{"object":"charge","${name}":@}`,
            `{"object":"refund","${name}":@}`,
            `{"object":"charge","reference":{"gateway":@,"payment":1},"transaction":{"${name}":@}}`,
          ]),
      ],
    },
    myfatoorah: {
      header: 'myfatoorah-signature',
      sign: 'a'.repeat(44),
      bodies: [
        '@',
        '{"Event":@,"Data":{}}',
        '{"Event":{"Code":@},"Data":{}}',
        '{"Event":{"Code":1},"Data":@}',
        '{"Event":{"Code":1},"Data":{"Invoice":@}}',
        '{"Event":{"Code":1},"Data":{"Invoice":{"Id":@}}}',
        '{"EventType":@,"Data":{"InvoiceId":1}}',
        '{"EventType":1,"Data":{"InvoiceId":@}}',
        '{"EventType":1,"Data":@}',
      ],
    },
  }

  test.each(Object.entries(events))('%s is 401, whatever is in it', async (name, of) => {
    const texts = of.bodies.flatMap((one) => odd.map((value) => one.replaceAll('@', () => value)))
    for (const text of texts) {
      const response = await fetch(`${functions.url}/payments/webhook/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [of.header]: of.sign },
        body: text,
      })
      const { error } = await response.json()
      expect([response.status, error.code], text.slice(0, 200))
        .toEqual([401, 'webhook_signature_invalid'])
    }
    expect(functions.output()).not.toMatch(/"stack"|"status":5/)
  })
})

describe.runIf(hasStack)('frames of a socket', () => {
  let gateway: OwnGateway
  let socket: ChatSocket

  beforeAll(async () => {
    gateway = await startGateway()
    socket = await ChatSocket.connect(await signUp(), gateway.url)
  })
  afterAll(() => gateway?.terminate())

  const frames = ['event', 'data', 'ref'].map((name) => `{"event":"heartbeat","${name}":@}`)
  const data = ['conversationId', 'afterSeq', 'body', 'clientId', 'accessToken'].flatMap((name) =>
    ['join_conversation', 'send_message', 'auth'].map((event) =>
      `{"event":"${event}","ref":7,"data":{"${name}":@}}`
    )
  )

  test.each(['{"toString":1,"valueOf":1}', '{"length":{"toString":1,"valueOf":1}}'])(
    'with %s are answered by an error each, and the socket lives',
    async (value) => {
      for (const text of [...frames, ...data]) {
        const before = socket.frames.length
        socket.socket.send(text.replace('@', value))
        await waitUntil('an answer', () => socket.frames.length > before || !!socket.closed)
        const { event, data } = socket.frames[before] ?? { event: 'closed', data: socket.closed }
        expect([event, data.code], text).toEqual(['error', 'validation_failed'])
      }
    },
  )
})

test('a validator that throws refuses, and its request is 422', async () => {
  const code = `
    const { app } = await import(${moduleOf('api/app.ts')})
    const { area, body, json, route } = await import(${moduleOf('api/http/route.ts')})
    const { z } = await import('@hono/zod-openapi')
    const fails = z.string().refine(() => { throw new TypeError('Cannot convert object') })
    const at = (path, request) => route({
      tags: [], operationId: path, method: 'post', path, request,
      responses: { 200: json(z.object({}), '') },
    })
    const answer = (c) => c.json({})
    app.route('/', area()
      .openapi(at('/body', body(z.strictObject({ a: fails }))), answer)
      .openapi(at('/query', { query: z.strictObject({ a: fails }) }), answer)
      .openapi(at('/path/{a}', { params: z.strictObject({ a: fails }) }), answer))
    for (const [path, body] of [['/body', '{"a":"b"}'], ['/query?a=b'], ['/path/b']]) {
      const headers = body ? { 'content-type': 'application/json', 'content-length': '9' } : {}
      const response = await app.request(path, { method: 'POST', body, headers })
      console.log('@' + response.status + (await response.json()).error.code)
    }
    Deno.exit()`
  expect((await runFacadeCode(code)).match(/(?<=@).+/g)).toEqual(
    Array(3).fill('422validation_failed'),
  )
})
