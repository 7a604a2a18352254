// Providers can be linked and used for sign-ins only through the facade.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  database,
  guest,
  newEmail,
  type Person,
  projectUrl,
  publishableKey,
  signUp,
} from '../support/client.ts'
import { countSessions, signUpByPhone } from '../support/codes.ts'
import { notificationsOf } from '../support/notifications.ts'
import { claims, issuerUrl, type Provider, token } from '../support/social-issuer.ts'
import {
  accountsByEmail,
  type Json,
  personFrom,
  providers,
  registerEmail,
  signInAs,
  signInWith,
} from './social-sign-in.ts'

/**
 * Signs in by calling Auth directly. With `as`, links the provider to the account of that person instead.
 */
async function direct(provider: Provider, idToken: string, as?: Person) {
  const response = await fetch(`${projectUrl}/auth/v1/token?grant_type=id_token`, {
    method: 'POST',
    headers: {
      apikey: publishableKey,
      'content-type': 'application/json',
      ...(as && { authorization: `Bearer ${as.accessToken}` }),
    },
    body: JSON.stringify({ provider, id_token: idToken, ...(as && { link_identity: true }) }),
  })
  const body = await response.json()
  return { status: response.status, signedIn: body.access_token !== undefined }
}

const said = (provider: Provider, more: Json = {}) => claims(provider, more)
const refused = { status: 401, signedIn: false }

async function linkedTo(id: string): Promise<string[]> {
  const { rows } = await database().query(
    'select provider from auth.identities where user_id = $1 order by provider',
    [id],
  )
  return rows.map(({ provider }) => provider)
}

describe.runIf(issuerUrl).each(providers)('REG-26 %s at the direct door', (provider) => {
  test('is linked to nobody by an access token', async () => {
    const victim = await signUp()
    const sub = randomUUID()
    for (const email of [newEmail(), victim.identifier]) {
      const idToken = await token(provider, said(provider, { sub, email }))
      expect(await direct(provider, idToken, victim)).toEqual(refused)
    }
    expect(await linkedTo(victim.id)).toEqual(['email'])
    const attacker = await signInAs(provider, { sub })
    expect(attacker.body.user.id).not.toBe(victim.id)
  })

  test('is linked to nobody who has no email, and leaves none behind', async () => {
    const victim = await signUpByPhone()
    for (const email_verified of [true, false]) {
      const idToken = await token(provider, said(provider, { email_verified }))
      expect(await direct(provider, idToken, victim)).toEqual(refused)
    }
    expect(await linkedTo(victim.id)).toEqual(['phone'])
    expect((await victim.get('/auth/me')).body.user).toMatchObject({ email: null })
  })

  test('opens no account by its email, verified or not', async () => {
    const email = newEmail()
    const password = await registerEmail(email)
    for (const email_verified of [true, 'true', false]) {
      const answer = await direct(
        provider,
        await token(provider, said(provider, { email, email_verified })),
      )
      expect(answer.signedIn, String(email_verified)).toBe(false)
    }
    expect(await accountsByEmail(email))
      .toMatchObject([{ email_proven: false, providers: ['email'] }])
    expect(await guest.post('/auth/login', { identifier: email, password }))
      .toMatchObject({ status: 200 })
  })

  test('does not open again what it opens at the facade', async () => {
    const idToken = await token(provider, said(provider))
    const owner = personFrom(await signInWith(provider, idToken))
    expect(await direct(provider, idToken)).toEqual(refused)
    expect(await countSessions(owner.id)).toBe(1)
    const sub = randomUUID()
    await signInAs(provider, { sub })
    expect(await direct(provider, await token(provider, said(provider, { sub })))).toEqual(refused)
  })

  test('links nothing while its owner and others sign in at the facade', async () => {
    const [owner, attacker] = [randomUUID(), randomUUID()]
    const [email, other] = [newEmail(), newEmail()]
    const victim = personFrom(await signInAs(provider, { sub: owner, email }))
    let stop = false
    const links = (async () => {
      const seen: unknown[] = []
      while (!stop) {
        for (const address of [other, email]) {
          const idToken = await token(provider, said(provider, { sub: attacker, email: address }))
          seen.push((await direct(provider, idToken, victim)).signedIn)
        }
        // The attacker's sign-ins through the facade announce the same subject that
        // the attacker tries to link.
        await signInAs(provider, { sub: attacker, email: other, email_verified: false })
      }
      return seen
    })()
    for (let round = 0; round < 10; round++) {
      const replies = await Promise.all(
        Array.from({ length: 5 }, () => signInAs(provider, { sub: owner, email })),
      )
      expect(replies.map(({ status, body }) => [status, body.user?.id]))
        .toEqual(Array.from({ length: 5 }, () => [200, victim.id]))
    }
    stop = true
    expect(new Set(await links)).toEqual(new Set([false]))
    expect(await linkedTo(victim.id)).toEqual(['email', provider].sort())
  })

  test('stays shut after a function that died between beginning and end', async () => {
    const [sub, email] = [randomUUID(), newEmail()]
    const victim = personFrom(await signInAs(provider, { sub, email }))
    await database().query(`select private.begin_social_sign_in($1, $2, $3, true, '', $4, 'x')`, [
      provider,
      sub,
      email,
      [randomUUID()],
    ])
    const idToken = await token(provider, said(provider, { email: newEmail() }))
    expect(await direct(provider, idToken, victim)).toEqual(refused)
    await database().query(
      `update private.announced_sign_ins set expires_at = now() where subject = $1`,
      [sub],
    )
    expect(await direct(provider, await token(provider, said(provider, { sub, email }))))
      .toEqual(refused)
  })
})

