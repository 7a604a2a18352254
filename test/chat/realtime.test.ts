import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { clientOf, closeClients, joinAs, joinChannel, topicOf } from '../support/channels.ts'
import {
  asCaller,
  database,
  type Person,
  projectUrl,
  publishableKey,
  signUp,
} from '../support/client.ts'
import { listEntry, openConversation, postMessage } from '../support/conversations.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { waitUntil } from '../support/wait.ts'

let a: Person
let b: Person
let shared: { id: string; liveTopic: string }

beforeEach(async () => {
  ;[a, b] = await Promise.all([signUp(), signUp('نورة الشمري')])
  shared = await openConversation(a, { identityId: b.identityId })
})
afterEach(closeClients)

const joined = 'SUBSCRIBED'
const refused = 'CHANNEL_ERROR'

describe('what is heard', () => {
  test('each side gets every message once, in the order of the history, which has it by then', async () => {
    const [atA, atB] = [await joinAs(a, await topicOf(a)), await joinAs(b, await topicOf(b))]
    expect([atA.status, atB.status]).toEqual([joined, joined])
    let [late, read] = [0, 0]
    atB.channel.on('broadcast', { event: 'new_message' }, async ({ payload }) => {
      const { seq, id } = payload.message
      const { body } = await b.get(`/conversations/${shared.id}/messages?afterSeq=${seq - 1}`)
      if (body.items[0]?.id !== id) late++
      read++
    })
    const sent = await Promise.all(
      Array.from({ length: 40 }, (_, i) => postMessage(i % 2 ? a : b, shared.id, `رسالة ${i}`)),
    )
    expect(sent.map(({ status }) => status)).toEqual(Array(40).fill(201))

    const history = (await a.get(`/conversations/${shared.id}/messages?limit=50`)).body.items
    expect(history.map(({ seq }: { seq: number }) => seq))
      .toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
    for (const channel of [atA, atB]) {
      const heard = await channel.waitFor('new_message', 40)
      expect(heard.map(({ message }) => message)).toEqual(history)
    }
    const { body: next } = await postMessage(a, shared.id)
    for (const channel of [atA, atB]) {
      const heard = await channel.waitFor('new_message', 41)
      expect(heard.map(({ message }) => message)).toEqual([...history, next])
    }
    await waitUntil('all were read', () => read === 41)
    expect(late).toBe(0)
  })

  test('CHAT-12 one event carries the message, the list entry and the notification', async () => {
    const [atA, atB] = [await joinAs(a, await topicOf(a)), await joinAs(b, await topicOf(b))]
    for (let i = 1; i <= 3; i++) {
      const { body: message } = await postMessage(a, shared.id, `رسالة ${i}`)
      const heard = (await atB.waitFor('new_message', i)).at(-1)
      const entry = await listEntry(b, shared.id)
      const { lastMessage, unread, muted, archived, peerReadSeq, changedAt, liveTopic } = entry
      const { id: _eventId, ...event } = heard
      expect(event).toEqual({
        identityId: b.identityId,
        message,
        conversation: {
          id: shared.id,
          lastMessage,
          unread,
          muted,
          archived,
          peerReadSeq,
          changedAt,
          liveTopic,
        },
        notificationId: expect.any(String),
      })
      expect([unread, lastMessage.mine]).toEqual([i, false])
      const { body: noted } = await b.get('/notifications')
      expect(noted.items.map(({ id }: { id: string }) => id)).toEqual([event.notificationId])
    }
    const own = (await atA.waitFor('new_message', 3)).at(-1)
    expect(own).toMatchObject({
      identityId: a.identityId,
      conversation: { unread: 0, lastMessage: { mine: true } },
    })
    expect(own).not.toHaveProperty('notificationId')
    for (const { heard } of [atA, atB]) {
      expect(heard.filter(({ event }) => event !== 'new_message')).toEqual([])
    }
  })

  test('reading sends the reader the count, and the other side the position if it may know', async () => {
    const [atA, atB] = [await joinAs(a, await topicOf(a)), await joinAs(b, await topicOf(b))]
    for (let i = 1; i <= 3; i++) await postMessage(a, shared.id, `رسالة ${i}`)
    const { lastMessage, liveTopic } = await listEntry(b, shared.id)
    await b.post(`/conversations/${shared.id}/read`, { upToSeq: 2 })
    const { changedAt } = await listEntry(b, shared.id)
    const [{ id: _one, ...updated }] = await atB.waitFor('conversation_updated')
    expect(updated).toEqual({
      identityId: b.identityId,
      conversationId: shared.id,
      lastMessage,
      unread: 1,
      muted: false,
      archived: false,
      peerReadSeq: 0,
      changedAt,
      liveTopic,
    })
    const [{ id: _other, ...read }] = await atA.waitFor('message_read')
    const shown = await listEntry(a, shared.id)
    expect(read).toEqual({
      identityId: a.identityId,
      conversationId: shared.id,
      upToSeq: 2,
      lastMessage: shown.lastMessage,
      unread: 0,
      muted: false,
      archived: false,
      peerReadSeq: 2,
      changedAt: shown.changedAt,
      liveTopic,
    })

    await b.patch('/settings', { privacy: { readReceipts: false } })
    await b.post(`/conversations/${shared.id}/read`)
    expect((await atB.waitFor('conversation_updated', 2)).at(-1)).toMatchObject({ unread: 0 })
    await postMessage(b, shared.id)
    await atA.waitFor('new_message', 4)
    expect(atA.payloads('message_read')).toHaveLength(1)
    expect(atB.payloads('message_read')).toEqual([])
  })

  test('an account receives for all of its identities, whichever is acting', async () => {
    const company = await insertOrganisation(b.id)
    await b.post('/auth/identity/switch', { identityId: company })
    const atB = await joinAs(b, await topicOf(b))
    const about = await openConversation(a, { identityId: company })
    await postMessage(a, shared.id)
    await postMessage(a, about.id)
    const heard = await atB.waitFor('new_message', 2)
    expect(heard.map(({ identityId }) => identityId)).toEqual([b.identityId, company])
  })

  test(
    'presence and typing reach both sides on the live channel, and nobody else',
    async () => {
      const presence = { presence: { key: 'a' } }
      const atA = await joinAs(a, shared.liveTopic, presence)
      const atB = await joinAs(b, shared.liveTopic, { presence: { key: 'b' } })
      await atB.channel.track({ here: true })
      await atA.send('typing', { identityId: a.identityId })
      expect((await atB.waitFor('typing'))[0]).toMatchObject({ identityId: a.identityId })
      const states = await atA.waitFor('presence', 2)
      expect(Object.keys(states.at(-1))).toEqual(['b'])

      const stranger = await joinAs(await signUp(), shared.liveTopic, presence)
      expect(stranger.status).toBe(refused)
      expect(stranger.heard).toEqual([])
    },
  )

  test('channel names come with the session, /auth/me and the list, and are never constructed', async () => {
    const topic = await topicOf(a)
    const list = (await a.get('/conversations?limit=1')).body
    expect(list).toMatchObject({ realtimeTopic: topic, unreadTotal: 0, items: [shared] })
    expect((await a.get(`/conversations/${shared.id}`)).body).toEqual(list.items[0])
    expect((await b.get(`/conversations/${shared.id}`)).body.liveTopic).toBe(shared.liveTopic)
    expect(list.items[0]).not.toHaveProperty('realtimeTopic')
    for (const table of ['accounts', 'conversations']) {
      const seen = (columns: string) =>
        asCaller(a, (client) => client.query(`select ${columns} from public.${table}`))
          .then(() => 'seen', ({ code }) => code)
      expect([await seen('id'), await seen('live_key'), await seen('*')])
        .toEqual(['seen', '42501', '42501'])
    }
  })
})

