import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createChat } from '../../client/src/chat/index.ts'
import { createClient } from '../../client/src/index.ts'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { closeClients, joinAs, topicOf } from '../support/channels.ts'
import { asCaller, database, type Person, projectUrl } from '../support/client.ts'
import {
  listEntry,
  messagesPage,
  postMessage,
  startConversation,
  textMessage,
} from '../support/conversations.ts'
import { drain, runJobs } from '../support/jobs.ts'
import {
  kuwaitTimeIn,
  notificationsOf,
  registerDevice,
  unreadCount,
} from '../support/notifications.ts'
import { publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadPictures } from '../support/uploads.ts'
import { fieldRefusal } from '../support/problems.ts'
import { waitUntil } from '../support/wait.ts'
import { act, byHand, why } from '../admin/studio.ts'
import { socketOf } from './sockets.ts'

let a: Person
let b: Person
let conversationId: string
beforeEach(async () => {
  ;({ a, b, conversationId } = await startConversation())
})
afterEach(closeClients)

const words = 'حوّل المبلغ إلى هذا الحساب'
const hide = (id: string) => act({ act: 'hide_message', target: id, reason: why })
const restore = (id: string) => act({ act: 'restore_message', target: id })

async function seenBy(person: Person) {
  const answers = await Promise.all([
    messagesPage(person, conversationId),
    person.get('/conversations'),
    person.get(`/conversations/${conversationId}`),
    person.get('/notifications'),
  ])
  return JSON.stringify(answers)
}

test('nothing is left of it for either side, but its place', async () => {
  const { body: sent } = await postMessage(a, conversationId, words)
  await postMessage(b, conversationId, textMessage('لماذا؟', { replyToId: sent.id }))
  const { body: last } = await postMessage(a, conversationId, words)
  for (const { id } of [sent, last]) await hide(id)
  for (const person of [a, b]) {
    const { items } = await messagesPage(person, conversationId)
    expect(items).toMatchObject([
      { id: sent.id, seq: 1, body: '', mediaUrl: null, hidden: true },
      { seq: 2, body: 'لماذا؟', replyToId: sent.id },
      { id: last.id, seq: 3, body: '', hidden: true },
    ])
    expect(items[1].hidden).toBeUndefined()
    expect((await listEntry(person, conversationId)).lastMessage)
      .toMatchObject({ id: last.id, seq: 3, preview: 'رسالة محجوبة', hidden: true })
    expect(await seenBy(person)).not.toContain(words)
    await asCaller(person, async (client) => {
      const { rows } = await client.query(
        'select seq from public.messages where conversation_id = $1',
        [conversationId],
      )
      expect(rows).toEqual([{ seq: '2' }])
    })
  }
  expect(await notificationsOf(b, 'message_new')).toEqual([])
  expect((await listEntry(b, conversationId)).unread).toBe(0)
  const again = await postMessage(a, conversationId, {
    clientMessageId: last.clientMessageId,
    type: 'text',
    body: words,
  })
  expect(again).toMatchObject({ status: 200, body: { id: last.id, body: '', hidden: true } })
})

