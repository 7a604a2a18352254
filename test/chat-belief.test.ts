// What the gateway believes of Realtime: that it hears when it says so, and nothing for long.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect } from 'vitest'
import { ChatSocket, pair } from './chat-socket.ts'
import { countingProxy } from './counting-proxy.ts'
import { usualSettings } from './facade.ts'
import { testLocally } from './other-functions.ts'
import { startGateway } from './other-gateways.ts'
import { startOtherRealtime } from './realtime-server.ts'
import { until } from './until.ts'

const toEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of toEnd.splice(0).reverse()) await end()
})

/** A gateway of one's own at a Realtime of one's own, and what it asks the database. */
async function ownGateway(ways: Parameters<typeof startOtherRealtime>[0] = {}) {
  const realtime = await startOtherRealtime(ways)
  toEnd.push(realtime.stop)
  const proxy = await countingProxy(usualSettings().FACADE_DB_URL!)
  toEnd.push(proxy.stop)
  const gateway = await startGateway({ ...realtime.settings, FACADE_DB_URL: proxy.url })
  toEnd.push(gateway.kill)
  const connect = async (person: Parameters<typeof ChatSocket.of>[0]) => {
    const socket = await ChatSocket.of(person, gateway.url)
    toEnd.push(() => socket.close())
    return socket
  }
  return { realtime, gateway, connect, asked: proxy.taken }
}

describe('the gateway', () => {
  testLocally('lets one late join cost no more than the next one', async () => {
    let late = 12_000
    const { connect, asked } = await ownGateway({ lateBy: () => late })
    const { a, b, conversationId } = await pair()
    const socket = await connect(b)
    await sleep(500)
    late = 0
    await sleep(15_500)
    asked()
    await sleep(4000)
    // One look every 3 s.
    expect(asked().length).toBeLessThan(10)
    const other = await ChatSocket.of(a)
    await other.say(conversationId, 'وصلت')
    await until('it is heard', () => socket.events('conversation_updated').length === 1)
    other.close()
  }, 60_000)

  testLocally('takes nobody for joined before Realtime hears the database', async () => {
    const { realtime, connect } = await ownGateway()
    const letGo = realtime.tenant.hold()
    realtime.tenant.lose()
    await until('the stream is lost', () => !realtime.tenant.hears)
    const { a, b, conversationId } = await pair()
    const socket = await connect(b)
    await sleep(1000)
    const other = await ChatSocket.of(a)
    await other.say(conversationId, 'ما سُمعت')
    await sleep(1000)
    expect(socket.events('conversation_updated')).toEqual([])
    letGo()
    // Heard of when it is joined, not at the next look.
    await until('Realtime hears', () => realtime.tenant.hears)
    await until('it is told', () => socket.events('conversation_updated').length === 1, 3000)
    other.close()
  }, 60_000)
})
