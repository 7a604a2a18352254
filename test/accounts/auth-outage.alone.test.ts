// If Auth could not check a password, the try does not count as a wrong password, so
// an outage locks nobody out.
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { readStack } from '../../local/config/stack.ts'
import { jsonAnswer, startProjectProxy } from '../base/project-proxy.ts'
import { newAddress } from '../support/addresses.ts'
import { newEmail, type Person, projectUrl, signUp } from '../support/client.ts'
import { crash, processIdOf } from '../support/crash.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { statusAndCode } from '../support/problems.ts'
import { hitsByRule, plantHits } from '../support/rate-hits.ts'
import { defaultRates, enforceRates } from '../support/rates.ts'
import { startStack } from '../support/stack.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { hold } from '../suite/held-processes.ts'

const passwordDoor = '/auth/v1/token'
const away = [503, 'service_unavailable']
const limited = [429, 'rate_limited']
const fails = jsonAnswer(500, { code: 'unexpected_failure', message: 'Unexpected failure' })
const starts = (response: ServerResponse) => void response.writeHead(503).end()

/**
 * Makes six attempts at once, and then six more. An attempt counts towards the limit while it runs, so if
 * twelve ran at once, only ten would reach Auth.
 */
async function sixTwice<T>(act: () => Promise<T>): Promise<T[]> {
  const six = () => Promise.all(Array.from({ length: 6 }, act))
  return [...await six(), ...await six()]
}

