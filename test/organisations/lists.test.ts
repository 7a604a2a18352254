import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { database, guest, type Person, type Reply, request, signUp } from '../support/client.ts'
import { insertOrganisation, insertReviews } from '../support/fixtures.ts'
import { setStatus } from '../support/identities.ts'
import { refusal } from '../support/problems.ts'
import { ids, oddWord, say } from './directory.ts'

let owner: Person

beforeEach(async () => {
  owner = await signUp()
})

async function readPages(path: string, limit = 3): Promise<string[]> {
  const found: string[] = []
  for (let cursor = '';;) {
    const reply = await guest.get(`${path}&limit=${limit}${cursor}`)
    found.push(...ids(reply))
    if (!reply.body.nextCursor) return found
    cursor = `&cursor=${reply.body.nextCursor}`
  }
}

describe('a list', () => {
  const word = oddWord()
  let all: {
    id: string
    rating: number
    reviews: number
    listings: number
    at: string
    area: string
  }[]

  beforeAll(async () => {
    const person = await signUp()
    const authors = await Promise.all(Array.from({ length: 6 }, () => signUp()))
    all = []
    for (let i = 0; i < 12; i++) {
      const id = await insertOrganisation(person.id, 'office')
      const one = {
        id,
        rating: [5, 5, 4, 4, 3][i % 5]!,
        reviews: [0, 1, 6, 6, 1][i % 5]!,
        listings: i % 4,
        // The times are microseconds apart, which a Date cannot represent.
        at: `2026-01-01T00:00:00.00000${i % 6}Z`,
        area: i % 2 ? 'salmiya' : i % 3 ? 'hawalli' : 'jahra',
      }
      await say(id, {
        name_en: `${word} ${i}`,
        active_listings_count: one.listings,
        created_at: one.at,
        governorate_id: one.area === 'jahra' ? 'jahra' : 'hawalli',
        area_id: one.area,
      })
      await insertReviews(id, one.rating, authors.slice(0, one.reviews))
      all.push(one)
    }
    return async () => {
      for (const { id } of all) {
        await say(id, { active_listings_count: 0 })
        await database().query('delete from public.reviews where subject_identity_id = $1', [id])
      }
    }
  })

  /** Weights the rating as if ten more people had given 3.5. */
  const weighed = ({ rating, reviews }: typeof all[number]) =>
    Math.round(10_000 * (35 + rating * reviews) / (10 + reviews))

  const by = (sort: string, some = all) =>
    [...some].sort((a, b) => {
      const up = a.id < b.id ? -1 : 1
      if (sort === 'newest') return a.at === b.at ? -up : a.at < b.at ? 1 : -1
      const [x, y] = sort === 'rating' ? [weighed(a), weighed(b)] : [a.listings, b.listings]
      return y - x || up
    }).map(({ id }) => id)

  test.each(['rating', 'listings', 'newest'])('lists by %s are consecutive', async (sort) => {
    const list = `/offices?q=${word}&sort=${sort}`
    expect(await readPages(list)).toEqual(by(sort))
    expect(await readPages(list, 6)).toEqual(by(sort)) // the last page is full
    const inHawalli = all.filter(({ area }) => area !== 'jahra')
    expect(await readPages(`${list}&governorateId=hawalli`)).toEqual(by(sort, inHawalli))
    const inSalmiya = all.filter(({ area }) => area === 'salmiya')
    expect(await readPages(`${list}&areaId=salmiya`)).toEqual(by(sort, inSalmiya))
    expect(await readPages(`${list}&areaId=salmiya&governorateId=hawalli`)).toEqual(
      by(sort, inSalmiya),
    )
    expect(await readPages(`${list}&areaId=sharq`)).toEqual([])
  })

  test('by rating one good review weighs less than several; the average that is shown is plain', async () => {
    const { body } = await guest.get(`/offices?q=${word}&sort=rating&limit=50`)
    const shown = body.items.map((one: { ratingAvg: number | null; ratingCount: number }) => [
      one.ratingAvg,
      one.ratingCount,
    ])
    const places = [[4, 6], [5, 1], [null, 0], [3, 1]].map((pair) =>
      shown.findIndex((one: unknown) => JSON.stringify(one) === JSON.stringify(pair))
    )
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
  })

  test('without a search text all are listed, each once', async () => {
    for (const sort of ['rating', 'listings', 'newest']) {
      const found = await readPages(`/offices?areaId=salmiya&sort=${sort}`, 50)
      expect(new Set(found).size).toBe(found.length)
      const ours = new Set(all.map(({ id }) => id))
      expect(found.filter((id) => ours.has(id)))
        .toEqual(by(sort, all.filter(({ area }) => area === 'salmiya')))
    }
  })

  test('rows that come and go cause no gap and no repeat', async () => {
    const { body } = await guest.get(`/offices?q=${word}&sort=newest&limit=4`)
    const seen = ids({ status: 200, body } as Reply)
    await setStatus(seen[1], 'suspended')
    const rest = await readPages(`/offices?q=${word}&sort=newest`)
    expect(rest).toEqual(by('newest').filter((id) => id !== seen[1]))
    const next = await guest.get(
      `/offices?q=${word}&sort=newest&limit=50&cursor=${body.nextCursor}`,
    )
    expect(ids(next)).toEqual(by('newest').slice(4))
    await setStatus(seen[1], 'active')
  })

  test('a cursor is good for its own list', async () => {
    const { nextCursor } = (await guest.get(`/offices?q=${word}&limit=4`)).body
    const refused = refusal(422, 'cursor_invalid')
    for (
      const path of [
        `/companies?q=${word}`,
        `/offices?q=${word}&sort=newest`,
        `/offices?q=${word}&areaId=salmiya`,
        `/offices?q=${word}&governorateId=hawalli`,
        '/offices?q=x',
        '/offices?sort=rating',
      ]
    ) {
      expect(await guest.get(`${path}&cursor=${nextCursor}`), path).toMatchObject(refused)
    }
    const damaged = nextCursor.slice(0, -2) + (nextCursor.endsWith('A') ? 'BB' : 'AA')
    expect(await guest.get(`/offices?q=${word}&cursor=${damaged}`)).toMatchObject(refused)
  })
})

