import { isDeepStrictEqual } from 'node:util'
import { randomUUID } from 'node:crypto'
import { waitUntil } from '../support/wait.ts'
import { createClient } from '@supabase/supabase-js'
import { saysHearing } from '../../functions/chat/hearing.ts'
import { isTemporary } from '../support/joins.ts'
import { newPerson, type Person } from './accounts.ts'
import {
  ask,
  type Asker,
  brief,
  type Json,
  me,
  must,
  publishableKey,
  show,
  step,
  url,
} from './guide.ts'
import { offered } from './world.ts'

const toClose: (() => void)[] = []

const closeAll = () => {
  for (const close of toClose.splice(0)) close()
}

const arrives = (what: string, check: () => boolean) =>
  waitUntil(what, check, 60_000).catch(() => must(false, `${what} was to arrive`))

async function realtime(name: string, { token }: Asker) {
  const client = createClient(url, publishableKey!, {
    accessToken: () => Promise.resolve(token!),
  })
  await client.realtime.setAuth()
  toClose.push(() => void client.realtime.disconnect())
  const heard: { event: string; payload: Json }[] = []
  const join = (topic: string) =>
    new Promise<Json>((resolve) => {
      const channel = client.channel(topic, {
        config: { private: true, broadcast: { replication_ready: true } },
      })
      channel.on('broadcast', { event: '*' }, ({ event, payload }) => {
        heard.push({ event, payload })
        show(`  ${name} hears ${event} ${brief(payload)}`)
      })
      let answered = false
      const answer = (status: string, error?: Error) => {
        // Later calls report the end of the connection.
        if (answered) return
        answered = true
        show(`  ${name} joins the private channel: ${error?.message ?? status}`)
        resolve({ status, channel })
      }
      // A channel is joined once Realtime says that it receives the database's events.
      channel.on('system', {}, (said) => saysHearing(said) && answer('SUBSCRIBED'))
        .subscribe((status, error) => {
          if (status !== 'SUBSCRIBED' && !isTemporary(error)) answer(status, error)
        })
    })
  const of = (event: string) => heard.filter((one) => one.event === event).map((one) => one.payload)
  return { join, of }
}

async function gateway(name: string, { token }: Asker) {
  const address = `${url.replace(/^http/, 'ws')}/functions/v1/chat`
  const socket = new WebSocket(address, ['chat', `bearer.${token}`])
  toClose.push(() => socket.close())
  const heard: Json[] = []
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(String(data))
    heard.push(frame)
    show(`  ${name} gets ${brief(frame)}`)
  }
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error('the gateway did not open a socket'))
  })
  const say = async (event: string, data: Json) => {
    const ref = randomUUID().slice(0, 8)
    show(`${name} sends ${event} ${brief(data)}`)
    socket.send(JSON.stringify({ event, data, ref }))
    const answer = () => heard.find((frame) => frame.ref === ref || frame.data?.ref === ref)
    await arrives('an answer', () => answer() !== undefined)
    return answer()
  }
  const of = (event: string) => heard.filter((one) => one.event === event).map((one) => one.data)
  return { say, of }
}

const text = (conversationId: string, body: string) => ({
  conversationId,
  clientMessageId: randomUUID(),
  type: 'text',
  body,
})

