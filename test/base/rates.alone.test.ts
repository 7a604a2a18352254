import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { newAddress } from '../support/addresses.ts'
import { database, newEmail, newPhone, type Person, signUp } from '../support/client.ts'
import { ageHits, hitsByRule, plantHits } from '../support/rate-hits.ts'
import { defaultRates, enforceRates } from '../support/rates.ts'
import { refusal } from '../support/problems.ts'
import { startFacade, testLocally } from '../support/facade.ts'

let from: string

beforeEach(async () => {
  from = newAddress()
  // Clears the rate limit counters; otherwise requests of the last hour would count,
  // even those of an earlier run.
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

testLocally('an address of IPv6 counts as its /64, and ten times as much as its /48', async () => {
  const lift = await enforceRates(
    variable('DATABASE_URL')!,
    defaultRates(/^register_/, /^login_(address|identifier)$/, /^code_(address|unsent|used|wrong)/),
  )
  const functions = await startFacade()
  try {
    const [net, other] = ['2001:db8:48', '2001:db8:49']
    const post = (path: string, body: object, at: string) =>
      functions.post(`/auth${path}`, body, { 'x-forwarded-for': `${at}::1` })
    const asks: [rule: string, ask: (at: string) => ReturnType<typeof post>][] = [
      [
        'register_address',
        (at) => post('/register', { identifier: newEmail(), password: randomUUID() }, at),
      ],
      [
        'code_address',
        (at) => post('/register', { identifier: newPhone(), password: randomUUID() }, at),
      ],
      ['code_unsent_address', (at) => post('/password/forgot', { identifier: newPhone() }, at)],
      [
        'code_wrong_address',
        (at) => post('/register/verify-otp', { identifier: newPhone(), code: '000000' }, at),
      ],
      ['login_address', (at) => post('/login', { identifier: newEmail(), password: 'wrong' }, at)],
    ]
    const rates = defaultRates(/./)
    for (const [rule, ask] of asks) {
      await database().query('delete from private.rate_hits where true')
      await plantHits(rule, `${net}::/48`, rates[rule]! * 10 - 1)
      expect((await ask(`${net}:A`)).status).toBeLessThan(429)
      expect(await hitsByRule(rule, `${net}:a::/64`)).toEqual([[rule, 1]])
      expect((await ask(`${net}:b`)).status).toBe(429)
      expect(await hitsByRule(rule, `${net}:b::/64`)).toEqual([])
      expect((await ask(`${other}:b`)).status).toBeLessThan(429)
      await plantHits(rule, `${other}:c::/64`, rates[rule]!)
      expect((await ask(`${other}:c`)).status).toBe(429)
      expect((await ask(`${other}:d`)).status).toBeLessThan(429)
    }
    // For a /48 too, each used code raises the limit by three.
    await database().query('delete from private.rate_hits where true')
    await plantHits('code_address', `${net}::/48`, 102)
    await plantHits('code_used_address', `${net}::/48`, 1)
    const [, [, ask]] = asks as [unknown, typeof asks[number]]
    for (const status of [201, 429]) expect((await ask(`${net}:e`)).status).toBe(status)
    // The limit per identifier is also ten times as high for a /48.
    const login = { identifier: newEmail(), password: 'wrong one' }
    await plantHits('login_identifier', `${net}::/48 ${login.identifier}`, 99)
    expect((await post('/login', login, `${net}:f`)).status).toBe(401)
    expect((await post('/login', login, `${net}:ff`)).status).toBe(429)
  } finally {
    await functions.stop()
    await lift()
  }
})

testLocally(
  'reads are counted for each account and address, with RateLimit headers on the way',
  async () => {
    const functions = await startFacade({ READ_RATE: '5' })
    try {
      const [one, two] = [await signUp(), await signUp()]
      const read = (headers: Record<string, string>) =>
        functions.get('/search?limit=1', { 'x-forwarded-for': from, ...headers })
      const as = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })
      const guests = {}
      for (const headers of [guests, as(one)]) {
        for (let left = 4; left >= 0; left--) {
          const reply = await read(headers)
          expect(reply.status).toBe(200)
          // Caches may share a response with all guests, so it does not contain the rate of one guest.
          const rateHeaders = ['limit', 'remaining', 'reset'].map((name) =>
            reply.headers.get(`ratelimit-${name}`)
          )
          expect(rateHeaders).toEqual(
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
      // IPv6 addresses are counted per /64 network.
      for (let host = 1; host <= 5; host++) {
        await read({ 'x-forwarded-for': `2001:db8:7:1::${host}` })
      }
      expect((await read({ 'x-forwarded-for': '2001:db8:7:1:ffff::9' })).status).toBe(429)
      expect((await read({ 'x-forwarded-for': '2001:db8:7:2::1' })).status).toBe(200)
      // /search/count has half the limit of reads, rounded up. Its requests do not count as reads.
      const searcher = { 'x-forwarded-for': newAddress() }
      for (const status of [200, 200, 200, 429]) {
        expect((await functions.get('/search/count', searcher)).status).toBe(status)
      }
      expect(await functions.post('/search/count', { strategy: 'deal' }, searcher))
        .toMatchObject(limited)
      expect((await read(searcher)).status).toBe(200)
      // /search/suggest has five times the limit of reads. It is counted per address,
      // whoever is signed in there.
      const typing = { 'x-forwarded-for': newAddress() }
      for (let left = 24; left >= 0; left--) {
        const headers = left % 2 ? { ...typing, ...as(two) } : typing
        expect((await functions.get('/search/suggest', headers)).status).toBe(200)
      }
      expect(await functions.get('/search/suggest', typing)).toMatchObject(limited)
      for (const health of Array(7).fill('/health')) {
        expect((await functions.get(health, { 'x-forwarded-for': from })).status).toBe(200)
      }
    } finally {
      await functions.stop()
    }
  },
)
