import { beforeEach, expect, test } from 'vitest'
import { byPassword } from '../accounts/contact-requests.ts'
import { database, guest, newPhone, type Person, signUp } from '../support/client.ts'
import { givePhone, insertListing, insertOrganisation, takePhone } from '../support/fixtures.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'
import { notificationsOf } from '../support/notifications.ts'

let seller: Person
let id: string
beforeEach(async () => {
  seller = await signUp()
})

const waysOf = ({ allowCall, allowWhatsapp, allowChat }: Record<string, boolean>) => [
  ...(allowCall ? ['call'] : []),
  ...(allowWhatsapp ? ['whatsapp'] : []),
  ...(allowChat ? ['chat'] : []),
]

async function shown(): Promise<string[]> {
  const { body } = await guest.get(`/properties/${id}`)
  const list = await guest.get(`/identities/${body.owner.identityId}/listings?fields=full`)
  const listed = list.body.items.find((item: { id: string }) => item.id === id)
  expect({ ...body, viewsCount: 0 }).toEqual({ ...listed, viewsCount: 0 })
  expect(body.contactMissing).toBe(null)
  return waysOf(body)
}

async function own(): Promise<[ways: string[], missing: string[]]> {
  const { body } = await seller.get(`/properties/${id}`)
  return [waysOf(body), body.contactMissing]
}

const all = ['call', 'whatsapp', 'chat']
const privacy = (showPhone: boolean) => seller.patch('/settings', { privacy: { showPhone } })
const missing = (kinds: string[]) => ({
  status: 422,
  body: {
    error: {
      code: 'contact_missing',
      message: 'أضف رقم هاتف أو فعّل المحادثة ليتمكن المهتمون من التواصل معك',
      kinds,
      fields: [{ path: 'allowChat', code: 'contact_missing' }],
    },
  },
})
const notified = async (): Promise<string[]> =>
  (await notificationsOf(seller, 'system')).map(({ bodyEn }) => bodyEn)
    .filter((text) => text.includes('chat'))

test('ISO-20 others see call and WhatsApp only while there is a number, the owner what was chosen', async () => {
  id = (await publishListing(seller)).id
  const without = [all, ['call', 'whatsapp']]
  expect([await shown(), await own()]).toEqual([['chat'], without])
  await givePhone(seller)
  expect([await shown(), await own()]).toEqual([all, [all, []]])
  await privacy(false)
  expect([await shown(), await own()]).toEqual([['chat'], without])
  await privacy(true)
  expect([await shown(), await own()]).toEqual([all, [all, []]])
  await takePhone(seller)
  expect([await shown(), await own()]).toEqual([['chat'], without])
  expect(await notified()).toEqual([])

  await givePhone(seller)
  await seller.patch(`/properties/${id}`, { allowCall: false })
  expect([await shown(), await own()])
    .toEqual([['whatsapp', 'chat'], [['whatsapp', 'chat'], []]])
  await privacy(false)
  expect((await own())[1]).toEqual(['whatsapp'])
})

test('a company is reached at its own numbers, else at its account’s', async () => {
  const company = await insertOrganisation(seller.id)
  await seller.post('/auth/identity/switch', { identityId: company })
  id = (await publishListing(seller)).id
  const profile = (fields: object) => seller.patch('/company/profile', fields)
  expect(await shown()).toEqual(['chat'])
  expect((await profile({ whatsapp: '+96599998888' })).status).toBe(200)
  expect(await shown()).toEqual(['whatsapp', 'chat'])
  await profile({ whatsapp: null, phone: '+96522223333' })
  expect(await shown()).toEqual(all)
  await givePhone(seller)
  await privacy(false)
  expect(await shown()).toEqual(all)
  await profile({ phone: null })
  expect(await shown()).toEqual(['chat'])
  await privacy(true)
  expect(await shown()).toEqual(all)
})

