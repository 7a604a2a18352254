import { randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { expect, test } from 'vitest'
import { asCaller, database, signUp } from '../support/client.ts'
import {
  listEntry,
  messagesPage,
  postMessage,
  startConversation,
  textMessage,
} from '../support/conversations.ts'
import { publishListing } from '../support/listings.ts'
import { bearer, race, waitedFor } from '../support/races.ts'
import { bulk } from '../support/nightly.ts'
import { pause } from '../support/wait.ts'

test('CHAT-13 fifty openings from each side at once make one conversation', async () => {
  const [a, b] = await Promise.all([signUp(), signUp()])
  const { id: propertyId } = await publishListing(b)
  const openings = [
    { by: a, body: { propertyId } },
    { by: b, body: { propertyId, identityId: a.identityId } },
  ]
  const replies = await race(
    Array.from({ length: 100 }, (_, i) => {
      const { by, body } = openings[i % 2]!
      return { path: '/conversations', body, headers: [bearer(by)] }
    }),
  )
  const good = replies.filter(({ status }) => status < 300)
  expect(good.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(new Set(good.map(({ body }) => body.id)).size).toBe(1)
  expect(replies.filter(({ status }) => ![200, 201, 503].includes(status))).toEqual([])
  const { rows } = await database().query(
    'select count(*)::int as made from public.conversations where property_id = $1',
    [propertyId],
  )
  expect(rows[0].made).toBe(1)
})

test('nobody opens a conversation with somebody who is going at that moment', async () => {
  const [a, b] = await Promise.all([signUp(), signUp()])
  const { id: propertyId } = await publishListing(b)
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query(`update public.accounts set status = 'banned' where id = $1`, [b.id])
    const opened = Promise.all([
      a.post('/conversations', { identityId: b.identityId, message: 'هلا' }),
      a.post('/conversations', { propertyId, message: 'هلا' }),
      a.post(`/properties/${propertyId}/contact`, { kind: 'chat' }),
    ])
    let answered = false
    void opened.finally(() => (answered = true))
    await waitedFor(client, 3)
    expect(answered).toBe(false)
    await client.query('commit')
    expect((await opened).map(({ status, body }) => [status, body.error.code])).toEqual([
      [404, 'identity_not_found'],
      [404, 'property_not_found'],
      [404, 'property_not_found'],
    ])
  } finally {
    await client.query('rollback')
    client.release()
  }
  const { rows } = await database().query(
    'select from public.participants where account_id = $1',
    [b.id],
  )
  expect(rows).toEqual([])
})

test('CHAT-04 sent twenty times at once it is stored once, with one answer', async () => {
  const { a, b, conversationId: id } = await startConversation()
  const message = textMessage('مرة')
  const path = `/conversations/${id}/messages`
  const replies = await race(
    Array.from({ length: 20 }, () => ({ path, body: message, headers: [bearer(a)] })),
  )
  expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array(19).fill(200), 201])
  expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect((await messagesPage(b, id)).items).toHaveLength(1)
  expect((await listEntry(b, id)).unread).toBe(1)
  expect((await postMessage(b, id)).body.seq).toBe(2)
})

test('when both write at once there is one order without gaps, true to each writer', async () => {
  const { a, b, conversationId: id } = await startConversation()
  const each = bulk(100, 30)
  const [fromA, fromB] = await Promise.all([a, b].map(async (person) => {
    const sent = []
    for (let i = 0; i < each; i++) sent.push((await postMessage(person, id, `${i}`)).body)
    return sent
  }))
  const messages = []
  for (let after = 0;;) {
    const { items, hasMore } = await messagesPage(a, id, `?limit=50&afterSeq=${after}`)
    messages.push(...items)
    after = items.at(-1).seq
    if (!hasMore) break
  }
  expect(messages.map(({ seq }) => seq)).toEqual(Array.from({ length: 2 * each }, (_, i) => i + 1))
  for (const [person, sent] of [[a, fromA], [b, fromB]] as const) {
    expect(messages.filter(({ senderIdentityId }) => senderIdentityId === person.identityId))
      .toEqual(sent)
  }
  const times = messages.map(({ createdAt }) => createdAt)
  expect(times).toEqual(times.toSorted())
})

