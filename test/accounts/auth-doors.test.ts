/**
 * Every door of Auth but its health, keys and settings, as a client opens it who has the public key, and
 * perhaps the access token of an account. What a provider's token and a right password open there is in
 * provider-fence and password-fence.
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  database,
  inboxOf,
  newEmail,
  newPhone,
  type Person,
  projectUrl,
  publishableKey,
  signUp,
} from '../support/client.ts'
import { normalizedIdentifier, requestResetCode, signUpByPhone } from '../support/codes.ts'

type Door = readonly [method: string, path: string, body?: object]

/** What somebody new would be, and who is there already. */
type Named = { email: string; phone: string; there: Person; theirs: object; code: string }

const doors = ({ email, phone, there, theirs, code }: Named): Door[] => {
  const password = randomUUID()
  const data = { identity_type: 'company', role: 'admin', account_id: there.id }
  const token = `/token?grant_type=`
  const url = encodeURIComponent(projectUrl)
  const user = `/admin/users/${there.id}`
  return [
    ['POST', '/signup', { email, password }],
    ['POST', '/signup', { phone, password }],
    ['POST', '/signup', { email, password, data }],
    ['POST', '/signup', { ...theirs, password, data }],
    ['POST', '/signup', {}],
    ['POST', '/signup', { data }],
    ['POST', '/otp', { email, create_user: true }],
    ['POST', '/otp', { phone, create_user: true }],
    ['POST', '/otp', theirs],
    ['POST', '/magiclink', { email }],
    ['POST', '/magiclink', theirs],
    ['POST', '/recover', { email }],
    ['POST', '/recover', theirs],
    ['POST', '/resend', { type: 'signup', email }],
    ['POST', '/resend', { type: 'sms', ...theirs }],
    ['POST', '/resend', { type: 'phone_change', phone }],
    ['POST', '/invite', { email }],
    ['POST', '/verify', { type: 'signup', email, token: code }],
    ['POST', '/verify', { type: 'sms', ...theirs, token: code }],
    ['POST', '/verify', { type: 'recovery', ...theirs, token: code }],
    ['POST', '/verify', { type: 'email', token_hash: code }],
    ['GET', `/verify?type=recovery&token=${code}&redirect_to=${url}`],
    ['POST', `${token}password`, { ...theirs, password: there.password }],
    ['POST', `${token}password`, {
      ...theirs,
      password: there.password,
      gotrue_meta_security: { captcha_token: 'made up' },
    }],
    ['POST', `${token}refresh_token`, { refresh_token: randomUUID() }],
    ['POST', `${token}pkce`, { auth_code: randomUUID(), code_verifier: randomUUID() }],
    ['POST', `${token}id_token`, { provider: 'google', id_token: 'a.b.c' }],
    ['POST', `${token}web3`, { chain: 'ethereum', message: 'm', signature: '0x00' }],
    ['GET', `/authorize?provider=google&redirect_to=${url}`],
    ['GET', `/callback?code=${code}&state=${randomUUID()}`],
    ['POST', '/sso', { domain: 'example.com' }],
    ['POST', '/sso/saml/acs', {}],
    ['POST', '/passkeys/authentication/options', {}],
    ['POST', '/passkeys/authentication/verify', {}],
    ['POST', '/passkeys/registration/options', {}],
    ['GET', '/passkeys'],
    ['POST', '/oauth/clients/register', { redirect_uris: [projectUrl] }],
    ['POST', '/oauth/token', { grant_type: 'authorization_code', code }],
    ['GET', `/oauth/authorize?client_id=${randomUUID()}&response_type=code`],
    ['GET', '/oauth/userinfo'],
    ['GET', '/user/oauth/grants'],
    ['GET', '/scim/v2/Users'],
    ['GET', '/user/identities/authorize?provider=google'],
    ['DELETE', `/user/identities/${there.id}`],
    ['GET', '/reauthenticate'],
    ['POST', '/factors', { factor_type: 'totp' }],
    ['POST', '/factors', { factor_type: 'phone', phone }],
    ['POST', '/factors', { factor_type: 'webauthn' }],
    ['PUT', '/user', { email }],
    ['PUT', '/user', { phone }],
    ['PUT', '/user', { password }],
    ['PUT', '/user', { password, nonce: code }],
    ['PUT', '/user', { app_metadata: { role: 'admin' } }],
    ['GET', '/admin/users'],
    ['POST', '/admin/users', { email, password, email_confirm: true }],
    ['GET', user],
    ['PUT', user, { password }],
    ['PUT', user, { role: 'service_role' }],
    ['DELETE', user],
    ['POST', '/admin/generate_link', { type: 'magiclink', email }],
    ['POST', '/admin/generate_link', { type: 'recovery', ...theirs }],
    ['GET', '/admin/audit'],
    ['GET', '/admin/sso/providers'],
    ['GET', '/admin/oauth/clients'],
    ['GET', '/admin/custom-providers'],
  ]
}

async function opened([method, path, body]: Door, token: string) {
  const response = await fetch(`${projectUrl}/auth/v1${path}`, {
    method,
    redirect: 'manual',
    headers: {
      apikey: publishableKey,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    },
    body: body && JSON.stringify(body),
  })
  const given = await response.text() + response.headers.get('location')
  return response.ok || /access_token|refresh_token"/.test(given)
}

/** All that Auth keeps of a user, but when something was asked for. */
async function keptOf(id: string) {
  const { rows } = await database().query(
    `select email, phone, encrypted_password, role, raw_app_meta_data, is_anonymous, banned_until,
       confirmation_token, recovery_token, reauthentication_token, phone_change, email_change,
       (select array_agg(provider || provider_id order by provider) from auth.identities
         where user_id = users.id) as identities,
       (select array_agg(id order by id) from auth.sessions where user_id = users.id) as sessions,
       (select count(*) from auth.one_time_tokens where user_id = users.id) as codes
     from auth.users where id = $1`,
    [id],
  )
  expect(rows).toHaveLength(1)
  return rows[0]
}

describe.each(
  [
    ['phone', signUpByPhone, normalizedIdentifier],
    ['email', signUp, (identifier: string) => identifier],
  ] as const,
)('REG-06 past the facade, to an account by %s', (kind, register, spelled) => {
  test.each(['the public key', 'an access token of it'])('nothing opens by %s', async (by) => {
    const there: Person = await register()
    const theirs = { [kind]: spelled(there.identifier) }
    const code = await requestResetCode(there.identifier)
    const [email, phone] = [newEmail(), normalizedIdentifier(newPhone())]
    const before = [await keptOf(there.id), (await there.get('/auth/me')).body]
    const sent = (await inboxOf(there.identifier)).length

    const token = by === 'the public key' ? publishableKey : there.accessToken
    for (const door of doors({ email, phone, there, theirs, code })) {
      expect(await opened(door, token), JSON.stringify(door)).toBe(false)
    }

    expect([await keptOf(there.id), (await there.get('/auth/me')).body]).toEqual(before)
    expect(await inboxOf(there.identifier)).toHaveLength(sent)
    for (const nobody of [email, phone]) expect(await inboxOf(nobody)).toEqual([])
    const { rows } = await database().query(
      `select from auth.users where email = $1 or phone = $2
       union all select from public.accounts where email = $1 or phone = $3`,
      [email, phone.slice(1), phone],
    )
    expect(rows).toEqual([])
  })
})
