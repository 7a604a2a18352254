import { randomUUID } from 'node:crypto'
import { REALTIME_SUBSCRIBE_STATES } from '@supabase/supabase-js'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasStack } from '../../test/support/facade.ts'
import {
  type Json,
  type Raw,
  startRealtime,
  subscribed,
  type TestRealtime,
} from './support/client.ts'
import { waitUntil } from '../../test/support/wait.ts'

let realtime: TestRealtime
beforeAll(async () => {
  if (hasStack) realtime = await startRealtime()
})
afterAll(() => realtime?.stop())
afterEach(() => void vi.useRealTimers())

const newTopic = () => `room:${randomUUID()}`

describe.runIf(hasStack)('presence', () => {
  test('shows who is present, joins and leaves, in supabase-js', async () => {
    const topic = newTopic()
    const [first, second] = ['سالم', 'نورة'].map((key) =>
      realtime.client().channel(topic, { config: { presence: { key, enabled: true } } })
    )
    const { SUBSCRIBED: status } = REALTIME_SUBSCRIBE_STATES
    expect(await subscribed(first!)).toMatchObject({ status })
    expect(await first!.track({ at: 1 })).toBe('ok')
    expect(await subscribed(second!)).toMatchObject({ status })
    await waitUntil('the first is seen', () => 'سالم' in second!.presenceState())
    await second!.track({ at: 2 })
    await waitUntil('both are seen', () => Object.keys(first!.presenceState()).length === 2)
    await second!.track({ at: 3 })
    const shown = () => (first!.presenceState() as Json)['نورة']
    await waitUntil('the change is seen', () => shown()?.[0].at === 3)
    expect(shown()).toHaveLength(1)
    await first!.untrack()
    await waitUntil('it is gone', () => Object.keys(second!.presenceState()).join() === 'نورة')
    await second!.unsubscribe()
    await waitUntil('nobody is left', () => Object.keys(first!.presenceState()).length === 0)
  })

  test('ends with a broken socket', async () => {
    const topic = newTopic()
    const [raw, witness] = await Promise.all([realtime.raw(), realtime.raw()])
    await witness.join(topic, { presence: { enabled: true } })
    await raw.join(topic, { presence: { key: 'k' } })
    const track = { type: 'presence', event: 'track', payload: { a: 1 } }
    expect(await raw.answerTo(raw.send(`realtime:${topic}`, 'presence', track))).toEqual({
      status: 'ok',
      response: {},
    })
    raw.socket.terminate()
    await waitUntil('it is gone', () => witness.events(topic, 'presence_diff').length === 2)
    expect(witness.events(topic, 'presence_state')).toEqual([{}])
    const metas = [{ a: 1, phx_ref: expect.any(String) }]
    expect(witness.events(topic, 'presence_diff')).toEqual([
      { joins: { k: { metas } }, leaves: {} },
      { joins: {}, leaves: { k: { metas } } },
    ])
    witness.close()
  })

  test('needs permission on private topics', async () => {
    const topic = newTopic()
    const [blind, mute] = [randomUUID(), randomUUID()]
    await realtime.member(topic, blind, { presence: false })
    await realtime.member(topic, mute, { reads: false, writes: false })
    const open = async (sub: string) => {
      const raw = await realtime.raw()
      const config = { private: true, presence: { enabled: true, key: sub } }
      const more = { access_token: await realtime.token(sub) }
      expect(await raw.join(topic, config, more)).toMatchObject({ status: 'ok' })
      return raw
    }
    const [seesNot, onlySees] = [await open(blind), await open(mute)]
    const track = (raw: Raw) =>
      raw.answerTo(raw.send(`realtime:${topic}`, 'presence', { event: 'TRACK', payload: {} }))
    expect(await track(seesNot)).toMatchObject({ status: 'ok' })
    expect(await track(onlySees)).toMatchObject({ status: 'error' })
    await realtime.send(topic, 'm', {})
    await waitUntil('the reader hears', () => seesNot.events(topic, 'broadcast').length === 1)
    await waitUntil('the other sees', () => onlySees.events(topic, 'presence_diff').length === 1)
    expect(onlySees.events(topic, 'broadcast')).toEqual([])
    for (const event of ['presence_state', 'presence_diff']) {
      expect(seesNot.events(topic, event)).toEqual([])
    }
    for (const each of [seesNot, onlySees]) each.close()
  })

  test('has its limits: five calls in half a minute, ten keys, a map', async () => {
    const topic = newTopic()
    const track = (raw: Raw, payload: Json) =>
      raw.send(`realtime:${topic}`, 'presence', { event: 'track', payload })
    const end = async (raw: Raw) => {
      await raw.find('the end', ([, , , event]) => event === 'phx_close')
      raw.close()
      return raw.events(topic, 'system')[0].message
    }
    const eager = await realtime.raw()
    await eager.join(topic)
    for (let n = 0; n < 6; n++) track(eager, { n })
    expect(await end(eager)).toBe('Client presence rate limit exceeded')
    const large = await realtime.raw()
    await large.join(topic)
    expect(await large.answerTo(track(large, [1]))).toMatchObject({ status: 'error' })
    track(large, Object.fromEntries([...Array(11).keys()].map((key) => [`k${key}`, 1])))
    expect(await end(large)).toBe('Track message size exceeded')
  })

  test('of a whole project has a limit: 20 messages a second on the free plan', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const own = await startRealtime({ rates: true, rateInterval: 500 })
    const raws = await Promise.all([...Array(10).keys()].map(() => own.raw()))
    const presence = { enabled: true }
    await Promise.all(raws.map((raw) => raw.join('crowd', { presence })))
    const track = (raw: Raw, n: number) =>
      raw.send('realtime:crowd', 'presence', { event: 'track', payload: { n } })
    // Each event counts once for its sender and once for every recipient.
    for (const raw of raws) track(raw, 1)
    await waitUntil('all are seen', () => raws[0]!.events('crowd', 'presence_diff').length === 10)
    vi.setSystemTime(Date.now() + 500)
    track(raws[0]!, 2)
    await raws[0]!.find('the end', ([, , , event]) => event === 'phx_close')
    expect(raws[0]!.events('crowd', 'system')[0].message)
      .toBe('Too many presence messages per second')
    await own.stop()
  })
})
