import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, test } from 'vitest'
import { asCaller, type Person, signUp } from '../support/client.ts'
import {
  listEntry,
  messagesPage,
  openConversation,
  postMessage,
  startConversation,
  textMessage,
} from '../support/conversations.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadPictures } from '../support/uploads.ts'
import { problemOf, statusAndCode, unknownId } from '../support/problems.ts'
import { bulk } from '../support/nightly.ts'

let a: Person
let b: Person

beforeEach(async () => {
  ;[a, b] = await Promise.all([signUp(), signUp('نورة الشمري')])
})

test('CHAT-04 a resent message is the same one; another text under its id is refused', async () => {
  const { id } = await openConversation(a, { identityId: b.identityId })
  const message = textMessage('مرة واحدة')
  const first = await postMessage(a, id, message)
  expect(first).toMatchObject({
    status: 201,
    body: {
      seq: 1,
      conversationId: id,
      senderIdentityId: a.identityId,
      type: 'text',
      body: 'مرة واحدة',
      mediaUrl: null,
      replyToId: null,
      replyToSeq: null,
      clientMessageId: message.clientMessageId,
    },
  })
  for (let i = 0; i < 10; i++) {
    const again = await postMessage(a, id, message)
    expect([again.status, again.body]).toEqual([200, first.body])
  }
  for (const other of [{ body: 'أخرى' }, { type: 'location', body: '29.3,48' }]) {
    expect(statusAndCode(await postMessage(a, id, { ...message, ...other })))
      .toEqual([422, 'idempotency_mismatch'])
  }
  const theirs = await postMessage(b, id, message)
  expect([theirs.status, theirs.body.seq]).toEqual([201, 2])
  expect((await messagesPage(a, id)).items.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2])
})

test('CHAT-05 the history ends with each message as soon as it is answered', async () => {
  const pairs = await Promise.all(Array.from({ length: 5 }, startConversation))
  await Promise.all(pairs.map(async (pair) => {
    for (let i = 0; i < bulk(100, 30); i++) {
      const [who, other] = i % 3 ? [pair.a, pair.b] : [pair.b, pair.a]
      const { body } = await postMessage(who, pair.conversationId, `رسالة ${i}`)
      const { items } = await messagesPage(other, pair.conversationId, '?limit=1')
      expect(items).toEqual([body])
    }
  }))
})

test('the history is read from its end, backwards and forwards, in consecutive pages', async () => {
  const { a, b, conversationId: id } = await startConversation()
  for (let i = 1; i <= 7; i++) await postMessage(i % 2 ? a : b, id, `رسالة ${i}`)
  const page = async (query: string) => {
    const { items, hasMore } = await messagesPage(a, id, query)
    return [items.map(({ seq }: { seq: number }) => seq), hasMore]
  }
  expect(await page('')).toEqual([[1, 2, 3, 4, 5, 6, 7], false])
  expect(await page('?limit=3')).toEqual([[5, 6, 7], true])
  expect(await page('?limit=3&beforeSeq=5')).toEqual([[2, 3, 4], true])
  expect(await page('?limit=3&beforeSeq=2')).toEqual([[1], false])
  expect(await page('?limit=3&afterSeq=0')).toEqual([[1, 2, 3], true])
  expect(await page('?limit=4&afterSeq=3')).toEqual([[4, 5, 6, 7], false])
  expect(await page('?afterSeq=7')).toEqual([[], false])
  for (const query of ['?afterSeq=1&beforeSeq=5', '?limit=0', '?limit=51', '?afterSeq=-1']) {
    expect((await a.get(`/conversations/${id}/messages${query}`)).status).toBe(422)
  }
})

