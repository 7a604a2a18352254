import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  database,
  guest,
  messages,
  newEmail,
  type Person,
  personOf,
  projectUrl,
  publishableKey,
  type Reply,
  signIn,
} from './client.ts'
import { type Functions, startFunctions, testLocally } from './other-functions.ts'
import { race } from './races.ts'
import {
  askedOf,
  claims,
  clientIds,
  hashed,
  issuerUrl,
  type Provider,
  token,
} from './social-issuer.ts'
import { until } from './until.ts'

const refusal = (status: number, code: string) => ({ status, body: { error: { code } } })
const untrue = refusal(401, 'social_token_invalid')
const providers = ['google', 'apple'] as const
type Json = Record<string, unknown>

const come = (provider: Provider, idToken: string, more: Json = {}) =>
  guest.post(`/auth/${provider}`, { idToken, ...more })

/** Signs in with a good token that says this. */
const comeAs = async (provider: Provider, said: Json = {}, more: Json = {}) =>
  await come(provider, await token(provider, claims(provider, said)), more)

const person = ({ body }: Reply): Person => personOf(body, body.user.email, '')

async function accountsWith(email: string) {
  const { rows } = await database().query(
    `select accounts.*,
       (select count(*)::int from auth.sessions where user_id = accounts.id) as sessions,
       (select count(*)::int from public.identities where account_id = accounts.id) as identities,
       (select count(*)::int from public.individual_profiles where account_id = accounts.id)
         as profiles,
       (select array_agg(provider order by provider) from auth.identities
         where user_id = accounts.id) as providers
     from public.accounts where email = $1`,
    [email],
  )
  return rows
}

const register = async (email: string) => {
  const password = randomUUID()
  const { status } = await guest.post('/auth/register', { identifier: email, password })
  expect(status).toBe(201)
  return password
}

/** What is there soon. */
async function soon<T>(what: string, get: () => Promise<T | undefined>): Promise<T> {
  let found: T | undefined
  await until(what, async () => (found = await get()) !== undefined)
  return found!
}

const codes = async (email: string) => (await messages(email)).map(({ code }) => code)

/** Straight to Auth with the public key, past the facade. */
const atAuth = (provider: Provider, idToken: string, nonce?: string) =>
  fetch(`${projectUrl}/auth/v1/token?grant_type=id_token`, {
    method: 'POST',
    headers: { apikey: publishableKey, 'content-type': 'application/json' },
    body: JSON.stringify({ provider, id_token: idToken, nonce }),
  })

if (!issuerUrl) console.log('SOCIAL_ISSUER_URL is not set: tests of social sign-in are left out.')

