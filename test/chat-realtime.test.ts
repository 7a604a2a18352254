import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { signUpAdmin } from './admins.ts'
import { type Channel, clientOf, closeClients, device, hear } from './channels.ts'
import {
  asCaller,
  database,
  type Person,
  projectUrl,
  publishableKey,
  signIn,
  signUp,
} from './client.ts'
import { organisationOf } from './world.ts'

// Live, over Supabase Realtime and an unchanged supabase-js. A refused join is answered after 5 s.
const slow = 30_000

type Conversation = { id: string; realtimeTopic: string; liveTopic: string }

let a: Person
let b: Person
let shared: Conversation

beforeEach(async () => {
  ;[a, b] = await Promise.all([signUp(), signUp('نورة الشمري')])
  shared = await conversation(a, b.identityId)
})
afterEach(closeClients)

async function conversation(person: Person, identityId: string): Promise<Conversation> {
  const { status, body } = await person.post('/conversations', { identityId })
  expect(status).toBeOneOf([200, 201])
  return body
}

/** The conversation as the person's list has it now. */
async function seenBy(person: Person, id = shared.id) {
  const { body } = await person.get('/conversations?limit=50')
  return body.items.find((item: Conversation) => item.id === id)
}

const write = (person: Person, body = 'السلام عليكم', id = shared.id) =>
  person.post(`/conversations/${id}/messages`, {
    clientMessageId: randomUUID(),
    type: 'text',
    body,
  })

const topicOf = async (person: Person) => (await person.get('/auth/me')).body.realtimeTopic

/** The last that came is the news of another name, and it names the one that holds now. */
async function expectMoved(channel: Channel, to?: string) {
  const [changed] = await channel.got('topic_changed')
  expect(changed).toMatchObject({ old: channel.topic, new: expect.any(String) })
  expect(changed.new).not.toBe(channel.topic)
  if (to) expect(changed.new).toBe(to)
  return changed.new as string
}

/** Nothing came after the news. */
function expectSilenceAfterMove({ heard }: Channel) {
  expect(heard.filter(({ event }) => event === 'topic_changed')).toHaveLength(1)
  expect(heard.at(-1)!.event).toBe('topic_changed')
}

const joined = 'SUBSCRIBED'
const refused = 'CHANNEL_ERROR'

describe('what is heard', () => {
  test('every message once, in the order of history, which has it when it is heard', async () => {
    const [atA, atB] = [
      await device(a, shared.realtimeTopic),
      await device(b, shared.realtimeTopic),
    ]
    expect([atA.status, atB.status]).toEqual([joined, joined])
    let late = 0
    atB.channel.on('broadcast', { event: 'new_message' }, async ({ payload }) => {
      const { seq, id } = payload.message
      const { body } = await b.get(`/conversations/${shared.id}/messages?afterSeq=${seq - 1}`)
      if (body.items[0]?.id !== id) late++
    })
    const sent = await Promise.all(
      Array.from({ length: 40 }, (_, i) => write(i % 2 ? a : b, `رسالة ${i}`)),
    )
    expect(sent.map(({ status }) => status)).toEqual(Array(40).fill(201))

    const history = (await a.get(`/conversations/${shared.id}/messages?limit=50`)).body.items
    expect(history.map(({ seq }: { seq: number }) => seq))
      .toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
    for (const channel of [atA, atB]) {
      const heard = await channel.got('new_message', 40)
      expect(heard.map(({ message }) => message)).toEqual(history)
    }
    await sleep(200)
    expect(late).toBe(0)
    expect(atA.of('new_message')).toHaveLength(40)
  })

  test('CHAT-12 the other side hears of it on its own channel, with the count of the list', async () => {
    const atB = await device(b, await topicOf(b))
    const atA = await device(a, await topicOf(a))
    for (let i = 1; i <= 3; i++) {
      await write(a, `رسالة ${i}`)
      const news = (await atB.got('conversation_updated', i)).at(-1)
      const item = await seenBy(b)
      expect(news).toMatchObject({
        conversationId: shared.id,
        identityId: b.identityId,
        lastMessage: item.lastMessage,
        unread: i,
      })
      expect(item.unread).toBe(i)
    }
    expect(atA.of('conversation_updated')).toEqual([])

    const inConversation = await device(a, shared.realtimeTopic)
    await b.post(`/conversations/${shared.id}/read`, { upToSeq: 2 })
    expect((await atB.got('conversation_updated', 4)).at(-1)).toMatchObject({ unread: 1 })
    expect((await inConversation.got('message_read'))[0])
      .toMatchObject({ conversationId: shared.id, identityId: b.identityId, upToSeq: 2 })

    await b.patch('/settings', { privacy: { readReceipts: false } })
    await b.post(`/conversations/${shared.id}/read`)
    expect((await atB.got('conversation_updated', 5)).at(-1)).toMatchObject({ unread: 0 })
    await sleep(200)
    expect(inConversation.of('message_read')).toHaveLength(1)
  })

  test(
    'presence and typing are heard on the live channel by both, and by nobody else',
    async () => {
      const presence = { presence: { key: 'a' } }
      const atA = await device(a, shared.liveTopic, presence)
      const atB = await device(b, shared.liveTopic, { presence: { key: 'b' } })
      await atB.channel.track({ here: true })
      await atA.send('typing', { identityId: a.identityId })
      expect((await atB.got('typing'))[0]).toMatchObject({ identityId: a.identityId })
      const states = await atA.got('presence', 2)
      expect(Object.keys(states.at(-1))).toEqual(['b'])

      const stranger = await device(await signUp(), shared.liveTopic, presence)
      expect(stranger.status).toBe(refused)
      expect(stranger.heard).toEqual([])
    },
    slow,
  )
})

