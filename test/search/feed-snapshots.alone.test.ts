import { expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { ids, now, offered, page, pause } from './feed-pages.ts'
import { deadlocks, untilLocked } from '../support/races.ts'

/**
 * Changes the listing in an open transaction and returns a function that commits it. With `atTheDoor`, the
 * deferred triggers have already run, as if the commit had begun.
 */
async function halfway(sql: string, id: string, atTheDoor: boolean) {
  const client = await database().connect()
  await client.query('begin')
  await client.query(sql, [id])
  // Runs the deferred triggers, which read the clock and hold a lock until the commit.
  if (atTheDoor) await client.query('set constraints all immediate')
  return async () => {
    await client.query('commit')
    client.release()
  }
}

const publish = `update public.properties set status = 'active', published_at = now() where id = $1`

test('a listing published or ended at the moment of a snapshot is so for its first reader', async () => {
  const seller = await signUp()
  const [shown] = await offered(seller, 1)
  const [coming] = await offered(seller, 1, { status: 'draft', published_at: null })
  for (const [sql, id] of [[publish, coming], [pause, shown]] as const) {
    const commit = await halfway(sql, id!, true)
    const snapshot = await now()
    let read = false
    const reading = page(snapshot, 1, 5, 'sale').finally(() => read = true)
    await untilLocked('list_feed')
    expect(read).toBe(false)
    await commit()
    const first = ids((await reading).items)
    expect(first[0] === id).toBe(id === coming)
    expect(ids((await page(snapshot, 1, 5, 'sale')).items)).toEqual(first)
  }
})

test('a reader holds no lock, not even until its transaction ends', async () => {
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query('select private.require_snapshot(now())')
    const { rows } = await client.query(
      `select count(*)::int as held from pg_locks
       where pid = pg_backend_pid() and locktype = 'advisory'`,
    )
    expect(rows).toEqual([{ held: 0 }])
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('nobody waits for an uncommitted listing, and it comes with a later snapshot', async () => {
  const seller = await signUp()
  const [shown] = await offered(seller, 1)
  const [coming] = await offered(seller, 1, { status: 'draft', published_at: null })
  const commits = [await halfway(publish, coming!, false), await halfway(pause, shown!, false)]
  const snapshot = await now()
  const before = ids((await page(snapshot, 1, 5, 'sale')).items)
  expect(before[0]).toBe(shown)
  for (const commit of commits) await commit()

  expect(ids((await page(snapshot, 1, 5, 'sale')).items)).toEqual(before.slice(1))
  expect(ids((await page(await now(), 1, 5, 'sale')).items)[0]).toBe(coming)
})

test('however many come and go at once, every snapshot keeps the slots that its first reader counted', async () => {
  const sellers = await Promise.all(Array.from({ length: 6 }, () => signUp()))
  const each = await Promise.all(sellers.map((seller) => offered(seller, 3)))
  const before = await deadlocks()
  let done = false
  const bustling = sellers.map(async (seller, i) => {
    for (let turn = 0; !done; turn++) {
      const id = each[i]![turn % 3]
      await seller.post(`/properties/${id}/pause`)
      await seller.post(`/properties/${id}/resume`)
    }
  })
  const slotsOf = async (snapshot: string) => {
    await database().query('select private.require_snapshot($1)', [snapshot])
    const { rows } = await database().query(
      'select private.published_listings(null, $1, 0, 10000) as slots',
      [snapshot],
    )
    return rows[0].slots
  }
  const counted: [string, string[]][] = []
  for (let round = 0; round < 60; round++) {
    const snapshot = await now()
    counted.push([snapshot, await slotsOf(snapshot)])
  }
  done = true
  await Promise.all(bustling)
  for (const [snapshot, slots] of counted) {
    expect(new Set(slots).size).toBe(slots.length)
    expect(await slotsOf(snapshot)).toEqual(slots)
  }
  expect(new Set(counted.map(([, slots]) => slots.join())).size).toBeGreaterThan(1)
  expect(await deadlocks()).toBe(before)
})

test.each([
  ['publications', 'property_id, type, published_at', `gen_random_uuid(), 'SALE', '2001-02-03'`],
  ['office_ranks', 'identity_id, rating', `gen_random_uuid(), 1.23`],
])(
  'ended %s are deleted when no live snapshot needs them',
  async (table, columns, row) => {
    const mark = columns.includes('rating') ? 'rating = 1.23' : `published_at = '2001-02-03'`
    await database().query(
      `insert into private.${table} (${columns}, since, until)
     select ${row}, now() - interval '2 days', now() - interval '1 hour' * hours
     from generate_series(5, 8, 3) as hours`,
    )
    await database().query(`select private.purge_${table}()`)

    const { rows } = await database().query(
      `select round(extract(epoch from now() - until) / 3600)::integer as hours
     from private.${table} where ${mark}`,
    )
    expect(rows).toEqual([{ hours: 5 }])
    await database().query(`delete from private.${table} where ${mark}`)
  },
)