describe.runIf(issuerUrl)('what a provider says', () => {
  test('about an email that is not the account’s is not kept, so nobody lands there', async () => {
    const [sub, mine, victims] = [randomUUID(), newEmail(), newEmail()]
    const attacker = await signInAs('google', { sub, email: mine })
    for (
      const said of [
        { email: victims, email_verified: false },
        { email: victims, email_verified: true },
        { email: undefined, email_verified: undefined },
      ]
    ) {
      expect(await signInAs('google', { sub, ...said }))
        .toMatchObject({ status: 200, body: { user: { id: attacker.body.user.id } } })
    }
    const victim = await signInAs('apple', { email: victims })
    expect(victim).toMatchObject({ status: 200, body: { isNewAccount: true } })
    expect(victim.body.user.id).not.toBe(attacker.body.user.id)
  })

  test('is told once where it is new, and stands in the account and its export', async () => {
    const person = await signUp()
    expect((await person.get('/auth/me')).body.user.providers).toEqual([])
    const google = { email: person.identifier, sub: randomUUID() }
    await signInAs('google', google)
    const owner = personFrom(await signInAs('google', google))
    expect((await owner.get('/auth/me')).body.user.providers).toEqual(['google'])
    expect(await notificationsOf(owner, 'security_provider')).toMatchObject([
      { bodyEn: expect.stringContaining('Google'), data: { route: 'sessions' } },
    ])
    const { body } = await owner.get('/auth/me/export')
    expect(body.signInProviders).toMatchObject([
      { provider: 'email' },
      { provider: 'google', subject: google.sub, said: { email: person.identifier } },
    ])
    expect(body.metadata).toMatchObject({ full_name: expect.any(String), sub: google.sub })
  })

  test('is no news to whoever has just registered by it', async () => {
    const person = personFrom(await signInAs('apple'))
    expect((await person.get('/auth/me')).body.user.providers).toEqual(['apple'])
    expect(await notificationsOf(person, 'security_provider')).toEqual([])
  })
})

test('Auth gives tokens for passwords, refreshes and announced providers alone', async () => {
  const { id } = await signUp()
  const methods = ['password', 'token_refresh', 'oauth', 'otp', 'magiclink', 'recovery', 'invite']
  const { rows } = await database().query(
    `select method from unnest($2::text[]) as method
     where private.custom_access_token(jsonb_build_object(
       'user_id', $1::text, 'authentication_method', method, 'claims', '{}'::jsonb)) ? 'claims'`,
    [id, [...methods, 'anonymous', 'sso/saml', 'web3', 'passkey', 'email_change', 'totp', 'new']],
  )
  expect(rows.map(({ method }) => method)).toEqual(['password', 'token_refresh'])
})
