import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { searchText, searchWords } from './search-text.ts'
import { database } from '../support/client.ts'

type Vector = { rule: string; text: string; plain: string }
const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('./vectors.json', import.meta.url), 'utf8'),
)

async function inDatabase(texts: string[]) {
  const { rows } = await database().query(
    `select private.search_text(text) as plain, array(
       select word from unnest(private.search_words(text)) as word order by word collate "C"
     ) as words
     from unnest($1::text[]) with ordinality as given (text, place) order by place`,
    [texts],
  )
  return rows as { plain: string; words: string[] }[]
}

// Sorts the words by code point, as Postgres does with collation C.
const sorted = (words: string[]) =>
  words.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))

test.each(vectors)('INP-03 $rule, for clients and in the database', async ({ text, plain }) => {
  expect(searchText(text)).toBe(plain)
  expect(await inDatabase([text])).toEqual([{ plain, words: sorted(searchWords(text)) }])
})

test('any text has the same words for clients and in the database, also when normalised twice', async () => {
  const ranges = [
    [0x20, 0x7e],
    [0xa0, 0x24f],
    [0x300, 0x36f],
    [0x370, 0x52f],
    [0x600, 0x6ff],
    [0x750, 0x77f],
    [0x8a0, 0x8ff],
    [0x2000, 0x206f],
    [0xfb50, 0xfdff],
    [0xfe70, 0xfeff],
    [0xff00, 0xffef],
    [0x1f300, 0x1f6ff],
  ]
  let seed = 20261121
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * below)
  }
  const letter = () => {
    const [from, to] = random(3) ? ranges[4] : ranges[random(ranges.length)]
    return String.fromCodePoint(from + random(to - from + 1))
  }
  const texts = Array.from(
    { length: 3000 },
    () => Array.from({ length: 1 + random(40) }, letter).join(''),
  )

  const plain = texts.map(searchText)
  expect((await inDatabase(texts)).map((row) => row.plain)).toEqual(plain)
  expect(plain.map(searchText)).toEqual(plain)
  expect((await inDatabase(plain)).map((row) => row.plain)).toEqual(plain)
})

test('a word is compared by its first sixty letters', async () => {
  const long = 'ب'.repeat(70)
  expect(searchWords(`${long} ${long}ت`)).toEqual(['ب'.repeat(60)])
  expect((await inDatabase([`${long} ${long}ت`]))[0].words).toEqual(['ب'.repeat(60)])
})
