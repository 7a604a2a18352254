import { expect, test } from 'vitest'
import { database, type Guest, guest, signUp } from '../support/client.ts'
import { startFacade, testLocally } from '../support/facade.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { problemOf } from '../support/problems.ts'
import { typedForms } from '../support/typed-forms.ts'

const by = (refNo: string) => `/properties/${encodeURIComponent(refNo)}`

test('a listing is read by its refNo as by its id, in any case and digits', async () => {
  const [seller, stranger] = [await signUp(), await signUp()]
  const { id, refNo } = await publishListing(seller)
  await stranger.post(`/favorites/${id}`)
  // A view is counted a moment later.
  const recordFor = async (person: Guest) => ({
    ...(await person.get(`/properties/${id}`)).body,
    viewsCount: expect.any(Number),
  })
  const record = await recordFor(stranger)
  expect(record).toMatchObject({ id, refNo, isFavorite: true })
  for (
    const typed of [
      refNo.toLowerCase(),
      refNo.replace('-', ' '),
      refNo.replace('-', ''),
      ...Object.values(typedForms).map((form) => form(refNo)),
    ]
  ) {
    expect((await stranger.get(by(typed))).body, JSON.stringify(typed)).toEqual(record)
  }
  for (const person of [guest, seller]) {
    expect((await person.get(by(refNo))).body).toEqual(await recordFor(person))
  }
  const { rows } = await database().query(
    'select count(*)::integer as views from private.property_views where property_id = $1',
    [id],
  )
  expect(rows).toEqual([{ views: 1 }])

  const number = refNo.replace('KW-', '')
  for (
    const typed of [
      'KW-',
      'KW-x',
      `KW--${number}`,
      `KW-${number}²`,
      `KW-${number}x`,
      number,
      'KW-1.0',
      `KW-${'1'.repeat(16)}`,
    ]
  ) {
    const { status, body } = await guest.get(by(typed))
    expect([typed, status, body.error.fields[0].path]).toEqual([typed, 422, 'id'])
  }
})

test('of a closed listing strangers get by its refNo that it is not available', async () => {
  const [seller, stranger] = [await signUp(), await signUp()]
  const { id, refNo, titleAr } = await publishListing(seller)
  const sold = (await seller.post(`/properties/${id}/mark-sold`)).body
  for (const person of [guest, stranger]) {
    expect((await person.get(by(refNo))).body)
      .toEqual({ id, refNo, status: 'sold', titleAr, available: false })
    expect((await person.get(`/properties/${id}`)).body).toMatchObject({ id, price: sold.price })
  }
  expect((await seller.get(by(refNo))).body).toEqual(sold)
  await database().query(
    `update public.properties set closed_at = now() - interval '30 days' where id = $1`,
    [id],
  )
  expect((await guest.get(by(refNo))).status).toBe(404)
  expect((await seller.get(by(refNo))).status).toBe(200)
})

test('what is hidden is as missing as a number that there is not', async () => {
  const [seller, stranger] = [await signUp(), await signUp()]
  const draft = await createDraft(seller)
  const missing = problemOf(await stranger.get(by('KW-999999999999999')))
  expect(missing).toMatchObject({ status: 404, error: { code: 'property_not_found' } })
  expect(problemOf(await stranger.get(by(draft.refNo)))).toEqual(missing)
  expect((await seller.get(by(draft.refNo))).body).toEqual(draft)
})

testLocally('an address is wrong 60 times a minute, and right as often as it likes', async () => {
  const facade = await startFacade()
  try {
    const { id, refNo } = await publishListing(await signUp())
    for (let misses = 0; misses < 60; misses++) {
      expect((await facade.get(by(`KW-${999_999_999_000_000 + misses}`))).status).toBe(404)
      if (misses % 10 === 0) expect((await facade.get(by(refNo))).status).toBe(200)
    }
    const refused = await facade.get(by('KW-999999999999999'))
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited'])
    expect((await facade.get(by(refNo))).status).toBe(429)
    expect((await facade.get(`/properties/${id}`)).status).toBe(200)
  } finally {
    await facade.stop()
  }
})
