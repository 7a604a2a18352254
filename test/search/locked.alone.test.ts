// One test holds a lock that blocks all searches, so the file runs alone. test/search/limit.timing.test.ts
// tests how soon the searches are refused.
import { describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { database, guest, signUp } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { publishListing } from '../support/listings.ts'
import { untilLocked } from '../support/races.ts'

// SRCH-08 locks tables, so it runs on the embedded stack only, and without a replica: the lock does not
// affect a replica, which would still serve guests.
const isLockedForGuests = hasStack && variable('REPLICAS') === '0'

describe.runIf(isLockedForGuests)('SRCH-08 while the listings are locked', () => {
  test('searches end in time as 503, other routes work, and afterwards all is as before', async () => {
    const person = await signUp()
    const locker = await database().connect()
    await locker.query('begin')
    await locker.query(
      'lock table public.properties, private.search_documents in access exclusive mode',
    )
    try {
      const searches = Array.from(
        { length: 100 },
        (_, n) =>
          n % 2 ? guest.get('/search') : guest.post('/search/advanced', { strategy: 'standard' }),
      )
      await untilLocked('search')
      const others = await Promise.all([
        guest.get('/meta/areas'),
        person.get('/auth/me'),
        guest.post('/auth/login', { identifier: person.identifier, password: person.password }),
      ])
      expect(others.map(({ status }) => status)).toEqual([200, 200, 200])

      for (const reply of await Promise.all(searches)) {
        expect(reply).toMatchObject({
          status: 503,
          body: { error: { code: 'service_unavailable', message: expect.any(String) } },
        })
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
      }
    } finally {
      await locker.query('rollback')
      locker.release()
    }
    expect(await guest.get('/search')).toMatchObject({ status: 200 })
  })

  test('SRCH-09 a count that takes too long has no number, and the connection counts on', async () => {
    const locker = await database().connect()
    await locker.query('begin')
    await locker.query('lock table private.search_documents in access exclusive mode')
    const unknown = { status: 200, body: { count: null, capped: true } }
    try {
      for (let n = 0; n < 5; n++) {
        expect(await guest.get(`/search/count?bedroomsMin=${n}`)).toMatchObject(unknown)
        const by = ['type', 'kinds']
        expect(await guest.post('/search/count', { strategy: 'deal', by })).toMatchObject({
          ...unknown,
          body: { ...unknown.body, facets: { type: null, kinds: null } },
        })
      }
    } finally {
      await locker.query('rollback')
      locker.release()
    }
    expect((await guest.get('/search/count')).body.count).toBeGreaterThanOrEqual(0)
    expect(await guest.get('/search?limit=50')).toMatchObject({ status: 200 })
  })
})

test('rebuilt search documents are as they were', async () => {
  await publishListing(await signUp())
  const client = await database().connect()
  const documents = async () =>
    (await client.query(
      `select count(*)::int, md5(string_agg(search_documents::text, ',' order by property_id))
       from private.search_documents`,
    )).rows[0]
  try {
    await client.query('begin')
    const before = await documents()
    const { rows } = await client.query('select private.rebuild_search_documents()::int as count')
    expect(rows[0].count).toBe(before.count)
    expect(await documents()).toEqual(before)
  } finally {
    await client.query('rollback')
    client.release()
  }
})
