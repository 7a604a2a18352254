/** Realtime's connection to the database: when it begins, when it ends, and what clients see of it. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { hasStack } from '../../test/support/facade.ts'
import { waitUntil } from '../../test/support/wait.ts'
import { dropPartitions, joined, payloads, startRealtime } from './support/client.ts'

const newTopic = () => `room:${randomUUID()}`

describe.runIf(hasStack)('a connection to the database that has ended', () => {
  test('is opened by the next join of anybody, and all hear again', async () => {
    const own = await startRealtime()
    const topic = newTopic()
    const { received, states } = await joined(own, topic)
    own.tenant.disconnect()
    await own.send(topic, 'm', { n: 1 })
    await sleep(1000)
    expect([received, states, own.tenant.streaming]).toEqual([[], ['SUBSCRIBED'], false])
    await joined(own, newTopic())
    await waitUntil('it is heard again', () => own.tenant.streaming)
    await own.send(topic, 'm', { n: 2 })
    await waitUntil('the message arrives', () => received.length > 0)
    expect(payloads(received)).toMatchObject([{ n: 2 }])
    await own.stop()
  })

  test('is opened by itself as well, later', async () => {
    const own = await startRealtime({ connectionCheck: 300 })
    const topic = newTopic()
    const { received } = await joined(own, topic)
    own.tenant.disconnect()
    await waitUntil('it is heard again', () => own.tenant.streaming)
    await own.send(topic, 'm', { n: 1 })
    await waitUntil('the message arrives', () => received.length === 1)
    await own.stop()
  })
})

describe.runIf(hasStack)('a project where nobody has joined before, or for three days', () => {
  test('refuses the first join, and has partitions for the next', async () => {
    const own = await startRealtime({ partitionDelay: 2000, failedJoinDelay: 100 })
    own.tenant.disconnect()
    await dropPartitions(own.database)
    const [topic, sub] = [newTopic(), randomUUID()]
    await own.member(topic, sub)
    const access_token = await own.token(sub)
    const raw = await own.raw()
    const join = () => raw.join(topic, { private: true }, { access_token })
    expect(await join()).toMatchObject({
      status: 'error',
      response: { reason: expect.stringMatching(/^MissingPartition: /) },
    })
    await waitUntil('there are partitions', async () => (await join()).status === 'ok')
    await waitUntil('the stream is connected', () => own.tenant.streaming)
    await own.send(topic, 'm', { n: 1 })
    await waitUntil('the message arrives', () => raw.events(topic, 'broadcast').length === 1)
    raw.close()

    // supabase-js joins again by itself.
    own.tenant.disconnect()
    await dropPartitions(own.database)
    const client = own.client(access_token)
    await client.realtime.setAuth()
    const states: string[] = []
    client.channel(topic, { config: { private: true } }).subscribe((state) => states.push(state))
    await waitUntil('it has joined', () => states.at(-1) === 'SUBSCRIBED')
    expect(states[0]).toBe('CHANNEL_ERROR')
    await own.stop()
  })
})
