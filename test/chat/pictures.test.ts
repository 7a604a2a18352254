import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { act, why } from '../admin/studio.ts'
import { signUpAdmin } from '../support/admins.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { database, type Person, signUp } from '../support/client.ts'
import {
  conversationBetween,
  messagesPage,
  postMessage,
  startConversation,
} from '../support/conversations.ts'
import { callDataApi } from '../support/data-api.ts'
import { drain } from '../support/jobs.ts'
import { jpeg } from '../support/pictures.ts'
import { statusAndCode } from '../support/problems.ts'
import { uploadPictures } from '../support/uploads.ts'

const picture = () => jpeg({ width: 40, height: 30, after: Buffer.from(randomUUID()) })
const upload = async (person: Person, bytes: Buffer): Promise<string> => {
  const { body } = await uploadPictures(person, [{ bytes }], { uploadSessionId: randomUUID() })
  return body.files[0].mediaId
}
const withPicture = (mediaId: string, more: object = {}) => ({
  clientMessageId: randomUUID(),
  type: 'image',
  mediaId,
  ...more,
})
const statusOf = async (url: string) => (await fetch(url)).status

test('CHAT-04 a picture that is uploaded anew for a lost answer is the same message', async () => {
  const { a, b, conversationId } = await startConversation()
  const bytes = picture()
  const message = withPicture(await upload(a, bytes), { body: 'الصالة' })
  const { body: sent } = await postMessage(a, conversationId, message)
  const again = await postMessage(a, conversationId, {
    ...message,
    mediaId: await upload(a, bytes),
  })
  expect([again.status, again.body]).toEqual([200, sent])
  const other = async (mediaId: string) =>
    statusAndCode(await postMessage(a, conversationId, { ...message, mediaId }))
  expect(await other(await upload(a, picture()))).toEqual([422, 'idempotency_mismatch'])
  expect(await other(await upload(b, bytes))).toEqual([404, 'not_found'])
  expect((await messagesPage(b, conversationId)).items).toEqual([sent])
})

test('pictures of messages use up the room for pictures for 30 days', async () => {
  const { a, conversationId } = await startConversation()
  const mediaId = await upload(a, picture())
  await postMessage(a, conversationId, withPicture(mediaId))
  const used = async () =>
    (await database().query('select used from private.picture_allowance($1)', [a.identityId]))
      .rows[0].used
  expect(await used()).toBe(1)
  await database().query(
    `update public.media set created_at = now() - interval '31 days' where id = $1`,
    [mediaId],
  )
  expect(await used()).toBe(0)
})

test('CHAT-28 each message has a file of its own, and hiding one leaves the others', async () => {
  const { a, b, conversationId } = await startConversation()
  const other = await conversationBetween(a, await signUp())
  const mediaId = await upload(a, picture())
  const { body: first } = await postMessage(a, conversationId, withPicture(mediaId))
  const headers = { 'Idempotency-Key': randomUUID() }
  const message = withPicture(mediaId, { body: 'مرة أخرى' })
  const send = () => a.post(`/conversations/${other}/messages`, message, { headers })
  const { status, body: second } = await send()
  expect([status, second.body]).toEqual([201, 'مرة أخرى'])
  expect((await send()).body).toEqual(second)
  const socket = await ChatSocket.connect(a)
  const { data } = await socket.sendMessage(conversationId, '', withPicture(mediaId))
  socket.close()
  const all = [first, second, data.message]
  expect(new Set(all.map(({ mediaUrl }) => mediaUrl)).size).toBe(3)
  const bytes = await Promise.all(
    all.map(async ({ mediaUrl }) => (await fetch(mediaUrl)).arrayBuffer()),
  )
  expect(bytes[1]).toEqual(bytes[0])
  expect(bytes[2]).toEqual(bytes[0])
  const refused = await callDataApi(a, 'send_message', {
    conversation_id: other,
    client_message_id: randomUUID(),
    type: 'image',
    media_id: mediaId,
  })
  expect([refused.status, JSON.parse(refused.text).message]).toEqual([422, 'validation_failed'])

  await act({ act: 'hide_message', target: first.id, reason: why })
  await drain('reconcile_media')
  expect((await messagesPage(b, conversationId)).items).toMatchObject([
    { id: first.id, mediaUrl: null, hidden: true },
    { id: data.message.id, mediaUrl: data.message.mediaUrl },
  ])
  expect((await messagesPage(a, other)).items).toEqual([second])
  expect(await statusOf(second.mediaUrl)).toBe(200)
})

test.each(['by hand', 'by a report'])(
  'CHAT-28 everywhere: %s all messages of its sender with the same picture are hidden, and no others',
  async (how) => {
    const { a, b, conversationId } = await startConversation()
    const other = await conversationBetween(a, await signUp())
    const bytes = picture()
    const mediaId = await upload(a, bytes)
    const sent = [
      await postMessage(a, conversationId, withPicture(mediaId)),
      await postMessage(a, other, withPicture(mediaId)),
      await postMessage(a, other, withPicture(await upload(a, bytes))),
    ].map(({ body }) => body.id)
    const left = [
      await postMessage(a, other, withPicture(await upload(a, picture()))),
      await postMessage(b, conversationId, withPicture(await upload(b, bytes))),
    ].map(({ body }) => body.id)
    if (how === 'by hand') {
      await act({ act: 'hide_message', target: sent[0], reason: why })
      const { result } = await act({
        act: 'hide_message',
        target: sent[0],
        everywhere: true,
        reason: why,
      })
      expect(result).toContain('Messages with the same picture that are hidden now: 2.')
    } else {
      const admin = await signUpAdmin()
      const report = { targetType: 'message', targetId: sent[0], reason: 'fraud' }
      const { body: { id } } = await b.post('/reports', report)
      const decision = { decision: 'uphold', reason: why, everywhere: true }
      expect((await admin.post(`/admin/moderation/${id}/decide`, decision)).status).toBe(200)
    }
    const { rows } = await database().query(
      `select messages.id, hidden_at is not null as hidden, discarded_at is not null as discarded
       from public.messages join public.media on media.id = messages.media_id
       where messages.id = any ($1)`,
      [[...sent, ...left]],
    )
    expect(new Map(rows.map(({ id, hidden, discarded }) => [id, [hidden, discarded]]))).toEqual(
      new Map([...sent, ...left].map((id) => [id, Array(2).fill(sent.includes(id))])),
    )
    const { rows: audited } = await database().query(
      `select target_id from public.audit where action = 'message.hidden' and target_id = any ($1)`,
      [sent],
    )
    expect(audited).toHaveLength(3)
  },
)
