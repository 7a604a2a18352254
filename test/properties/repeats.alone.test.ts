// The setting find_duplicates applies to all accounts, and nearly all other tests publish duplicate listings,
// so these tests run alone.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { givePhone, insertListing, insertOrganisation, proveEmail } from '../support/fixtures.ts'
import { actAs } from '../support/identities.ts'
import { drain } from '../support/jobs.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadPictures } from '../support/uploads.ts'

const set = (name: string, value: unknown) =>
  database().query('update private.settings set value = $2 where name = $1', [
    name,
    JSON.stringify(value),
  ])
const find = (value: 'on' | 'off') => set('find_duplicates', value)

beforeAll(() => find('on'))
afterAll(() => find('off'))

let seller: Person
let nth = 0 // makes the pictures of each test different

beforeEach(async () => {
  nth++
  seller = await signUp()
  await proveEmail(seller)
})

const unit = {
  ...completeFields.SALE,
  titleAr: 'بيت زاوية للبيع في السالمية قطعة ٥',
  price: 100_000,
  landAreaM2: 500,
}
const publish = (person: Person, fields: object = {}) =>
  person.post('/properties', { ...unit, ...fields, publish: true })
const repeats = (id: string) => ({
  status: 409,
  body: { error: { code: 'duplicate_listing', propertyId: id } },
})
const picture = (shade: number) => jpeg({ width: 16 + nth, height: 16, shade })
async function addPicture(person: Person, propertyId: string, shade = 1) {
  expect((await uploadPictures(person, [picture(shade)], { propertyId })).status).toBe(201)
}
const pairsOf = async (...ids: string[]) =>
  (await database().query(
    `select id, property_id as later, of_id as earlier, state from public.duplicates
     where property_id = any ($1) or of_id = any ($1) order by created_at, id`,
    [ids],
  )).rows
const findDuplicates = () => drain('find_duplicates')