describe('CHAT-06 who does not take part hears nothing', () => {
  test('whoever asks, by whatever spelling, in public or in private', async () => {
    const [stranger, locked] = [await signUp(), await signUp()]
    await database().query(`update public.accounts set status = 'suspended' where id = $1`, [
      locked.id,
    ])
    const bTopic = await topicOf(b)
    const spellings = [
      shared.realtimeTopic,
      shared.liveTopic,
      bTopic,
      shared.id,
      shared.realtimeTopic.toUpperCase(),
      `${shared.realtimeTopic} `,
      `realtime:${shared.realtimeTopic}`,
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
        const channel = await hear(await clientOf(person), topic, config)
        if (config.private !== false) expect([topic, channel.status]).toEqual([topic, refused])
        return channel
      }),
    )
    // A participant hears nothing either under a name that is not quite the name.
    for (const topic of [shared.realtimeTopic.toUpperCase(), `${shared.realtimeTopic} `]) {
      expect((await device(a, topic)).status).toBe(refused)
    }
    const atB = await device(b, shared.realtimeTopic)
    for (let i = 0; i < 20; i++) await write(a)
    await b.post(`/conversations/${shared.id}/read`)
    await atB.got('new_message', 20)
    await atB.got('message_read')
    for (const { topic, heard } of tries) {
      expect([topic, heard.filter(({ event }) => event !== 'presence')]).toEqual([topic, []])
    }
  })

  test('a participant who acts as another identity does not take part', async () => {
    const company = await organisationOf(b.id)
    await b.post('/auth/identity/switch', { identityId: company })
    expect((await device(b, shared.realtimeTopic)).status).toBe(refused)
    await b.post('/auth/identity/switch', { identityId: b.identityId })
    expect((await device(b, shared.realtimeTopic)).status).toBe(joined)
  }, slow)

  test('nobody but the database says anything where messages are heard', async () => {
    const [atA, atB] = [await device(a, shared.realtimeTopic), await device(b, await topicOf(b))]
    const inConversation = await device(b, shared.realtimeTopic)
    const forged = { message: { seq: 99, body: 'مزورة' } }
    await atA.send('new_message', forged)
    await atB.send('conversation_updated', { unread: 99 })
    for (const person of [a, await signUp(), undefined]) {
      const answer = await fetch(`${projectUrl}/realtime/v1/api/broadcast`, {
        method: 'POST',
        headers: {
          apikey: publishableKey,
          'content-type': 'application/json',
          ...(person && { authorization: `Bearer ${person.accessToken}` }),
        },
        body: JSON.stringify({
          messages: [
            shared.realtimeTopic,
            await topicOf(b),
            ...(person === a ? [] : [
              shared.liveTopic,
            ]),
          ].flatMap((topic) =>
            [true, false].map((isPrivate) => ({
              topic,
              event: 'new_message',
              payload: forged,
              private: isPrivate,
            }))
          ),
        }),
      })
      expect(answer.status).toBeOneOf([202, 401, 403])
    }
    const live = await device(b, shared.liveTopic)
    await write(a, 'صحيحة')
    expect((await inConversation.got('new_message')).map(({ message }) => message.body))
      .toEqual(['صحيحة'])
    await atB.got('conversation_updated')
    await sleep(300)
    expect(inConversation.heard).toHaveLength(1)
    expect(atB.of('conversation_updated').map(({ unread }) => unread)).toEqual([1])
    expect(live.heard).toEqual([])
  }, slow)

  test('the fence holds in SQL, row by row', async () => {
    await write(a)
    const stranger = await signUp()
    const own = await topicOf(stranger)
    for (const topic of [own, shared.realtimeTopic, '', null]) {
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
    expect(await speak(shared.realtimeTopic, shared.realtimeTopic)).toBe('42501')
    expect(await speak(shared.realtimeTopic, shared.liveTopic)).toBe('42501')
    expect(await speak(await topicOf(a), await topicOf(a))).toBe('42501')
  })
})

