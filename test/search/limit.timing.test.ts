// The timing part of SRCH-08: a search that gets no result ends at the statement timeout of 5 s.
import { expect, test } from 'vitest'
import { database, guest } from '../support/client.ts'
import { expectWithin } from '../support/promised-times.ts'

test('SRCH-08 while the listings are locked searches end in time, and are quick afterwards', async () => {
  const timed = async () => {
    const began = performance.now()
    const { status } = await guest.get('/search')
    return { status, took: performance.now() - began }
  }
  const locker = await database().connect()
  await locker.query(
    'begin; lock table public.properties, private.search_documents in access exclusive mode',
  )
  const locked = await Promise.all(Array.from({ length: 100 }, timed))
  await locker.query('rollback')
  locker.release()
  const after = await timed()
  expect(new Set(locked.map(({ status }) => status))).toEqual(new Set([503]))
  expectWithin('a search that waits is given up', Math.max(...locked.map(({ took }) => took)))
  expect(after.status).toBe(200)
  expectWithin('a search is answered again', after.took)
})