test('it counts in no list, notification, push or badge; shown again it is unread', async () => {
  await registerDevice(b)
  const quietHours = { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(3) }
  expect((await b.patch('/settings', { quietHours })).status).toBe(200)
  const channel = await joinAs(b, await topicOf(b))
  const before = await unreadCount(b)
  const sent: string[] = []
  for (const text of ['أولى', 'ثانية', 'ثالثة', 'رابعة']) {
    sent.push((await postMessage(a, conversationId, text)).body.id)
  }
  const shown = async () => {
    const notifications = await notificationsOf(b, 'message_new')
    const { rows } = await database().query(
      `select said.body from private.push_outbox, private.message_push(push_outbox) as said
       where account_id = $1 and category = 'messages' and said.body is not null`,
      [b.id],
    )
    const { items } = (await b.get('/conversations')).body
    expect(items).toMatchObject([{ id: conversationId }])
    return {
      unread: items[0].unread,
      badge: await unreadCount(b) - before,
      notifications: notifications.map(({ bodyAr }) => bodyAr),
      pushes: rows.map(({ body }) => body),
    }
  }
  const said = (unread: number, text: string) => (
    { unread, badge: 1, notifications: [text], pushes: [text] }
  )
  expect(await shown()).toEqual(said(4, '4 رسائل جديدة: رابعة'))
  await hide(sent[1]!)
  expect(await shown()).toEqual(said(3, '3 رسائل جديدة: رابعة'))
  await waitUntil(
    'the devices hear it',
    () =>
      channel.heard.some(({ event, payload }) =>
        event === 'conversation_updated' && payload.unread === 3
      ),
  )
  await hide(sent[3]!)
  expect(await shown()).toEqual(said(2, 'رسالتان جديدتان: ثالثة'))
  await hide(sent[2]!)
  expect(await shown()).toEqual(said(1, 'أولى'))
  await restore(sent[1]!)
  expect(await shown()).toEqual(said(2, 'رسالتان جديدتان: ثانية'))
  await b.post(`/conversations/${conversationId}/read`, { upToSeq: 1 })
  await hide(sent[0]!)
  expect((await shown()).unread).toBe(1)
  await hide(sent[1]!)
  expect(await shown()).toEqual({ unread: 0, badge: 0, notifications: [], pushes: [] })
  const { rows: [device] } = await database().query(
    'select badge_due_at from public.devices where account_id = $1',
    [b.id],
  )
  expect(device.badge_due_at, 'the badge on the device is taken back').not.toBeNull()
  const changes = await channel.waitFor('notifications_changed')
  expect(changes.map(({ unread }) => unread)).toEqual([before])
  expect((await b.post(`/conversations/${conversationId}/read`, { upToSeq: 2 })).body)
    .toEqual({ unread: 0 })
  const archived = await b.patch(`/conversations/${conversationId}`, { archived: true, upToSeq: 2 })
  expect(archived.body).toMatchObject({ archived: true })
})

test('of a picture that is hidden nothing is counted', async () => {
  const { body: { files: [file] } } = await uploadPictures(a, [jpeg({ width: 40, height: 30 })], {
    uploadSessionId: randomUUID(),
  })
  await postMessage(a, conversationId, words)
  const { body: picture } = await postMessage(a, conversationId, {
    clientMessageId: randomUUID(),
    type: 'image',
    mediaId: file.mediaId,
  })
  await hide(picture.id)
  expect(await notificationsOf(b, 'message_new')).toMatchObject([{ bodyAr: words, bodyEn: words }])
  expect((await listEntry(b, conversationId)).unread).toBe(1)
})

test('of a listing that is hidden no notification has the title, also once it was read', async () => {
  const listing = await publishListing(a)
  const { body: { id } } = await postMessage(
    a,
    conversationId,
    textMessage(listing.id, { type: 'property' }),
  )
  await b.post(`/conversations/${conversationId}/read`)
  await database().query(
    `update public.properties set status = 'suspended' where id = $1`,
    [listing.id],
  )
  expect(await seenBy(b)).toContain(listing.titleAr)
  await hide(id)
  expect(await seenBy(b)).not.toContain(listing.titleAr)
  expect(await notificationsOf(b, 'message_new')).toMatchObject([{ bodyAr: 'رسالة محجوبة' }])
})

test('the exports of both sides have it without its words', async () => {
  const { body: { id } } = await postMessage(a, conversationId, words)
  await hide(id)
  const exported = async (person: Person) =>
    (await person.get('/auth/me/export')).body.identities[0].conversations[0].messages
  expect(await exported(b)).toMatchObject([{ seq: 1, mine: false, body: '', hidden: true }])
  expect(await exported(a)).toMatchObject([{ seq: 1, mine: true, body: '', hidden: true }])
})