export async function chat() {
  let buyer: Person
  let stranger: Person
  let conversation: Json
  const said: string[] = []

  await step('Opens a conversation about a listing, once', async () => {
    buyer = await newPerson('فهد المطيري')
    stranger = await newPerson('غريب لا يشارك')
    const opening = { propertyId: offered.sale, message: 'السلام عليكم، هل البيت متاح؟' }
    conversation = (await ask('POST', '/conversations', opening, { status: 201, as: buyer })).body
    said.push(opening.message)
    const again = { propertyId: offered.sale }
    const same = await ask('POST', '/conversations', again, { as: buyer })
    must(same.body.id === conversation.id, 'it was to be the same conversation')
    await ask('POST', '/conversations', again, { status: 422 })
    const { body } = await ask('GET', '/conversations')
    must(body.items[0].id === conversation.id && body.unreadTotal === 1, 'one was to be unread')
  })

  await step('Mutes and archives it for this side alone', async () => {
    const at = `/conversations/${conversation.id}`
    const before = (await ask('GET', at, undefined, { as: buyer })).body
    const archived = { muted: true, archived: true, upToSeq: 1 }
    must((await ask('PATCH', at, archived)).body.archived, 'it was to be archived')
    const list = (await ask('GET', '/conversations?archived=true')).body
    must(list.items[0].id === conversation.id && list.unreadTotal === 0, 'it was to be put aside')
    const after = (await ask('GET', at, undefined, { as: buyer })).body
    must(isDeepStrictEqual(after, before), 'the other side was to learn nothing')
    await ask('PATCH', at, { archived: true }, { status: 422 })
    const back = (await ask('PATCH', at, { muted: false, archived: false })).body
    must(!back.archived && !back.muted && back.unread === 1, 'it was to be back')
  })

  await step('Two people chat through Realtime', async () => {
    must(publishableKey, 'SUPABASE_PUBLISHABLE_KEY is needed here')
    const [seller, asker] = [await realtime('seller', me), await realtime('buyer', buyer)]
    for (const [who, as] of [[seller, me], [asker, buyer]] as const) {
      const { realtimeTopic } = (await ask('GET', '/auth/me', undefined, { as })).body
      must((await who.join(realtimeTopic)).status === 'SUBSCRIBED', 'it was to be joined')
    }
    for (const [as, body] of [[me, 'نعم متاح'], [buyer, 'كم آخر سعر؟']] as const) {
      const { conversationId: _, ...message } = text(conversation.id, body)
      await ask('POST', `/conversations/${conversation.id}/messages`, message, { status: 201, as })
      said.push(body)
    }
    await arrives(
      'every message for both',
      () => [seller, asker].every((who) => who.of('new_message').length === 2),
    )
    for (const who of [seller, asker]) {
      const bodies = who.of('new_message').map(({ message }) => message.body)
      must(bodies.join() === said.slice(1).join(), 'the messages were to come in their order')
    }
    const { unread } = asker.of('new_message')[0].conversation
    must(unread === 1, 'the event was to have the count of the list')
    const live = await asker.join(conversation.liveTopic)
    await seller.join(conversation.liveTopic)
    await live.channel.send({
      type: 'broadcast',
      event: 'typing',
      payload: { identityId: buyer.identityId },
    })
    await arrives('typing', () => seller.of('typing').length === 1)
    closeAll()
  })

  await step('The same through the gateway, with a bare WebSocket', async () => {
    const [seller, asker] = [await gateway('seller', me), await gateway('buyer', buyer)]
    const { id: conversationId } = conversation
    for (const who of [seller, asker]) {
      const { event } = await who.say('join_conversation', { conversationId })
      must(event === 'ack', 'joining was to be accepted')
    }
    for (const [who, body] of [[seller, '٢٨٥ ألف'], [asker, 'اتفقنا']] as const) {
      const answer = await who.say('send_message', text(conversationId, body))
      must(answer.event === 'ack', 'the message was to be accepted')
      said.push(body)
    }
    await arrives(
      'every message for both',
      () => [seller, asker].every((who) => who.of('new_message').length === 2),
    )
    await arrives('conversation_updated', () => seller.of('conversation_updated').length > 0)

    const left = await seller.say('leave_conversation', { conversationId })
    must(left.event === 'ack', 'leaving was to be accepted')
    const before = seller.of('new_message').length
    await asker.say('send_message', text(conversationId, 'هل أنت هنا؟'))
    said.push('هل أنت هنا؟')
    const { body: next } = await ask('POST', '/conversations', {
      identityId: stranger.identityId,
    }, { status: 201 })
    await arrives(
      'the next conversation',
      () => seller.of('conversation_updated').some(({ conversationId: id }) => id === next.id),
    )
    must(seller.of('new_message').length === before, 'who left was to hear nothing more')
  })

  await step('A stranger can neither join nor send', async () => {
    const { id: conversationId } = conversation
    const other = await gateway('stranger', stranger)
    for (
      const [event, data] of [
        ['join_conversation', { conversationId }],
        ['send_message', text(conversationId, 'أنا غريب')],
      ] as const
    ) {
      const answer = await other.say(event, data)
      must(answer.event === 'error', 'an error was to come')
      must(answer.data.code === 'not_participant', 'it was to be not_participant')
    }
    const listener = await realtime('stranger', stranger)
    const seller = (await ask('GET', '/auth/me')).body.realtimeTopic
    for (const topic of [seller, conversation.liveTopic]) {
      const { status } = await listener.join(topic)
      must(status === 'CHANNEL_ERROR', 'the channel was to be refused')
    }
    await ask('GET', `/conversations/${conversationId}/messages`, undefined, {
      status: 404,
      as: stranger,
    })
    closeAll()
  })

  await step('History has every message', async () => {
    for (const as of [me, buyer]) {
      const { body } = await ask('GET', `/conversations/${conversation.id}/messages`, undefined, {
        as,
      })
      const bodies = body.items.map((message: Json) => message.body)
      must(bodies.join('|') === said.join('|'), 'every message was to be there, in order')
      must(
        body.items.every(({ seq }: Json, index: number) => seq === index + 1),
        'the numbers were to have no gap',
      )
    }
    const { body } = await ask('POST', `/conversations/${conversation.id}/read`, {})
    must(body.unread === 0, 'nothing was to be unread')
  })
}
