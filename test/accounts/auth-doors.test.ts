// How Auth responds to clients that bypass the facade; see also provider-fence and password-fence.
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
import { type Door, doors } from './every-auth-door.ts'

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

async function storedOf(id: string) {
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
    const before = [await storedOf(there.id), (await there.get('/auth/me')).body]
    const sent = (await inboxOf(there.identifier)).length

    const token = by === 'the public key' ? publishableKey : there.accessToken
    for (const door of doors({ email, phone, there, theirs, code })) {
      expect(await opened(door, token), JSON.stringify(door)).toBe(false)
    }

    expect([await storedOf(there.id), (await there.get('/auth/me')).body]).toEqual(before)
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