describe('both sides hear of it', () => {
  test('over the channels of their accounts, by the gateway and in the client', async () => {
    await postMessage(a, conversationId)
    const [channel, own] = await Promise.all([
      joinAs(b, await topicOf(b)),
      joinAs(a, await topicOf(a)),
    ])
    const [joined, only, out] = [await socketOf(b), await socketOf(b), await socketOf(b)]
    await joined.join(conversationId)
    await out.join(conversationId)
    await out.leave(conversationId)
    const chat = createChat(createClient({
      url: projectUrl,
      accessToken: () => Promise.resolve(b.accessToken),
    }))
    const heard: object[] = []
    chat.on('message_hidden', (hidden) => heard.push(hidden))
    try {
      await chat.join(conversationId, { afterSeq: 1 })
      let received = 0
      chat.on('new_message', () => received++)
      const { body: { id, seq } } = await postMessage(a, conversationId, words)
      // A socket or chat that has received the message also receives the account's events.
      await waitUntil(
        'all have it',
        () =>
          joined.messages().length > 0 && only.events('conversation_updated').length > 0 &&
          received > 0,
      )
      await hide(id)
      const hidden = { conversationId, id, seq }
      expect(await channel.waitFor('message_hidden'))
        .toEqual([{ ...hidden, identityId: b.identityId }])
      expect(await own.waitFor('message_hidden'))
        .toEqual([{ ...hidden, identityId: a.identityId }])
      expect((await messagesPage(b, conversationId)).items).toMatchObject([{ seq: 1 }, {
        hidden: true,
      }])
      for (const socket of [joined, only]) {
        await waitUntil('a socket hears it', () => socket.events('message_hidden').length > 0)
        expect(socket.events('message_hidden')).toEqual([hidden])
      }
      await waitUntil('the client hears it', () => heard.length > 0)
      expect(heard).toEqual([hidden])
      const { changedAt } = await listEntry(b, conversationId)
      const isHeard = (heard: unknown) =>
        JSON.stringify(heard).includes(changedAt) && JSON.stringify(heard).includes('محجوبة')
      for (const socket of [joined, only]) {
        await waitUntil('the state follows', () => isHeard(socket.events('conversation_updated')))
      }
      expect(isHeard(await channel.waitFor('conversation_updated'))).toBe(true)
      expect(out.events('message_hidden')).toEqual([])
    } finally {
      chat.close()
    }
  })

  test('but one that the other has blocked', async () => {
    const { body: { id } } = await postMessage(a, conversationId, words)
    await b.post(`/blocks/${a.identityId}`)
    await hide(id)
    const { rows } = await database().query(
      `select accounts.id from realtime.messages
       join public.accounts on accounts.topic::text = messages.topic
       where messages.event = 'message_hidden' and messages.payload ->> 'id' = $1`,
      [id],
    )
    expect(rows).toEqual([{ id: b.id }])
  })
})

test('upholding a report about it hides it, by the route and by hand; dismissing does not', async () => {
  const admin = await signUpAdmin()
  const report = async (targetId: string): Promise<string> =>
    (await b.post('/reports', { targetType: 'message', targetId, reason: 'fraud' })).body.id
  const texts = ['أولى', 'ثانية', 'ثالثة']
  const ids: string[] = []
  for (const text of texts) ids.push((await postMessage(a, conversationId, text)).body.id)
  const reports = await Promise.all(ids.map(report))
  await admin.post(`/admin/moderation/${reports[0]}/decide`, { decision: 'uphold', reason: why })
  await byHand(
    `update public.reports set status = 'upheld', status_reason = $2 where id = $1`,
    [reports[1], why],
  )
  await admin.post(`/admin/moderation/${reports[2]}/decide`, { decision: 'dismiss' })
  expect((await messagesPage(b, conversationId)).items).toMatchObject([
    { body: '', hidden: true },
    { body: '', hidden: true },
    { body: 'ثالثة' },
  ])
  for (const id of ids.slice(0, 2)) {
    expect(await auditOf(admin, id)).toMatchObject([{ action: 'message.hidden', reason: why }])
  }
  const [last] = [await report((await postMessage(a, conversationId, words)).body.id)]
  const { rows } = await database().query(
    'select about, says, account_id from public.admin_reports where id = $1',
    [last],
  )
  expect(rows).toEqual([{ about: 'أحمد العنزي', says: words, account_id: a.id }])
})

