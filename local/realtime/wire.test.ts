import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasStack } from '../../test/support/facade.ts'
import {
  type Json,
  openRaw,
  type Raw,
  readBroadcast,
  startRealtime,
  type TestRealtime,
} from './support/client.ts'
import { waitUntil } from '../../test/support/wait.ts'

let realtime: TestRealtime
beforeAll(async () => {
  if (hasStack) realtime = await startRealtime()
})
afterAll(() => realtime?.stop())
afterEach(() => void vi.useRealTimers())

const interval = 5000
/** Stops the clock that is used to measure rates; from then on, the test advances it. */
const stopClock = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
const nextInterval = () => vi.setSystemTime(Date.now() + interval)

const newTopic = () => `room:${randomUUID()}`

function push(topic: string, event: string, payload: string | Buffer, joinRef = '1', ref = '7') {
  const parts = [joinRef, ref, `realtime:${topic}`, event, ''].map((part) => Buffer.from(part))
  const encoding = typeof payload === 'string' ? 1 : 0
  const head = Buffer.from([3, ...parts.map(({ length }) => length), encoding])
  return Buffer.concat([head, ...parts, Buffer.from(payload as string)])
}

describe.runIf(hasStack)('a connection', () => {
  test('needs an API key of the project', async () => {
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

  test('is refused for an invalid request target, and others go on', async () => {
    const socket = connect(Number(new URL(realtime.url).port), '127.0.0.1')
    socket.write('GET //[ HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n')
    socket.write('Connection: Upgrade\r\n\r\n')
    const [answer] = await once(socket, 'data')
    expect(answer.toString()).toMatch(/^HTTP\/1.1 404 /)
    const raw = await realtime.raw()
    raw.close()
  })

  test('answers heartbeats and reports unknown topics', async () => {
    const raw = await realtime.raw()
    expect(await raw.answerTo(raw.send('phoenix', 'heartbeat', {}, null))).toEqual({
      status: 'ok',
      response: {},
    })
    for (const topic of ['room:1', 'realtime:never joined']) {
      const event = topic.endsWith('joined') ? 'broadcast' : 'phx_join'
      expect(await raw.answerTo(raw.send(topic, event))).toEqual({
        status: 'error',
        response: { reason: 'unmatched topic' },
      })
    }
    expect(await raw.answerTo(raw.send('realtime:', 'phx_join'))).toEqual({
      status: 'error',
      response: { reason: 'TopicNameRequired: You must provide a topic name' },
    })
    raw.close()
  })

  test('closes the first channel when a topic is joined again, after the answer to the second join', async () => {
    const raw = await realtime.raw()
    const topic = newTopic()
    const wire = `realtime:${topic}`
    const ok = { status: 'ok', response: { postgres_changes: [] } }
    expect(await raw.join(topic, {}, {}, '1')).toEqual(ok)
    const again = raw.send(wire, 'phx_join', {}, '2')
    await raw.find('the end of the first', (frame) => frame[3] === 'phx_close')
    expect(raw.frames.slice(1)).toEqual([
      ['2', again, wire, 'phx_reply', ok],
      ['1', '1', wire, 'phx_close', {}],
    ])
    // A leave with another join's ref, or with none, is ignored and gets no reply.
    for (const ref of ['1', null]) raw.send(wire, 'phx_leave', {}, ref)
    await raw.answerTo(raw.send('phoenix', 'heartbeat', {}, null))
    await realtime.send(topic, 'm', {}, false)
    await waitUntil('it is joined still', () => raw.events(topic, 'broadcast').length === 1)
    const leave = raw.send(wire, 'phx_leave', {}, '2')
    expect(await raw.answerTo(leave)).toEqual({ status: 'ok', response: {} })
    await raw.find('the end', (frame) => frame[3] === 'phx_close' && frame[0] === '2')
    await realtime.send(topic, 'm', {}, false)
    await realtime.taken()
    await raw.arrived()
    expect(raw.frames.slice(5)).toEqual([
      ['2', leave, wire, 'phx_reply', { status: 'ok', response: {} }],
      ['2', '2', wire, 'phx_close', {}],
    ])
    raw.close()
  })

  test('takes everything but a leave under whichever join', async () => {
    const raw = await realtime.raw()
    const topic = newTopic()
    await raw.join(topic, { broadcast: { ack: true, self: true } }, {}, '5')
    for (const ref of ['4', null]) {
      const sent = raw.send(`realtime:${topic}`, 'broadcast', { event: 'm', payload: {} }, ref)
      const [joinRef, , , , answer] = await raw.find('an answer', (frame) => frame[1] === sent)
      expect([joinRef, answer]).toEqual(['5', { status: 'ok', response: {} }])
    }
    expect(raw.events(topic, 'broadcast')).toHaveLength(2)
    raw.close()
  })

  test('delivers and answers nothing while a join is being refused', async () => {
    let joins = 0
    let refuse!: (delay: number) => void
    const refusal = new Promise<number>((resolve) => (refuse = resolve))
    const own = await startRealtime({
      joinDelay: () => ++joins < 2 ? 0 : refusal,
    })
    const raw = await own.raw()
    const topic = newTopic()
    await raw.join(topic)
    const reply = raw.send(`realtime:${newTopic()}`, 'phx_join', { config: { private: true } }, '2')
    const beat = raw.send('phoenix', 'heartbeat', {}, null)
    await waitUntil('the join is being looked at', () => joins === 2)
    await own.send(topic, 'm', { n: 1 }, false)
    await own.taken()
    await raw.arrived()
    expect(raw.frames).toHaveLength(1)
    refuse(0)
    await waitUntil('all are delivered', () => raw.frames.length === 4)
    // The waiting frames are delivered in the order in which they arrived.
    const [answer, heartbeat, broadcast] = raw.frames.slice(1)
    expect([answer[1], heartbeat[1]]).toEqual([reply, beat])
    expect(readBroadcast(broadcast)).toMatchObject({ kind: 4, event: 'm', json: true })
    raw.close()
    await own.stop()
  })

  test('uses protocol 1.0.0 if no version is given', async () => {
    const raw = await realtime.raw('', `apikey=${realtime.publishableKey}`)
    const topic = newTopic()
    raw.socket.send(JSON.stringify({
      topic: `realtime:${topic}`,
      event: 'phx_join',
      payload: { config: { broadcast: { self: 'true', ack: 'true' } } },
      ref: '1',
      join_ref: '1',
    }))
    await waitUntil('it is joined', () => raw.frames.length === 1)
    const topicOnWire = `realtime:${topic}`
    // Frames of protocol 1.0.0 have no field for the ref of a join.
    expect(raw.frames[0]).toEqual({
      topic: topicOnWire,
      event: 'phx_reply',
      ref: '1',
      payload: { status: 'ok', response: { postgres_changes: [] } },
    })
    const payload = { type: 'broadcast', event: 'm', payload: { n: 1 } }
    const broadcast = { topic: `realtime:${topic}`, event: 'broadcast', payload }
    raw.socket.send(JSON.stringify({ ...broadcast, ref: '2', join_ref: '1' }))
    await waitUntil('it receives its own message', () => raw.frames.length === 3)
    expect(raw.frames.slice(1)).toMatchObject([broadcast, { event: 'phx_reply', ref: '2' }])
    raw.socket.send(JSON.stringify({
      topic: topicOnWire,
      event: 'phx_leave',
      payload: {},
      ref: '3',
      join_ref: '1',
    }))
    await waitUntil('it is left', () => raw.frames.length === 5)
    // As there is no join_ref, only the ref tells which join has ended.
    expect(raw.frames[4]).toEqual({ topic: topicOnWire, event: 'phx_close', payload: {}, ref: '1' })
    raw.close()
  })

  test('ignores malformed frames', async () => {
    const topic = newTopic()
    const witness = await realtime.raw()
    await witness.join(topic)
    const broken: (string | Buffer)[] = [
      '{',
      'null',
      '[1,2,3,4,5]',
      '["1","1","phoenix","heartbeat"]',
      Buffer.from([9, 0, 0]),
      Buffer.from([3, 255, 255, 255, 255, 255, 1, 65]),
    ]
    const sender = await realtime.raw()
    for (const frame of broken) sender.socket.send(frame)
    await sender.answerTo(sender.send('phoenix', 'heartbeat', {}, null))
    expect(sender.frames).toHaveLength(1)
    sender.socket.send('x'.repeat(5_000_001))
    expect(await sender.closed).toBe(1009)
    // A broadcast of invalid JSON does no harm either.
    const raw = await realtime.raw()
    await raw.join(topic)
    raw.socket.send(push(topic, 'm', 'not json'))
    await waitUntil('it comes as it was sent', () => witness.frames.some(Buffer.isBuffer))
    expect(witness.socket.readyState).toBe(witness.socket.OPEN)
    for (const each of [raw, witness]) each.close()
  })

  test('delivers clients’ broadcasts as bytes over protocol 2.0.0', async () => {
    const topic = newTopic()
    const [sender, now, old] = await Promise.all(
      [realtime.raw(), realtime.raw(), realtime.raw('1.0.0')],
    ) as [Raw, Raw, Raw]
    await sender.join(topic, { broadcast: { ack: true } })
    await now.join(topic)
    const ref = '1'
    const payload = { config: {} }
    old.socket.send(JSON.stringify({ topic: `realtime:${topic}`, event: 'phx_join', payload, ref }))
    await waitUntil('all are joined', () => old.frames.length === 1)
    sender.socket.send(push(topic, 'typing', JSON.stringify({ who: 'سالم' })))
    sender.socket.send(push(topic, 'bytes', Buffer.from([0, 1, 2]), '1', '8'))
    for (const each of ['7', '8']) {
      expect(await sender.answerTo(each)).toEqual({ status: 'ok', response: {} })
    }
    await waitUntil('the messages arrive', () => now.frames.filter(Buffer.isBuffer).length === 2)
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

  test('whose client does not read harms no other, and keeps what it was sent', async () => {
    const topic = newTopic()
    const [slow, good] = await Promise.all([realtime.raw(), realtime.raw()])
    await slow.join(topic)
    await good.join(topic)
    slow.socket.pause()
    const text = 'x'.repeat(200_000)
    for (let n = 0; n < 150; n++) await realtime.send(topic, 'm', { n, text }, false)
    await waitUntil('the other has all', () => good.events(topic, 'broadcast').length === 150)
    slow.socket.resume()
    await waitUntil('it has all, too', () => slow.events(topic, 'broadcast').length === 150)
    for (const each of [slow, good]) each.close()
  })

  test('is told that all are to connect again, and closed', async () => {
    const own = await startRealtime()
    const raw = await own.raw()
    await raw.join('1')
    own.disconnectAll()
    expect(await raw.closed).toBe(1012)
    expect(raw.events('1', 'system')).toEqual([
      { extension: 'system', status: 'ok', message: 'Server requested disconnect' },
    ])
    await own.stop()
  })
})

describe.runIf(hasStack)('limits', () => {
  test('allow a socket 100 channels', async () => {
    const raw = await realtime.raw()
    for (let n = 0; n < 100; n++) {
      expect(await raw.join(`${n}`)).toMatchObject({ status: 'ok' })
    }
    expect(await raw.join('100')).toEqual({
      status: 'error',
      response: { reason: 'ChannelRateLimitReached: Too many channels' },
    })
    raw.close()
  })

  test.for([['free', 256_500], ['pro', 3_000_500]] as const)(
    'a payload on the plan %s has at most %s bytes, whoever sends it',
    async ([plan, max]) => {
      const own = await startRealtime({ plan })
      const raw = await own.raw()
      await raw.join('1', { broadcast: { ack: true, self: true } })
      raw.socket.send(push('1', 'm', 'x'.repeat(max + 1), '1', 'large'))
      expect(await raw.answerTo('large')).toEqual({
        status: 'error',
        response: 'payload_size_exceeded',
      })
      const text = (length: number) => ({ text: 'x'.repeat(length) })
      // Oversized messages from the database are silently dropped.
      await own.send('1', 'large', text(max), false)
      await own.send('1', 'good', text(max - 1000), false)
      await waitUntil('the other comes', () => raw.events('1', 'broadcast').length === 1)
      expect(raw.events('1', 'broadcast')[0].event).toBe('good')
      await own.stop()
    },
  )

  test('can restrict a project to private channels', async () => {
    const own = await startRealtime({ privateOnly: true })
    const raw = await own.raw()
    expect(await raw.join('1')).toEqual({
      status: 'error',
      response: { reason: 'PrivateOnly: This project only allows private channels' },
    })
    await own.stop()
  })

  test('allow 200 joined connections; the next can neither join nor connect', async () => {
    const own = await startRealtime({ rates: true })
    const early = await own.raw()
    const many = await Promise.all([...Array(200).keys()].map(() => own.raw()))
    await Promise.all(many.map((raw, n) => raw.join(`${n}`)))
    await expect(own.raw()).rejects.toThrow('429')
    expect(await early.join('late')).toEqual({
      status: 'error',
      response: { reason: 'ConnectionRateLimitReached: Too many connected users' },
    })
    for (const each of [early, ...many]) each.close()
    await own.stop()
  })

  test('allow 100 joins a second, checked per interval; then the connection ends', async () => {
    stopClock()
    const own = await startRealtime({ rates: true, rateInterval: interval })
    const raw = await own.raw()
    // After a quiet period, one interval may use up a sixth of a minute's allowance.
    const most = 2 * 100 * interval / 1000
    for (let n = 0; n < most; n++) raw.send('realtime:often', 'phx_join', {}, String(n))
    const answered = () => raw.frames.filter((frame) => frame[3] === 'phx_reply')
    await waitUntil('they are answered', () => answered().length === most)
    expect(answered().every((frame) => frame[4].status === 'ok')).toBe(true)
    expect((await raw.join('late')).status).toBe('ok')
    nextInterval()
    const { response } = await raw.join('too late')
    expect(response.reason).toMatch(/^ClientJoinRateLimitReached: /)
    expect(await raw.closed).toBe(1001)
    await expect(own.raw()).rejects.toThrow('429')
    await own.stop()
  })

  test('above 100 events a second close channels, drop messages of the database, and answer 429 over HTTP', async () => {
    stopClock()
    const own = await startRealtime({ rates: true, rateInterval: interval })
    const [raw, idle] = await Promise.all([own.raw(), own.raw()])
    await raw.join('crowd', { broadcast: { self: true } })
    await idle.join('idle')
    const heard = () => raw.frames.filter(Buffer.isBuffer).length
    // Each event counts once when it is sent and once for every listener.
    const most = 100 * interval / 1000
    for (let n = 0; n < most; n++) raw.socket.send(push('crowd', 'm', '{}'))
    await waitUntil('all are heard', () => heard() === most)
    nextInterval()
    raw.socket.send(push('crowd', 'm', '{}'))
    await raw.find('the end', (frame) => frame[3] === 'phx_close')
    await own.send('idle', 'm', { n: 1 }, false)
    await own.taken()
    const response = await fetch(`${own.url}/realtime/v1/api/broadcast`, {
      method: 'POST',
      headers: { apikey: own.publishableKey, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ topic: 't', event: 'e', payload: {} }] }),
    })
    expect([response.status, await response.json()]).toEqual([429, { message: expect.any(String) }])
    expect(raw.events('crowd', 'system')[0].message).toBe('Too many messages per second')
    // In the next interval, messages are delivered again. Those dropped before are lost.
    nextInterval()
    await own.send('idle', 'm', { n: 2 }, false)
    await waitUntil('messages arrive again', () => idle.events('idle', 'broadcast').length > 0)
    expect(idle.events('idle', 'broadcast').map(({ payload }: Json) => payload.n)).toEqual([2])
    await own.stop()
  })
})