test('CHAT-24 each type of message has a body of its own', async () => {
  const { a, b, conversationId: id } = await startConversation()
  const send = (type: string, more: object) =>
    postMessage(a, id, { clientMessageId: randomUUID(), type, ...more })
  expect(await send('location', { body: '29.3759,47.9774' }))
    .toMatchObject({ status: 201, body: { type: 'location', body: '29.3759,47.9774' } })
  const locations = [
    ['29.37591234,47.97741299', '29.375912,47.977413'],
    ['29.375900000000001, 47.9', '29.3759,47.9'],
    [' 29 ,\t-48.0000004 ', '29,-48'],
    ['٢٩٫٣٧٥٩،٤٧٫٩٧٧٤', '29.3759,47.9774'],
  ]
  for (const [typed, body] of locations) {
    const sent = { clientMessageId: randomUUID(), body: typed }
    expect(await send('location', sent)).toMatchObject({ status: 201, body: { body } })
    expect(await send('location', sent)).toMatchObject({ status: 200, body: { body } })
  }
  for (
    const body of [
      '29.3759',
      '90.0000001,0',
      '29.3,,48',
      '29. 3,48',
      '91,0',
      '0,181',
      '1e1,2',
      '29.3;48',
      'NaN,NaN',
      '',
    ]
  ) {
    expect((await send('location', { body })).status).toBe(422)
  }

  const listing = await publishListing(b)
  const hidden = await createDraft(b)
  expect(await send('property', { body: listing.id.toUpperCase() }))
    .toMatchObject({ status: 201, body: { body: listing.id } })
  expect(problemOf(await send('property', { body: hidden.id })))
    .toEqual(problemOf(await send('property', { body: unknownId })))
  expect(statusAndCode(await send('property', { body: unknownId }))).toEqual([
    404,
    'property_not_found',
  ])
  expect((await send('property', { body: 'x' })).status).toBe(422)
  expect((await send('system', { body: 'x' })).status).toBe(422)
  expect((await send('text', {})).status).toBe(422)

  const previews = (await listEntry(b, id)).lastMessage
  expect(previews).toMatchObject({ type: 'property', preview: `إعلان: ${listing.titleAr}` })
})

test('a picture must be the sender’s own, and is shown by its URL', async () => {
  const { a, b, conversationId: id } = await startConversation()
  const upload = async (person: Person) => {
    const bytes = jpeg({ width: 40, height: 30 })
    const { body } = await uploadPictures(person, [{ bytes }], { uploadSessionId: randomUUID() })
    return body.files[0]
  }
  const [mine, theirs] = [await upload(a), await upload(b)]
  const send = (more: object) =>
    postMessage(a, id, { clientMessageId: randomUUID(), type: 'image', ...more })
  const sent = await send({ mediaId: mine.mediaId, body: 'الصالة' })
  expect(sent).toMatchObject({ status: 201, body: { type: 'image', body: 'الصالة' } })
  expect((await fetch(sent.body.mediaUrl)).status).toBe(200)
  expect((await messagesPage(b, id)).items[0]).toEqual(sent.body)
  for (const person of [a, b]) {
    const { identities: [{ conversations }] } = (await person.get('/auth/me/export')).body
    expect(conversations[0].messages).toMatchObject([{ mediaUrl: sent.body.mediaUrl }])
  }
  for (const mediaId of [theirs.mediaId, unknownId]) {
    expect((await send({ mediaId })).status).toBe(404)
  }
  expect((await send({})).status).toBe(422)
  expect((await postMessage(a, id, textMessage('x', { mediaId: mine.mediaId }))).status).toBe(422)
  expect((await messagesPage(a, id)).items).toHaveLength(1)
})

test('a reply must be to a message of the same conversation', async () => {
  const { a, b, conversationId: id } = await startConversation()
  await postMessage(a, id)
  const { body: question } = await postMessage(a, id, 'كم السعر؟')
  const elsewhere = await postMessage(
    a,
    (await openConversation(a, { propertyId: (await publishListing(b)).id })).id,
  )
  const answer = textMessage('650', { replyToId: question.id })
  const answered = await postMessage(b, id, answer)
  expect(answered).toMatchObject({ status: 201, body: { replyToId: question.id, replyToSeq: 2 } })
  const quoted = `?limit=1&beforeSeq=${answered.body.replyToSeq + 1}`
  expect((await messagesPage(b, id, quoted)).items).toEqual([question])
  expect((await postMessage(b, id, answer)).status).toBe(200)
  expect(statusAndCode(await postMessage(b, id, { ...answer, replyToId: undefined })))
    .toEqual([422, 'idempotency_mismatch'])
  for (const replyToId of [elsewhere.body.id, unknownId, 'x']) {
    expect((await postMessage(b, id, textMessage('x', { replyToId }))).status).toBe(422)
  }
})