describe('FRESH-03 the same house twice', () => {
  // Each row: a name for the difference, the changed fields, and whether the listing counts as a duplicate.
  test.each<[string, object, boolean, object?]>([
    ['nothing', {}, true],
    ['the price, by 2 %', { price: 98_000 }, true],
    ['the price, by more', { price: 97_999.999 }, false],
    ['the higher price, by 2 %', { price: 102_040 }, true],
    ['the higher price, by more', { price: 102_041 }, false],
    ['the size, by 2 %', { landAreaM2: 490 }, true],
    ['the size, by more', { landAreaM2: 489.9 }, false],
    ['which area the size is of', { landAreaM2: null, builtAreaM2: 500 }, true],
    ['the type', {
      ...completeFields.RENT,
      titleAr: unit.titleAr,
      kind: 'villa',
      price: 100_000,
      builtAreaM2: 500,
    }, false],
    ['the kind', { kind: 'house' }, false],
    ['the area', { areaId: 'rumaithiya' }, false],
    ['spelling of the title', { titleAr: 'بيت زاويه للبيع في السالميه، قطعة 5!' }, true],
    ['the title', { titleAr: 'فرصة نادرة لا تفوتك يا مشتري' }, false],
    ['a block where the other has none', { block: '5' }, true],
    ['the block', { block: '6' }, false, { block: '5' }],
    ['the digits of the block', { block: '٥' }, true, { block: '5' }],
    ['the street', { street: 'شارع ٢' }, false, { street: 'شارع ١' }],
    ['the building', { building: '2' }, false, { building: '1' }],
    ['the civil number', { paciNo: '12345679' }, false, { paciNo: '12345678' }],
    ['the floor', { floorNo: 2 }, false, { floorNo: 1 }],
    ['a floor where the other has none', { floorNo: 2 }, true],
    ['bedrooms', { bedrooms: 0 }, false, { bedrooms: 5 }],
  ])('where %s is other', async (_, fields, repeated, first = {}) => {
    const { body: { id } } = await publish(seller, first)
    const answer = await publish(seller, { ...first, ...fields })
    if (repeated) expect(answer).toMatchObject(repeats(id))
    else expect(answer).toMatchObject({ status: 201, body: { status: 'active' } })
  })

  test('two without a price repeat each other, one with a price repeats neither', async () => {
    const first = await publish(seller, completeFields.EXCHANGE)
    expect(await publish(seller, { ...completeFields.EXCHANGE })).toMatchObject(
      repeats(first.body.id),
    )
    expect((await publish(seller, { ...completeFields.EXCHANGE, price: 1 })).status).toBe(201)
  })

  test('a title of 0.79 is another, one of 0.8 is not', async () => {
    const { body: { id } } = await publish(seller)
    // Longer and longer titles, until the similarity that Postgres measures falls below the limit.
    const similarity = async (title: string) =>
      (await database().query(
        `select extensions.similarity(private.search_text($1), private.search_text($2)) as alike`,
        [unit.titleAr, title],
      )).rows[0].alike as number
    const titles = ['', ' م', ' مز', ' مزاد', ' مزاد ال', ' مزاد اليوم', ' مزاد اليوم سريع']
      .map((more) => unit.titleAr + more)
    const measured = await Promise.all(titles.map(similarity))
    expect(measured.filter((one) => one >= 0.8 && one < 1).length).toBeGreaterThan(0)
    expect(measured.filter((one) => one < 0.8).length).toBeGreaterThan(0)
    for (const [i, titleAr] of titles.entries()) {
      const answer = await publish(seller, { titleAr })
      if (measured[i]! >= 0.8) expect(answer, titleAr).toMatchObject(repeats(id))
      else {
        expect(answer.status, titleAr).toBe(201)
        await seller.delete(`/properties/${answer.body.id}`)
      }
    }
  })

  test('the same picture is enough where titles differ; sent as another file it is another', async () => {
    const { body: { id } } = await publish(seller)
    await addPicture(seller, id)
    const titleAr = 'فرصة نادرة لا تفوتك يا مشتري'
    const uploaded = async (shade: number) =>
      (await uploadPictures(seller, [picture(shade)])).body.uploadSessionId
    expect(await publish(seller, { titleAr, uploadSessionId: await uploaded(1) }))
      .toMatchObject(repeats(id))
    expect((await publish(seller, { titleAr, uploadSessionId: await uploaded(2) })).status)
      .toBe(201)
  })

  test('publishing a draft, resuming and renewing are refused, and go out once the other is gone', async () => {
    const [draft, paused, expired] = await Promise.all([
      createDraft(seller, unit),
      insertListing(seller.identityId, { status: 'draft', published_at: null, expires_at: null }),
      insertListing(seller.identityId, { status: 'draft', published_at: null, expires_at: null }),
    ])
    await database().query(
      `update public.properties set status = state, paused_at = case state when 'paused' then now() end,
         published_at = now(), expires_at = now() + interval '5 days', price = 100000, land_area_m2 = 500,
         title_ar = $3
       from unnest($1::uuid[], $2::text[]) as given (listing, state) where id = listing`,
      [[paused, expired], ['paused', 'expired'], unit.titleAr],
    )
    const { body: { id } } = await publish(seller)
    const path = { publish: draft.id, resume: paused, renew: expired }
    for (const [action, listing] of Object.entries(path)) {
      expect(await seller.post(`/properties/${listing}/${action}`), action)
        .toMatchObject(repeats(id))
    }
    for (const [action, listing] of Object.entries(path)) {
      await seller.post(`/properties/${id}/pause`)
      expect(await seller.post(`/properties/${listing}/${action}`), action)
        .toMatchObject({ status: 200, body: { status: 'active' } })
      await seller.post(`/properties/${listing}/pause`)
      expect((await seller.post(`/properties/${id}/resume`)).status).toBe(200)
    }
  })

  test('one that waits for review is repeated too, and an approval goes out', async () => {
    await set('review_listings', true)
    try {
      const { body: first } = await publish(seller)
      expect(first.status).toBe('pending_review')
      expect(await publish(seller)).toMatchObject(repeats(first.id))
      const admin = await signUpAdmin()
      expect(
        (await admin.post(`/admin/moderation/${first.id}/decide`, { decision: 'approve' })).body,
      ).toMatchObject({ status: 'active' })
    } finally {
      await set('review_listings', false)
    }
  })

  test('of ten published at once one goes out', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => publish(seller)))
    const out = answers.filter(({ status }) => status === 201)
    expect(out).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject(repeats(out[0]!.body.id))
    }
  })

  test('20 units of one building that differ by floor go out', async () => {
    const building = { ...completeFields.RENT, block: '5', building: '12' }
    for (let floorNo = 0; floorNo < 20; floorNo++) {
      expect((await publish(seller, { ...building, floorNo })).status).toBe(201)
    }
  })

  test('another identity and another account go out, with a case only for the same picture', async () => {
    const other = await signUp()
    const { body: { id: first } } = await publish(seller)
    await addPicture(seller, first)
    const { id: without } = await publishListing(other, unit)
    await actAs(seller, await insertOrganisation(seller.id, 'office'))
    const { id: ofOffice } = await publishListing(seller, { ...unit, titleAr: 'مكتب يعرض بيتاً' })
    await findDuplicates()
    expect(await pairsOf(first, without, ofOffice)).toEqual([])

    await addPicture(seller, ofOffice)
    await findDuplicates()
    expect(await pairsOf(first)).toMatchObject([{ later: ofOffice, earlier: first, state: 'open' }])
    await addPicture(other, without, 2)
    await findDuplicates()
    expect(await pairsOf(without)).toEqual([])
  })

  test('two of different accounts at once are one case, and once', async () => {
    const [one, other] = [await publishListing(seller, unit), await publishListing(await signUp())]
    const thief = await signUp()
    const stolen = await publishListing(thief, unit)
    await Promise.all([addPicture(seller, one.id, 7), addPicture(thief, stolen.id, 7)])
    await Promise.all([findDuplicates(), findDuplicates()])
    const [pair, ...more] = await pairsOf(one.id, stolen.id, other.id)
    expect(pair).toMatchObject({ later: stolen.id, earlier: one.id, state: 'open' })
    expect(more).toEqual([])
    await thief.post(`/properties/${stolen.id}/pause`)
    await thief.post(`/properties/${stolen.id}/resume`)
    await seller.patch(`/properties/${one.id}`, { price: 99_999 })
    await findDuplicates()
    expect(await pairsOf(one.id, stolen.id)).toEqual([pair])
  })

  test('a listing that is changed into a repetition, past its publication, is a case', async () => {
    const { body: { id: first } } = await publish(seller)
    await addPicture(seller, first)
    const { body: { id: later } } = await publish(seller, { price: 150_000 })
    await addPicture(seller, later)
    await findDuplicates()
    expect(await pairsOf(first)).toEqual([])
    expect((await seller.patch(`/properties/${later}`, { price: unit.price })).status).toBe(200)
    await findDuplicates()
    expect(await pairsOf(first)).toMatchObject([{ later, earlier: first, state: 'open' }])
  })
})

