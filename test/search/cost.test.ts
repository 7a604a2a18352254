import { expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { letters } from './world.ts'
import { spread } from './vocabulary.ts'

const one = async (sql: string, values: unknown[] = []) =>
  (await database().query(sql, values)).rows[0]

const plan = (filters: string, words: string | null) =>
  one(
    `select made.found_by, made.rest, private.matches_of(made) as on_map
     from private.with_source(private.search_plan('standard', 'newest',
       private.parse_search_filters($1, 'standard'), $2::tsquery, null, null, null, 20), 'standard')
       as made`,
    [filters, words],
  )

/** Returns how much a call adds to a table's counter, by default the rows read by sequential scans. */
async function readInOrder(
  table: string,
  call: string,
  values: unknown[],
  column = 'seq_tup_read',
): Promise<number> {
  const client = await database().connect()
  const read = async () =>
    Number(
      (await client.query(
        `select ${column} as read from pg_stat_xact_user_tables where relid = $1::regclass`,
        [table],
      )).rows[0].read,
    )
  try {
    await client.query('begin')
    const before = await read()
    await client.query(call, values)
    return await read() - before
  } finally {
    await client.query('rollback')
    client.release()
  }
}

test('of unknown words four are guessed at', async () => {
  const words = Array.from({ length: 12 }, letters)
  const { alike } = await one('select private.alike_words($1) as alike', [words])
  expect(Object.keys(alike)).toEqual(words.slice(0, 4).toSorted())
})

test('a short word is taken for short ones alone, and no word is compared with all there are', async () => {
  const person = await signUp()
  const long = letters().slice(0, 7)
  const [typed, short] = [long.slice(0, 5), long.slice(0, 6)]
  await insertListing(person.identityId, { title_ar: `${long} ${short}` })
  await spread(long, short)
  const similar = async (word: string) =>
    (await one('select private.similar_words($1) as words', [word])).words
  expect(await similar(typed)).toEqual([short])
  expect(await similar(`${short.slice(0, 5)}ظ`)).toEqual(expect.arrayContaining([short, long]))
  for (const table of ['private.search_names', 'private.search_vocabulary']) {
    for (const word of ['سالممية', typed]) {
      expect([table, word, await readInOrder(table, 'select private.similar_words($1)', [word])])
        .toEqual([table, word, 0])
    }
  }
})

test('a word of many names is parted with few look-ups', async () => {
  const part = (word: string) =>
    readInOrder('private.reading_words', 'select private.parted($1)', [word], 'idx_scan + seq_scan')
  for (const word of ['بيت', 'house', 'lil', 'بال']) {
    const long = word.repeat(40 / word.length) + 'xx'
    expect(await part(long), word).toBeLessThan(200)
  }
})

test('what the text index has found is not compared with the words again, in a list and on the map', async () => {
  const found = await plan('{"bedroomsMin":3}', `'${letters()}' | '${letters()}'`)
  expect(found.found_by).toContain('document @@')
  expect(found.rest).toContain('bedroomsMin')
  expect(found.rest).not.toContain('@@')
  expect(found.on_map.match(/@@/g)).toHaveLength(1)
})

test('floors are found by an index, where a walk would pass all listings', async () => {
  expect((await plan('{"floorMin":150,"floorMax":150}', null)).found_by).toContain(
    'floor_no between',
  )
})

test('of words that few have the listings are known at once, of those of many not', async () => {
  const person = await signUp()
  const word = letters()
  const few = async () =>
    (await one('select private.few_with_words($1::tsquery) as few', [`'${word}'`])).few
  expect(await few()).toEqual([])
  const id = await insertListing(person.identityId, { title_ar: word })
  expect(await few()).toEqual([id])
  await database().query(
    `insert into public.properties (
       owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2,
       governorate_id, area_id, published_at, expires_at
     )
     select $1, 'individual', 'SALE', 'active', 'villa', $2, 185000, 500, 'hawalli', 'salmiya',
       now() - interval '1 year', now() + interval '1 day'
     from generate_series(1, 300)`,
    [person.identityId, word],
  )
  expect(await few()).toBeNull()
})
