import { describe, expect, test } from 'vitest'
import { database, projectUrl, publishableKey, secretKey } from '../../test/support/client.ts'
import { auth, bearer, secret, signedIn } from './support/client.ts'

describe('errors of Auth', () => {
  test('have the old shape without a version and the new one with it', async () => {
    const grant = '/token?grant_type=password'
    const wrong = { email: 'a@b.co', password: 'x' }
    const old = await auth('POST', grant, wrong, secret)
    expect(old.body).toEqual({
      code: 400,
      error_code: 'invalid_credentials',
      msg: 'Invalid login credentials',
    })
    const version = { 'x-supabase-api-version': '2024-01-01' }
    const versioned = await auth('POST', grant, wrong, { ...secret, ...version })
    expect(versioned.body).toEqual({
      code: 'invalid_credentials',
      message: 'Invalid login credentials',
    })
    expect(versioned.headers.get('x-sb-error-code')).toBe('invalid_credentials')
    expect(versioned.headers.get('x-supabase-api-version')).toBe('2024-01-01')
  })

  test('in the OAuth format have no code', async () => {
    const { status, body } = await auth('POST', '/token?grant_type=id_token', {})
    expect(status).toBe(400)
    expect(body).toEqual({
      error: 'invalid request',
      error_description: expect.any(String),
    })
  })
})

describe('the API of Auth', () => {
  test('requires a known API key, and rejects a secret key from a browser', async () => {
    const settings = (headers: Record<string, string>) =>
      fetch(`${projectUrl}/auth/v1/settings`, { headers }).then(({ status }) => status)
    expect(await settings({})).toBe(401)
    expect(await settings({ apikey: 'sb_publishable_unknown' })).toBe(401)
    expect(await settings({ apikey: publishableKey, ...bearer(secretKey) })).toBe(401)
    expect(await settings({ apikey: secretKey, 'user-agent': 'Mozilla/5.0' })).toBe(401)
    expect(await settings({ apikey: publishableKey })).toBe(200)
  })

  test('returns the settings of the project', async () => {
    expect((await auth('GET', '/settings')).body).toMatchObject({
      disable_signup: true,
      mailer_autoconfirm: false,
      phone_autoconfirm: false,
      external: { email: true, phone: true, anonymous_users: false },
    })
    expect((await auth('GET', '/health')).body).toMatchObject({ name: 'GoTrue' })
  })

  test('publishes the keys to everybody, to be cached for ten minutes', async () => {
    const response = await fetch(`${projectUrl}/auth/v1/.well-known/jwks.json`)
    expect(response.headers.get('cache-control')).toBe('public, max-age=600')
    const { keys } = await response.json()
    expect(keys[0]).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    expect(keys[0]).not.toHaveProperty('d')
  })

  test('accepts another client address only with the secret key', async () => {
    const { id, session } = await signedIn()
    const address = '203.0.113.7'
    const named = { 'sb-forwarded-for': address, 'x-forwarded-for': address }
    const seen = async (apikey: string) => {
      await auth(
        'POST',
        '/token?grant_type=refresh_token',
        { refresh_token: session.refresh_token },
        { apikey, ...named },
      )
      const { rows } = await database().query(
        'select host(ip) as ip from auth.sessions where user_id = $1',
        [id],
      )
      return rows[0].ip
    }
    expect(await seen(publishableKey)).not.toBe(address)
    expect(await seen(secretKey)).toBe(address)
  })
})
