/** The Realtime stand-in frame by frame: what is outside of messages and rights. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasStack } from './facade.ts'
import {
  type Json,
  openRaw,
  type Raw,
  startRealtime,
  type TestRealtime,
} from './realtime-server.ts'
import { until } from './until.ts'

let realtime: TestRealtime
/** One that keeps the limits of the real one. */
let limited: TestRealtime
beforeAll(async () => {
  if (hasStack) {
    ;[realtime, limited] = await Promise.all([startRealtime(), startRealtime({ rates: true })])
  }
})
afterAll(() => Promise.all([realtime?.stop(), limited?.stop()]))

const newTopic = () => `room:${randomUUID()}`

/** A broadcast as a client of protocol 2.0.0 writes it. */
function push(topic: string, event: string, payload: string | Buffer, joinRef = '1', ref = '7') {
  const parts = [joinRef, ref, `realtime:${topic}`, event, ''].map((part) => Buffer.from(part))
  const encoding = typeof payload === 'string' ? 1 : 0
  const head = Buffer.from([3, ...parts.map(({ length }) => length), encoding])
  return Buffer.concat([head, ...parts, Buffer.from(payload as string)])
}

/** What such a client makes of a broadcast. */
function readBroadcast(frame: Buffer) {
  const [kind, topicLength, eventLength, metaLength, encoding] = frame
  let at = 5
  const part = (length: number) => frame.subarray(at, at += length).toString()
  const [topic, event, meta] = [topicLength!, eventLength!, metaLength!].map(part)
  return { kind, topic, event, meta, json: encoding === 1, payload: frame.subarray(at) }
}

describe.runIf(hasStack)('a connection', () => {
  test('needs a key of the project', async () => {
    const attempts = [
      '',
      'apikey=',
      'apikey=sb_publishable_wrong',
      'apikey=eyJhbGciOiJub25lIn0.e30.',
    ]
    const began = Date.now()
    for (const status of await Promise.all(attempts.map(handshake))) expect(status).toBe(401)
    expect(Date.now() - began).toBeGreaterThan(1900)
    const { socket } = await realtime.raw('2.0.0', `apikey=${realtime.secretKey}&vsn=2.0.0`)
    socket.close()
    await openRaw(`${realtime.url}/realtime/v1/websocket?apikey=${realtime.publishableKey}`)
  })

  async function handshake(query: string) {
    const response = await fetch(`${realtime.url}/realtime/v1/websocket?${query}`)
    await response.body?.cancel()
    const opened = await realtime.raw('2.0.0', query).then(() => 101, (error: Error) => error)
    return Number(/\d{3}/.exec(String(opened))?.[0])
  }

  test('answers heartbeats and says what it does not know', async () => {
    const raw = await realtime.raw()
    expect(await raw.answerTo(raw.send('phoenix', 'heartbeat', {}, null))).toEqual({
      status: 'ok',
      response: {},
    })
    for (const topic of ['realtime:', 'room:1', 'realtime:never joined']) {
      const event = topic.endsWith('joined') ? 'broadcast' : 'phx_join'
      expect(await raw.answerTo(raw.send(topic, event))).toEqual({
        status: 'error',
        response: { reason: 'unmatched topic' },
      })
    }
    raw.close()
  })

  test('joining again closes the first channel, leaving answers and closes', async () => {
    const raw = await realtime.raw()
    const topic = newTopic()
    const ok = { status: 'ok', response: { postgres_changes: [] } }
    expect(await raw.join(topic, {}, {}, '1')).toEqual(ok)
    expect(await raw.join(topic, {}, {}, '2')).toEqual(ok)
    expect(raw.frames.filter(([, , , event]) => event === 'phx_close')).toEqual([
      ['1', '1', `realtime:${topic}`, 'phx_close', {}],
    ])
    // The channel that is gone cannot be used any more.
    const late = raw.send(`realtime:${topic}`, 'broadcast', { event: 'm' }, '1')
    expect(await raw.answerTo(late)).toMatchObject({ status: 'error' })
    const leave = raw.send(`realtime:${topic}`, 'phx_leave', {}, '2')
    expect(await raw.answerTo(leave)).toEqual({ status: 'ok', response: {} })
    await raw.find('the end', (frame) => frame[3] === 'phx_close' && frame[0] === '2')
    await realtime.send(topic, 'm', {}, false)
    await sleep(100)
    expect(raw.events(topic, 'broadcast')).toEqual([])
    raw.close()
  })

  test('speaks protocol 1.0.0 when no version is named', async () => {
    const raw = await realtime.raw('', `apikey=${realtime.publishableKey}`)
    const topic = newTopic()
    raw.socket.send(JSON.stringify({
      topic: `realtime:${topic}`,
      event: 'phx_join',
      payload: { config: { broadcast: { self: 'true', ack: 'true' } } },
      ref: '1',
      join_ref: '1',
    }))
    await until('it is joined', () => raw.frames.length === 1)
    expect(raw.frames[0]).toMatchObject({ event: 'phx_reply', ref: '1', payload: { status: 'ok' } })
    const payload = { type: 'broadcast', event: 'm', payload: { n: 1 } }
    const broadcast = { topic: `realtime:${topic}`, event: 'broadcast', payload }
    raw.socket.send(JSON.stringify({ ...broadcast, ref: '2', join_ref: '1' }))
    await until('it hears itself', () => raw.frames.length === 3)
    expect(raw.frames.slice(1)).toMatchObject([broadcast, { event: 'phx_reply', ref: '2' }])
    raw.close()
  })

  test('broken frames end it and nothing else', async () => {
    const topic = newTopic()
    const witness = await realtime.raw()
    await witness.join(topic)
    const broken: [string | Buffer, number][] = [
      ['{', 1011],
      ['null', 1011],
      ['[1,2,3,4,5]', 1011],
      [Buffer.from([9, 0, 0]), 1011],
      [Buffer.from([3, 255, 255, 255, 255, 255, 1, 65]), 1011],
      ['x'.repeat(5_000_001), 1009],
    ]
    for (const [frame, code] of broken) {
      const raw = await realtime.raw()
      raw.socket.send(frame)
      expect(await raw.closed).toBe(code)
    }
    // JSON that is not what it says breaks nobody either.
    const raw = await realtime.raw()
    await raw.join(topic)
    raw.socket.send(push(topic, 'm', 'not json'))
    await until('it comes as it was sent', () => witness.frames.some(Buffer.isBuffer))
    expect(witness.socket.readyState).toBe(witness.socket.OPEN)
    for (const each of [raw, witness]) each.close()
  })

  test('broadcasts of clients go as bytes to those who read bytes', async () => {
    const topic = newTopic()
    const [sender, now, old] = await Promise.all(
      [realtime.raw(), realtime.raw(), realtime.raw('1.0.0')],
    ) as [Raw, Raw, Raw]
    await sender.join(topic, { broadcast: { ack: true } })
    await now.join(topic)
    const ref = '1'
    const payload = { config: {} }
    old.socket.send(JSON.stringify({ topic: `realtime:${topic}`, event: 'phx_join', payload, ref }))
    await until('all are joined', () => old.frames.length === 1)
    sender.socket.send(push(topic, 'typing', JSON.stringify({ who: 'سالم' })))
    sender.socket.send(push(topic, 'bytes', Buffer.from([0, 1, 2]), '1', '8'))
    for (const each of ['7', '8']) {
      expect(await sender.answerTo(each)).toEqual({ status: 'ok', response: {} })
    }
    await until('they come', () => now.frames.filter(Buffer.isBuffer).length === 2)
    const [first, second] = now.frames.filter(Buffer.isBuffer).map(readBroadcast)
    expect(first).toMatchObject({
      kind: 4,
      topic: `realtime:${topic}`,
      event: 'typing',
      meta: '',
      json: true,
      payload: Buffer.from('{"who":"سالم"}'),
    })
    expect(second).toMatchObject({ event: 'bytes', json: false, payload: Buffer.from([0, 1, 2]) })
    expect(old.frames.slice(1).map(({ payload }: Json) => payload)).toEqual([
      { type: 'broadcast', event: 'typing', payload: { who: 'سالم' } },
    ])
    for (const each of [sender, now, old]) each.close()
  })

  test('who does not read harms only itself', async () => {
    const topic = newTopic()
    const [slow, good] = await Promise.all([realtime.raw(), realtime.raw()])
    await slow.join(topic)
    await good.join(topic)
    slow.socket.pause()
    const text = 'x'.repeat(200_000)
    for (let n = 0; n < 150; n++) await realtime.send(topic, 'm', { n, text }, false)
    await until('the other has all', () => good.events(topic, 'broadcast').length === 150)
    slow.socket.resume()
    expect(await slow.closed).toBe(1006)
    good.close()
  })
})

