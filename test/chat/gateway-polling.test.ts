// When the gateway trusts Realtime: once it confirms a join, and never for long without checking.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { startOtherRealtime } from '../../local/realtime/support/client.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { database, signUp } from '../support/client.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { defaultSettings, testLocally } from '../support/facade.ts'
import { startGateway } from '../support/own-gateway.ts'
import { waitUntil } from '../support/wait.ts'
import { conversationBetween, sendMessageAs, startConversation } from '../support/conversations.ts'

const toEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of toEnd.splice(0).reverse()) await end()
})

/** A gateway with its own Realtime, and its calls to the database. */
async function ownGateway(options: Parameters<typeof startOtherRealtime>[0] = {}) {
  const realtime = await startOtherRealtime(options)
  toEnd.push(realtime.stop)
  const proxy = await startCountingProxy(defaultSettings().FACADE_DB_URL!)
  toEnd.push(proxy.stop)
  const gateway = await startGateway({ ...realtime.settings, FACADE_DB_URL: proxy.url })
  toEnd.push(gateway.kill)
  const connect = async (person: Parameters<typeof ChatSocket.connect>[0]) => {
    const socket = await ChatSocket.connect(person, gateway.url)
    toEnd.push(() => socket.close())
    return socket
  }
  return { realtime, gateway, connect, requests: proxy.takeMessages }
}

describe('the gateway', () => {
  testLocally('delays only the next join when one is late', async () => {
    let late = 12_000
    const { connect, requests } = await ownGateway({ joinDelay: () => late })
    const { a, b, conversationId } = await startConversation()
    const socket = await connect(b)
    await sleep(500)
    late = 0
    await sleep(15_500)
    requests()
    await sleep(4000)
    // It polls every 3 s.
    expect(requests().length).toBeLessThan(10)
    await sendMessageAs(a, conversationId)
    await waitUntil('it is heard', () => socket.events('conversation_updated').length === 1, 3000)
  })

  testLocally('considers nobody joined before Realtime receives from the database', async () => {
    const { realtime, connect } = await ownGateway()
    const letGo = realtime.tenant.holdStream()
    realtime.tenant.breakStream()
    await waitUntil('the stream is lost', () => !realtime.tenant.streaming)
    const { a, b, conversationId } = await startConversation()
    const socket = await connect(b)
    await sleep(1000)
    await sendMessageAs(a, conversationId)
    await sleep(1000)
    expect(socket.events('conversation_updated')).toEqual([])
    letGo()
    // It arrives with the join, not at the next poll.
    await waitUntil('Realtime is connected to the database', () => realtime.tenant.streaming)
    await waitUntil(
      'the update arrives',
      () => socket.events('conversation_updated').length === 1,
      3000,
    )
  })

  testLocally(
    'checks by itself: a silently lost stream hides nothing for long',
    async () => {
      const { realtime, connect } = await ownGateway()
      const { a, b, conversationId } = await startConversation()
      const c = await signUp()
      const [other, quiet] = [
        await conversationBetween(c, b),
        await conversationBetween(await signUp(), b),
      ]
      const socket = await connect(b)
      await waitUntil('it is joined', async () => {
        await sendMessageAs(c, other)
        await sleep(200)
        return socket.events('conversation_updated').length > 0
      })
      realtime.tenant.holdStream()
      realtime.tenant.breakStream()
      await waitUntil('the stream is lost', () => !realtime.tenant.streaming)
      await sendMessageAs(a, conversationId)
      await b.post(`/conversations/${other}/read`)
      await b.patch(`/conversations/${quiet}`, { muted: true })
      await b.patch(`/conversations/${quiet}`, { archived: true, upToSeq: 0 })
      const updated = (id: string, unread: number) =>
        socket.events('conversation_updated').some((update) =>
          update.conversationId === id && update.unread === unread
        )
      await waitUntil('the message arrives', () => updated(conversationId, 1), 35_000)
      await waitUntil('and what was read elsewhere', () => updated(other, 0), 35_000)
      await waitUntil(
        'and what was archived elsewhere',
        () =>
          socket.events('conversation_updated').some((update) =>
            update.conversationId === quiet && update.archived && update.muted
          ),
        35_000,
      )
      expect(realtime.tenant.streaming).toBe(false)
    },
    90_000,
  )

  test('delivers nothing that an account may not hear, nor more than it asks for', async () => {
    const { a, b, conversationId } = await startConversation()
    const news = async (question: object) => {
      const { rows } = await database().query('select private.missed_updates($1) as news', [
        JSON.stringify([{ accountId: b.id, seconds: 60, ...question }]),
      ])
      return rows[0].news
    }
    // One that was just opened is news to who opened it.
    const opened = { conversationId, identityId: a.identityId, lastMessage: null, unread: 0 }
    expect(await news({ accountId: a.id })).toMatchObject([opened])
    expect(await news({ accountId: a.id, seconds: 0 })).toEqual([])
    await sendMessageAs(a, conversationId)
    const update = { conversationId, identityId: b.identityId, accountId: b.id, unread: 1 }
    expect(await news({})).toMatchObject([{ ...update, lastMessage: { seq: 1 } }])
    expect(await news({ seconds: 0 })).toEqual([])
    expect(await news({ accountId: a.id })).toMatchObject([{ identityId: a.identityId, unread: 0 }])
    expect(await news({ accountId: randomUUID() })).toEqual([])
    await a.post(`/blocks/${b.identityId}`)
    expect(await news({})).toEqual([])
    // What is one's own is heard across a block.
    const archived = { archived: true, upToSeq: 1 }
    expect((await b.patch(`/conversations/${conversationId}`, archived)).status).toBe(200)
    expect(await news({})).toMatchObject([{ ...update, archived: true }])
    await a.delete(`/blocks/${b.identityId}`)
    await sendMessageAs(a, conversationId)
    expect(await news({})).toMatchObject([{ unread: 2, archived: false, lastMessage: { seq: 2 } }])
    const suspend = `update public.accounts set status = 'suspended' where id = $1`
    await database().query(suspend, [b.id])
    expect(await news({})).toEqual([])
  })
})
