import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, guest, newEmail } from '../support/client.ts'
import { race } from '../support/races.ts'
import {
  claims,
  clientIds,
  hashed,
  issuerUrl,
  requestsWith,
  token,
} from '../support/social-issuer.ts'
import {
  accountsByEmail,
  personFrom,
  providers,
  registerEmail,
  signInAs,
} from './social-sign-in.ts'
import { waitFor, waitUntil } from '../support/wait.ts'
import { refusal } from '../support/problems.ts'

if (!issuerUrl) console.log('SOCIAL_ISSUER_URL is not set: tests of social sign-in are left out.')

describe.runIf(issuerUrl)('social sign-in', () => {
  test.each(providers)('%s: a new subject gets a usable account at once', async (provider) => {
    const said = { sub: randomUUID(), email: newEmail() }
    const first = await signInAs(provider, said, { fullName: 'نورة الصباح' })
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
    expect((await personFrom(first).get('/favorites/ids')).body).toEqual({ ids: [] })

    const again = await signInAs(provider, said)
    expect(again.body).toMatchObject({ isNewAccount: false, user: first.body.user })
    expect(await accountsByEmail(said.email)).toMatchObject([
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
    const google = await signInAs('google', { name: '  Noura   Al Sabah ' })
    expect(google.body.user.fullName).toBe('Noura Al Sabah')
    const marked = await signInAs('google', { name: '\u2068Noura\u2069' })
    expect(marked.body.user.fullName).toBe('Noura')
    const invisible = await signInAs('google', { name: 'a\u3164b' })
    expect(invisible.body.user.fullName).toBeNull()
    const posing = await signInAs('google', { name: 'Customer Support' })
    expect(posing.body.user.fullName).toBeNull()
    const initial = await signInAs('apple', {}, { fullName: 'ن' })
    expect(initial).toMatchObject({ status: 200, body: { user: { fullName: null } } })

    const said = { sub: randomUUID(), email: newEmail() }
    await registerEmail(said.email)
    const asService = await signInAs('apple', said, { fullName: 'إدارة التطبيق' })
    expect(asService).toMatchObject({ status: 200, body: { user: { fullName: null } } })
    const linked = await signInAs('apple', said, { fullName: 'نورة الصباح' })
    expect(linked.body).toMatchObject({ isNewAccount: false, user: { fullName: 'نورة الصباح' } })
    const later = await signInAs('apple', said, { fullName: 'غير ذلك' })
    expect(later.body.user.fullName).toBe('نورة الصباح')
  })

  test('REG-10 a subject is one account, whatever email it presents', async () => {
    const sub = randomUUID()
    const relay = () => `${randomUUID().slice(0, 10)}@privaterelay.appleid.com`
    const email = relay()
    const first = await signInAs('apple', { sub, email, is_private_email: 'true' })
    expect(first).toMatchObject({ status: 200, body: { isNewAccount: true, user: { email } } })
    for (const changes of [{ email: relay() }, { email: undefined }, { email_verified: false }]) {
      const again = await signInAs('apple', { sub, email, ...changes })
      expect(again).toMatchObject({
        status: 200,
        body: {
          isNewAccount: false,
          user: { id: first.body.user.id, email },
          activeIdentity: first.body.activeIdentity,
        },
      })
    }
    const google = await signInAs('google', { sub })
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
      expect(await accountsByEmail(said.email)).toMatchObject([
        { identities: 1, profiles: 1, email_proven: true, providers: ['email', provider].sort() },
      ])
      expect(await personFrom(replies[19]!).get('/auth/me')).toMatchObject({ status: 200 })
    }
  })

  test('a suspended or banned account cannot sign in this way either', async () => {
    const said = { sub: randomUUID(), email: newEmail() }
    const { body } = await signInAs('google', said)
    const set = (status: string) =>
      database().query(
        `update public.accounts set status = $2, status_reason = 'مخالفة' where id = $1`,
        [body.user.id, status],
      )
    await set('suspended')
    expect(await signInAs('google', said)).toMatchObject(refusal(403, 'account_suspended'))
    await set('banned')
    expect(await signInAs('google', said)).toMatchObject(refusal(403, 'account_banned'))
    await set('active')
    expect(await signInAs('google', said)).toMatchObject({ status: 200 })
  })

  test("Apple's code is exchanged at once, kept sealed, and revoked at deletion", async () => {
    const code = randomUUID()
    const said = { sub: randomUUID(), aud: clientIds.apple[1] }
    const { body } = await signInAs('apple', said, { authorizationCode: code })
    const storedTokens = () =>
      database().query('select * from private.apple_tokens where account_id = $1', [body.user.id])
    expect(await requestsWith(code)).toMatchObject([{
      path: '/auth/token',
      form: { grant_type: 'authorization_code', client_id: clientIds.apple[1], code },
    }])
    const { rows: [row] } = await storedTokens()
    expect(row).toMatchObject({ client_id: clientIds.apple[1], revoke_at: null })
    expect(JSON.stringify(row)).not.toContain(code)
    // The stored token is not changed by a later sign-in without a code, nor by one
    // whose code cannot be exchanged.
    await signInAs('apple', said)
    expect(await signInAs('apple', said, { authorizationCode: `fail ${randomUUID()}` }))
      .toMatchObject({ status: 200 })
    expect((await storedTokens()).rows).toEqual([row])

    await database().query('delete from auth.users where id = $1', [body.user.id])
    const revoked = await waitFor(
      'the revocation',
      async () =>
        (await requestsWith(`refresh of ${code}`)).find(({ path }) => path === '/auth/revoke'),
    )
    expect(revoked.form).toMatchObject({
      client_id: clientIds.apple[1],
      token_type_hint: 'refresh_token',
    })
    await waitUntil('the token is gone', async () => !(await storedTokens()).rowCount)
  })

  test('a deleted account returns as a new and empty one', async () => {
    const said = { sub: randomUUID(), email: newEmail() }
    const first = await signInAs('google', said, { fullName: 'نورة الصباح' })
    await database().query('delete from auth.users where id = $1', [first.body.user.id])
    const second = await signInAs('google', said)
    expect(second.body).toMatchObject({ isNewAccount: true, user: { fullName: null } })
    expect(second.body.user.id).not.toBe(first.body.user.id)
  })
})
