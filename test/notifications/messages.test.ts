import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import {
  kuwaitTimeIn,
  notificationsOf,
  registerDevice,
  unreadCount,
} from '../support/notifications.ts'

let salem: Person
let sara: Person
let id: string
let about: string

beforeEach(async () => {
  salem = await signUp('سالم العنزي')
  sara = await signUp('سارة المطيري')
  const listing = await publishListing(sara)
  about = listing.titleAr
  const { body } = await salem.post('/conversations', { propertyId: listing.id })
  id = body.id
})

const say = (person: Person, body: string) =>
  person.post(`/conversations/${id}/messages`, {
    clientMessageId: randomUUID(),
    type: 'text',
    body,
  })
const heard = (person: Person) => notificationsOf(person, 'message_new')

test('a message notifies the other side of its sender, its listing and its text', async () => {
  expect((await say(salem, '  السلام عليكم،\nهل البيت متاح؟')).status).toBe(201)
  expect(await heard(sara)).toMatchObject([{
    identityId: sara.identityId,
    titleAr: `سالم العنزي · ${about}`,
    bodyAr: expect.stringContaining('السلام عليكم، هل البيت متاح؟'),
    data: { route: 'conversation', entityId: id },
    readAt: null,
  }])
  expect(await heard(salem)).toEqual([])
  await say(salem, `${'طويل '.repeat(700)}`)
  const [{ bodyAr }] = await heard(sara)
  expect(bodyAr).toMatch(/^رسالتان جديدتان: طويل/)
  expect(bodyAr.length).toBeLessThan(170)
})

test('unread messages are one notification: it counts them, says the newest and comes to the top', async () => {
  await say(salem, 'الأولى')
  const [first] = await heard(sara)
  const noura = await signUp('نورة الشمري')
  const { body: other } = await noura.post('/conversations', {
    identityId: sara.identityId,
    message: 'غيرها',
  })
  expect((await heard(sara)).map(({ data }) => data.entityId)).toEqual([other.id, id])

  await say(salem, 'الثانية')
  await salem.post(`/conversations/${id}/messages`, {
    clientMessageId: randomUUID(),
    type: 'location',
    body: '29.3,48',
  })
  const [counted, stays] = await heard(sara)
  expect(counted).toEqual({
    ...first,
    bodyAr: '3 رسائل جديدة: أرسل لك موقعاً',
    bodyEn: '3 new messages: Sent you a location',
    createdAt: expect.any(String),
  })
  expect(counted.createdAt > first.createdAt).toBe(true)
  expect(stays).toMatchObject({ bodyAr: 'غيرها', data: { entityId: other.id } })
})

test('a long name with a long title is cut, from the first message on', async () => {
  const [long, owner] = [await signUp(`سالم ${'العنزي '.repeat(15)}ب`), await signUp()]
  const listing = await publishListing(owner, { titleAr: `فيلا ${'للبيع '.repeat(17)}ب` })
  const { body: conversation } = await long.post('/conversations', { propertyId: listing.id })
  id = conversation.id
  for (const text of ['الأولى', 'الثانية']) expect((await say(long, text)).status).toBe(201)
  const [notice, ...others] = await heard(owner)
  expect(others).toEqual([])
  expect(notice.bodyAr).toBe('رسالتان جديدتان: الثانية')
  expect(notice.titleAr).toHaveLength(200)
})

test('messages that come at the same moment are all counted', async () => {
  const texts = Array.from({ length: 12 }, (_, i) => `رسالة ${i}`)
  await Promise.all(texts.map((text) => say(salem, text)))
  const { rows } = await database().query(
    `select body_en, times::int from public.notifications
     where entity_id = $1 and kind = 'message_new'`,
    [id],
  )
  expect(rows).toEqual([{
    body_en: expect.stringMatching(/^12 new messages: رسالة \d+$/),
    times: 12,
  }])
})