test('CHAT-14 markup and every script come back as they were sent, and nothing is fetched', async () => {
  let visits = 0
  const listener = createServer((_, response) => {
    visits++
    response.end()
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const { a, b, conversationId: id } = await startConversation()
  const bodies = [
    '<script>alert(1)</script>',
    `<img src=x onerror="fetch('http://127.0.0.1:${port}')">`,
    'javascript:alert(1)',
    `**مهم** [انظر](http://127.0.0.1:${port}/a) http://localhost:${port}/b`,
    'ش'.repeat(4000),
    '😀'.repeat(4000),
    'نص \u202e معكوس \u200f و\u200cفاصل 👨‍👩‍👧 ﷽ \ufffd',
    `\u00E9${'\u0301'.repeat(29)}`.repeat(133),
    'أرض ٥٠٠م² بسعر ٣½ ﷼',
    'سطر\nوسطر\tوجدولة',
    `'; drop table public.messages; --`,
  ]
  for (const body of bodies) {
    const sent = await postMessage(a, id, body)
    expect([sent.status, sent.body.body]).toEqual([201, body])
    expect(sent.headers.get('x-content-type-options')).toBe('nosniff')
  }
  const { items } = await messagesPage(b, id)
  expect(items.map(({ body }: { body: string }) => body)).toEqual(bodies)
  listener.close()
  expect(visits).toBe(0)
})

test('INP-08 a message is stored in NFC, at every door, and is the same when sent again', async () => {
  const { a, conversationId: id } = await startConversation()
  const message = textMessage('ا\u0653خر شقة\u0651\u064E ٥٠٠م²')
  const stored = 'آخر شقة\u064E\u0651 ٥٠٠م²'
  expect((await postMessage(a, id, message)).body.body).toBe(stored)
  expect((await postMessage(a, id, message)).status).toBe(200)
  const past = await asCaller(a, async (client) => {
    const { rows } = await client.query(
      `select api.send_message($1, $2, 'text', $3) #>> '{message,body}' as body`,
      [id, 'past', message.body],
    )
    return rows[0].body
  })
  expect(past).toBe(stored)
})

test('empty, invisible, overlong and malformed texts are refused', async () => {
  const { a, conversationId: id } = await startConversation()
  const blank = ['', ' ', '\n\t', '\u00a0', '\u3000', '\u200b\u200f\u2060', '\ufeff', '\u{e0020}']
  for (const body of blank) {
    expect(statusAndCode(await postMessage(a, id, body))).toEqual([422, 'message_empty'])
  }
  for (const body of ['ش'.repeat(4001), '😀'.repeat(4001), 'a'.repeat(100_000)]) {
    expect(statusAndCode(await postMessage(a, id, body))).toEqual([422, 'message_too_long'])
  }
  for (const body of ['a\u0000b', 'a\u0007b', '\u001b[31m', 'a\ud800b', 7, null, ['x'], {}]) {
    expect((await postMessage(a, id, textMessage('', { body }))).status).toBe(422)
  }
  for (const clientMessageId of ['', 'a b', 'س', 'x'.repeat(65), 1, undefined]) {
    expect((await postMessage(a, id, textMessage('x', { clientMessageId }))).status).toBe(422)
  }
  expect((await messagesPage(a, id)).items).toEqual([])
})

test('CHAT-15 fields that only the server sets are refused from a client', async () => {
  const { a, conversationId: id } = await startConversation()
  const claims = [
    { id: unknownId },
    { seq: 99 },
    { createdAt: '2020-01-01T00:00:00Z' },
    { senderId: unknownId },
    { senderIdentityId: unknownId },
    { read: true },
    { type: 'system' },
    { conversationId: unknownId },
  ]
  for (const claim of claims) {
    expect((await postMessage(a, id, textMessage('x', claim))).status).toBe(422)
  }
  const before = Date.now()
  const { body } = await postMessage(a, id)
  expect(body.seq).toBe(1)
  expect(Math.abs(Date.parse(body.createdAt) - before)).toBeLessThan(60_000)
})
