import { afterEach, describe, expect, test } from 'vitest'
import { type Chat, createChat, gateway } from '../../client/src/chat/index.ts'
import { createClient } from '../../client/src/index.ts'
import type { Message } from '../../functions/chat/protocol.ts'
import { ChatSocket, chatUrl, upTo } from '../support/chat-socket.ts'
import { database, type Person, projectUrl } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { type OwnGateway, startGateway } from '../support/own-gateway.ts'
import { crash, crashDatabase } from '../support/crash.ts'
import { expectWithin } from '../support/promised-times.ts'
import { bulk } from '../support/nightly.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { type Conversation, startConversation, wholeHistory } from '../support/conversations.ts'

const never = 3_600_000
const clients: Chat[] = []
const gateways: OwnGateway[] = []
afterEach(async () => {
  clients.splice(0).forEach((client) => client.close())
  await Promise.all(gateways.splice(0).map((one) => one.terminate()))
})

async function app(person: Person, conversationId: string, url = chatUrl) {
  const client = createClient({ url: projectUrl, accessToken: () => person.accessToken })
  const chat = createChat(client, { link: gateway({ url }) })
  clients.push(chat)
  const shown: Message[] = []
  const acknowledged: Message[] = []
  chat.on('new_message', ({ message }) => shown.push(message))
  await chat.join(conversationId)
  const say = async (body: string) => {
    acknowledged.push(await chat.send({ conversationId, type: 'text', body }))
  }
  return { shown, acknowledged, say }
}

type App = Awaited<ReturnType<typeof app>>

async function agree({ a, conversationId }: Conversation, apps: App[], count: number) {
  for (const { shown } of apps) {
    await waitUntil('everything is shown', () => shown.length >= count)
    expect(shown.map(({ seq }) => seq)).toEqual(upTo(count))
  }
  const stored = await wholeHistory(a, conversationId)
  expect(stored).toEqual(apps[0]!.shown)
  expect(stored).toEqual(apps.at(-1)!.shown)
  const acknowledged = apps.flatMap((one) => one.acknowledged).sort((x, y) => x.seq - y.seq)
  expect(stored).toEqual(acknowledged)
  for (const { acknowledged } of apps) {
    const seqs = acknowledged.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.toSorted((x, y) => x - y))
  }
}

describe.runIf(hasStack)('chat survives', () => {
  test(
    'messages pass between two gateways while one of them is killed three times',
    async () => {
      const each = bulk(500, 80)
      const people = await startConversation()
      const [first, second] = await Promise.all([startGateway(), startGateway()])
      gateways.push(first)
      const left = await app(people.a, people.conversationId, first.url)
      const right = await app(people.b, people.conversationId, second.url)
      const talk = Promise.all([left, right].map(async ({ say }, who) => {
        for (const i of upTo(each)) await say(`${who} ${i}`)
      }))
      let current = second
      for (const part of [0.3 * each, 0.8 * each, 1.4 * each]) {
        await waitUntil(`${part} are sent`, () => left.shown.length > part)
        await current.kill()
        current = await startGateway({}, { port: second.port })
      }
      gateways.push(current)
      await talk
      await agree(people, [left, right], 2 * each)
    },
  )

  test('CRASH-03 pairs go on chatting while the gateway is killed again and again', async () => {
    const pairs: Conversation[] = []
    for (let i = 0; i < 4; i++) pairs.push(...await Promise.all(upTo(5).map(startConversation)))
    const apps = await Promise.all(
      pairs.map(({ a, b, conversationId }) =>
        Promise.all([app(a, conversationId), app(b, conversationId)])
      ),
    )
    let over = false
    const talks = apps.flat().map(async ({ say }, who) => {
      for (let i = 0; !over; i++) {
        await say(`${who} ${i}`)
        await pause(300 + Math.random() * 200, 'any moment is right')
      }
    })
    for (let i = 0; i < bulk(20, 4); i++) {
      await pause(200 + Math.random() * 600, 'any moment is right')
      await crash('local/functions/chat.ts')
    }
    const before = apps.flat().map(({ acknowledged }) => acknowledged.length)
    const took = await waitUntil(
      'all are back',
      () => apps.flat().every(({ acknowledged }, i) => acknowledged.length > before[i]!),
    )
    expectWithin('nothing hangs', took)
    over = true
    await Promise.all(talks)
    for (const [i, both] of apps.entries()) {
      const count = both[0].acknowledged.length + both[1].acknowledged.length
      await agree(pairs[i]!, both, count)
    }
  })

  test('when Realtime is killed, joined sockets stay and miss nothing', async () => {
    const { a, b, conversationId } = await startConversation()
    // This gateway never polls. Messages arrive live or, once its channel receives events again, are fetched.
    const own = await startGateway({}, { times: { accessEvery: never, updatesEvery: never } })
    gateways.push(own)
    const [left, right] = [
      await ChatSocket.connect(a, own.url),
      await ChatSocket.connect(b, own.url),
    ]
    await right.join(conversationId)
    for (const i of upTo(5)) await left.sendMessage(conversationId, String(i))
    await waitUntil('they come', () => right.messages().length === 5)
    const killed = crash('local/realtime/')
    for (const i of upTo(20)) {
      await left.sendMessage(conversationId, `في الأثناء ${i}`)
      await pause(50, 'any moment is right')
    }
    await killed
    await waitUntil('nothing is missing', () => right.messages().length === 25)
    expect(right.messages().map(({ seq }) => seq)).toEqual(upTo(25))
    // The channel delivers live events again, so this message does not have to be fetched.
    await left.sendMessage(conversationId, 'حيّ')
    await waitUntil('events arrive again', () => right.messages().length === 26)
    expect(right.closed).toBeUndefined()
    expect(right.messages().map(({ seq }) => seq)).toEqual(upTo(26))
    left.close()
    right.close()
  })

  test('CRASH-01 a chat survives the database being killed three times', async () => {
    const people = await startConversation()
    const left = await app(people.a, people.conversationId)
    const right = await app(people.b, people.conversationId)
    let over = false
    const talk = Promise.all([left, right].map(async ({ say }, who) => {
      for (let i = 0; !over; i++) await say(`${who} ${i}`)
    }))
    for (let i = 0; i < 3; i++) {
      await pause(1000 + Math.random() * 1000, 'any moment is right')
      await crashDatabase()
    }
    const before = left.acknowledged.length
    await waitUntil('it goes on by itself', () => left.acknowledged.length > before + 5)
    over = true
    await talk
    const count = left.acknowledged.length + right.acknowledged.length
    await agree(people, [left, right], count)
    const { rows } = await database().query(
      `select count(*)::int, max(seq)::int, count(distinct client_message_id)::int as clients
       from public.messages where conversation_id = $1`,
      [people.conversationId],
    )
    expect(rows).toEqual([{ count, max: count, clients: count }])
  })
})