describe('CHAT-06 who does not take part hears nothing', () => {
  test('nobody else can join, by any spelling, in public or in private', async () => {
    const [stranger, locked] = [await signUp(), await signUp()]
    await database().query(`update public.accounts set status = 'suspended' where id = $1`, [
      locked.id,
    ])
    const topic = await topicOf(b)
    const [, hash] = shared.liveTopic.split('.')
    const spellings = [
      topic,
      shared.liveTopic,
      shared.id,
      `${shared.id}.`,
      `${shared.id}.${'0'.repeat(hash!.length)}`,
      topic.toUpperCase(),
      `${topic} `,
      `realtime:${topic}`,
      `conversation:${shared.id}`,
      '*',
    ]
    const attempts = [stranger, locked, undefined].flatMap((person) =>
      spellings.flatMap((topic) => [
        { person, topic, config: {} },
        { person, topic, config: { presence: { key: 'x' } } },
        { person, topic, config: { private: false } },
        { person, topic, config: { private: false, changes: 'messages' } },
      ])
    )
    const tries = await Promise.all(
      attempts.map(async ({ person, topic, config }) => {
        const channel = await joinChannel(await clientOf(person), topic, config)
        if (config.private !== false) expect([topic, channel.status]).toEqual([topic, refused])
        return channel
      }),
    )
    const nearly = spellings.slice(2).concat(`${shared.liveTopic} `, shared.liveTopic.toUpperCase())
    const almost = await Promise.all(nearly.map((topic) => joinAs(b, topic)))
    expect(almost.map(({ status }) => status)).toEqual(nearly.map(() => refused))
    const [atA, atB] = [await joinAs(a, await topicOf(a)), await joinAs(b, topic)]
    for (let i = 0; i < 20; i++) await postMessage(a, shared.id)
    await b.post(`/conversations/${shared.id}/read`)
    await atB.waitFor('new_message', 20)
    await atA.waitFor('message_read')
    for (const { topic, heard } of tries) {
      expect([topic, heard.filter(({ event }) => event !== 'presence')]).toEqual([topic, []])
    }
  })

  test('a participant who acts as another identity does not take part', async () => {
    const company = await insertOrganisation(b.id)
    await b.post('/auth/identity/switch', { identityId: company })
    expect((await joinAs(b, shared.liveTopic)).status).toBe(refused)
    await b.post('/auth/identity/switch', { identityId: b.identityId })
    expect((await joinAs(b, shared.liveTopic)).status).toBe(joined)
  })

  test('only the database can send on a channel of messages', async () => {
    const topic = await topicOf(b)
    const [atB, other] = [await joinAs(b, topic), await joinAs(b, topic)]
    const forged = { message: { seq: 99, body: 'مزورة' } }
    await other.send('new_message', forged)
    await other.send('conversation_updated', { unread: 99 })
    // Realtime answers this only after it has handled everything that was sent before.
    await other.channel.unsubscribe()
    for (const person of [b, await signUp(), undefined]) {
      const answer = await fetch(`${projectUrl}/realtime/v1/api/broadcast`, {
        method: 'POST',
        headers: {
          apikey: publishableKey,
          'content-type': 'application/json',
          ...(person && { authorization: `Bearer ${person.accessToken}` }),
        },
        body: JSON.stringify({
          messages: [topic, ...(person === b ? [] : [shared.liveTopic])].flatMap((topic) =>
            [true, false].map((isPrivate) => ({
              topic,
              event: 'new_message',
              payload: forged,
              private: isPrivate,
            }))
          ),
        }),
      })
      // As on the platform, a forbidden broadcast is accepted and dropped.
      expect(answer.status).toBe(202)
    }
    const live = await joinAs(b, shared.liveTopic)
    await postMessage(a, shared.id, 'صحيحة')
    expect((await atB.waitFor('new_message')).map(({ message }) => message.body)).toEqual(['صحيحة'])
    await postMessage(a, shared.id, 'وبعدها')
    await atB.waitFor('new_message', 2)
    expect(atB.heard.map(({ payload }) => payload.message.body)).toEqual(['صحيحة', 'وبعدها'])
    await (await joinAs(a, shared.liveTopic)).send('typing')
    await live.waitFor('typing')
    expect(live.heard.map(({ event }) => event)).toEqual(['typing'])
    // HARM-04: nothing that clients send is stored.
    const { rows } = await database().query(
      `select topic, event from realtime.messages
       where topic = $1 or topic = $2 and event not in ('new_message', 'conversation_updated', 'mark')
         or payload::text like '%مزورة%' or event = 'typing'`,
      [shared.liveTopic, topic],
    )
    expect(rows).toEqual([])
  })

  test('the policies hold in SQL, row by row', async () => {
    await postMessage(a, shared.id)
    const stranger = await signUp()
    const own = await topicOf(stranger)
    for (const topic of [own, await topicOf(b), shared.liveTopic, '', null]) {
      const rows = await asCaller(stranger, async (client) => {
        await client.query(`select set_config('realtime.topic', $1, true)`, [topic])
        return (await client.query('select topic from realtime.messages')).rows
      })
      expect(rows.filter((row) => row.topic !== own)).toEqual([])
    }
    const speak = (topic: string, set: string, extension = 'broadcast') =>
      asCaller(a, async (client) => {
        await client.query(`select set_config('realtime.topic', $1, true)`, [set])
        const sql = 'insert into realtime.messages (topic, extension) values ($1, $2)'
        return await client.query(sql, [topic, extension]).then(() => 'said', ({ code }) => code)
      })
    expect(await speak(shared.liveTopic, shared.liveTopic)).toBe('said')
    expect(await speak(shared.liveTopic, shared.liveTopic, 'presence')).toBe('said')
    expect(await speak(shared.liveTopic, shared.liveTopic, 'postgres_changes')).toBe('42501')
    const topic = await topicOf(a)
    for (const set of [topic, shared.liveTopic]) expect(await speak(topic, set)).toBe('42501')
  })
})
