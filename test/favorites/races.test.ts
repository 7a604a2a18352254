import { beforeEach, expect, test } from 'vitest'
import { database, type Person, signIn, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { isSaved, savedIds, savedListings, toggleFavorite } from './reads.ts'
import { insertListing } from '../support/fixtures.ts'
import { pause } from '../support/wait.ts'

let seller: Person
let buyer: Person

beforeEach(async () => {
  seller = await signUp()
  buyer = await signUp()
})

test('FAV-01 a thousand toggles at once end according to their parity', async () => {
  const { id } = await publishListing(seller)
  const sent = async (count: number) => {
    let accepted = 0
    for (let i = 0; i < count; i++) {
      const { status } = await toggleFavorite(buyer, id)
      expect(status).toBeOneOf([200, 429])
      if (status === 200) accepted++
    }
    return accepted
  }
  const counts = await Promise.all(Array.from({ length: 50 }, (_, i) => sent(i === 0 ? 21 : 20)))
  const accepted = counts.reduce((sum, count) => sum + count)
  const odd = accepted % 2 === 1

  expect(await isSaved(buyer, id)).toBe(odd)
  expect((await buyer.get(`/properties/${id}`)).body)
    .toMatchObject({ isFavorite: odd, favoritesCount: odd ? 1 : 0 })
  const { rows } = await database().query(
    `select count(*)::int from public.favorites where identity_id = $1 and property_id = $2`,
    [buyer.identityId, id],
  )
  expect(rows[0].count).toBe(odd ? 1 : 0)
})

type Answer = { start: number; end: number; saved: boolean }

/**
 * Returns whether the toggles, in some order in which each runs during its own
 * request, explain all responses.
 */
function fits(answers: Answer[], state = false): boolean {
  if (answers.length === 0) return true
  const firstEnd = Math.min(...answers.map(({ end }) => end))
  return answers.some((answer, i) =>
    answer.start <= firstEnd && answer.saved !== state &&
    fits(answers.toSpliced(i, 1), answer.saved)
  )
}

test('FAV-02 every answer says what its own call did', async () => {
  const properties: string[] = []
  for (let i = 0; i < 20; i++) properties.push(await insertListing(seller.identityId))
  const sessions = [buyer, await signIn(buyer.identifier, buyer.password)]
  const answers = new Map<string, Answer[]>(properties.map((id) => [id, []]))

  const one = async (person: Person, id: string) => {
    const start = performance.now()
    const { status, body } = await toggleFavorite(person, id)
    expect(status).toBe(200)
    answers.get(id)!.push({ start, end: performance.now(), saved: body.isFavorite })
  }
  const order = Array.from({ length: 200 }, (_, i) => properties[i % 20]!)
    .sort(() => Math.random() - 0.5)
  for (let i = 0; i < order.length; i += 20) {
    await Promise.all(order.slice(i, i + 20).map((id, n) => one(sessions[n % 2]!, id)))
  }

  const end = new Set(await savedIds(buyer))
  for (const [id, given] of answers) {
    expect(fits(given), JSON.stringify(given)).toBe(true)
    expect(end.has(id)).toBe(given.length % 2 === 1)
  }
})

test('FAV-04 the list stays complete while it changes', async () => {
  const made = await Promise.all(
    Array.from({ length: 300 }, () => insertListing(seller.identityId)),
  )
  for (let i = 0; i < 300; i += 10) {
    await Promise.all(made.slice(i, i + 10).map((id) => toggleFavorite(buyer, id)))
  }
  const busy = made.filter((_, i) => i % 6 === 0)
  const untouched = made.filter((_, i) => i % 6 !== 0)

  const other = await signIn(buyer.identifier, buyer.password)
  let stopped = false
  const bustle = (async () => {
    for (let i = 0; !stopped; i++) {
      await toggleFavorite(other, busy[i % busy.length]!)
      await pause(50, 'any moment is right')
    }
  })()
  const reads: string[][] = []
  for (let i = 0; i < 3; i++) {
    const ids = (await savedListings(buyer, 20)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    reads.push(ids.filter((id) => untouched.includes(id)))
  }
  stopped = true
  await bustle

  expect(reads[0]!.toSorted()).toEqual(untouched.toSorted())
  expect(reads[1]).toEqual(reads[0])
  expect(reads[2]).toEqual(reads[0])
  const { rows } = await database().query(
    'select property_id from public.favorites where identity_id = $1',
    [buyer.identityId],
  )
  expect((await savedIds(buyer)).toSorted())
    .toEqual(rows.map(({ property_id }) => property_id).toSorted())
})
