import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hasStack } from '../../test/support/facade.ts'
import { waitUntil } from '../../test/support/wait.ts'
import { joined, payloads, startRealtime } from './support/client.ts'

const newTopic = () => `room:${randomUUID()}`

describe.runIf(hasStack)('a connection to the database that has ended', () => {
  test('is opened by the next join of anybody, and all hear again', async () => {
    const own = await startRealtime()
    const topic = newTopic()
    const { received, states } = await joined(own, topic)
    own.tenant.disconnect()
    await own.send(topic, 'm', { n: 1 })
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
