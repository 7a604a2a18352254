// Requests to every endpoint of Auth except health, keys and settings, as a client sends them with the public
// key and possibly an access token.
import { randomUUID } from 'node:crypto'
import { type Person, projectUrl } from '../support/client.ts'

export type Door = readonly [method: string, path: string, body?: object]

type Named = { email: string; phone: string; there: Person; theirs: object; code: string }

export const doors = ({ email, phone, there, theirs, code }: Named): Door[] => {
  const password = randomUUID()
  const data = { identity_type: 'company', role: 'admin', account_id: there.id }
  const token = `/token?grant_type=`
  const url = encodeURIComponent(projectUrl)
  const pkce = { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' }
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
    ['POST', '/otp', { email, data, create_user: true }],
    ['POST', '/otp', { ...theirs, ...pkce }],
    ['POST', '/magiclink', { email }],
    ['POST', '/magiclink', theirs],
    ['POST', '/recover', { email }],
    ['POST', '/recover', theirs],
    ['POST', '/recover', { ...theirs, ...pkce }],
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
    [
      'GET',
      `/authorize?provider=apple&redirect_to=${url}&code_challenge=${
        'a'.repeat(43)
      }&code_challenge_method=s256`,
    ],
    ['GET', `/callback?code=${code}&state=${randomUUID()}`],
    ['POST', '/sso', { domain: 'example.com' }],
    ['POST', '/sso/saml/acs', {}],
    ['POST', '/passkeys/authentication/options', {}],
    ['POST', '/passkeys/authentication/verify', {}],
    ['POST', '/passkeys/registration/options', {}],
    ['GET', '/passkeys'],
    ['POST', '/oauth/clients/register', { client_name: 'x', redirect_uris: [projectUrl] }],
    ['POST', '/oauth/token', { grant_type: 'authorization_code', code }],
    ['GET', `/oauth/authorize?client_id=${randomUUID()}&response_type=code`],
    ['GET', '/oauth/userinfo'],
    ['GET', '/user/oauth/grants'],
    ['GET', '/scim/v2/Users'],
    ['GET', '/user/identities/authorize?provider=google'],
    ['DELETE', `/user/identities/${there.id}`],
    ['GET', '/reauthenticate'],
    ['POST', '/factors', { factor_type: 'totp', friendly_name: 'x'.repeat(8000) }],
    ['POST', '/factors', { factor_type: 'phone', phone }],
    ['POST', '/factors', { factor_type: 'webauthn' }],
    ['PUT', '/user', { email }],
    ['PUT', '/user', { email, ...pkce }],
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
