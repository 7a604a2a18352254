// The timing part of SRCH-08: a search that cannot be answered ends at the limit of statements, 5 s.
import { expect, test } from 'vitest'
import { database, guest } from '../support/client.ts'

test('SRCH-08 while the listings are locked searches end in time, and are quick afterwards', async () => {
  const timed = async () => {
    const began = performance.now()
    const { status } = await guest.get('/search')
    return { status, seconds: (performance.now() - began) / 1000 }
  }
  const locker = await database().connect()
  await locker.query(
    'begin; lock table public.properties, private.search_documents in access exclusive mode',
  )
  const locked = await Promise.all(Array.from({ length: 100 }, timed))
  await locker.query('rollback')
  locker.release()
  const after = await timed()
  const longest = Math.max(...locked.map(({ seconds }) => seconds))
  console.log(`at most ${longest.toFixed(1)} s, afterwards ${(after.seconds * 1000).toFixed(0)} ms`)
  expect(new Set(locked.map(({ status }) => status))).toEqual(new Set([503]))
  expect(longest).toBeLessThan(6)
  expect(after.status).toBe(200)
  expect(after.seconds).toBeLessThan(2)
})