test('FRESH-04 switched off, nothing is refused and no case is made', async () => {
  const [first, thief] = [await publishListing(seller, unit), await signUp()]
  await addPicture(seller, first.id)
  await find('off')
  try {
    expect((await publish(seller)).status).toBe(201)
    const stolen = await publishListing(thief, unit)
    await addPicture(thief, stolen.id)
    await findDuplicates()
    expect(await pairsOf(first.id, stolen.id)).toEqual([])
  } finally {
    await find('on')
  }
})

test('LIST-08 a listing is not moved to where it would repeat another', async () => {
  const office = await insertOrganisation(seller.id, 'office')
  const { body: { id } } = await publish(seller)
  await actAs(seller, office)
  const { body: { id: same } } = await publish(seller)
  expect(await seller.post('/properties/move', { ids: [same], identityId: seller.identityId }))
    .toMatchObject(repeats(id))
})

test('past the facade, the Data API refuses the same', async () => {
  await givePhone(seller)
  const { body: { id } } = await publish(seller)
  const draft = await createDraft(seller, unit)
  const { rows } = await database().query(
    `select has_function_privilege('authenticated', 'private.act_on_property(uuid, text)', 'execute') as may,
       has_table_privilege('authenticated', 'public.properties', 'update') as updates,
       has_table_privilege('authenticated', 'public.duplicates', 'select') as reads`,
  )
  expect(rows[0]).toEqual({ may: true, updates: false, reads: false })
  expect(await seller.post(`/properties/${draft.id}/publish`)).toMatchObject(repeats(id))
})
