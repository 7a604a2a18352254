import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { database, guest, publishableKey } from './client.ts'
import { type Functions, startFunctions, testLocally } from './other-functions.ts'
import { race } from './races.ts'
import { claims, clientIds, hashed, issuerUrl, type Provider, token } from './social-issuer.ts'
import {
  accountsWith,
  come,
  comeAs,
  type Json,
  providers,
  refusal,
  untrue,
} from './social-people.ts'

describe.runIf(issuerUrl)('tokens of providers', () => {
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