describe('a right that ends is felt at once, on what is open already', () => {
  /** What an account hears: its own channel, the conversation's, the live one. */
  const everything = (person: Person) =>
    Promise.all(
      [topicOf(person), shared.realtimeTopic, shared.liveTopic].map(async (topic) =>
        device(person, await topic)
      ),
    )

  /** B goes over to the new names, hears what A's side causes there, and A's old channels nothing. */
  async function goesOnWithout(gone: Channel[], heardAt: Channel, cause: () => Promise<unknown>) {
    const after = await seenBy(b)
    await expectMoved(heardAt)
    const next = await device(b, after.realtimeTopic)
    expect(next.status).toBe(joined)
    await cause()
    await next.got('new_message')
    for (const channel of [...gone, heardAt]) {
      await expectMoved(channel)
      expectSilenceAfterMove(channel)
    }
  }

  test(
    'AUTH-17 ISO-16 signed out on one device: it hears no more, the other one goes on',
    async () => {
      const phone = await signIn(a.identifier, a.password)
      const onPhone = await everything(phone)
      const onTablet = await everything(a)
      const atB = await device(b, shared.realtimeTopic)
      expect((await phone.post('/auth/logout', {})).status).toBe(204)

      // The tablet follows to the new names, the phone is let in nowhere.
      const names = [await topicOf(a), (await seenBy(a)).realtimeTopic, (await seenBy(a)).liveTopic]
      for (const [i, channel] of onTablet.entries()) await expectMoved(channel, names[i])
      const again = await Promise.all(names.map((topic) => device(a, topic)))
      expect(again.map(({ status }) => status)).toEqual([joined, joined, joined])
      const lost = await Promise.all(names.map((topic) => device(phone, topic)))
      expect(lost.map(({ status }) => status)).toEqual([refused, refused, refused])

      await expectMoved(atB, names[1])
      await goesOnWithout([...onPhone, ...onTablet], atB, () => write(b))
      await again[1]!.got('new_message')
      await again[0]!.got('conversation_updated')
      for (const { heard } of lost) expect(heard).toEqual([])
    },
    60_000,
  )

  test('AUTH-17 a changed password ends what the other sessions hear', async () => {
    const phone = await signIn(a.identifier, a.password)
    const onPhone = await everything(phone)
    const atB = await device(b, shared.realtimeTopic)
    // Proving the old password is a session of its own, which ends too: names may change twice.
    const change = { currentPassword: a.password, newPassword: randomUUID() }
    expect((await a.post('/auth/password/change', change)).status).toBe(204)
    await goesOnWithout(onPhone, atB, () => write(a))
    expect((await device(phone, (await seenBy(b)).realtimeTopic)).status).toBe(refused)
  })

  test(
    'AUTH-13 a suspended account hears no more, and all is there when it comes back',
    async () => {
      await write(b, 'قبل الإيقاف')
      const atA = await everything(a)
      const atB = await device(b, shared.realtimeTopic)
      const admin = await signUpAdmin()
      const set = (status: string) =>
        admin.patch(`/admin/users/${a.id}/status`, { status, reason: 'بلاغات متكررة' })
      expect((await set('suspended')).status).toBe(200)

      // One change of names, although sessions and account ended: who follows is at the right place.
      const after = await seenBy(b)
      for (const channel of atA) await expectMoved(channel)
      await expectMoved(atB, after.realtimeTopic)
      const next = await device(b, after.realtimeTopic)
      expect(next.status).toBe(joined)
      expect(await write(b)).toMatchObject({ status: 403, body: { error: { code: 'blocked' } } })
      await b.post(`/conversations/${shared.id}/read`)
      const lost = await device(a, after.realtimeTopic)
      expect(lost.status).toBe(refused)
      for (const channel of [...atA, atB]) expectSilenceAfterMove(channel)

      expect((await set('active')).status).toBe(200)
      const back = await signIn(a.identifier, a.password)
      const again = await device(back, (await seenBy(back)).realtimeTopic)
      expect(again.status).toBe(joined)
      await write(b, 'بعد العودة')
      await again.got('new_message')
      const { body } = await back.get(`/conversations/${shared.id}/messages`)
      expect(body.items.map(({ body }: { body: string }) => body))
        .toEqual(['قبل الإيقاف', 'بعد العودة'])
    },
    60_000,
  )

  test('a blocked person hears no more; the one who blocked stays alone', async () => {
    const atB = await Promise.all([shared.realtimeTopic, shared.liveTopic].map((t) => device(b, t)))
    expect((await a.post(`/blocks/${b.identityId}`)).status).toBe(204)
    const { realtimeTopic, liveTopic } = await seenBy(a)
    for (const channel of atB) await expectMoved(channel)
    const names = [realtimeTopic, liveTopic]
    const [mine, theirs] = await Promise.all([
      Promise.all(names.map((topic) => device(a, topic))),
      Promise.all(names.map((topic) => device(b, topic))),
    ])
    expect(mine.map(({ status }) => status)).toEqual([joined, joined])
    expect(theirs.map(({ status }) => status)).toEqual([refused, refused])
    await mine[1]!.send('typing')
    expect(await write(b)).toMatchObject({ status: 403, body: { error: { code: 'blocked' } } })
    expect(await write(a)).toMatchObject({ status: 403, body: { error: { code: 'blocked' } } })

    expect((await a.delete(`/blocks/${b.identityId}`)).status).toBe(204)
    const again = await device(b, (await seenBy(b)).realtimeTopic)
    expect(again.status).toBe(joined)
    await write(a)
    await again.got('new_message')
    for (const channel of [...atB, ...theirs]) expect(channel.of('new_message')).toEqual([])
    for (const channel of atB) expectSilenceAfterMove(channel)
  })

  test('IDN-06 an identity that was taken away hears its conversations no more', async () => {
    const company = await organisationOf(a.id)
    await a.post('/auth/identity/switch', { identityId: company })
    const own = await conversation(b, company)
    const atA = await device(a, own.realtimeTopic)
    const atB = await device(b, own.realtimeTopic)
    expect([atA.status, atB.status]).toEqual([joined, joined])
    const admin = await signUpAdmin()
    const taken = await admin.patch(`/admin/identities/${company}/status`, {
      status: 'suspended',
      reason: 'ترخيص غير صالح',
    })
    expect(taken.status).toBe(200)

    const after = await seenBy(b, own.id)
    await expectMoved(atA, after.realtimeTopic)
    await expectMoved(atB, after.realtimeTopic)
    expect((await device(b, after.realtimeTopic)).status).toBe(joined)
    expect((await device(a, after.realtimeTopic)).status).toBe(refused)
    expect(await write(a, 'x', own.id)).toMatchObject({ status: 403 })
    for (const channel of [atA, atB]) expectSilenceAfterMove(channel)
  }, slow)
})
