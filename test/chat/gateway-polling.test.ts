// The gateway relies on Realtime only once a join is confirmed, and even then it regularly checks the
// database.
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, onTestFailed, test } from 'vitest'
import { startOtherRealtime } from '../../local/realtime/support/client.ts'
import type { Times } from '../../functions/chat/server/times.ts'
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

/** Longer than any test takes. */
const never = 3_600_000

async function ownGateway(
  times: Partial<Times>,
  options: Parameters<typeof startOtherRealtime>[0] = {},
) {
  const realtime = await startOtherRealtime(options)
  toEnd.push(realtime.stop)
  const proxy = await startCountingProxy(defaultSettings().FACADE_DB_URL!)
  toEnd.push(proxy.stop)
  const gateway = await startGateway(
    { ...realtime.settings, FACADE_DB_URL: proxy.url },
    { times },
  )
  toEnd.push(gateway.kill)
  onTestFailed(() => console.log(gateway.output()))
  const connect = async (person: Parameters<typeof ChatSocket.connect>[0]) => {
    const socket = await ChatSocket.connect(person, gateway.url)
    toEnd.push(() => socket.close())
    return socket
  }
  const calls = async (count: number) => {
    proxy.takeMessages()
    const found: string[] = []
    await waitUntil(`${count} calls`, () => found.push(...proxy.takeMessages()) >= count)
    return found
  }
  return { realtime, gateway, connect, calls }
}

/**
 * Returns whether an update with a message has arrived. Updates without one, about
 * earlier changes, may arrive, too.
 */
const heardOne = (socket: ChatSocket) =>
  socket.events('conversation_updated').some(({ lastMessage }) => lastMessage)

const isCheck = (text: string) => text.includes('changed_sockets')

describe('the gateway', () => {
  testLocally('delays only the next join when one is late', async () => {
    let joins = 0
    let goOn!: (delay: number) => void
    const joinDelay = () => ++joins > 1 ? 0 : new Promise<number>((resolve) => (goOn = resolve))
    const { realtime, connect, calls } = await ownGateway(
      { accessEvery: 100, updatesEvery: never },
      { joinDelay },
    )
    const { a, b, conversationId } = await startConversation()
    const socket = await connect(b)
    await waitUntil('it is joining', () => joins === 1)
    await calls(5)
    goOn(0)
    await waitUntil('it has joined', () => realtime.channels() === 1)
    await waitUntil('it does nothing but check', async () => (await calls(5)).every(isCheck))
    await sendMessageAs(a, conversationId)
    await waitUntil('it is heard', () => heardOne(socket))
    expect(joins).toBe(1)
  })

  testLocally('considers nobody joined before Realtime receives from the database', async () => {
    const { realtime, connect, calls } = await ownGateway({
      accessEvery: 100,
      updatesEvery: never,
    })
    const letGo = realtime.tenant.holdStream()
    realtime.tenant.breakStream()
    await waitUntil('the stream is lost', () => !realtime.tenant.streaming)
    const { a, b, conversationId } = await startConversation()
    const socket = await connect(b)
    await waitUntil('Realtime has taken it', () => realtime.channels() === 1)
    await sendMessageAs(a, conversationId)
    await calls(5)
    expect(socket.events('conversation_updated')).toEqual([])
    letGo()
    // The update arrives because of the join, not because of a poll.
    await waitUntil('the update arrives', () => heardOne(socket))
    expect(realtime.tenant.streaming).toBe(true)
  })

  testLocally(
    'checks by itself: a silently lost stream hides nothing for long',
    async () => {
      const { realtime, connect } = await ownGateway({ accessEvery: 100, updatesEvery: 500 })
      const { a, b, conversationId } = await startConversation()
      const c = await signUp()
      const [other, quiet] = [
        await conversationBetween(c, b),
        await conversationBetween(await signUp(), b),
      ]
      const socket = await connect(b)
      await waitUntil('it is joined', () => realtime.channels() === 1)
      await sendMessageAs(c, other)
      await waitUntil('it is told', () => socket.events('conversation_updated').length > 0)
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
      await waitUntil('the message arrives', () => updated(conversationId, 1))
      await waitUntil('and what was read elsewhere', () => updated(other, 0))
      await waitUntil(
        'and what was archived elsewhere',
        () =>
          socket.events('conversation_updated').some((update) =>
            update.conversationId === quiet && update.archived && update.muted
          ),
      )
      expect(realtime.tenant.streaming).toBe(false)
    },
  )

  test('delivers nothing that an account may not hear, nor more than it asks for', async () => {
    const { a, b, conversationId } = await startConversation()
    const news = async (question: object) => {
      const { rows } = await database().query('select private.missed_updates($1) as news', [
        JSON.stringify([{ accountId: b.id, seconds: 60, ...question }]),
      ])
      return rows[0].news
    }
    const opened = { conversationId, identityId: a.identityId, lastMessage: null, unread: 0 }
    expect(await news({ accountId: a.id })).toMatchObject([opened])
    expect(await news({ accountId: a.id, seconds: 0 })).toEqual([])
    // The other side learns of a conversation only when it has a message.
    expect(await news({})).toEqual([])
    await sendMessageAs(a, conversationId)
    const update = { conversationId, identityId: b.identityId, accountId: b.id, unread: 1 }
    expect(await news({})).toMatchObject([{ ...update, lastMessage: { seq: 1 } }])
    expect(await news({ seconds: 0 })).toEqual([])
    expect(await news({ accountId: a.id })).toMatchObject([{ identityId: a.identityId, unread: 0 }])
    expect(await news({ accountId: randomUUID() })).toEqual([])
    await a.post(`/blocks/${b.identityId}`)
    expect(await news({})).toEqual([])
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
