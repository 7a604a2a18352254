import { randomUUID } from 'node:crypto'
import { database, guest, type Person, personOf, type Reply } from '../support/client.ts'
import { refusal } from '../support/problems.ts'
import { claims, type Provider, token } from '../support/social-issuer.ts'

export const tokenInvalid = refusal(401, 'social_token_invalid')
export const tokenUsed = refusal(401, 'social_token_used')
export const providers = ['google', 'apple'] as const
export type Json = Record<string, unknown>

export const signInWith = (provider: Provider, idToken: string, more: Json = {}) =>
  guest.post(`/auth/${provider}`, { idToken, ...more })

/** Sends the token from another client; the client that sent it first would be allowed to repeat it. */
export const signInElsewhere = (provider: Provider, idToken: string, more: Json = {}) =>
  guest.post(`/auth/${provider}`, { idToken, ...more }, {
    headers: { 'user-agent': 'Another/1.0' },
  })

export const signInAs = async (provider: Provider, said: Json = {}, more: Json = {}) =>
  await signInWith(provider, await token(provider, claims(provider, said)), more)

export const personFrom = ({ body }: Reply): Person => personOf(body, body.user.email, '')

export async function accountsByEmail(email: string) {
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

export const registerEmail = async (email: string) => {
  const password = randomUUID()
  const { status } = await guest.post('/auth/register', { identifier: email, password })
  if (status !== 201) throw new Error(`register: ${status}`)
  return password
}
