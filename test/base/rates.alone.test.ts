import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { newAddress } from '../support/addresses.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { ageHits, plantHits } from '../support/rate-hits.ts'
import { refusal } from '../support/problems.ts'
import { startFacade, testLocally } from '../support/facade.ts'

let from: string

beforeEach(async () => {
  from = newAddress()
  // Hits from this machine in the last hour, perhaps of an earlier run.
  await database().query('delete from private.rate_hits where true')
})

const limited = refusal(429, 'rate_limited')

test('counters of past windows are removed', async () => {
  const subject = randomUUID()
  await plantHits('code_address', subject, 3)
  await database().query('select private.purge_rates()')
  const left = async () =>
    (await database().query('select from private.rate_hits where subject = $1', [subject])).rowCount
  expect(await left()).toBe(1)
  await ageHits(3601, subject)
  await database().query('select private.purge_rates()')
  expect(await left()).toBe(0)
})

testLocally(
  'reads are counted for each account and address, with RateLimit headers on the way',
  async () => {
    const functions = await startFacade({ READ_RATE: '5' })
    try {
      const [one, two] = [await signUp(), await signUp()]
      const read = (headers: Record<string, string>) =>
        functions.get('/meta/areas', { 'x-forwarded-for': from, ...headers })
      const as = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })
      const guests = {}
      for (const headers of [guests, as(one)]) {
        for (let left = 4; left >= 0; left--) {
          const reply = await read(headers)
          expect(reply.status).toBe(200)
          // What a cache may keep for all guests says nothing of one.
          const told = ['limit', 'remaining', 'reset'].map((name) =>
            reply.headers.get(`ratelimit-${name}`)
          )
          expect(told).toEqual(
            headers === guests
              ? [null, null, null]
              : ['5', `${left}`, expect.stringMatching(/^\d+$/)],
          )
        }
        const refused = await read(headers)
        expect(refused).toMatchObject(limited)
        expect(refused.headers.get('retry-after')).toBe(String(refused.body.error.retryAfter))
      }
      expect((await read(as(two))).status).toBe(200)
      expect((await read({ 'x-forwarded-for': newAddress() })).status).toBe(200)
      // An IPv6 address counts as its /64 network.
      for (let host = 1; host <= 5; host++) {
        await read({ 'x-forwarded-for': `2001:db8:7:1::${host}` })
      }
      expect((await read({ 'x-forwarded-for': '2001:db8:7:1:ffff::9' })).status).toBe(429)
      expect((await read({ 'x-forwarded-for': '2001:db8:7:2::1' })).status).toBe(200)
      for (const health of Array(7).fill('/health')) {
        expect((await functions.get(health, { 'x-forwarded-for': from })).status).toBe(200)
      }
    } finally {
      await functions.stop()
    }
  },
)
