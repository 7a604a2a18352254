import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { projectUrl, publishableKey } from '../../test/support/client.ts'
import { hasStack } from '../../test/support/facade.ts'
import { type Json, startRealtime, type TestRealtime } from './support/client.ts'
import { waitUntil } from '../../test/support/wait.ts'

let realtime: TestRealtime
beforeAll(async () => {
  if (hasStack) realtime = await startRealtime()
})
afterAll(() => realtime?.stop())

async function call(path: string, body: Json, headers: Record<string, string> = {}) {
  const response = await fetch(`${realtime.url}/realtime/v1/api${path}`, {
    method: 'POST',
    headers: {
      apikey: realtime.publishableKey,
      'content-type': 'application/json',
      ...headers,
    },
    body: body instanceof Uint8Array
      ? body as never
      : typeof body === 'string'
      ? body
      : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : null }
}

async function room() {
  const topic = `room:${randomUUID()}`
  const [listener, reader] = [randomUUID(), randomUUID()]
  await realtime.member(topic, listener)
  await realtime.member(topic, reader, { writes: false })
  const raw = await realtime.raw()
  const token = await realtime.token(listener)
  await raw.join(topic, { private: true }, { access_token: token })
  const readerToken = await realtime.token(reader)
  return { topic, raw, token, readerToken }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe.runIf(hasStack)('broadcasting over HTTP', () => {
  test('of several messages skips those that may not be sent, still with 202', async () => {
    const { topic, raw, token, readerToken } = await room()
    const open = await realtime.raw()
    await open.join(topic)
    const message = { topic, event: 'm', payload: { n: 1 }, private: true }
    const attempts: [number, Record<string, string>][] = [
      [1, {}],
      [2, bearer(readerToken)],
      [3, bearer(realtime.publishableKey)],
      [4, bearer(token)],
      [5, { apikey: realtime.secretKey }],
    ]
    for (const [n, headers] of attempts) {
      const messages = [{ ...message, payload: { n } }, { ...message, payload: { n, again: 1 } }]
      expect(await call('/broadcast', { messages }, headers)).toEqual({ status: 202, body: null })
    }
    await call('/broadcast', { messages: [{ ...message, private: false }] })
    await waitUntil('the messages arrive', () => raw.events(topic, 'broadcast').length === 4)
    await waitUntil('the public one too', () => open.events(topic, 'broadcast').length === 1)
    for (const each of [raw, open]) await each.arrived()
    expect(raw.events(topic, 'broadcast').map(({ payload }: Json) => payload)).toEqual([
      { n: 4 },
      { n: 4, again: 1 },
      { n: 5 },
      { n: 5, again: 1 },
    ])
    expect(open.events(topic, 'broadcast')).toEqual([
      { event: 'm', payload: { n: 1 }, type: 'broadcast' },
    ])
    for (const each of [raw, open]) each.close()
  })

  test('of one message to a topic and event accepts JSON or bytes', async () => {
    const { topic, raw, token, readerToken } = await room()
    const path = `/broadcast/${encodeURIComponent(topic)}/events/hello?private=true`
    expect(await call(path, { n: 1 }, bearer(readerToken))).toMatchObject({ status: 403 })
    expect(await call(path, { n: 2 }, bearer(token))).toEqual({ status: 202, body: null })
    const bytes = new Uint8Array([1, 2, 3])
    const type = { 'content-type': 'application/octet-stream' }
    expect(await call(path, bytes, { ...bearer(token), ...type })).toMatchObject({ status: 202 })
    const text = { 'content-type': 'text/plain' }
    expect(await call(path, 'x', { ...bearer(token), ...text })).toMatchObject({ status: 415 })
    await waitUntil('the messages arrive', () => raw.frames.some(Buffer.isBuffer))
    expect(raw.events(topic, 'broadcast')).toEqual([
      { event: 'hello', payload: { n: 2 }, type: 'broadcast' },
    ])
    raw.close()
  })

  test('httpSend of supabase-js arrives', async () => {
    const { topic, raw, token } = await room()
    const client = realtime.client(token)
    await client.realtime.setAuth()
    const channel = client.channel(topic, { config: { private: true } })
    expect(await channel.httpSend('m', { n: 1 })).toMatchObject({ success: true })
    await waitUntil('the message arrives', () => raw.events(topic, 'broadcast').length === 1)
    raw.close()
  })

  test('is rejected without a key, with a bad token, or if malformed', async () => {
    const good = { topic: 't', event: 'e', payload: {} }
    for (const headers of [{ apikey: 'x' }, { apikey: '' }, bearer('rubbish')]) {
      expect(await call('/broadcast', { messages: [good] }, headers)).toEqual({
        status: 401,
        body: { message: 'Unauthorized' },
      })
    }
    const wrong = [{}, [], { messages: 1 }, { messages: [] }, { messages: [null] }, {
      messages: [good, { topic: 1, event: '', payload: null }],
    }]
    for (const body of wrong) {
      const { status, body: said } = await call('/broadcast', body)
      expect([status, said]).toEqual([422, { errors: expect.anything() }])
    }
    for (const type of ['text/plain', '']) {
      const messages = JSON.stringify({ messages: [good] })
      expect(await call('/broadcast', messages, { 'content-type': type }))
        .toEqual({ status: 422, body: { errors: { messages: ["can't be blank"] } } })
    }
    expect(await call('/broadcast', '{')).toMatchObject({ status: 400 })
    expect(await call('/elsewhere', {})).toMatchObject({ status: 404 })
    const large = { ...good, payload: { text: 'x'.repeat(257_000) } }
    expect(await call('/broadcast', { messages: [large] })).toMatchObject({ status: 422 })
    const huge = { ...good, payload: { text: 'x'.repeat(5_000_001) } }
    expect(await call('/broadcast', { messages: [huge] })).toMatchObject({ status: 413 })
  })
})

describe.runIf(hasStack)('the proxy of the stack', () => {
  test('forwards to it, with CORS headers', async () => {
    const ping = `${projectUrl}/realtime/v1/api/ping`
    const response = await fetch(ping, { headers: { apikey: publishableKey } })
    expect(await response.json()).toEqual({ message: 'Success' })
    expect((await fetch(ping)).status).toBe(401)
    const preflight = await fetch(`${projectUrl}/realtime/v1/api/broadcast`, { method: 'OPTIONS' })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  })
})
