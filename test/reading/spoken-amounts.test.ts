// Tests amounts as people say them (test/vectors/amounts.json and built phrases) against meanings that were
// written before the code. No amount may be read as a different amount.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { guest } from '../support/client.ts'
import { bulk } from '../support/nightly.ts'
import { searchText } from '../search/search-text.ts'
import { amountPhrases } from '../vectors/amount-phrases.ts'

type Read = Record<string, string | number>
/** `either` lists all accepted readings; without it, only `read` is accepted. */
type Vector = {
  class: string
  q: string
  strategy?: 'exchange'
  read?: Read
  either?: Read[]
  ignored?: string[]
  why: string
  source: string
}
type Judged = Pick<Vector, 'class' | 'q' | 'strategy' | 'read' | 'either' | 'ignored'>
type Understood = { found: { field: string; value: string }[]; ignored: string[] }

const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('../vectors/amounts.json', import.meta.url), 'utf8'),
)
const phrases = amountPhrases(bulk(5000, 350)).map((phrase) => ({ ...phrase, class: 'built' }))

const judged = new Set(
  ('type priceMin priceMax areaM2Min areaM2Max bedroomsMin bathroomsMin floorMin floorMax block refNo')
    .split(' '),
)

async function understood({ q, strategy }: Judged): Promise<Understood> {
  // Unlike a search, the map keeps an amount that no listing has, but it has no `strategy` parameter.
  const answer = strategy
    ? await guest.post('/search/advanced', { strategy, q, limit: 1 })
    : await guest.get(
      `/map/listings?${new URLSearchParams({ q, bbox: '48,29,48.01,29.01', zoom: '16' })}`,
    )
  expect([q, answer.status]).toEqual([q, 200])
  return answer.body.understood
}

const same = (a: string | number | undefined, b: string | number | undefined) =>
  typeof a === 'number' ? Math.abs(a - Number(b)) < 0.01 : a === b

const letters = (texts: string[]) => searchText(texts.join(' ')).replace(/[^\p{L}\p{N}]/gu, '')

/** Returns what is wrong with a reading: `left out` if an amount is missing and nothing replaces it. */
function judge({ read, either = [read!], ignored = [] }: Judged, as: Understood) {
  const got: Read = {}
  for (const { field, value } of as.found) if (judged.has(field)) got[field] = value
  const fits = (right: Read) =>
    Object.keys({ ...right, ...got }).every((field) => same(right[field], got[field]))
  // If only one end of a range was read, the reading is wrong, not left out.
  const leavesOut = (right: Read) =>
    Object.keys(got).every((field) => same(right[field], got[field])) &&
    Object.keys(right).every((field) => field in got || !(otherEnd(field) in got))
  const named = ignored.every((text) => letters(as.ignored).includes(letters([text])))
  if (either.some(fits) && named) return
  const wrong = either.some(fits) ? 'not named' : either.some(leavesOut) ? 'left out' : 'WRONG'
  return { wrong, got, ignored: as.ignored }
}

const otherEnd = (field: string) =>
  field.replace(/M(in|ax)$/, (end) => end === 'Min' ? 'Max' : 'Min')

async function expectAllRight(all: Judged[]) {
  const wrong: string[] = []
  const byClass: Record<string, Record<string, number>> = {}
  for (let at = 0; at < all.length; at += 4) {
    const some = all.slice(at, at + 4)
    const answers = await Promise.all(some.map(understood))
    for (const [nth, vector] of some.entries()) {
      const fault = judge(vector, answers[nth])
      if (!fault) continue
      const counts = byClass[vector.class] ??= {}
      counts[fault.wrong] = (counts[fault.wrong] ?? 0) + 1
      const { q, read, either = [read], ignored } = vector
      wrong.push(
        `${fault.wrong}  ${q}\n  expected ${
          either.map((one) => JSON.stringify(one)).join(' or ')
        } ` +
          `${ignored ? `without ${ignored}` : ''}\n  got      ${JSON.stringify(fault.got)} ` +
          `${fault.ignored.length ? `without ${fault.ignored}` : ''}`,
      )
    }
  }
  expect(
    wrong.length,
    `${wrong.length} of ${all.length}\n${wrong.join('\n')}\n${JSON.stringify(byClass, null, 1)}\n`,
  ).toBe(0)
}

test('amounts of public ads and of speech are read as they are meant, or left out', async () => {
  expect(vectors.length).toBeGreaterThanOrEqual(150)
  for (const { q, read, either, why, source } of vectors) {
    expect([q, !read, !why, !source]).toEqual([q, !!either, false, false])
  }
  await expectAllRight(vectors)
})

test('amounts in frames are read as they are meant', async () => {
  await expectAllRight(phrases.filter(({ held }) => !held))
})

test('amounts that the grammar was not written with are read as they are meant', async () => {
  const held = phrases.filter((phrase) => phrase.held)
  const forms = (some: typeof phrases) => new Set(some.map(({ form }) => form)).size
  expect(forms(held)).toBeGreaterThanOrEqual(forms(phrases) / 5)
  await expectAllRight(held)
})
