import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { database, type Guest, guest, signUp } from '../support/client.ts'
import { listEntry, openConversation } from '../support/conversations.ts'
import { publishListing } from '../support/listings.ts'

const english = { headers: { 'accept-language': 'ar;q=0.5, en-GB;q=0.9' } }
const arabic = { headers: { 'accept-language': 'en;q=0.8, ar-KW' } }

const rent = {
  type: 'RENT',
  price: 650,
  rentConditions: [{ code: 'no_pets' }, { code: 'families_only', textAr: 'للعائلات الصغيرة' }],
  additionalExpenses: [{ code: 'guard', amount: 5, period: 'month' }],
}

test('a listing reads in the language that the reader prefers, whoever wrote it in which', async () => {
  const [owner, reader] = await Promise.all([signUp(), signUp()])
  const { id } = await publishListing(owner, rent)
  const written = await owner.patch(`/properties/${id}`, { price: 700 }, english)
  expect(written.body.priceLabel).toBe('700 KWD / month')
  await reader.post(`/favorites/${id}`)

  const own = `/search?ownerId=${owner.identityId}`
  const lists: [Guest, string][] = [
    [reader, `${own}&fields=full`],
    [guest, own],
    [guest, `/identities/${owner.identityId}/listings`],
    [reader, '/favorites'],
    [reader, '/favorites?fields=full'],
    [owner, '/properties/mine'],
  ]
  for (const [who, path] of lists) {
    for (
      const [sent, label] of [[english, '700 KWD / month'], [arabic, '700 د.ك / شهرياً']] as const
    ) {
      const { body, headers } = await who.get(path, sent)
      expect([path, body.items.map((item: { priceLabel: string }) => item.priceLabel)])
        .toEqual([path, [label]])
      expect(headers.get('vary')).toContain('Accept-Language')
    }
  }
  for (const who of [guest, reader, owner]) {
    const { body: inEnglish } = await who.get(`/properties/${id}`, english)
    const { body: inArabic } = await who.get(`/properties/${id}`, arabic)
    expect([inEnglish.priceLabel, inArabic.priceLabel])
      .toEqual(['700 KWD / month', '700 د.ك / شهرياً'])
    expect(inEnglish.rentConditions).toEqual([
      { code: 'no_pets', textAr: 'لا يسمح بالحيوانات', text: 'No pets' },
      { code: 'families_only', textAr: 'للعائلات الصغيرة', text: 'للعائلات الصغيرة' },
    ])
    expect(inArabic.rentConditions[0].text).toBe('لا يسمح بالحيوانات')
    expect(inEnglish.additionalExpenses).toMatchObject([{ labelAr: 'حارس', label: 'Guard' }])
    expect(inArabic.additionalExpenses).toMatchObject([{ labelAr: 'حارس', label: 'حارس' }])
    const { priceLabel, rentConditions, additionalExpenses } = inArabic
    expect({ ...inEnglish, priceLabel, rentConditions, additionalExpenses })
      .toEqual({ ...inArabic, viewsCount: inEnglish.viewsCount })
  }
})

test('what an English reader sees of a listing can be sent again, and changes nothing', async () => {
  const owner = await signUp()
  const { id } = await publishListing(owner, rent)
  const { body } = await owner.get(`/properties/${id}`, english)
  const { rentConditions, additionalExpenses } = body
  const again = await owner.patch(`/properties/${id}`, { rentConditions, additionalExpenses })
  expect(again).toMatchObject({
    status: 200,
    body: { rentConditions: [{ textAr: 'لا يسمح بالحيوانات', text: 'لا يسمح بالحيوانات' }, {}] },
  })
  expect((await owner.get(`/properties/${id}`, english)).body.rentConditions)
    .toEqual(rentConditions)
})

test('a message without words is named for its reader, in events by the account', async () => {
  const [a, b] = await Promise.all([signUp(), signUp()])
  await b.patch('/settings', { language: 'en' })
  const { id: propertyId } = await publishListing(b, { type: 'SALE', price: 1000 })
  const { id } = await openConversation(a, { propertyId })
  const sent = { clientMessageId: randomUUID(), type: 'location', body: '29.3,48.0' }
  expect((await a.post(`/conversations/${id}/messages`, sent)).status).toBe(201)

  expect((await listEntry(b, id)).lastMessage.preview).toBe('موقع')
  const { body } = await b.get(`/conversations/${id}`, english)
  expect(body).toMatchObject({
    lastMessage: { preview: 'Location' },
    property: { priceLabel: '1,000 KWD' },
  })
  const { rows } = await database().query(
    `select payload ->> 'identityId' as to, payload #>> '{conversation,lastMessage,preview}' as preview
     from realtime.messages where payload #>> '{message,clientMessageId}' = $1`,
    [sent.clientMessageId],
  )
  expect(Object.fromEntries(rows.map(({ to, preview }) => [to, preview])))
    .toEqual({ [a.identityId]: 'موقع', [b.identityId]: 'Location' })
})
