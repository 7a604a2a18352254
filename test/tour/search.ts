import { pause } from '../support/wait.ts'
import { isDeepStrictEqual } from 'node:util'
import { ask, type Json, must, step } from './guide.ts'
import { ids, offered, same, word } from './world.ts'

async function found(strategy: string, more: object = {}): Promise<string[]> {
  return ids((await ask('POST', '/search/advanced', { strategy, q: word, ...more })).body)
}

export async function search() {
  await step('Finds them with the five strategies, each its own', async () => {
    const { sale, rent, exchange, deal, auction, company } = offered as Record<string, string>
    const expected = {
      standard: [sale, rent, deal, company],
      exchange: [exchange],
      auction: [auction],
      deal: [deal],
      company: [company],
    } as Record<string, string[]>
    for (const [strategy, own] of Object.entries(expected)) {
      must(same(await found(strategy), own), `${strategy} was to find ${own.length}`)
    }
    must(
      same(await found('standard', { type: 'RENT', priceMax: 1000 }), [rent!]),
      'filters were to narrow',
    )
    const { body } = await ask('POST', '/search/advanced', { strategy: 'Standard' }, {
      status: 422,
    })
    must(body.error.code === 'search_strategy_unknown', 'the strategy was to be unknown')
  })

  await step('Quick search is the same as strategy standard', async () => {
    for (const { q, sort } of [{ q: word, sort: 'price_asc' }, { q: 'مشرف', sort: 'newest' }]) {
      const standard = await ask('POST', '/search/advanced', {
        strategy: 'standard',
        q,
        sort,
        areaIds: ['mishref'],
      })
      const quick = await ask(
        'GET',
        `/search?q=${encodeURIComponent(q)}&sort=${sort}&areaIds=mishref`,
      )
      must(
        isDeepStrictEqual(ids(quick.body), ids(standard.body)),
        'ids and order were to be the same',
      )
    }
  })

  await step('Types what is wanted as people say it', async () => {
    const q = `دور للايجار في مشرف بحدود 950 دينار ${word}`
    const { body } = await ask('GET', `/search?q=${encodeURIComponent(q)}`)
    must(same(ids(body), [offered.rent!]), 'the floor for rent was to be found')
    const read = body.understood.found.map(({ field, value }: Json) => `${field}=${value}`)
    for (const one of ['kinds=floor', 'type=RENT', 'areaIds=mishref', 'priceMax=1045']) {
      must(read.includes(one), `${one} was to be read`)
    }
  })

  await step('Looks at whose a listing is, and what else they have', async () => {
    const { owner } = (await ask('GET', `/properties/${offered.sale}`)).body
    const page = await ask('GET', `/identities/${owner.identityId}`)
    must(page.body.displayName === owner.displayName, 'it was to be the one of the listing')
    const all = await ask('GET', `/identities/${owner.identityId}/listings?limit=50`)
    must(ids(all.body).includes(offered.exchange), 'all types were to come')
    const found = await ask('GET', `/search?ownerId=${owner.identityId}&type=SALE&limit=50`)
    must(ids(found.body).includes(offered.sale), 'it was to be found by its owner')
    must(!ids(found.body).includes(offered.company), 'those of others were not to come')
  })

  await step('Asks how many there are before looking at them', async () => {
    // `count` is null if counting took too long.
    const { body } = await ask('POST', '/search/count', { strategy: 'standard', q: word })
    must([4, null].includes(body.count), 'four were to be counted')
    const narrowed = await ask('GET', `/search/count?q=${word}&type=RENT&priceMax=1000`)
    must([1, null].includes(narrowed.body.count), 'filters were to narrow the count')
    await ask('GET', '/search/count?sort=newest', undefined, { status: 422 })
  })

  await step('Reads the feed page by page', async () => {
    const seen: string[] = []
    let more = true
    // A feed without `snapshot` may be five minutes old. A listing enters the feed when its transaction
    // commits, a moment after its timestamp.
    const { publishedAt } = (await ask('GET', `/properties/${offered.company}`)).body
    await pause(1_500, 'time is the subject')
    const snapshot = new Date(Date.parse(publishedAt) + 1_000).toISOString()
    for (let page = 1; more && page <= 5; page++) {
      const { body } = await ask(
        'GET',
        `/feed?filter=all&page=${page}&limit=10&snapshot=${snapshot}`,
      )
      must(Array.isArray(body.items) && body.page === page, `page ${page} was to come`)
      seen.push(...ids(body))
      more = body.hasMore
    }
    must(new Set(seen).size === seen.length, 'nothing was to come twice')
    must(
      Object.values(offered).every((id) => seen.includes(id)),
      'what was published was to be in it',
    )
    must(
      (await ask('GET', '/feed?filter=rent&limit=5')).body.page === 1,
      'a filter was to begin anew',
    )
    await ask('GET', '/feed?filter=land', undefined, { status: 422 })
  })

  await step('Looks at the map', async () => {
    const box = 'bbox=48.05,29.26,48.09,29.29'
    must(
      (await ask('GET', `/map/listings?${box}&zoom=12`)).body.clusters.length,
      'clusters were to come',
    )
    const { body } = await ask('GET', `/map/listings?${box}&zoom=16&kinds=floor`)
    const point = body.points.find(({ id }: Json) => id === offered.rent)
    must(
      point?.lat === 29.275 && point?.lng === 48.0675,
      'the point was to be snapped to about 250 m',
    )
  })
}
