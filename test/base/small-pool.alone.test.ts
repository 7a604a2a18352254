import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { insertListing } from '../support/fixtures.ts'
import { bulk } from '../support/nightly.ts'
import { waitUntil } from '../support/wait.ts'

type Own = { person: Person; draft: string; saved: string[] }

// ISO-12: four connections serve twenty people, whose clients may abort up to a third of the requests.
describe.runIf(hasStack)('ISO-12 a small pool', () => {
  let facade: Facade
  const people: Own[] = []

  beforeAll(async () => {
    facade = await startFacade({ FACADE_DB_POOL: '4' })
    const seller = await signUp()
    const listed = await Promise.all(
      Array.from({ length: 20 }, () => insertListing(seller.identityId)),
    )
    people.push(
      ...await Promise.all(listed.map(async (saved) => {
        const person = await signUp()
        const draft = await insertListing(person.identityId, {
          status: 'draft',
          published_at: null,
        })
        await database().query(
          'insert into public.favorites (identity_id, property_id) values ($1, $2)',
          [person.identityId, saved],
        )
        return { person, draft, saved: [saved] }
      })),
    )
  })

  afterAll(() => facade?.stop())

  const get = (path: string, person?: Person, signal?: AbortSignal) =>
    fetch(facade.url + path, {
      headers: person && { authorization: `Bearer ${person.accessToken}` },
      signal,
    })

  const reads: [path: (own: Own) => string, check: (body: never, own: Own) => void][] = [
    [
      () => '/auth/me',
      (body: { user: { id: string } }, own) => expect(body.user.id).toBe(own.person.id),
    ],
    [() => '/favorites/ids', (body: { ids: string[] }, own) => expect(body.ids).toEqual(own.saved)],
    [
      () => '/favorites',
      (body: { items: { id: string }[] }, own) =>
        expect(body.items.map(({ id }) => id)).toEqual(own.saved),
    ],
    [
      () => '/properties/mine',
      (body: { items: { id: string }[] }, own) =>
        expect(body.items.map(({ id }) => id)).toEqual([own.draft]),
    ],
    [
      ({ draft }) => `/properties/${draft}`,
      (body: { id: string }, own) => expect(body.id).toBe(own.draft),
    ],
    [({ saved }) => `/favorites/check/${saved[0]}`, (body: boolean) => expect(body).toBe(true)],
  ]

  const many = bulk(5000, 2500)

  test('thousands of reads answer each only with what is theirs', async () => {
    const counts = { complete: 0, aborted: 0, refused: 0 }
    let next = 0
    const work = async () => {
      while (next < many) {
        const i = next++
        const own = people[i % people.length]!
        const [path, check] = reads[Math.floor(i / people.length) % reads.length]!
        const signal = i % 3 ? undefined : AbortSignal.timeout(Math.floor(Math.random() * 21))
        try {
          const response = await get(path(own), own.person, signal)
          const text = await response.text()
          if (response.status === 200) {
            check(JSON.parse(text) as never, own)
            counts.complete++
          } else {
            expect(response.status, text).toBe(503)
            expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
            counts.refused++
          }
        } catch (error) {
          if (!signal?.aborted) throw error
          counts.aborted++
        }
      }
    }
    // While the requests run, a lock on a table makes some of them time out.
    const locked = (async () => {
      await waitUntil('they read', () => counts.complete > many / 10)
      const client = await database().connect()
      await client.query('begin; lock table public.favorites in access exclusive mode')
      await waitUntil('some are refused', () => counts.refused > 0)
      await client.query('rollback')
      client.release()
    })()
    await Promise.all([locked, ...Array.from({ length: 40 }, work)])
    expect(counts.complete + counts.refused + counts.aborted).toBe(many)
    expect(counts.complete).toBeGreaterThan(many / 2)
    expect(counts.aborted).toBeGreaterThan(many / 100)
  })

  test('afterwards the pool is idle, and nobody is left on a connection', async () => {
    await waitUntil('nobody is left at work', async () => {
      const { rows } = await database().query(
        `select from pg_stat_activity
         where usename = 'facade' and state <> 'idle' and state_change < now() - interval '1 second'`,
      )
      return rows.length === 0
    })
    const requests = Array.from(
      { length: 100 },
      (_, i) => get(`/properties/${people[i % 20]!.draft}`),
    )
    for (const { status } of await Promise.all(requests)) expect(status).toBe(404)
    expect((await get('/favorites')).status).toBe(401)
    const mine = await get('/favorites/ids', people[0]!.person)
    expect(await mine.json()).toEqual({ ids: people[0]!.saved })
  })
})