describe.runIf(hasStack)('limits', () => {
  test('a socket has at most 100 channels, a payload 3000 kB', async () => {
    const raw = await realtime.raw()
    for (let n = 0; n < 100; n++) {
      expect(await raw.join(`${n}`, { broadcast: { ack: true } })).toMatchObject({ status: 'ok' })
    }
    expect(await raw.join('100')).toEqual({
      status: 'error',
      response: { reason: 'ChannelRateLimitReached: Too many channels' },
    })
    raw.socket.send(push('1', 'm', 'x'.repeat(3_000_001), '1', 'large'))
    expect(await raw.answerTo('large')).toEqual({
      status: 'error',
      response: { reason: 'payload_size_exceeded' },
    })
    raw.close()
  })

  test('200 sockets, 100 joins and 100 events a second, as the average of a minute', async () => {
    const many = await Promise.all([...Array(200).keys()].map(() => limited.raw()))
    await expect(limited.raw()).rejects.toThrow('429')
    const [raw, ...rest] = many as [Raw, ...Raw[]]
    for (const each of rest) each.close()
    const topic = newTopic()
    let ref = ''
    for (let n = 0; n < 6000; n++) ref = raw.send(`realtime:${topic}`, 'phx_join', {}, `${n}`)
    await raw.answerTo(ref)
    const last = raw.send(`realtime:${topic}`, 'phx_join', {}, 'last')
    expect((await raw.answerTo(last)).response.reason).toMatch(/^ClientJoinRateLimitReached: /)
    await raw.closed
  })

  test('more than 100 events a second close channels and are refused over HTTP', async () => {
    const own = await startRealtime({ rates: true })
    const raw = await own.raw()
    await raw.join('crowd')
    const message = push('crowd', 'm', '{}')
    for (let n = 0; n < 6001; n++) raw.socket.send(message)
    await raw.find('the end', (frame) => frame[3] === 'phx_close')
    expect(raw.events('crowd', 'system')[0].message).toBe('Too many messages per second')
    const response = await fetch(`${own.url}/realtime/v1/api/broadcast`, {
      method: 'POST',
      headers: { apikey: own.publishableKey },
      body: JSON.stringify({ messages: [{ topic: 't', event: 'e', payload: {} }] }),
    })
    expect([response.status, await response.json()]).toEqual([429, { message: expect.any(String) }])
    await own.stop()
  })
})
