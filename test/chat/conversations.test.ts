import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { asCaller, database, guest, type Person, request, signUp } from '../support/client.ts'
import {
  listEntry,
  messagesPage,
  openConversation,
  postMessage,
  sendMessageAs,
  startConversation,
  textMessage,
} from '../support/conversations.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { givePhone, insertOrganisation, insertWaitingCompany } from '../support/fixtures.ts'
import { problemOf, statusAndCode, unknownId } from '../support/problems.ts'

let a: Person
let b: Person

beforeEach(async () => {
  ;[a, b] = await Promise.all([signUp(), signUp('نورة الشمري')])
})

const leads = async (propertyId: string) =>
  (await database().query('select kind from public.leads where property_id = $1', [propertyId]))
    .rows.map(({ kind }) => kind)

test('a listing has one conversation of two people, whoever opens it and however', async () => {
  const { id: propertyId, titleAr, priceLabel } = await publishListing(b)
  const opened = await a.post('/conversations', { propertyId })
  expect(opened.status).toBe(201)
  const { id } = opened.body
  expect(opened.body).toEqual({
    id,
    liveTopic: expect.any(String),
    property: { id: propertyId, titleAr, type: 'SALE', priceLabel, status: 'active' },
    peer: {
      identityId: b.identityId,
      displayName: 'نورة الشمري',
      avatarUrl: null,
      type: 'individual',
    },
    lastMessage: null,
    unread: 0,
    muted: false,
    archived: false,
    peerReadSeq: 0,
    cannotWriteReason: null,
    updatedAt: expect.any(String),
    changedAt: expect.any(String),
  })
  expect(await leads(propertyId)).toEqual([])
  expect((await b.get('/conversations')).body).toMatchObject({ items: [], changedAt: null })

  for (
    const again of [
      await a.post('/conversations', { propertyId }),
      await a.post('/conversations', { propertyId, identityId: b.identityId }),
      await b.post('/conversations', { propertyId, identityId: a.identityId }),
    ]
  ) expect([again.status, again.body.id]).toEqual([200, id])
  const contact = await a.post(`/properties/${propertyId}/contact`, { kind: 'chat' })
  expect(contact).toMatchObject({ status: 200, body: { conversationId: id } })
  expect(await leads(propertyId)).toEqual([])
  await sendMessageAs(a, id)
  await sendMessageAs(b, id)
  expect(await leads(propertyId)).toEqual(['chat'])
  expect((await b.get(`/conversations/${id}`)).body.peer.identityId).toBe(a.identityId)

  const other = await openConversation(a, { propertyId: (await publishListing(b)).id })
  const plain = await openConversation(a, { identityId: b.identityId })
  expect(new Set([id, other.id, plain.id]).size).toBe(3)
  expect(plain.property).toBe(null)
})

test('CHAT-13 a conversation with oneself, nobody or an unknown identity is refused', async () => {
  const company = await insertOrganisation(a.id)
  const own = await publishListing(a)
  const theirs = await publishListing(b)
  const third = await signUp()
  const [locked, gone] = [await signUp(), await signUp()]
  const open = async (about: object) => statusAndCode(await a.post('/conversations', about))
  for (const about of [{ identityId: a.identityId }, { identityId: company }]) {
    expect(await open(about)).toEqual([422, 'validation_failed'])
  }
  expect(await open({ propertyId: own.id })).toEqual([422, 'validation_failed'])
  expect(await open({})).toEqual([422, 'validation_failed'])
  expect(await open({ identityId: b.identityId, more: 1 })).toEqual([422, 'validation_failed'])
  expect(await open({ propertyId: theirs.id, identityId: third.identityId }))
    .toEqual([422, 'validation_failed'])

  const missing = problemOf(await a.post('/conversations', { identityId: unknownId }))
  expect(missing).toMatchObject({ status: 404, error: { code: 'identity_not_found' } })
  await database().query(`update public.accounts set status = 'suspended' where id = $1`, [
    locked.id,
  ])
  await database().query('select private.anonymise_account($1)', [gone.id])
  for (const { identityId } of [locked, gone]) {
    expect(problemOf(await a.post('/conversations', { identityId }))).toEqual(missing)
  }
  const waiting = await insertWaitingCompany(b.id)
  expect(problemOf(await a.post('/conversations', { identityId: waiting }))).toEqual(missing)

  const hidden = await createDraft(b)
  const noListing = problemOf(await a.post('/conversations', { propertyId: unknownId }))
  expect(noListing).toMatchObject({ status: 404, error: { code: 'property_not_found' } })
  expect(problemOf(await a.post('/conversations', { propertyId: hidden.id }))).toEqual(noListing)
  expect((await guest.post('/conversations', { identityId: b.identityId })).status).toBe(401)
  expect((await a.get('/conversations')).body).toEqual({
    realtimeTopic: (await a.get('/auth/me')).body.realtimeTopic,
    items: [],
    nextCursor: null,
    unreadTotal: 0,
    changedAt: null,
  })
})

