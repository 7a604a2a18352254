// Tests the partitions of realtime.messages. The first join creates them for all tests, so this runs alone.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hasStack } from '../../test/support/facade.ts'
import { waitUntil } from '../../test/support/wait.ts'
import { dropPartitions, startRealtime } from './support/client.ts'

describe.runIf(hasStack)('a project where nobody has joined before, or for three days', () => {
  test('refuses the first join, and has partitions for the next', async () => {
    const own = await startRealtime()
    const partitions = `select from pg_inherits where inhparent = 'realtime.messages'::regclass`
    await waitUntil('it has made them', async () => (await own.query(partitions)).rowCount! > 0)
    const forget = async () => {
      const letGo = own.tenant.holdPartitions()
      own.tenant.disconnect()
      await dropPartitions(own.database)
      return letGo
    }
    let letGo = await forget()
    const [topic, sub] = [`room:${randomUUID()}`, randomUUID()]
    await own.member(topic, sub)
    const access_token = await own.token(sub)
    const raw = await own.raw()
    const join = () => raw.join(topic, { private: true }, { access_token })
    expect(await join()).toMatchObject({
      status: 'error',
      response: { reason: expect.stringMatching(/^MissingPartition: /) },
    })
    letGo()
    await waitUntil('there are partitions', async () => (await join()).status === 'ok')
    await waitUntil('the stream is connected', () => own.tenant.streaming)
    await own.send(topic, 'm', { n: 1 })
    await waitUntil('the message arrives', () => raw.events(topic, 'broadcast').length === 1)
    raw.close()

    // supabase-js joins again by itself.
    letGo = await forget()
    const client = own.client(access_token)
    await client.realtime.setAuth()
    const states: string[] = []
    client.channel(topic, { config: { private: true } }).subscribe((state) => states.push(state))
    await waitUntil('it is refused', () => states.length > 0)
    expect(states[0]).toBe('CHANNEL_ERROR')
    letGo()
    await waitUntil('it has joined', () => states.at(-1) === 'SUBSCRIBED')
    await own.stop()
  })
})