describe.runIf(issuerUrl)('social sign-in', () => {
  test.each(providers)('%s: a new subject gets a usable account at once', async (provider) => {
    const said = { sub: randomUUID(), email: newEmail() }
    const first = await comeAs(provider, said, { fullName: 'نورة الصباح' })
    expect(first).toMatchObject({
      status: 200,
      body: {
        isNewAccount: true,
        tokenType: 'bearer',
        user: { email: said.email, phone: null, fullName: 'نورة الصباح' },
        activeIdentity: { type: 'individual', status: 'active', displayName: 'نورة الصباح' },
      },
    })
    expect(first.body.identities).toHaveLength(1)
    expect((await person(first).get('/favorites/ids')).body).toEqual({ ids: [] })

    const again = await comeAs(provider, said)
    expect(again.body).toMatchObject({ isNewAccount: false, user: first.body.user })
    expect(await accountsWith(said.email)).toMatchObject([
      {
        email_proven: true,
        identities: 1,
        profiles: 1,
        sessions: 2,
        providers: ['email', provider].sort(),
      },
    ])
    const refreshed = await guest.post('/auth/refresh', { refreshToken: again.body.refreshToken })
    expect(refreshed).toMatchObject({ status: 200, body: { user: first.body.user } })
  })

  test('a name comes from the token of Google, and from the app for Apple, once', async () => {
    const google = await comeAs('google', { name: '  Noura   Al Sabah ' })
    expect(google.body.user.fullName).toBe('Noura Al Sabah')
    const invisible = await comeAs('google', { name: 'a\u202Eb' })
    expect(invisible.body.user.fullName).toBeNull()

    const said = { sub: randomUUID(), email: newEmail() }
    await register(said.email)
    const linked = await comeAs('apple', said, { fullName: 'نورة الصباح' })
    expect(linked.body).toMatchObject({ isNewAccount: false, user: { fullName: 'نورة الصباح' } })
    const later = await comeAs('apple', said, { fullName: 'غير ذلك' })
    expect(later.body.user.fullName).toBe('نورة الصباح')
  })

  test('REG-07 the owner of an email that was taken in advance ends what was there', async () => {
    for (const provider of providers) {
      const email = newEmail()
      const password = await register(email)
      const attacker = await signIn(email, password)
      await attacker.put('/devices', {
        deviceId: randomUUID(),
        platform: 'ios',
        pushToken: randomUUID(),
      })
      await guest.post('/auth/password/forgot', { identifier: email })
      const code = await soon('a code', async () => (await codes(email))[0])

      const victim = await comeAs(provider, { email: email.toUpperCase() })
      expect(victim).toMatchObject({ status: 200, body: { isNewAccount: false } })
      expect(victim.body.user.id).toBe(attacker.id)
      expect(await accountsWith(email)).toMatchObject([
        { email_proven: true, sessions: 1, providers: ['email', provider].sort() },
      ])

      expect(await attacker.get('/auth/me')).toMatchObject(refusal(401, 'token_invalid'))
      expect(await guest.post('/auth/refresh', { refreshToken: attacker.refreshToken }))
        .toMatchObject(refusal(401, 'token_invalid'))
      expect(await guest.post('/auth/login', { identifier: email, password }))
        .toMatchObject(refusal(401, 'invalid_credentials'))
      const reset = (given: string, newPassword: string) =>
        guest.post('/auth/password/reset', {
          identifier: email,
          code: given,
          newPassword,
          confirmPassword: newPassword,
        })
      expect(await reset(code, 'the-attacker-again')).toMatchObject({
        status: expect.toSatisfy((status: number) => [410, 422].includes(status)),
      })
      const devices = await database().query(
        'select from public.devices where account_id = $1',
        [victim.body.user.id],
      )
      expect(devices.rowCount).toBe(0)

      // The victim sets a password by a code of their own.
      await database().query(`delete from private.rate_hits where subject like '%' || $1`, [email])
      await guest.post('/auth/password/forgot', { identifier: email })
      const fresh = await soon(
        'another code',
        async () => (await codes(email)).find((one) => one !== code),
      )
      expect(await reset(fresh, 'the-victims-own')).toMatchObject({ status: 204 })
      expect(await guest.post('/auth/login', { identifier: email, password: 'the-victims-own' }))
        .toMatchObject({ status: 200 })
      expect(await guest.post('/auth/login', { identifier: email, password }))
        .toMatchObject(refusal(401, 'invalid_credentials'))
    }
  })

  test('REG-07 the same holds past the facade, with the public key', async () => {
    const email = newEmail()
    const password = await register(email)
    const attacker = await signIn(email, password)
    const nonce = randomUUID()
    const response = await atAuth(
      'google',
      await token('google', claims('google', { email, nonce: hashed(nonce) })),
      nonce,
    )
    expect(response.status).toBe(200)
    expect(await attacker.get('/auth/me')).toMatchObject(refusal(401, 'token_invalid'))
    expect(await guest.post('/auth/login', { identifier: email, password }))
      .toMatchObject(refusal(401, 'invalid_credentials'))
    expect(await accountsWith(email)).toMatchObject([{ email_proven: true, sessions: 1 }])
    // But nobody gets an account this way.
    const nobody = newEmail()
    const refused = await atAuth(
      'google',
      await token('google', claims('google', { email: nobody })),
    )
    expect([refused.status, (await refused.json()).error_code]).toEqual([422, 'signup_disabled'])
    expect(await accountsWith(nobody)).toEqual([])
  })

  test('REG-07 whoever signs in with the old password in that very moment stays out', async () => {
    const emails = Array.from({ length: 6 }, newEmail)
    const passwords = await Promise.all(emails.map(register))
    const tokens = await Promise.all(
      emails.map((email) => token('google', claims('google', { email }))),
    )
    const attempts = emails.flatMap((identifier, i) => [
      ...Array.from({ length: 4 }, () => ({
        path: '/auth/login',
        body: { identifier, password: passwords[i] },
      })),
      { path: '/auth/google', body: { idToken: tokens[i] } },
    ])
    const replies = await race(attempts)
    for (const [i, { path }] of attempts.entries()) {
      const reply = replies[i]!
      if (path === '/auth/google') {
        expect(reply.status).toBe(200)
        expect(await person(reply).get('/auth/me')).toMatchObject({ status: 200 })
      } else if (reply.status === 200) {
        expect(await person(reply).get('/auth/me')).toMatchObject(refusal(401, 'token_invalid'))
      } else expect(reply).toMatchObject(refusal(401, 'invalid_credentials'))
    }
  })

  test('a proven account keeps its password and its sessions when a provider is linked', async () => {
    const email = newEmail()
    const password = await register(email)
    await comeAs('google', { email })
    await database().query(`delete from private.rate_hits where subject like '%' || $1`, [email])
    await guest.post('/auth/password/forgot', { identifier: email })
    const code = await soon('a code', async () => (await codes(email))[0])
    const newPassword = randomUUID()
    await guest.post('/auth/password/reset', {
      identifier: email,
      code,
      newPassword,
      confirmPassword: newPassword,
    })
    expect(newPassword).not.toBe(password)
    const mine = await signIn(email, newPassword)
    const apple = await comeAs('apple', { email })
    expect(apple.body).toMatchObject({ isNewAccount: false, user: { id: mine.id } })
    expect(await mine.get('/auth/me')).toMatchObject({ status: 200 })
    expect(await guest.post('/auth/login', { identifier: email, password: newPassword }))
      .toMatchObject({ status: 200 })
    expect(await accountsWith(email)).toMatchObject([{ providers: ['apple', 'email', 'google'] }])
  })

  test('an email that changed hands at Auth is proven again by the provider', async () => {
    const said = { sub: randomUUID(), email: newEmail() }
    const first = await comeAs('google', said)
    const other = newEmail()
    // As an admin does it: what was proven was the old email.
    await database().query('update auth.users set email = $2 where id = $1', [
      first.body.user.id,
      other,
    ])
    expect(await accountsWith(other)).toMatchObject([{ email_proven: false }])
    await comeAs('google', said)
    expect(await accountsWith(other)).toMatchObject([{ email_proven: false, sessions: 2 }])
    await comeAs('google', { ...said, email: other })
    expect(await accountsWith(other)).toMatchObject([{ email_proven: true, sessions: 1 }])
  })

  test('whoever registers after the owner came finds the email taken', async () => {
    const email = newEmail()
    await comeAs('apple', { email })
    expect(await guest.post('/auth/register', { identifier: email, password: randomUUID() }))
      .toMatchObject(refusal(409, 'email_taken'))
  })

  test('an email that the provider does not vouch for opens nothing', async () => {
    const email = newEmail()
    const password = await register(email)
    for (const said of [false, 'false', undefined, null, 1, 'yes', {}]) {
      expect(await comeAs('google', { email, email_verified: said }), String(said))
        .toMatchObject(refusal(409, 'email_taken'))
      expect(await comeAs('google', { email_verified: said })).toMatchObject(untrue)
    }
    for (const wrong of [undefined, '', 'nobody', '51234567', 5, 'a b@example.com']) {
      expect(await comeAs('google', { email: wrong })).toMatchObject(untrue)
    }
    expect(await guest.post('/auth/login', { identifier: email, password }))
      .toMatchObject({ status: 200 })
    for (const said of [true, 'true']) {
      expect(await comeAs('google', { email_verified: said })).toMatchObject({ status: 200 })
      expect(await comeAs('apple', { email_verified: said })).toMatchObject({ status: 200 })
    }
  })

  test('REG-08 tokens that are not for us open nothing', async () => {
    for (const provider of providers) {
      const other = provider === 'google' ? 'apple' : 'google'
      const nonce = randomUUID()
      const now = Math.floor(Date.now() / 1000)
      const wrong: [what: string, said: Json, more?: Json, by?: Provider | 'stranger'][] = [
        ['another app', { aud: 'other.apps.example' }],
        ["the other provider's app", { aud: clientIds[other][0] }],
        ['no app', { aud: undefined }],
        ['our app among others', { aud: [clientIds[provider][0], 'other.apps.example'] }],
        ['wrong issuer', { iss: 'https://accounts.example.com' }],
        ['no issuer', { iss: undefined }],
        ['issuer almost right', { iss: 'https://accounts.google.com.example.com' }],
        ['expired', { iat: now - 700, exp: now - 60 }],
        ['no expiry', { exp: undefined }],
        ['good for ever', { exp: now + 400 * 24 * 3600 }],
        ['of tomorrow', { iat: now + 3600, exp: now + 7200 }],
        ['not yet', { nbf: now + 3600 }],
        ['no subject', { sub: undefined }],
        ['empty subject', { sub: '' }],
        ['nonce of another sign-in', { nonce: hashed(randomUUID()) }, { nonce }],
        ['nonce not brought', { nonce: hashed(nonce) }],
        ['nonce not in the token', {}, { nonce }],
        ['nonce in clear in the token', { nonce }, { nonce }],
        ['nonce promised and not there', { nonce_supported: true }],
        ['signed by nobody we know', {}, {}, 'stranger'],
        ["the other provider's", { iss: undefined }, {}, other],
      ]
      const emails: string[] = []
      for (const [what, changes, more, by = provider] of wrong) {
        const said = claims(provider, changes)
        emails.push(said.email as string)
        expect(await come(provider, await token(by, said), more), what).toMatchObject(untrue)
      }
      // Another's key under our provider's name, and headers that are none.
      const good = claims(provider)
      emails.push(good.email as string)
      for (const header of [{ kid: provider }, { kid: undefined }, { kid: '../../x' }]) {
        expect(await come(provider, await token('stranger', good, header))).toMatchObject(untrue)
      }
      const [head, body, signature] = (await token(provider, good)).split('.')
      const bare = Buffer.from('{"alg":"none"}').toString('base64url')
      const changed = Buffer.from(JSON.stringify({ ...good, sub: 'x' })).toString('base64url')
      for (
        const forged of [
          `${bare}.${body}.`,
          `${head}.${changed}.${signature}`,
          `${head}.${body}.`,
          'x',
          'a.b.c',
          publishableKey,
        ]
      ) {
        expect(await come(provider, forged), forged).toMatchObject(untrue)
      }
      const { rows } = await database().query(
        'select email from public.accounts where email = any ($1)',
        [emails],
      )
      expect(rows).toEqual([])
      expect(await come(provider, 'x'.repeat(64 * 1024))).toMatchObject({ status: 422 })
      for (const idToken of ['', null, 5, {}, [await token(provider, claims(provider))]]) {
        expect(await guest.post(`/auth/${provider}`, { idToken })).toMatchObject({ status: 422 })
      }
    }
    const own = await comeAs('google')
    expect(await come('google', own.body.accessToken)).toMatchObject(untrue)
    for (const path of ['facebook', '__proto__', 'constructor']) {
      expect(await guest.post(`/auth/${path}`, { idToken: 'x' }))
        .toMatchObject(refusal(404, 'route_not_found'))
    }
  })

  test('REG-08 a token and a nonce are taken once', async () => {
    for (const provider of providers) {
      const said = claims(provider)
      const idToken = await token(provider, said)
      const replies = await race(
        Array.from({ length: 10 }, () => ({ path: `/auth/${provider}`, body: { idToken } })),
      )
      expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)])
      expect(await come(provider, idToken)).toMatchObject(untrue)

      const nonce = randomUUID()
      const with_nonce = () => token(provider, { ...said, nonce: hashed(nonce), jti: randomUUID() })
      expect(await come(provider, await with_nonce(), { nonce })).toMatchObject({ status: 200 })
      expect(await come(provider, await with_nonce(), { nonce })).toMatchObject(untrue)
      expect(await accountsWith(said.email as string)).toMatchObject([{ sessions: 2 }])
    }
  })

  test('every app and site of ours may bring one', async () => {
    for (const provider of providers) {
      for (const aud of [...clientIds[provider], clientIds[provider]]) {
        expect(await comeAs(provider, { aud })).toMatchObject({ status: 200 })
      }
    }
  })

  test('REG-10 a subject is one account, whatever address it shows', async () => {
    const sub = randomUUID()
    const relay = () => `${randomUUID().slice(0, 10)}@privaterelay.appleid.com`
    const email = relay()
    const first = await comeAs('apple', { sub, email, is_private_email: 'true' })
    expect(first).toMatchObject({ status: 200, body: { isNewAccount: true, user: { email } } })
    for (const changes of [{ email: relay() }, { email: undefined }, { email_verified: false }]) {
      const again = await comeAs('apple', { sub, email, ...changes })
      expect(again).toMatchObject({
        status: 200,
        body: {
          isNewAccount: false,
          user: { id: first.body.user.id, email },
          activeIdentity: first.body.activeIdentity,
        },
      })
    }
    // The same subject of another provider is somebody else.
    const google = await comeAs('google', { sub })
    expect(google.body.isNewAccount).toBe(true)
    expect(google.body.user.id).not.toBe(first.body.user.id)
  })

  test('REG-11 twenty first sign-ins at once make one account', async () => {
    for (const provider of providers) {
      const said = { sub: randomUUID(), email: newEmail() }
      const shots = await Promise.all(Array.from({ length: 20 }, async () => {
        const nonce = randomUUID()
        const idToken = await token(provider, claims(provider, { ...said, nonce: hashed(nonce) }))
        return { path: `/auth/${provider}`, body: { idToken, nonce } }
      }))
      const replies = await race(shots)
      expect(replies.map(({ status, body }) => [status, body.error?.code]))
        .toEqual(Array(20).fill([200, undefined]))
      expect(new Set(replies.map(({ body }) => body.user.id)).size).toBe(1)
      for (const { body } of replies) expect(body.activeIdentity).not.toBeNull()
      expect(replies.filter(({ body }) => body.isNewAccount)).toHaveLength(1)
      expect(await accountsWith(said.email)).toMatchObject([
        { identities: 1, profiles: 1, email_proven: true, providers: ['email', provider].sort() },
      ])
      expect(await person(replies[19]!).get('/auth/me')).toMatchObject({ status: 200 })
    }
  })

  test('a suspended or banned account stays out by this door too', async () => {
    const said = { sub: randomUUID(), email: newEmail() }
    const { body } = await comeAs('google', said)
    const set = (status: string) =>
      database().query(
        `update public.accounts set status = $2, status_reason = 'مخالفة' where id = $1`,
        [body.user.id, status],
      )
    await set('suspended')
    expect(await comeAs('google', said)).toMatchObject(refusal(403, 'account_suspended'))
    await set('banned')
    expect(await comeAs('google', said)).toMatchObject(refusal(403, 'account_banned'))
    await set('active')
    expect(await comeAs('google', said)).toMatchObject({ status: 200 })
  })

  test("Apple's code is exchanged at once, kept sealed, and revoked at deletion", async () => {
    const code = randomUUID()
    const said = { sub: randomUUID(), aud: clientIds.apple[1] }
    const { body } = await comeAs('apple', said, { authorizationCode: code })
    const kept = () =>
      database().query('select * from private.apple_tokens where account_id = $1', [body.user.id])
    expect(await askedOf(code)).toMatchObject([{
      path: '/auth/token',
      form: { grant_type: 'authorization_code', client_id: clientIds.apple[1], code },
    }])
    const { rows: [row] } = await kept()
    expect(row).toMatchObject({ client_id: clientIds.apple[1], revoke_at: null })
    expect(JSON.stringify(row)).not.toContain(code)
    // A later sign-in without a code leaves it; one whose exchange fails does too.
    await comeAs('apple', said)
    expect(await comeAs('apple', said, { authorizationCode: `fail ${randomUUID()}` }))
      .toMatchObject({ status: 200 })
    expect((await kept()).rows).toEqual([row])

    await database().query('delete from auth.users where id = $1', [body.user.id])
    const revoked = await soon(
      'the revocation',
      async () => (await askedOf(`refresh of ${code}`)).find(({ path }) => path === '/auth/revoke'),
    )
    expect(revoked.form).toMatchObject({
      client_id: clientIds.apple[1],
      token_type_hint: 'refresh_token',
    })
    await until('the token is gone', async () => !(await kept()).rowCount)
  })

  test('a deleted account comes back as a new and empty one', async () => {
    const said = { sub: randomUUID(), email: newEmail() }
    const first = await comeAs('google', said, { fullName: 'نورة الصباح' })
    await database().query('delete from auth.users where id = $1', [first.body.user.id])
    const second = await comeAs('google', said)
    expect(second.body).toMatchObject({ isNewAccount: true, user: { fullName: null } })
    expect(second.body.user.id).not.toBe(first.body.user.id)
  })

  describe('REG-09 a provider that is not configured', () => {
    let functions: Functions

    beforeAll(async () => {
      functions = await startFunctions({ GOOGLE_CLIENT_IDS: ' , ', APPLE_CLIENT_IDS: undefined })
      return functions.stop
    })

    testLocally.each([['google', 'Google'], ['apple', 'Apple']] as const)(
      '%s fails closed, whatever is sent',
      async (provider, name) => {
        const said = claims(provider)
        const bodies: ({ idToken?: string } | undefined)[] = [
          { idToken: await token(provider, said) },
          {},
          undefined,
        ]
        const replies = await Promise.all([
          ...bodies.map((body) => functions.post(`/auth/${provider}`, body)),
          ...Array.from({ length: 50 }, () => functions.post(`/auth/${provider}`, bodies[0])),
        ])
        for (const { status, body } of replies) {
          expect([status, body.error.code, body.error.message]).toEqual([
            503,
            'provider_disabled',
            `تسجيل الدخول عبر ${name} غير مُفعّل حالياً`,
          ])
        }
        expect(await accountsWith(said.email as string)).toEqual([])
        const { rows } = await database().query(
          'select from private.social_tokens where key = $1',
          [`${provider} token ${hashed(bodies[0]!.idToken!)}`],
        )
        expect(rows).toEqual([])
        // The token is still good where it is taken.
        expect(await come(provider, bodies[0]!.idToken!)).toMatchObject({ status: 200 })
      },
    )
  })

  describe('a provider whose keys are away', () => {
    let functions: Functions
    beforeAll(async () => {
      functions = await startFunctions({ GOOGLE_JWKS_URL: `${issuerUrl}/nothing` })
    })
    afterAll(() => functions.stop())

    testLocally('opens nothing and says to come back', async () => {
      const idToken = await token('google', claims('google'))
      const reply = await functions.post('/auth/google', { idToken })
      expect(reply).toMatchObject(refusal(503, 'service_unavailable'))
      expect(reply.headers.get('retry-after')).toBeTruthy()
      expect(await come('google', idToken)).toMatchObject({ status: 200 })
    })
  })
})