test('a listing without chat or past its end starts no conversation; existing ones go on', async () => {
  await givePhone(b)
  const silent = await publishListing(b, { allowChat: false })
  const sold = await publishListing(b)
  const { id } = await openConversation(a, { propertyId: sold.id })
  expect((await b.post(`/properties/${sold.id}/mark-sold`)).status).toBe(200)
  const third = await signUp()
  for (const propertyId of [silent.id, sold.id]) {
    expect(statusAndCode(await third.post('/conversations', { propertyId })))
      .toEqual([409, 'property_state_conflict'])
  }
  expect(await leads(silent.id)).toEqual([])
  expect((await openConversation(a, { propertyId: sold.id })).id).toBe(id)
  expect((await postMessage(a, id)).status).toBe(201)

  await b.delete(`/properties/${sold.id}`)
  expect((await listEntry(a, id)).property)
    .toEqual({ id: sold.id, status: 'unavailable', available: false, titleAr: sold.titleAr })
  expect((await postMessage(b, id)).status).toBe(201)
  expect((await messagesPage(a, id)).items).toHaveLength(2)
})

test('a conversation and its first message are created together or not at all', async () => {
  const refused = await a.post('/conversations', { identityId: b.identityId, message: ' \u200b ' })
  expect(statusAndCode(refused)).toEqual([422, 'message_empty'])
  const long = await a.post('/conversations', {
    identityId: b.identityId,
    message: 'ا'.repeat(4001),
  })
  expect(statusAndCode(long)).toEqual([422, 'message_too_long'])
  expect((await b.get('/conversations')).body.items).toEqual([])

  const headers = { 'Idempotency-Key': randomUUID() }
  const about = { identityId: b.identityId, message: 'هل العقار متاح؟' }
  const opened = await a.post('/conversations', about, { headers })
  expect(opened).toMatchObject({
    status: 201,
    body: { lastMessage: { seq: 1, preview: 'هل العقار متاح؟', mine: true }, unread: 0 },
  })
  expect((await a.post('/conversations', about, { headers })).body).toEqual(opened.body)
  const once = { ...about, clientMessageId: randomUUID() }
  for (const _ of [1, 2]) {
    expect(await a.post('/conversations', once)).toMatchObject({
      status: 200,
      body: { id: opened.body.id },
    })
    await asCaller(a, (client) =>
      client.query(
        'select api.create_conversation(identity_id => $1, message => $2, client_message_id => $3)',
        [once.identityId, once.message, once.clientMessageId],
      ))
  }
  expect(statusAndCode(await a.post('/conversations', { ...once, message: 'غيرها' })))
    .toEqual([422, 'idempotency_mismatch'])
  expect(await listEntry(b, opened.body.id))
    .toMatchObject({ unread: 2, lastMessage: { mine: false, type: 'text' } })
  expect((await messagesPage(b, opened.body.id)).items).toMatchObject([{ seq: 1 }, {
    clientMessageId: once.clientMessageId,
  }])
})

test('CHAT-01 to a stranger every route answers as if there were nothing', async () => {
  const { id } = await openConversation(a, { identityId: b.identityId })
  await postMessage(a, id)
  const [stranger, company] = [await signUp(), await insertOrganisation(b.id)]
  const tries = (person: Person, of: string) =>
    Promise.all([
      person.get(`/conversations/${of}/messages`),
      postMessage(person, of),
      person.post(`/conversations/${of}/read`),
      person.post(`/conversations/${of}/read`, { upToSeq: 1 }),
    ])
  const missing = (await tries(stranger, unknownId)).map(problemOf)
  for (const { status, error } of missing) {
    expect([status, error.code]).toEqual([404, 'conversation_not_found'])
  }
  expect((await tries(stranger, id)).map(problemOf)).toEqual(missing)
  await b.post('/auth/identity/switch', { identityId: company })
  expect((await tries(b, id)).map(problemOf)).toEqual(missing)
  expect((await b.get('/conversations')).body).toMatchObject({ items: [], unreadTotal: 0 })
  expect(await postMessage(stranger, id, textMessage('x', { senderIdentityId: b.identityId })))
    .toMatchObject({ status: 422 })
  for (const odd of [`${id}x`, `[${id}]`, `${id},${id}`, '*']) {
    expect((await postMessage(stranger, encodeURIComponent(odd))).status).toBe(422)
  }
  expect((await messagesPage(a, id)).items.map(({ senderIdentityId }: never) => senderIdentityId))
    .toEqual([a.identityId])

  const seen = await asCaller(stranger, async (client) => {
    const tables = ['conversations', 'participants', 'messages']
    const counts = []
    for (const table of tables) {
      const { rows } = await client.query(`select count(*)::int from public.${table}`)
      counts.push(rows[0].count)
    }
    return counts
  })
  expect(seen).toEqual([0, 0, 0])
})

