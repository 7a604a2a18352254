import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { givePhone, proveEmail } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { ids } from './results.ts'
import { countWords, spread } from './vocabulary.ts'
import { letters } from './world.ts'

const search = async (q: string, filters = {}) =>
  ids(await guest.post('/search/advanced', { strategy: 'standard', q, ...filters }))

const misspelt = (word: string, at = 6) => word.slice(0, at) + 'ي' + word.slice(at + 1)

async function known(...words: string[]): Promise<string[]> {
  const { rows } = await database().query(
    `select word from private.search_vocabulary
     where word = any (private.search_words($1)) order by word`,
    [words.join(' ')],
  )
  return rows.map(({ word }) => word)
}

test('HARM-07 what few accounts with a phone write is found, but nothing misspelt is taken for it', async () => {
  const word = letters()
  const made: string[] = []
  const write = async (writer: Person) => {
    made.unshift((await publishListing(writer, { titleAr: `شقة ${word}` })).id)
    await countWords(word)
  }
  for (let nth = 0; nth < 4; nth++) {
    const writer = await signUp()
    await givePhone(writer)
    await write(writer)
    if (nth === 0) await write(writer)
  }
  for (const writer of [await signUp(), await signUp()]) {
    await proveEmail(writer)
    await write(writer)
  }
  expect(await search(word)).toEqual(made)
  expect(await search(misspelt(word))).toEqual([])
  const fifth = await signUp()
  await givePhone(fifth)
  await write(fifth)
  expect(await search(misspelt(word))).toEqual(made)
})

test('a word goes with its last listing, and what was only written for a moment leaves nothing', async () => {
  const [word, other] = [letters(), letters()]
  const passing = Array.from({ length: 30 }, letters)
  const person = await signUp()
  const one = await publishListing(person, { titleAr: `شقة ${word}` })
  const two = await publishListing(person, { titleAr: `شقة ${word} ${other}` })
  await countWords(word, other)
  expect(await known(word, other)).toEqual([word, other].toSorted())

  await person.patch(`/properties/${two.id}`, { titleAr: 'شقة للبيع' })
  await countWords(word, other)
  expect(await known(word, other)).toEqual([word])
  await person.post(`/properties/${one.id}/pause`)
  await countWords(word)
  expect(await known(word)).toEqual([])
  await person.post(`/properties/${one.id}/resume`)
  await countWords(word)
  expect(await known(word)).toEqual([word])

  for (const next of passing) {
    await person.patch(`/properties/${one.id}`, { titleAr: `شقة ${next}` })
    if (next < 'ش') await countWords(next)
  }
  await person.delete(`/properties/${one.id}`)
  await countWords(word, ...passing)
  expect(await known(word, ...passing)).toEqual([])
})

test('a listing gives a bounded number of words to guess at, and is found by all of them', async () => {
  const words = Array.from({ length: 300 }, letters)
  const { id } = await publishListing(await signUp(), { descriptionAr: words.join(' ') })
  await countWords(...words)
  expect((await known(...words)).length).toBeLessThanOrEqual(200)
  for (const word of [words[0], words[150], words[299]]) expect(await search(word)).toEqual([id])
})

test('nobody crowds out a name: it is guessed at, whatever people write', async () => {
  const price = { priceMin: 123_456.789, priceMax: 123_456.789 }
  const name = 'سالممييه'
  const nearer = Array.from('بتثجحخدرزسشص', (letter) => name + letter)
  const people = await Promise.all([signUp(), signUp()])
  const own = await publishListing(people[0], { areaId: 'salmiya', price: price.priceMin })
  const crowds = (person: Person) =>
    publishListing(person, { areaId: 'qibla', titleAr: nearer.join(' ') })
  const crowding = await Promise.all(people.map(crowds))
  await spread(...nearer)
  expect(await known(...nearer)).toHaveLength(12)
  expect(await search(name, price)).toEqual([own.id])
  // The more similar words are candidates, too, so listings with these words are found.
  const found = await search(name, { areaIds: ['qibla'], postedSince: own.publishedAt })
  expect(found).toEqual(expect.arrayContaining(crowding.map(({ id }) => id)))
})
