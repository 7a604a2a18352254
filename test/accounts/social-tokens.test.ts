import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { database, guest, newEmail, projectUrl, publishableKey } from '../support/client.ts'
import { type Facade, hasStack, startFacade, testLocally } from '../support/facade.ts'
import { type AuthProxy, startAuthProxy } from './auth-proxy.ts'
import { race } from '../support/races.ts'
import {
  claims,
  clientIds,
  hashed,
  issuerUrl,
  type Provider,
  token,
} from '../support/social-issuer.ts'
import {
  accountsByEmail,
  type Json,
  providers,
  registerEmail,
  signInAs,
  signInElsewhere,
  signInWith,
  tokenInvalid,
  tokenUsed,
} from './social-sign-in.ts'
import { refusal } from '../support/problems.ts'

const keyOf = (provider: Provider, idToken: string) =>
  `${provider} token ${hashed(idToken.slice(0, idToken.lastIndexOf('.')))}`

const broken = ['\0', 'a\0b', '\ud800', 'x\udc00', '\ud800\ud800']

describe.runIf(issuerUrl)('tokens of providers', () => {
  test('REG-08 tokens issued for others are refused', async () => {
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
        ["the other provider's issuer", { iss: claims(other).iss }],
        ['issuer in clear', { iss: 'http://accounts.google.com' }],
        ...(provider === 'apple'
          ? [['a short issuer', { iss: 'appleid.apple.com' }] as [string, Json]]
          : []),
        ['expired', { iat: now - 700, exp: now - 60 }],
        ['expired just now', { iat: now - 600, exp: now - 1 }],
        ['no expiry', { exp: undefined }],
        ['good for ever', { exp: now + 400 * 24 * 3600 }],
        ['of tomorrow', { iat: now + 3600, exp: now + 7200 }],
        ['made in two minutes', { iat: now + 120 }],
        ['not yet', { nbf: now + 3600 }],
        ['not for two minutes', { nbf: now + 120 }],
        ['no subject', { sub: undefined }],
        ['empty subject', { sub: '' }],
        ['nonce of another sign-in', { nonce: hashed(randomUUID()) }, { nonce }],
        ...(provider === 'apple'
          ? [['nonce not brought', { nonce: hashed(nonce) }] as [string, Json]]
          : [['nonce that is no text', { nonce: 7 }] as [string, Json]]),
        ['nonce not in the token', {}, { nonce }],
        ['nonce in clear in the token', { nonce }, { nonce }],
        ['nonce sent, supported and not there', { nonce_supported: true }, { nonce }],
        ['signed by nobody we know', {}, {}, 'stranger'],
        ["the other provider's", { iss: undefined }, {}, other],
      ]
      const emails: string[] = []
      for (const [what, changes, more, by = provider] of wrong) {
        const said = claims(provider, changes)
        emails.push(said.email as string)
        expect(await signInWith(provider, await token(by, said), more), what).toMatchObject(
          tokenInvalid,
        )
      }
      // Tokens signed with a key that the provider does not have; their headers name the
      // provider's key, no key, or a path.
      const good = claims(provider)
      emails.push(good.email as string)
      for (const header of [{ kid: provider }, { kid: undefined }, { kid: '../../x' }]) {
        expect(await signInWith(provider, await token('stranger', good, header))).toMatchObject(
          tokenInvalid,
        )
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
        expect(await signInWith(provider, forged), forged).toMatchObject(tokenInvalid)
      }
      const { rows } = await database().query(
        'select email from public.accounts where email = any ($1)',
        [emails],
      )
      expect(rows).toEqual([])
      expect(await signInWith(provider, 'x'.repeat(64 * 1024))).toMatchObject({ status: 422 })
      for (const idToken of ['', null, 5, {}, [await token(provider, claims(provider))]]) {
        expect(await guest.post(`/auth/${provider}`, { idToken })).toMatchObject({ status: 422 })
      }
    }
    const own = await signInAs('google')
    expect(await signInWith('google', own.body.accessToken)).toMatchObject(tokenInvalid)
    for (const path of ['facebook', '__proto__', 'constructor']) {
      expect(await guest.post(`/auth/${path}`, { idToken: 'x' }))
        .toMatchObject(refusal(404, 'route_not_found'))
    }
  })

  test('REG-08 a nonce is accepted with one token', async () => {
    for (const provider of providers) {
      const said = claims(provider)
      const nonce = randomUUID()
      const with_nonce = () => token(provider, { ...said, nonce: hashed(nonce), jti: randomUUID() })
      expect(await signInWith(provider, await with_nonce(), { nonce })).toMatchObject({
        status: 200,
      })
      expect(await signInWith(provider, await with_nonce(), { nonce })).toMatchObject(tokenUsed)
      expect(await accountsByEmail(said.email as string)).toMatchObject([{ sessions: 1 }])
    }
  })

  test('REG-08 a token with its signature encoded differently is the same token', async () => {
    for (const provider of providers) {
      const idToken = await token(provider, claims(provider))
      expect(await signInWith(provider, idToken)).toMatchObject({ status: 200 })
      // The signature has 342 characters, and four bits of the last one are unused.
      const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      const last = letters.indexOf(idToken.at(-1)!)
      for (const bits of [1, 2, 15]) {
        const same = idToken.slice(0, -1) + letters[last ^ bits]
        expect(await signInElsewhere(provider, same)).toMatchObject(tokenUsed)
      }
      expect(await signInElsewhere(provider, `${idToken}=`)).toMatchObject(tokenInvalid)
    }
  })

  test('text that no database can store is refused, in any claim', async () => {
    for (const provider of providers) {
      const emails: string[] = []
      for (const text of broken) {
        const wrong: Json[] = [
          { sub: text },
          { name: text },
          { email: text },
          { nonce: text },
          { picture: text },
          { given_name: text },
          { custom_claims: { deep: [{ text }] } },
          { [text]: 'x' },
          { aud: [clientIds[provider][0], text] },
        ]
        for (const said of wrong) {
          const all = claims(provider, said)
          emails.push(String(all.email))
          expect(await signInWith(provider, await token(provider, all)), JSON.stringify(said))
            .toMatchObject(tokenInvalid)
        }
      }
      const { rows } = await database().query(
        'select from public.accounts where email = any ($1)',
        [emails.filter((email) => !broken.includes(email))],
      )
      expect(rows).toEqual([])
    }
  })

  test('a nonce unknown to the app is accepted from Google alone', async () => {
    const nonce = hashed(randomUUID())
    const idToken = await token('google', claims('google', { nonce }))
    expect(await signInWith('google', idToken, { nonce: randomUUID() })).toMatchObject(tokenInvalid)
    expect(await signInWith('google', idToken)).toMatchObject({ status: 200 })
    expect(await signInElsewhere('google', idToken)).toMatchObject(tokenUsed)
    const known = randomUUID()
    const fitting = await token('google', claims('google', { nonce: hashed(known) }))
    expect(await signInWith('google', fitting, { nonce: known })).toMatchObject({ status: 200 })
    expect(await signInAs('apple', { nonce })).toMatchObject(tokenInvalid)
  })

  test('a token that signed nobody in stays valid until it does', async () => {
    for (const provider of providers) {
      const said = claims(provider)
      const { body } = await signInAs(provider, said)
      const set = (status: string) =>
        database().query(
          `update public.accounts set status = $2, status_reason = 'مخالفة' where id = $1`,
          [body.user.id, status],
        )
      const idToken = await token(provider, { ...said, jti: randomUUID() })
      await set('suspended')
      for (let i = 0; i < 2; i++) {
        expect(await signInWith(provider, idToken)).toMatchObject(refusal(403, 'account_suspended'))
      }
      await set('active')
      expect(await signInWith(provider, idToken)).toMatchObject({ status: 200 })
      expect(await signInElsewhere(provider, idToken)).toMatchObject(tokenUsed)
    }
    // A token with another account's unverified email is refused every time, and being
    // refused does not use it up.
    const email = newEmail()
    const password = await registerEmail(email)
    const unproven = await token('google', claims('google', { email, email_verified: false }))
    for (let i = 0; i < 2; i++) {
      expect(await signInWith('google', unproven)).toMatchObject(refusal(409, 'email_taken'))
    }
    expect(await guest.post('/auth/login', { identifier: email, password }))
      .toMatchObject({ status: 200 })
  })

  test('a token held by a lost worker is valid again after two minutes', async () => {
    const idToken = await token('google', claims('google'))
    const take = (from: string) =>
      database().query(
        `insert into private.social_tokens (key, expires_at) values ($1, now() + $2::interval)
         on conflict (key) do update set expires_at = excluded.expires_at`,
        [keyOf('google', idToken), from],
      )
    await take('2 minutes')
    expect(await signInWith('google', idToken)).toMatchObject(tokenUsed)
    await take('-1 seconds')
    expect(await signInWith('google', idToken)).toMatchObject({ status: 200 })
    expect(await signInElsewhere('google', idToken)).toMatchObject(tokenUsed)
  })

  test('REG-08 what providers and their clocks may say is accepted', async () => {
    const now = () => Math.floor(Date.now() / 1000)
    const fine: [what: string, provider: Provider, said: Json | (() => Json)][] = [
      ['no nonce where Apple supports one', 'apple', { nonce_supported: true }],
      ['no nonce where Apple does not', 'apple', { nonce_supported: false }],
      ["Apple's other issuer", 'apple', { iss: 'https://account.apple.com' }],
      ["Google's issuer without https", 'google', { iss: 'accounts.google.com' }],
      ...providers.flatMap((provider): [string, Provider, () => Json][] => [
        ['made in half a minute', provider, () => ({ iat: now() + 30, exp: now() + 600 })],
        ['valid in half a minute', provider, () => ({ nbf: now() + 30 })],
        ['valid for half a minute', provider, () => ({ iat: now() - 600, exp: now() + 30 })],
      ]),
    ]
    for (const [what, provider, said] of fine) {
      const claimed = typeof said === 'function' ? said() : said
      expect(await signInAs(provider, claimed), `${provider}: ${what}`)
        .toMatchObject({ status: 200 })
    }
  })

  test('REG-08 a used token is remembered until five minutes after it expires', async () => {
    for (const provider of providers) {
      const nonce = randomUUID()
      const said = claims(provider, { nonce: hashed(nonce) })
      const idToken = await token(provider, said)
      expect(await signInWith(provider, idToken, { nonce })).toMatchObject({ status: 200 })
      const { rows } = await database().query(
        'select extract(epoch from expires_at)::int as until from private.social_tokens where key = any ($1)',
        [[keyOf(provider, idToken), `${provider} nonce ${said.nonce}`]],
      )
      expect(rows).toEqual(Array(2).fill({ until: (said.exp as number) + 300 }))
    }
  })

  describe('while Auth has troubles of its own', () => {
    let auth: AuthProxy
    let functions: Facade

    beforeAll(async () => {
      if (!hasStack) return
      auth = await startAuthProxy()
      const AUTH_ISSUER = `${projectUrl}/auth/v1`
      functions = await startFacade({ SUPABASE_URL: auth.url, AUTH_ISSUER })
      return async () => {
        await functions.stop()
        await auth.stop()
      }
    })

    const troubles: [what: string, status: number, body: Json][] = [
      ['its database', 400, { error: 'server_error', error_description: 'Internal Server Error' }],
      ['keys', 400, { error: 'invalid request', error_description: 'Bad ID token' }],
      ['anything', 500, { code: 'unexpected_failure', message: 'Database error' }],
      ['time', 504, { code: 'request_timeout', message: 'Processing this request timed out' }],
    ]

    testLocally.each(troubles)(
      'a verified token is tried again, and stays valid if that fails: %s',
      async (_, status, body) => {
        for (const provider of providers) {
          const passing = await token(provider, claims(provider))
          auth.answerNext(passing, Array(2).fill({ status, body }))
          expect(await functions.post(`/auth/${provider}`, { idToken: passing }))
            .toMatchObject({ status: 200 })
          expect(await signInElsewhere(provider, passing)).toMatchObject(tokenUsed)

          const said = claims(provider)
          const lasting = await token(provider, said)
          auth.answerNext(lasting, Array(4).fill({ status, body }))
          const reply = await functions.post(`/auth/${provider}`, { idToken: lasting })
          expect(reply).toMatchObject(refusal(503, 'service_unavailable'))
          expect(reply.headers.get('retry-after')).toBeTruthy()
          const replies = await race(
            Array.from({ length: 6 }, () => ({
              path: `/auth/${provider}`,
              body: { idToken: lasting },
            })),
          )
          expect(replies.map((one) => one.status).sort()).toEqual([200, 200, ...Array(4).fill(401)])
          expect(await accountsByEmail(said.email as string)).toMatchObject([{ sessions: 2 }])
        }
      },
    )

    testLocally(
      'a token that Auth rejects is refused, and stays valid until the settings are mended',
      async () => {
        const idToken = await token('google', claims('google'))
        const body = { error: 'invalid nonce', error_description: 'Nonces mismatch' }
        auth.answerNext(idToken, [{ status: 400, body }])
        expect(await functions.post('/auth/google', { idToken })).toMatchObject(tokenInvalid)
        await expect.poll(() => functions.output()).toContain('auth_refuses_token')
        expect(functions.output()).not.toContain(idToken)
        expect(await signInWith('google', idToken)).toMatchObject({ status: 200 })
      },
    )
  })

  test('each of our apps and sites may send one', async () => {
    for (const provider of providers) {
      for (const aud of [...clientIds[provider], clientIds[provider]]) {
        expect(await signInAs(provider, { aud })).toMatchObject({ status: 200 })
      }
    }
  })

  describe('REG-09 a provider that is not configured', () => {
    let functions: Facade

    beforeAll(async () => {
      functions = await startFacade({ GOOGLE_CLIENT_IDS: ' , ', APPLE_CLIENT_IDS: undefined })
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
        for (const { status, body, headers } of replies) {
          expect([headers.get('retry-after'), body.error.retryAfter]).toEqual([null, undefined])
          expect([status, body.error.code, body.error.message]).toEqual([
            503,
            'provider_disabled',
            `تسجيل الدخول عبر ${name} غير مُفعّل حالياً`,
          ])
        }
        expect(await accountsByEmail(said.email as string)).toEqual([])
        const { rows } = await database().query(
          'select from private.social_tokens where key = $1',
          [keyOf(provider, bodies[0]!.idToken!)],
        )
        expect(rows).toEqual([])
        expect(await signInWith(provider, bodies[0]!.idToken!)).toMatchObject({ status: 200 })
      },
    )
  })

  describe('a provider whose keys are away', () => {
    let functions: Facade
    beforeAll(async () => {
      functions = await startFacade({ GOOGLE_JWKS_URL: `${issuerUrl}/nothing` })
    })
    afterAll(() => functions.stop())

    testLocally('is refused with a request to retry', async () => {
      const idToken = await token('google', claims('google'))
      const reply = await functions.post('/auth/google', { idToken })
      expect(reply).toMatchObject(refusal(503, 'service_unavailable'))
      expect(reply.headers.get('retry-after')).toBeTruthy()
      expect(await signInWith('google', idToken)).toMatchObject({ status: 200 })
    })
  })
})