test.each(['about a listing', 'about none'])(
  'CHAT-29 one without a message, %s, is in the list of who opened it or asks for it',
  async (about) => {
    const propertyId = about === 'about none' ? undefined : (await publishListing(b)).id
    const open = async (by: Person, identityId: string): Promise<string> =>
      (await openConversation(by, { identityId, propertyId })).id
    const conversationId = await open(a, b.identityId)
    const listed = async (person: Person) =>
      (await person.get('/conversations')).body.items.map(({ id }: { id: string }) => id)
    expect([await listed(a), await listed(b)]).toEqual([[conversationId], []])
    expect((await b.get(`/conversations/${conversationId}`)).status).toBe(200)
    expect(await open(b, a.identityId)).toBe(conversationId)
    expect(await listed(b)).toEqual([conversationId])
    const { body: { changedAt, items } } = await b.get('/conversations')
    expect(items[0].changedAt).toBe(changedAt)

    const third = await signUp()
    const written = await open(third, b.identityId)
    await sendMessageAs(third, written)
    expect(await listed(b)).toEqual([written, conversationId])
  },
)

test('the list is newest first, in pages, with unread counts', async () => {
  const people = await Promise.all(Array.from({ length: 5 }, () => signUp()))
  const ids: string[] = []
  for (const [i, person] of people.entries()) {
    const { id } = await openConversation(person, { identityId: a.identityId })
    ids.unshift(id)
    for (let n = 0; n <= i; n++) await postMessage(person, id, `${n}`)
  }
  const { body } = await a.get('/conversations')
  expect(body.items.map(({ id }: { id: string }) => id)).toEqual(ids)
  expect(body.items.map(({ unread }: { unread: number }) => unread)).toEqual([5, 4, 3, 2, 1])
  expect([body.unreadTotal, body.nextCursor]).toEqual([15, null])

  const first = (await a.get('/conversations?limit=2')).body
  await postMessage(people[0]!, ids[4]!, 'جديد') // the last conversation moves to the top
  const rest = (await a.get(`/conversations?limit=3&cursor=${first.nextCursor}`)).body
  expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(ids.slice(0, 4))
  expect((await a.get('/conversations?limit=1')).body.items[0].id).toBe(ids[4])
  for (const query of ['limit=0', 'limit=51', 'cursor=x']) {
    expect((await a.get(`/conversations?${query}`)).status).toBe(422)
  }
  expect(statusAndCode(await b.get(`/conversations?cursor=${first.nextCursor}`)))
    .toEqual([422, 'cursor_invalid'])
})

test('reading only lowers the unread count, and own messages do not count', async () => {
  const { a, b, conversationId: id } = await startConversation()
  for (let i = 0; i < 5; i++) await postMessage(a, id)
  await postMessage(b, id)
  const read = async (body?: object) => {
    const reply = await b.post(`/conversations/${id}/read`, body)
    expect(reply.status).toBe(200)
    expect((await listEntry(b, id)).unread).toBe(reply.body.unread)
    return reply.body
  }
  expect((await listEntry(b, id)).unread).toBe(5)
  expect(await read({ upToSeq: 0 })).toEqual({ unread: 5 })
  expect(await read({ upToSeq: 2 })).toEqual({ unread: 3 })
  expect(await read({ upToSeq: 1 })).toEqual({ unread: 3 })
  expect(await read()).toEqual({ unread: 0 })
  expect(await read({ upToSeq: 2_000_000_000 })).toEqual({ unread: 0 })
  await postMessage(a, id) // unread, because a read position is never beyond the newest message
  expect((await listEntry(b, id)).unread).toBe(1)
  expect((await listEntry(a, id)).unread).toBe(1)
  for (const upToSeq of [-1, 1.5, '1']) {
    expect((await b.post(`/conversations/${id}/read`, { upToSeq })).status).toBe(422)
  }
})

test('CHAT-27 with a suspended or deleted account a conversation is readable, and closed for writing', async () => {
  const { a, b, conversationId: id } = await startConversation()
  await postMessage(b, id, 'سلام')
  const set = (status: string) =>
    database().query('update public.accounts set status = $2 where id = $1', [b.id, status])
  await set('suspended')
  expect(statusAndCode(await postMessage(a, id))).toEqual([403, 'blocked'])
  expect(await listEntry(a, id)).toMatchObject({ unread: 1, peer: { displayName: 'نورة الشمري' } })
  await set('active')
  expect((await postMessage(a, id)).status).toBe(201)

  await database().query('select private.anonymise_account($1)', [b.id])
  expect(statusAndCode(await postMessage(a, id))).toEqual([403, 'blocked'])
  expect(await listEntry(a, id)).toMatchObject({
    peer: { displayName: 'حساب محذوف', avatarUrl: null },
  })
  const { body: inEnglish } = await request('GET', `/conversations/${id}`, undefined, {
    headers: { 'authorization': `Bearer ${a.accessToken}`, 'accept-language': 'en' },
  })
  expect(inEnglish.peer.displayName).toBe('Deleted account')
  expect((await messagesPage(a, id)).items).toHaveLength(2)
  expect((await a.post(`/conversations/${id}/read`)).body).toEqual({ unread: 0 })
})