test('a reader waits for a message on its way, which an event may have announced already', async () => {
  const { a, b, conversationId: id } = await startConversation()
  const other = await startConversation()
  await postMessage(a, id, 'أولى')
  const onItsWay = (
    end: 'commit' | 'rollback',
    whileOnItsWay: (client: PoolClient) => Promise<() => Promise<void>>,
  ) =>
    asCaller(a, async (client) => {
      await client.query(`select api.send_message($1, $2, 'text', 'ثانية')`, [id, randomUUID()])
      const afterwards = await whileOnItsWay(client)
      await client.query(end)
      await afterwards()
    })
  const seqsOf = async (query: string) =>
    (await messagesPage(b, id, query)).items.map(({ seq }: { seq: number }) => seq)

  await onItsWay('rollback', async (client) => {
    const next = seqsOf('?afterSeq=1')
    await waitedFor(client)
    return async () => expect(await next).toEqual([])
  })
  await onItsWay('commit', async (client) => {
    const newest = Promise.all(['?afterSeq=1', '?afterSeq=0', '', '?limit=1'].map(seqsOf))
    await waitedFor(client, 4)
    expect(await seqsOf('?beforeSeq=2')).toEqual([1])
    expect((await messagesPage(other.a, other.conversationId)).items).toEqual([])
    return async () => expect(await newest).toEqual([[2], [1, 2], [1, 2], [2]])
  })
})

test('CHAT-12 the unread count stays right while one writes a hundred messages and the other reads', async () => {
  const { a, b, conversationId: id } = await startConversation()
  // Sends a first message, because the other side does not list a conversation without messages.
  await postMessage(a, id, textMessage('x'))
  let sent = 1
  const writing = (async () => {
    for (let i = 0; i < bulk(300, 100); i += 10) {
      await Promise.all(Array.from({ length: 10 }, () => postMessage(a, id, textMessage('x'))))
      sent += 10
    }
  })()
  const reading = (async () => {
    for (let i = 0; i < bulk(100, 30); i++) {
      const { status, body } = await b.post(`/conversations/${id}/read`)
      expect([status, body]).toEqual([200, { unread: 0 }])
      await pause(Math.random() * 20, 'any moment is right')
      const { unread } = await listEntry(b, id)
      expect(unread).toBeGreaterThanOrEqual(0)
      expect(unread).toBeLessThanOrEqual(sent + 10)
    }
  })()
  await Promise.all([writing, reading])
  const { rows } = await database().query(
    `select participants.unread::int as said,
       (select count(*)::int from public.messages
        where messages.conversation_id = $1 and messages.seq > participants.last_read_seq
          and messages.sender_identity_id <> participants.identity_id) as counted
     from public.participants where participants.conversation_id = $1`,
    [id],
  )
  for (const { said, counted } of rows) expect(said).toBe(counted)
  expect((await b.post(`/conversations/${id}/read`)).body).toEqual({ unread: 0 })
  expect((await listEntry(b, id)).unread).toBe(0)
  expect((await b.get('/conversations')).body.unreadTotal).toBe(0)
})

test(
  'writing, reading, blocking and signing out at once never deadlock',
  async () => {
    const { a, b, conversationId: id } = await startConversation()
    const devices = await Promise.all(
      [a, a, b, b].map(async (person) =>
        (await person.post('/auth/login', {
          identifier: person.identifier,
          password: person.password,
        })).body.accessToken as string
      ),
    )
    const path = `/conversations/${id}`
    const shots = Array.from({ length: 60 }, (_, i) => {
      const person = i % 2 ? a : b
      if (i % 15 === 7) {
        return { method: 'POST', path: `/blocks/${b.identityId}`, headers: [bearer(a)] }
      }
      if (i % 15 === 14) {
        return { method: 'DELETE', path: `/blocks/${b.identityId}`, headers: [bearer(a)] }
      }
      return i % 3
        ? { path: `${path}/messages`, body: textMessage(randomUUID()), headers: [bearer(person)] }
        : { method: 'POST', path: `${path}/read`, headers: [bearer(person)] }
    })
    const leaving = devices.map((token) => ({
      path: '/auth/logout',
      body: {},
      headers: [['Authorization', `Bearer ${token}`]] as [string, string][],
    }))
    const replies = await race([...shots, ...leaving])
    for (const { status } of replies) expect(status).toBeOneOf([200, 201, 204, 403])
    const { rows } = await database().query(
      `select count(*)::int as stored, coalesce(max(seq), 0)::int as last
     from public.messages where conversation_id = $1`,
      [id],
    )
    const accepted = replies.filter(({ status }) => status === 201).length
    expect(rows[0]).toEqual({ stored: accepted, last: accepted })
  },
)
