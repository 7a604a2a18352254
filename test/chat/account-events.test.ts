import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { afterEach, describe, expect, test } from 'vitest'
import {
  createChat,
  type Events,
  gateway,
  type Link,
  realtime,
} from '../../client/src/chat/index.ts'
import { createClient as createApp } from '../../client/src/index.ts'
import { act, why } from '../admin/studio.ts'
import { signUpAdmin } from '../support/admins.ts'
import { chatUrl } from '../support/chat-socket.ts'
import { type Person, projectUrl, publishableKey, signIn, signUp } from '../support/client.ts'
import {
  conversationBetween,
  openConversation,
  postMessage,
  sendMessageAs,
  startConversation,
} from '../support/conversations.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { notificationsOf, notify, serviceMessage, unreadCount } from '../support/notifications.ts'
import { waitUntil } from '../support/wait.ts'

const open: { close: () => unknown }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

const links: Record<string, (person: Person) => Link> = {
  'the gateway': () => gateway({ url: chatUrl }),
  Realtime: (person) => {
    const supabase = createClient(projectUrl, publishableKey, {
      accessToken: () => Promise.resolve(person.accessToken),
      auth: { storageKey: randomUUID() },
    })
    open.push({ close: () => supabase.removeAllChannels() })
    return realtime(supabase)
  },
}

const names = [
  'conversation_updated',
  'message_hidden',
  'message_read',
  'notification',
  'notifications_changed',
] as const
type Name = typeof names[number]

let marks = 0

