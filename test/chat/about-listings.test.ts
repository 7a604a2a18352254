import { beforeEach, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import {
  listEntry,
  openConversation,
  postMessage,
  sendMessageAs,
  textMessage,
} from '../support/conversations.ts'
import { drain } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import {
  kuwaitTimeIn,
  notificationsOf,
  registerDevice,
  unreadCount,
} from '../support/notifications.ts'

let a: Person
let b: Person

beforeEach(async () => {
  ;[a, b] = await Promise.all([signUp(), signUp('نورة الشمري')])
})

const leads = async (propertyId: string) =>
  (await database().query('select kind from public.leads where property_id = $1', [propertyId]))
    .rows.map(({ kind }) => kind)

test('CHAT-29 a conversation says which listing it was about while its owner has only taken it away', async () => {
  const listing = await publishListing(b)
  const { id } = await openConversation(a, { propertyId: listing.id, message: 'مرحبا' })
  const set = (to: string) =>
    database().query(`update public.properties set ${to} where id = $1`, [listing.id])
  const gone = { id: listing.id, status: 'unavailable', available: false }
  const seen = async (person = a) => (await listEntry(person, id)).property
  for (const act of ['pause', 'archive']) {
    expect((await b.post(`/properties/${listing.id}/${act}`)).status).toBe(200)
    expect(await seen()).toEqual({ ...gone, titleAr: listing.titleAr })
    expect(await seen(b)).toMatchObject({ id: listing.id, titleAr: listing.titleAr })
    await set(`status = 'active'`)
  }
  await set(`status = 'expired'`)
  expect(await seen()).toEqual({ ...gone, titleAr: listing.titleAr })
  await set(`status = 'sold', closed_at = now() - interval '31 days'`)
  expect(await seen()).toEqual({ ...gone, titleAr: listing.titleAr })
  await set(`status = 'suspended'`)
  expect(await seen()).toEqual(gone)
  expect((await b.delete(`/properties/${listing.id}`)).status).toBe(204)
  for (const person of [a, b]) expect(await seen(person)).toEqual(gone)
  await set(`deleted_at = now() - interval '91 days'`)
  await database().query('delete from public.media where property_id = $1', [listing.id])
  await drain('purge_deleted_listings')
  expect(await seen()).toEqual(gone)

  // This listing is in another area, because a repeat of the suspended one would wait for review.
  const other = await publishListing(b, { areaId: 'qibla' })
  const about = await openConversation(a, { propertyId: other.id })
  const account = (status: string) =>
    database().query('update public.accounts set status = $2 where id = $1', [b.id, status])
  await account('suspended')
  expect((await listEntry(a, about.id)).property).toEqual({ ...gone, id: other.id })
  await account('active')
})

test('a title that others never saw is shown to nobody, in chats and favorites', async () => {
  const listing = await publishListing(b)
  const { id } = await openConversation(a, { propertyId: listing.id, message: 'مرحبا' })
  expect((await a.post(`/favorites/${listing.id}`)).status).toBe(200)
  const archive = async () =>
    expect((await b.post(`/properties/${listing.id}/archive`)).status).toBe(200)
  const seen = async () => [
    (await listEntry(a, id)).property.titleAr,
    (await a.get('/favorites')).body.items[0].titleAr,
  ]
  const wait = (title: string) =>
    database().query(
      `update public.properties set pending_changes = $2, status = 'active' where id = $1`,
      [listing.id, { titleAr: title }],
    )
  await archive()
  expect(await seen()).toEqual([listing.titleAr, listing.titleAr])
  await wait('عنوان لم يره أحد')
  await archive()
  expect(await seen()).toEqual([undefined, undefined])
  expect((await b.post(`/properties/${listing.id}/restore`)).status).toBe(200)
  await archive()
  expect(await seen()).toEqual([undefined, undefined])
  expect((await b.delete(`/properties/${listing.id}`)).status).toBe(204)
  expect((await listEntry(a, id)).property.titleAr).toBeUndefined()
})

test('texts of messages name the listing that is sent and the one that it is about', async () => {
  const [about, sent] = await Promise.all([publishListing(b), publishListing(b)])
  const { id } = await openConversation(a, { propertyId: about.id, message: 'مرحبا' })
  await postMessage(b, id, textMessage(sent.id, { type: 'property' }))
  const { lastMessage, property } = await listEntry(a, id)
  expect([lastMessage.preview, property.titleAr]).toEqual([`إعلان: ${sent.titleAr}`, about.titleAr])
  const notices = (person: Person) => notificationsOf(person, 'message_new')
  expect(await notices(b)).toMatchObject([
    { titleAr: `سالم العنزي · ${about.titleAr}`, bodyAr: 'مرحبا' },
  ])
  const heading = `نورة الشمري · ${about.titleAr}`
  expect(await notices(a)).toMatchObject([{
    titleAr: heading,
    titleEn: heading,
    bodyAr: `أرسل لك إعلاناً: ${sent.titleAr}`,
    bodyEn: `Sent you a listing: ${sent.titleAr}`,
  }])
  await b.post(`/properties/${sent.id}/pause`)
  expect((await listEntry(a, id)).lastMessage.preview).toBe(`إعلان: ${sent.titleAr}`)
  await database().query(
    `update public.properties set status = 'suspended' where id = any ($1)`,
    [[about.id, sent.id]],
  )
  expect((await listEntry(a, id)).lastMessage.preview).toBe('إعلان')
  await postMessage(b, id, 'تفضل')
  expect(await notices(a)).toMatchObject([
    { titleAr: 'نورة الشمري', bodyAr: 'رسالتان جديدتان: تفضل' },
  ])
})

test('CHAT-29 whoever writes first about a listing of another is a lead, and its owner hears of it once', async () => {
  const listing = await publishListing(b)
  await registerDevice(b)
  const quietHours = { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(3) }
  expect((await b.patch('/settings', { quietHours })).status).toBe(200)
  const { id } = await openConversation(a, { propertyId: listing.id, message: 'هل البيت متاح؟' })
  expect(await leads(listing.id)).toEqual(['chat'])
  expect(await unreadCount(b)).toBe(1)
  expect(await notificationsOf(b)).toMatchObject([
    { kind: 'message_new', titleAr: `سالم العنزي · ${listing.titleAr}` },
  ])
  const { rows } = await database().query(
    `select data from private.push_outbox where account_id = $1 and category = 'messages'`,
    [b.id],
  )
  expect(rows).toMatchObject([{ data: { kind: 'message_new', entityId: id } }])
  await b.post(`/conversations/${id}/read`)
  await sendMessageAs(b, id)
  expect(await unreadCount(b)).toBe(0)

  const own = await publishListing(b)
  const offered = await openConversation(b, { propertyId: own.id, identityId: a.identityId })
  await sendMessageAs(b, offered.id)
  await sendMessageAs(a, offered.id)
  expect(await leads(own.id)).toEqual([])
})