test('names are found by the beginnings of words, in any order', async () => {
  const company = await insertOrganisation(owner.id)
  const mark = `\u0642${randomUUID().replaceAll(/[0-9-]/g, '').slice(0, 6)}`
  await say(company, { name_ar: `شركة الإعمار المتحدة ${mark}`, name_en: 'Emaar United 24' })
  const found = async (q: string) =>
    ids(await guest.get(`/companies?q=${encodeURIComponent(q)}`)).includes(company)
  for (
    const q of [
      mark,
      `${mark} الاعمار`,
      `اعمار ${mark}`,
      `إعْمـار ${mark} شركه`,
      `متحد ${mark}`,
      `${mark} emaar`,
      `EMA ${mark}`,
      `٢٤ ${mark}`,
    ]
  ) {
    expect(await found(q), q).toBe(true)
  }
  for (const q of [`${mark} عمار متحدين`, `${mark} 25`, '%', `${mark}'`, '"']) {
    expect(await found(q), q).toBe(q === `${mark}'`)
  }
  expect(ids(await guest.get('/companies?q=%25%5F'))).toEqual([])
  for (const q of ['\u200f', 'َ', 'ـــ']) {
    expect(ids(await guest.get(`/companies?${new URLSearchParams({ q })}`))).not.toEqual([])
  }
})

test('an invalid list request is refused', async () => {
  for (
    const [query, code, path] of [
      ['sort=best', 'validation_failed', 'sort'],
      ['limit=0', 'validation_failed', 'limit'],
      ['limit=51', 'validation_failed', 'limit'],
      ['governorateId=nowhere', 'validation_failed', 'governorateId'],
      ['areaId=nowhere', 'validation_failed', 'areaId'],
      ['governorateId=jahra&areaId=salmiya', 'area_invalid', 'areaId'],
      [`q=${'x'.repeat(201)}`, 'validation_failed', 'q'],
      ['cursor=x', 'cursor_invalid', 'cursor'],
      ['type=office', 'validation_failed', 'type'],
    ]
  ) {
    expect(await guest.get(`/companies?${query}`), query)
      .toMatchObject({ status: 422, body: { error: { code, fields: [{ path }] } } })
  }
  expect(await request('POST', '/companies', {})).toMatchObject(refusal(405, 'method_not_allowed'))
})