describe.each(Object.entries(links))('over %s', (_way, link) => {
  async function device(person: Person) {
    const client = createApp({ url: projectUrl, accessToken: () => person.accessToken })
    const chat = createChat(client, { link: link(person) })
    open.push(chat)
    const all: { event: Name; data: Events[Name] }[] = []
    for (const event of names) chat.on(event, (data) => all.push({ event, data }))
    const heard = <Event extends Name>(event: Event) =>
      all.filter((one) => one.event === event).map(({ data }) => data as Events[Event])
    const titles = () => heard('notification').map(({ notification }) => notification.titleAr)
    /** Events are lost while a channel is being joined, so this sends the notification until it arrives. */
    const hears = (title: string) =>
      waitUntil('it hears', async () => {
        await notify(person, 'system', serviceMessage(title))
        return titles().includes(title)
      })
    await hears('يسمع')
    return {
      chat,
      heard,
      hears,
      /**
       * Sends a notification and waits for it. Events arrive in order, so all earlier
       * ones have then arrived, too.
       */
      async settled() {
        const mark = `علامة ${++marks}`
        await notify(person, 'system', serviceMessage(mark))
        await waitUntil('the mark comes', () => titles().includes(mark))
      },
    }
  }

  const read = (person: Person, id: string) => person.post(`/conversations/${id}/read`)

  test('each device of the writer hears how far the other side has read', async () => {
    const { a, b, conversationId } = await startConversation()
    const [phone, tablet, reader] = [await device(a), await device(a), await device(b)]
    await phone.chat.join(conversationId)
    await sendMessageAs(a, conversationId)
    await sendMessageAs(a, conversationId)
    await read(b, conversationId)
    const upTo = (upToSeq: number) => ({ conversationId, identityId: a.identityId, upToSeq })
    await Promise.all([phone, tablet, reader].map((each) => each.settled()))
    for (const each of [phone, tablet]) expect(each.heard('message_read')).toEqual([upTo(2)])
    expect(reader.heard('message_read')).toEqual([])

    // A device gets no read positions of a conversation after leaving it. No device gets
    // any while receipts are off.
    phone.chat.leave(conversationId)
    await sendMessageAs(a, conversationId)
    await read(b, conversationId)
    await b.patch('/settings', { privacy: { readReceipts: false } })
    await sendMessageAs(a, conversationId)
    await read(b, conversationId)
    await b.patch('/settings', { privacy: { readReceipts: true } })
    await Promise.all([phone.settled(), tablet.settled()])
    expect(phone.heard('message_read')).toEqual([upTo(2)])
    expect(tablet.heard('message_read')).toEqual([upTo(2), upTo(3)])
    await phone.chat.join(conversationId)
    await sendMessageAs(a, conversationId)
    await read(b, conversationId)
    await phone.settled()
    expect(phone.heard('message_read')).toEqual([upTo(2), upTo(5)])
  })

  test('the devices of both hear which message was hidden', async () => {
    const { a, b, conversationId } = await startConversation()
    const devices = [await device(a), await device(b)]
    const { body: { id, seq } } = await postMessage(a, conversationId)
    await act({ act: 'hide_message', target: id, reason: why })
    await Promise.all(devices.map((each) => each.settled()))
    for (const each of devices) {
      expect(each.heard('message_hidden')).toEqual([{ conversationId, id, seq }])
    }
  })

  test('nobody hears of reading across a block, nor for an identity that may not act', async () => {
    const { a, b, conversationId } = await startConversation()
    const company = await insertOrganisation(a.id)
    await a.post('/auth/identity/switch', { identityId: company })
    const asCompany = await conversationBetween(a, b)
    await sendMessageAs(a, asCompany)
    await a.post('/auth/identity/switch', { identityId: a.identityId })
    await sendMessageAs(a, conversationId)
    const [writer, stranger] = [await device(a), await device(await signUp())]
    const admin = await signUpAdmin()
    await admin.patch(`/admin/identities/${company}/status`, {
      status: 'suspended',
      reason: 'ترخيص',
    })
    expect((await b.post(`/blocks/${a.identityId}`)).status).toBe(204)
    for (const id of [asCompany, conversationId]) expect((await read(b, id)).status).toBe(200)
    await writer.settled()
    expect(writer.heard('message_read')).toEqual([])
    await b.delete(`/blocks/${a.identityId}`)
    await sendMessageAs(a, conversationId)
    await read(b, conversationId)
    await Promise.all([writer.settled(), stranger.settled()])
    expect(writer.heard('message_read')).toEqual([
      { conversationId, identityId: a.identityId, upToSeq: 2 },
    ])
    expect(stranger.heard('message_read')).toEqual([])
  })

  test('a notification reaches all devices of its account as the list has it, and nobody else', async () => {
    const { a, b, conversationId } = await startConversation()
    const [phone, tablet, other] = [await device(b), await device(b), await device(a)]
    const before = phone.heard('notification').length
    await sendMessageAs(a, conversationId)
    await notify(b, 'invoice_paid', { number: 'INV-1', amount: 1 })
    await Promise.all(
      [phone, tablet].map((each) =>
        waitUntil(
          'it comes',
          () => each.heard('notification').at(-1)?.notification.kind === 'invoice_paid',
        )
      ),
    )
    const [notification] = await notificationsOf(b, 'invoice_paid')
    const unread = await unreadCount(b)
    const notified = { identityId: b.identityId, notification, unread }
    for (const each of [phone, tablet]) expect(each.heard('notification').at(-1)).toEqual(notified)
    // A message has its own events, so it does not cause a `notification` event.
    expect(phone.heard('notification')).toHaveLength(before + 1)
    await other.settled()
    expect(other.heard('notification').map(({ notification }) => notification.kind))
      .not.toContain('invoice_paid')

    await b.patch('/settings', { notifications: { billing: { inApp: false } } })
    await notify(b, 'invoice_paid', { number: 'INV-2', amount: 1 })
    await phone.settled()
    expect(phone.heard('notification').filter((each) => each.notification.kind === 'invoice_paid'))
      .toHaveLength(1)
  })

  test('CHAT-30 what is seen on one device reaches the others of its account, and nobody else', async () => {
    const { a, b, conversationId } = await startConversation()
    const [phone, tablet, other] = [await device(b), await device(b), await device(a)]
    await Promise.all([phone.settled(), tablet.settled()])
    const first = await unreadCount(b)
    await sendMessageAs(a, conversationId)
    await read(b, conversationId)
    await sendMessageAs(a, conversationId)
    await b.patch(`/conversations/${conversationId}`, { archived: true, upToSeq: 2 })
    const [newest] = await notificationsOf(b, 'system')
    await b.post(`/notifications/${newest.id}/read`)
    await b.post('/notifications/read-all')
    await Promise.all([phone, tablet, other].map((each) => each.settled()))
    for (const each of [phone, tablet]) {
      expect(each.heard('notifications_changed').map(({ unread }) => unread))
        .toEqual([first, first, first - 1, 0])
    }
    expect(other.heard('notifications_changed')).toEqual([])
  })

  test('who opens a conversation hears of it on all devices, and nobody else before a message', async () => {
    const [a, b] = await Promise.all([signUp(), signUp()])
    const listing = await publishListing(b)
    const [phone, tablet, owner] = [await device(a), await device(a), await device(b)]
    const { id, changedAt } = await openConversation(a, { identityId: b.identityId })
    const opened = {
      conversationId: id,
      identityId: a.identityId,
      lastMessage: null,
      unread: 0,
      muted: false,
      archived: false,
      peerReadSeq: 0,
      changedAt,
    }
    await Promise.all([phone, tablet, owner].map((each) => each.settled()))
    for (const each of [phone, tablet]) expect(each.heard('conversation_updated')).toEqual([opened])
    expect(owner.heard('conversation_updated')).toEqual([])

    await openConversation(a, { identityId: b.identityId })
    await phone.settled()
    expect(phone.heard('conversation_updated')).toEqual([opened])

    const message = { propertyId: listing.id, message: 'هل العقار متاح؟' }
    const { id: written } = await openConversation(a, message)
    await Promise.all([tablet.settled(), owner.settled()])
    expect(tablet.heard('conversation_updated')[1])
      .toEqual({ ...opened, conversationId: written, changedAt: expect.any(String) })
    expect(owner.heard('conversation_updated')).toMatchObject([
      { conversationId: written, identityId: b.identityId, unread: 1 },
    ])
  })

  test('a device that was signed out hears nothing, the others go on', async () => {
    const { a, b, conversationId } = await startConversation()
    const gone = await signIn(a.identifier, a.password)
    const [out, stays] = [await device(gone), await device(a)]
    await sendMessageAs(a, conversationId)
    await out.settled()
    const before = names.map((name) => out.heard(name).length)
    expect((await gone.post('/auth/logout', {})).status).toBe(204)
    await stays.hears('على القناة الجديدة')
    await read(b, conversationId)
    await openConversation(a, { identityId: (await signUp()).identityId })
    await stays.settled()
    expect(stays.heard('message_read')).toMatchObject([{ upToSeq: 1 }])
    expect(stays.heard('conversation_updated').at(-1)).toMatchObject({ lastMessage: null })
    expect(names.map((name) => out.heard(name).length)).toEqual(before)
  })
})

test('a conversation that was refused is told to nobody', async () => {
  const [a, b] = await Promise.all([signUp(), signUp()])
  await b.post(`/blocks/${a.identityId}`)
  const chat = createChat(createApp({ url: projectUrl, accessToken: () => a.accessToken }), {
    link: gateway({ url: chatUrl }),
  })
  open.push(chat)
  const updates: unknown[] = []
  let heard = false
  chat.on('conversation_updated', (update) => updates.push(update))
  chat.on('notification', () => (heard = true))
  await waitUntil('it hears', async () => {
    await notify(a, 'system', serviceMessage())
    return heard
  })
  expect((await a.post('/conversations', { identityId: b.identityId })).status).toBe(403)
  heard = false
  await notify(a, 'system', serviceMessage())
  await waitUntil('the next comes', () => heard)
  expect(updates).toEqual([])
  expect((await postMessage(a, randomUUID())).status).toBe(404)
})
