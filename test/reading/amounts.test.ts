// Tests the tables of docs/contract/amounts.md.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { database } from '../support/client.ts'

const page = readFileSync(new URL('../../docs/contract/amounts.md', import.meta.url), 'utf8')
const [plain = [], typed = []] = page.split(/^\| Typed /m).slice(1).map((table) =>
  [...table.matchAll(/^\| (.*) \|$/gm)].slice(2).map(([, row]) => row!.split(' | '))
)

/** Returns the filters that a table cell describes; none for `left out`. */
function filtersOf(cell: string) {
  const [low = 0, high = low] = cell.replaceAll(',', '').match(/\d+/g)?.map(Number) ?? []
  const around = [low * 9 / 10, low * 11 / 10]
  const [min, max] = / to /.test(cell)
    ? [low, high]
    : /^at most/.test(cell)
    ? [undefined, low]
    : /^at least/.test(cell)
    ? [low, undefined]
    : around
  if (cell === 'left out') return {}
  const [least, most] = cell.endsWith('m²') ? ['areaM2Min', 'areaM2Max'] : ['priceMin', 'priceMax']
  return {
    ...(min !== undefined && { [least]: String(min) }),
    ...(max !== undefined && { [most]: String(max) }),
  }
}

type Found = { field: string; value: string; text: string }

/** Calls read_query, because a search would also leave out a size that no listing has. */
async function reading(q: string, strategy = 'standard') {
  const { rows: [{ as }] } = await database().query(
    'select to_json(private.read_query($1, $2)) as as',
    [q, strategy],
  )
  return as as { found: Found[]; ignored: string[]; words: string[] }
}

async function read(typed: string, type: string, strategy?: string) {
  const { found, ignored, words } = await reading(`${typed} ${type}`, strategy)
  const amounts = found.filter(({ field }) => /^(price|areaM2)/.test(field))
  return {
    read: Object.fromEntries(amounts.map(({ field, value }) => [field, value])),
    isLeftOut: ignored.length === 1 && words.length === 0 && amounts.length === 0,
  }
}

const expected = (cell: string) => ({ read: filtersOf(cell), isLeftOut: cell === 'left out' })

test.each(plain)('%s is read as %s, whatever the type', async (typed, cell) => {
  for (const type of ['للبيع', 'للايجار', '']) {
    expect([type, await read(typed!, type)]).toEqual([type, expected(cell!)])
  }
})

test.each(typed)('%s is %s for sale, %s for exchange, %s for rent, %s otherwise', async (
  typed,
  sale,
  exchange,
  rent,
  none,
) => {
  expect(await read(typed!, 'للبيع')).toEqual(expected(sale!))
  expect(await read(typed!, 'للبدل', 'exchange')).toEqual(expected(exchange!))
  expect(await read(typed!, 'للايجار')).toEqual(expected(rent!))
  expect(await read(typed!, '')).toEqual(expected(none!))
})

test('the text of an amount is the one that was typed', async () => {
  const { found } = await reading('بيت للبيع ١٫٥-٢ مليون')
  expect(found).toContainEqual({ field: 'priceMax', value: '2000000', text: '1.5 - 2 مليون' })
})
