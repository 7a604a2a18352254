// These searches run among listings of one area, kind and word, more than a search reads in index order.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { signUp } from '../support/client.ts'
import { bulk } from '../support/nightly.ts'
import { slowness } from '../suite/slowness.ts'
import { categories, Oracle } from './oracle.ts'
import { crowd, dice, randomSearch, type Search } from './world.ts'

const listings = Number(variable('ORACLE_LISTINGS'))
const seconds = Number(variable('ORACLE_SECONDS'))

let oracle: Oracle
let owner: string

beforeAll(async () => {
  owner = (await signUp()).identityId
  oracle = await Oracle.open(async (client) => {
    await client.query(crowd, [owner, listings])
    await client.query('analyze private.search_documents')
  })
})

afterAll(() => oracle.close())

async function compare(search: Search, pages: number) {
  const expected = await oracle.expected(search)
  const { ids, ended } = await oracle.walk(search, pages)
  expect({ search, ids }).toEqual({ search, ids: expected.slice(0, ids.length) })
  expect({ search, ended }).toEqual({ search, ended: ids.length === expected.length })
  expect({ search, count: await oracle.counted(search) })
    .toEqual({ search, count: await oracle.expectedCount(search) })
  return expected
}

test.each(Object.keys(categories))(
  'random searches of strategy %s find what the oracle finds, however many fit',
  async (strategy) => {
    const roll = dice(strategy.length * 104729)
    const end = Date.now() + seconds * 1000 / Object.keys(categories).length
    for (let n = 0; n < bulk(20, 4) || Date.now() < end; n++) {
      const search = randomSearch(strategy, roll, { companyIds: [owner], ownerIds: [owner] })
      if (roll(2)) search.filters.areaIds = [['salmiya'], ['sharq', 'salmiya']][roll(2)]
      if (roll(2)) {
        search.filters.kinds = [['chalet'], ['farm', 'chalet'], ['farm', 'villa']][roll(3)]
      }
      if (search.filters.bbox) search.filters.bbox = [47.9, 29.2, 47.9 + roll(200) / 1000, 29.4]
      await compare(search, 3)
    }
  },
  (1000 * seconds + 300_000) * slowness,
)

test.each(['newest', 'price_asc', 'area_desc'])(
  'in the order %s a code that is named twice counts once',
  async (sort) => {
    const search = { strategy: 'standard', sort, limit: 20 }
    const once = await oracle.walk(
      { ...search, filters: { areaIds: ['salmiya'], kinds: ['farm'] } },
      1,
    )
    expect(once.ids).toHaveLength(20)
    const filters = { areaIds: ['salmiya', 'salmiya'], kinds: ['farm', 'farm'] }
    expect(await oracle.walk({ ...search, filters }, 1)).toEqual(once)
  },
)

test('SRCH-09 counts are exact up to 1,000, and capped from 1,001 on', async () => {
  for (const many of [999, 1000, 1001]) {
    await oracle.client.query(
      `update public.properties set bathrooms = 77
       where id in (select id from public.properties
         where owner_identity_id = $1 and type in ('SALE', 'RENT') and bathrooms is distinct from 77
         order by id limit $2 - (select count(*) from public.properties where bathrooms = 77))`,
      [owner, many],
    )
    const search = { strategy: 'standard', limit: 1, filters: { bathroomsMin: 77 } }
    expect(await oracle.counted(search))
      .toEqual({ count: Math.min(many, 1000), capped: many > 1000 })
  }
  await oracle.renew()
})

test('what lies behind more listings than a walk passes by is found all the same', async () => {
  await oracle.client.query(
    `update public.properties set bedrooms = 77, published_at = now() - interval '3 years'
     where id in (select id from public.properties
       where owner_identity_id = $1 and kind = 'chalet' and type = 'RENT' and area_id = 'salmiya'
       order by id limit 3)`,
    [owner],
  )
  await oracle.renew()
  const narrowed = [{}, { areaIds: ['salmiya'] }, { kinds: ['chalet'], type: 'RENT' }]
  for (const filters of narrowed.map((filters) => ({ ...filters, bedroomsMin: 77 }))) {
    const expected = await compare({ strategy: 'standard', limit: 2, filters }, 9)
    expect(expected).toHaveLength(3)
  }
})