test('a message sent twice notifies once', async () => {
  const message = { clientMessageId: randomUUID(), type: 'text', body: 'هلا' }
  const send = () => salem.post(`/conversations/${id}/messages`, message)
  expect((await Promise.all([send(), send(), send()])).map(({ status }) => status).toSorted())
    .toEqual([200, 200, 201])
  expect(await heard(sara)).toMatchObject([{ bodyAr: 'هلا' }])
})

test('reading the conversation reads its notification, for the reader alone', async () => {
  await say(salem, 'الأولى')
  await say(salem, 'الثانية')
  const before = await unreadCount(sara)
  await sara.post(`/conversations/${id}/read`, { upToSeq: 1 })
  expect(await heard(sara)).toMatchObject([{ readAt: null }])
  expect(await unreadCount(sara)).toBe(before)

  await sara.post(`/conversations/${id}/read`, {})
  expect(await heard(sara)).toMatchObject([{ readAt: expect.any(String) }])
  expect(await unreadCount(sara)).toBe(before - 1)

  await say(salem, 'الثالثة')
  expect((await heard(sara)).map(({ bodyAr, readAt }) => [bodyAr, readAt === null])).toEqual([
    ['الثالثة', true],
    ['الثانية', false],
  ])
})

test('reading the notification does not read the conversation', async () => {
  await say(salem, 'هلا')
  await sara.post('/notifications/read-all')
  expect((await sara.get('/conversations')).body.items).toMatchObject([{ id, unread: 1 }])
})

test('a muted conversation counts its messages and notifies of none', async () => {
  await sara.patch(`/conversations/${id}`, { muted: true })
  await say(salem, 'هلا')
  expect(await heard(sara)).toEqual([])
  expect((await sara.get('/conversations')).body.items).toMatchObject([{ id, unread: 1 }])
  await say(sara, 'أهلين')
  expect(await heard(salem)).toHaveLength(1)
})

test('what waits to be pushed of a conversation is not when it is muted', async () => {
  await registerDevice(sara)
  const quietHours = { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(3) }
  expect((await sara.patch('/settings', { quietHours })).status).toBe(200)
  const waiting = async () =>
    (await database().query(
      `select data ->> 'entityId' as id from private.push_outbox
       where account_id = $1 and category = 'messages'`,
      [sara.id],
    )).rows.map((row) => row.id)
  const other = (await salem.post('/conversations', { identityId: sara.identityId })).body.id
  await say(salem, 'هلا')
  await salem.post(`/conversations/${other}/messages`, {
    clientMessageId: randomUUID(),
    body: 'هلا',
  })
  expect((await waiting()).toSorted()).toEqual([id, other].toSorted())
  const mute = (muted: boolean) => sara.patch(`/conversations/${id}`, { muted })
  await mute(true)
  await say(salem, 'وين')
  expect(await waiting()).toEqual([other])
  await mute(false)
  await say(salem, 'رد')
  expect((await waiting()).toSorted()).toEqual([id, other].toSorted())
})

test('messages that arrive while reading leave no notification of what was read', async () => {
  for (let round = 0; round < 10; round++) {
    await Promise.all([
      say(salem, `رسالة ${round}`),
      sara.post(`/conversations/${id}/read`, {}),
      say(salem, `أخرى ${round}`),
      sara.post(`/conversations/${id}/read`, {}),
    ])
  }
  await sara.post(`/conversations/${id}/read`, {})
  expect((await heard(sara)).filter(({ readAt }) => !readAt)).toEqual([])
  await say(salem, 'الأخيرة')
  expect((await heard(sara)).filter(({ readAt }) => !readAt)).toMatchObject([{ bodyAr: 'الأخيرة' }])
})

test('a deleted account leaves none of its text with the other side', async () => {
  await say(salem, 'كلام خاص')
  await database().query('select private.anonymise_account($1)', [salem.id])
  expect(await heard(sara)).toEqual([])
})