describe.runIf(hasStack)('REG-27 an outage of Auth', () => {
  let lift: () => Promise<void>
  let way: Awaited<ReturnType<typeof startProjectProxy>>
  let facade: Facade
  let person: Person
  let from: string

  beforeAll(async () => {
    lift = await enforceRates(variable('DATABASE_URL')!, defaultRates(/^login_/))
    way = await startProjectProxy()
    facade = await startFacade(way.settings)
  })
  afterAll(async () => {
    await facade?.stop()
    way?.stop()
    await lift()
  })
  beforeEach(async () => {
    person = await signUp()
    from = newAddress()
  })
  afterEach(() => way.answers.clear())

  const post = (path: string, body: object, token?: string) =>
    facade.post(path, body, {
      'x-forwarded-for': from,
      ...(token && { authorization: `Bearer ${token}` }),
    })
  const logIn = (identifier = person.identifier, password = person.password) =>
    post('/auth/login', { identifier, password })
  const pair = (identifier = person.identifier) => `${from} ${identifier}`
  const counted = async (identifier = person.identifier) =>
    (await hitsByRule('login_%', from, pair(identifier), identifier))
      .filter(([rule]) => !rule.startsWith('login_returned')).map(([rule]) => rule)
  const asFailure = ['login_address', 'login_identifier', 'login_unknown_all']

  test.each([
    ['cannot be reached', (response: ServerResponse) => void response.destroy(), away],
    ['is starting again', starts, away],
    ['is behind a gateway that gives up', jsonAnswer(504, {}), away],
    [
      'has no connections',
      jsonAnswer(500, { code: 'unexpected_failure', message: 'Database error querying schema' }),
      away,
    ],
    [
      'takes no more requests of this address',
      jsonAnswer(429, { code: 'over_request_rate_limit', message: 'Request rate limit reached' }),
      limited,
    ],
    ['does not answer in time', () => {}, away],
  ])('that %s locks nobody out', async (_, answer, expected) => {
    way.answers.set(passwordDoor, answer)
    const tries = await sixTwice(() => logIn())
    expect(tries.map(statusAndCode)).toEqual(Array(12).fill(expected))
    expect(tries[0]!.headers.get('retry-after')).toBe(expected === limited ? '5' : '2')
    expect(await counted()).toEqual([])
    way.answers.clear()
    expect(await logIn()).toMatchObject({ status: 200 })
  })

  test('that comes after the comparison may tell of it: a 500 counts', async () => {
    way.answers.set(passwordDoor, fails)
    for (let i = 0; i < 10; i++) expect(statusAndCode(await logIn())).toEqual(away)
    expect(statusAndCode(await logIn())).toEqual(limited)
    expect(await counted()).toEqual(asFailure)
  })

  test('is no more than twenty tries for a pair, and two hundred for an address', async () => {
    way.answers.set(passwordDoor, starts)
    for (let i = 0; i < 30; i++) expect(statusAndCode(await logIn())).toEqual(away)
    expect(statusAndCode(await logIn())).toEqual(limited)
    from = newAddress()
    await plantHits('login_returned_address', from, 199)
    const other = await signUp()
    for (const { identifier } of [person, other]) await logIn(identifier)
    expect(await counted(person.identifier)).toEqual(['login_address', 'login_unknown_all'])
    expect(await counted(other.identifier)).toEqual(asFailure)
  })

  test('is the same for an identifier without an account', async () => {
    way.answers.set(passwordDoor, starts)
    const unknown = newEmail()
    for (let i = 0; i < 12; i++) expect(statusAndCode(await logIn(unknown))).toEqual(away)
    expect(await counted(unknown)).toEqual([])
    way.answers.clear()
    expect(statusAndCode(await logIn(unknown))).toEqual([401, 'invalid_credentials'])
  })

  test('is no wrong current password', async () => {
    const token = person.accessToken
    way.answers.set(passwordDoor, starts)
    for (let i = 0; i < 6; i++) {
      const change = { currentPassword: person.password, newPassword: randomUUID() }
      const replies = [
        await post('/auth/password/change', change, token),
        await post('/auth/me/delete', { password: person.password }, token),
      ]
      expect(replies.map(statusAndCode)).toEqual([away, away])
    }
    expect(await counted()).toEqual([])
  })

  describe('of the server itself', () => {
    const server = variable('REAL_AUTH') ?? 'local/stack/services'
    let admin: pg.Client

    beforeAll(async () => {
      const stack = readStack({
        ...process.env,
        PORT: new URL(projectUrl).port,
        LOCAL_DATA: variable('LOCAL_STACK'),
      })
      admin = new pg.Client({ connectionString: stack.databaseUrl('supabase_admin') })
      await admin.connect()
    })
    afterAll(() => admin?.end())

    /**
     * Waits until a sign-in succeeds. Each one comes from a new address, so that none
     * reaches an address's limit.
     */
    const authIsBack = () =>
      waitUntil('Auth is back', async () => {
        from = newAddress()
        return (await logIn()).status === 200
      })

    test('without connections', async () => {
      await admin.query('alter role supabase_auth_admin connection limit 0')
      try {
        await admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where usename = 'supabase_auth_admin'`,
        )
        const tries = await sixTwice(() => logIn())
        expect(tries.map(statusAndCode)).toEqual(Array(12).fill(away))
      } finally {
        await admin.query('alter role supabase_auth_admin connection limit -1')
      }
      expect(await counted()).toEqual([])
      await authIsBack()
    })

    test('stopped', async () => {
      const pid = processIdOf(server)!
      const goOn = hold(pid)
      try {
        const tries = await sixTwice(() => logIn())
        expect(tries.map(statusAndCode)).toEqual(Array(12).fill(away))
      } finally {
        goOn()
      }
      expect(await counted()).toEqual([])
      await authIsBack()
    })

    test('killed', async () => {
      let back = false
      const killed = crash(server).finally(() => (back = true))
      while (!back) {
        from = newAddress()
        const [status, code] = statusAndCode(await logIn())
        if (status !== 200) expect([status, code]).toEqual(away)
        expect(await counted()).toEqual([])
      }
      await killed
      await authIsBack()
    })
  })
})

// The real Auth applies the limits of config.toml, which are too high for a test to reach.
const limiterIsTheirs = variable('REAL_AUTH') !== undefined
test.runIf(hasStack && !limiterIsTheirs)(
  'REG-27 Auth’s own limiter, used up by others at the address, locks nobody out',
  async () => {
    const stack = await startStack({ RATES: 'on', NODE_ENV: 'test' })
    try {
      const post = async (path: string, body: object) => {
        const response = await fetch(stack.baseUrl + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        return { status: response.status, retryAfter: response.headers.get('retry-after') }
      }
      const person = { identifier: newEmail(), password: randomUUID() }
      expect(await post('/auth/register', person)).toMatchObject({ status: 201 })
      const garbage = () =>
        fetch(`${stack.url}/auth/v1/token?grant_type=refresh_token`, {
          method: 'POST',
          headers: { apikey: stack.publishableKey, 'content-type': 'application/json' },
          body: JSON.stringify({ refresh_token: 'garbage' }),
        })
      await Promise.all(Array.from({ length: 40 }, garbage))
      const tries = await sixTwice(() => post('/auth/login', person))
      // Auth's limiter lets one more request through every two seconds. Attempts whose password Auth did not
      // check do not count, up to twenty per address and identifier.
      const refused = tries.filter(({ status }) => status !== 200)
      expect(refused).toEqual(Array(refused.length).fill({ status: 429, retryAfter: '5' }))
      expect(refused).not.toEqual([])
      let again = await post('/auth/login', person)
      while (again.status === 429) {
        await pause(2500, 'time is the subject')
        again = await post('/auth/login', person)
      }
      expect(again).toMatchObject({ status: 200 })
    } finally {
      await stack.stop()
    }
  },
)