test('restored its words are back, and a picture is not', async () => {
  const { body: { files: [file] } } = await uploadPictures(a, [jpeg({ width: 40, height: 30 })], {
    uploadSessionId: randomUUID(),
  })
  const { body: picture } = await postMessage(a, conversationId, {
    clientMessageId: randomUUID(),
    type: 'image',
    mediaId: file.mediaId,
    body: 'الصورة',
  })
  const { body: text } = await postMessage(a, conversationId, words)
  expect((await fetch(picture.mediaUrl)).status).toBe(200)
  expect((await hide(picture.id)).result).toContain('cannot be undone')
  await hide(text.id)
  await expect(hide(text.id)).rejects.toThrow('The same was done at')
  const { rows: [media] } = await database().query(
    'select discarded_at, use from public.media where id = $1',
    [file.mediaId],
  )
  expect(media).toEqual({ discarded_at: expect.any(Date), use: null })
  await waitUntil('its file is removed', async () => {
    await runJobs()
    return (await fetch(picture.mediaUrl)).status !== 200
  })
  expect(await seenBy(b)).not.toContain('الصورة')
  expect((await restore(picture.id)).result).toContain('does not come back')
  expect((await restore(text.id)).result).toBe('Both sides see it again.')
  expect((await messagesPage(b, conversationId)).items).toMatchObject([
    { type: 'image', body: 'الصورة', mediaUrl: null },
    { body: words },
  ])
  await expect(restore(text.id)).rejects.toThrow('The same was done at')
})

test('CHAT-28 a device that was away reads what was written, hidden or shown again, in that order', async () => {
  const ids: string[] = []
  for (const text of ['أولى', words, 'ثالثة']) {
    ids.push((await postMessage(a, conversationId, text)).body.id)
  }
  const changedSince = async (person: Person, since: string, limit = 50) =>
    await messagesPage(person, conversationId, `?changedSince=${since}&limit=${limit}`)
  const { changedAt: before } = await messagesPage(a, conversationId)
  const entries = await Promise.all([a, b].map((person) => listEntry(person, conversationId)))
  expect(entries.map(({ changedAt }) => changedAt)).toEqual([before, before])
  expect(await changedSince(a, before)).toEqual({ items: [], hasMore: false, changedAt: before })

  await hide(ids[1]!)
  for (const [nth, person] of [a, b].entries()) {
    const { body: list } = await person.get('/conversations?limit=1')
    const { changedAt, updatedAt } = list.items[0]
    expect([list.changedAt, updatedAt]).toEqual([changedAt, entries[nth].updatedAt])
    const page = await changedSince(person, before)
    expect(page).toMatchObject({ items: [{ id: ids[1], body: '', hidden: true }], changedAt })
    expect((await messagesPage(person, conversationId, '?limit=1')).changedAt).toBe(changedAt)
    expect(changedAt > before).toBe(true)
  }
  await asCaller(b, async (client) => {
    const { rows } = await client.query(
      'select items from api.list_messages($1, changed_since => $2)',
      [conversationId, before],
    )
    expect(rows[0].items).toMatchObject([{ id: ids[1], body: '', hidden: true }])
  })

  const { body: last } = await postMessage(b, conversationId, 'رابعة')
  await hide(ids[0]!)
  await restore(ids[1]!)
  const first = await changedSince(a, before, 2)
  expect(first).toMatchObject({ items: [{ id: last.id }, { id: ids[0], body: '' }], hasMore: true })
  expect(await changedSince(a, first.changedAt)).toMatchObject({
    items: [{ id: ids[1], body: words }],
    hasMore: false,
    changedAt: (await listEntry(a, conversationId)).changedAt,
  })
  for (const other of ['beforeSeq=3', 'afterSeq=0']) {
    const refused = await b.get(
      `/conversations/${conversationId}/messages?changedSince=${before}&${other}`,
    )
    expect(refused).toMatchObject(fieldRefusal(422, 'validation_failed', 'changedSince'))
  }
})

test('after 180 days its words are gone, and it does not come back', async () => {
  const { body: old } = await postMessage(a, conversationId, words)
  const { body: recent } = await postMessage(a, conversationId, words)
  for (const [id, days] of [[old.id, 180], [recent.id, 179]]) {
    await hide(id as string)
    await database().query(
      'update public.messages set hidden_at = now() - make_interval(days => $2) where id = $1',
      [id, days],
    )
  }
  await drain('purge_hidden_words')
  const { rows } = await database().query(
    'select body from public.messages where conversation_id = $1 order by seq',
    [conversationId],
  )
  expect(rows).toEqual([{ body: '' }, { body: words }])
  await expect(restore(old.id)).rejects.toThrow('more than 180 days ago')
  const { result } = await act({
    act: 'hide_message',
    target: old.id,
    everywhere: true,
    reason: why,
  })
  expect(result).toContain('hidden now: 0.')
  await restore(recent.id)
  expect((await messagesPage(a, conversationId)).items.map(({ body }: { body: string }) => body))
    .toEqual(['', words])
})