test('a listing that nobody can answer is not published, and stays as it is', async () => {
  const silent = { ...completeFields.SALE, allowChat: false }
  expect(await seller.post('/properties', { ...silent, publish: true }))
    .toMatchObject(missing(['call', 'whatsapp']))
  expect(await seller.post('/properties', { ...silent, allowCall: false, publish: true }))
    .toMatchObject(missing(['whatsapp']))
  expect(await seller.post('/properties', { ...silent, price: null, publish: true }))
    .toMatchObject({ status: 422, body: { error: { code: 'price_required' } } })

  id = (await createDraft(seller, silent)).id
  const act = (name: string) => seller.post(`/properties/${id}/${name}`)
  expect(await act('publish')).toMatchObject(missing(['call', 'whatsapp']))
  await givePhone(seller)
  expect(await act('publish')).toMatchObject({ status: 200, body: { status: 'active' } })

  const patch = (fields: object) => seller.patch(`/properties/${id}`, fields)
  expect(await patch({ allowCall: false, allowWhatsapp: false })).toMatchObject(missing([]))
  expect((await patch({ allowCall: false })).status).toBe(200)
  // A state that forbids the action is reported first. Inactive listings need no means of contact.
  expect(await act('resume'))
    .toMatchObject({ status: 409, body: { error: { code: 'property_state_conflict' } } })
  await act('pause')
  expect((await patch({ allowWhatsapp: false })).status).toBe(200)
  expect(await act('resume')).toMatchObject(missing([]))
  await database().query(
    `update public.properties set status = 'expired' where id = $1`,
    [id],
  )
  expect(await act('renew')).toMatchObject(missing([]))
  expect((await patch({ allowChat: true })).status).toBe(200)
  expect(await act('renew')).toMatchObject({ status: 200, body: { status: 'active' } })
})

const losses: [how: string, lose: () => Promise<unknown>][] = [
  ['taking the phone off the account', () => seller.delete('/auth/me/phone', byPassword(seller))],
  ['the setting', () => privacy(false)],
]

test.each(losses)(
  'who loses the number by %s is reached by chat, and told once',
  async (_, lose) => {
    await givePhone(seller)
    const published = []
    for (let nth = 0; nth < 3; nth++) {
      published.push(
        await publishListing(seller, { allowChat: false }),
      )
    }
    const [one, other, paused] = published
    const draft = await createDraft(seller, { allowChat: false })
    await seller.post(`/properties/${paused.id}/pause`)
    await lose()
    id = one.id
    expect([await shown(), await own()]).toEqual([['chat'], [all, ['call', 'whatsapp']]])
    expect((await seller.get(`/properties/${other.id}`)).body)
      .toMatchObject({ allowChat: true, version: 2 })
    for (const untouched of [paused, draft]) {
      expect((await seller.get(`/properties/${untouched.id}`)).body.allowChat).toBe(false)
    }
    expect(await notified()).toEqual([expect.stringMatching(`: ${one.refNo}, ${other.refNo}$`)])
    expect(await seller.post(`/properties/${paused.id}/resume`))
      .toMatchObject(missing(['call', 'whatsapp']))
    expect((await (await signUp()).post(`/properties/${id}/contact`, { kind: 'chat' })).status)
      .toBe(200)
  },
)

test('a company that takes its number off its page is reached by chat', async () => {
  const company = await insertOrganisation(seller.id)
  await seller.post('/auth/identity/switch', { identityId: company })
  await seller.patch('/company/profile', { phone: '+96522223333' })
  const published = await publishListing(seller, { allowChat: false })
  id = published.id
  expect((await seller.patch('/company/profile', { phone: null })).status).toBe(200)
  expect(await shown()).toEqual(['chat'])
  expect(await notified()).toEqual([expect.stringContaining(published.refNo)])
})

test('what an admin makes active is reached by chat', async () => {
  id = await insertListing(seller.identityId, { status: 'paused', allow_chat: false })
  await database().query(`update public.properties set status = 'active' where id = $1`, [id])
  expect(await shown()).toEqual(['chat'])
  const { refNo } = (await guest.get(`/properties/${id}`)).body
  expect(await notified()).toEqual([expect.stringContaining(refNo)])
})

test('a way that is not open is refused with those that are, whatever became of the number', async () => {
  const buyer = await signUp()
  const phone = `+965${newPhone()}`
  await givePhone(seller, phone)
  id = (await publishListing(seller)).id
  const ask = (kind: string) => buyer.post(`/properties/${id}/contact`, { kind })
  expect((await ask('call')).body).toEqual({ phone })
  await takePhone(seller)
  for (const kind of ['call', 'whatsapp']) {
    expect(await ask(kind)).toMatchObject({
      status: 409,
      body: { error: { code: 'property_state_conflict', from: 'active', allowed: ['chat'] } },
    })
  }
})

test('a key that was answered gives the number again, though it is shown no more', async () => {
  const buyer = await signUp()
  const phone = `+965${newPhone()}`
  await givePhone(seller, phone)
  id = (await publishListing(seller)).id
  const ask = (key: string) =>
    buyer.post(`/properties/${id}/contact`, { kind: 'call' }, {
      headers: { 'Idempotency-Key': key },
    })
  expect((await ask('one')).body).toEqual({ phone })
  await privacy(false)
  expect((await ask('one')).body).toEqual({ phone })
  expect((await ask('two')).status).toBe(409)
})
