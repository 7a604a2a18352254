import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  database,
  guest,
  inboxOf,
  newEmail,
  projectUrl,
  publishableKey,
  signIn,
} from '../support/client.ts'
import { race } from '../support/races.ts'
import { claims, issuerUrl, type Provider, token } from '../support/social-issuer.ts'
import {
  accountsByEmail,
  personFrom,
  providers,
  registerEmail,
  signInAs,
  tokenInvalid,
} from './social-sign-in.ts'
import { notificationsOf } from '../support/notifications.ts'
import { waitFor } from '../support/wait.ts'
import { refusal } from '../support/problems.ts'

const codes = async (email: string) => (await inboxOf(email)).map(({ code }) => code)

const atAuth = (provider: Provider, idToken: string, nonce?: string) =>
  fetch(`${projectUrl}/auth/v1/token?grant_type=id_token`, {
    method: 'POST',
    headers: { apikey: publishableKey, 'content-type': 'application/json' },
    body: JSON.stringify({ provider, id_token: idToken, nonce }),
  })

describe.runIf(issuerUrl)('who owns an email', () => {
  test('REG-07 the owner of an email registered by somebody else ends what was there', async () => {
    for (const provider of providers) {
      const email = newEmail()
      const password = await registerEmail(email)
      const attacker = await signIn(email, password)
      await attacker.put('/devices', {
        deviceId: randomUUID(),
        platform: 'ios',
        pushToken: randomUUID(),
      })
      await guest.post('/auth/password/forgot', { identifier: email })
      const code = await waitFor('a code', async () => (await codes(email))[0])

      const victim = await signInAs(provider, { email: email.toUpperCase() })
      expect(victim).toMatchObject({ status: 200, body: { isNewAccount: false } })
      expect(victim.body.user.id).toBe(attacker.id)
      expect(await accountsByEmail(email)).toMatchObject([
        { email_proven: true, sessions: 1, providers: ['email', provider].sort() },
      ])

      expect(await notificationsOf(personFrom(victim), 'security_password')).toMatchObject([
        { titleEn: 'An unproven password was removed' },
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

      await database().query(`delete from private.rate_hits where subject like '%' || $1`, [email])
      await guest.post('/auth/password/forgot', { identifier: email })
      const fresh = await waitFor(
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

  test('REG-07 nobody gets an account past the facade, with the public key', async () => {
    const nobody = newEmail()
    const refused = await atAuth(
      'google',
      await token('google', claims('google', { email: nobody })),
    )
    expect([refused.status, (await refused.json()).error_code]).toEqual([422, 'signup_disabled'])
    expect(await accountsByEmail(nobody)).toEqual([])
  })

  test('REG-07 whoever signs in with the old password in that very moment stays out', async () => {
    const emails = Array.from({ length: 5 }, newEmail)
    const passwords = await Promise.all(emails.map(registerEmail))
    const tokens = await Promise.all(
      emails.map((email) => token('google', claims('google', { email }))),
    )
    const attempts = emails.flatMap((identifier, i) => [
      ...Array.from({ length: 3 }, () => ({
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
        expect(await personFrom(reply).get('/auth/me')).toMatchObject({ status: 200 })
      } else if (reply.status === 200) {
        expect(await personFrom(reply).get('/auth/me')).toMatchObject(refusal(401, 'token_invalid'))
      } else {
        // A busy service may respond that the request has to be retried.
        expect(['invalid_credentials', 'service_unavailable']).toContain(reply.body.error.code)
      }
    }
  })

  test('a verified account keeps its password and its sessions when a provider is linked', async () => {
    const email = newEmail()
    const password = await registerEmail(email)
    await signInAs('google', { email })
    await database().query(`delete from private.rate_hits where subject like '%' || $1`, [email])
    await guest.post('/auth/password/forgot', { identifier: email })
    const code = await waitFor('a code', async () => (await codes(email))[0])
    const newPassword = randomUUID()
    await guest.post('/auth/password/reset', {
      identifier: email,
      code,
      newPassword,
      confirmPassword: newPassword,
    })
    expect(newPassword).not.toBe(password)
    const mine = await signIn(email, newPassword)
    const apple = await signInAs('apple', { email })
    expect(apple.body).toMatchObject({ isNewAccount: false, user: { id: mine.id } })
    expect(await mine.get('/auth/me')).toMatchObject({ status: 200 })
    expect(await guest.post('/auth/login', { identifier: email, password: newPassword }))
      .toMatchObject({ status: 200 })
    expect(await accountsByEmail(email)).toMatchObject([{
      providers: ['apple', 'email', 'google'],
    }])
  })

  test('an email that changed hands at Auth is verified again by the provider', async () => {
    const said = { sub: randomUUID(), email: newEmail() }
    const first = await signInAs('google', said)
    const other = newEmail()
    // Sets the email as an administrator would; only the old email is verified.
    await database().query('update auth.users set email = $2 where id = $1', [
      first.body.user.id,
      other,
    ])
    expect(await accountsByEmail(other)).toMatchObject([{ email_proven: false }])
    await signInAs('google', said)
    expect(await accountsByEmail(other)).toMatchObject([{ email_proven: false, sessions: 2 }])
    await signInAs('google', { ...said, email: other })
    expect(await accountsByEmail(other)).toMatchObject([{ email_proven: true, sessions: 1 }])
  })

  test('once the owner has come, the email is taken for anybody else', async () => {
    const email = newEmail()
    await signInAs('apple', { email })
    expect(await guest.post('/auth/register', { identifier: email, password: randomUUID() }))
      .toMatchObject(refusal(409, 'email_taken'))
  })

  test('an email that the provider does not vouch for opens nothing', async () => {
    const email = newEmail()
    const password = await registerEmail(email)
    for (const said of [false, 'false', undefined, null, 1, 'yes', {}]) {
      expect(await signInAs('google', { email, email_verified: said }), String(said))
        .toMatchObject(refusal(409, 'email_taken'))
      expect(await signInAs('google', { email_verified: said })).toMatchObject(tokenInvalid)
    }
    for (const wrong of [undefined, '', 'nobody', '51234567', 5, 'a b@example.com']) {
      expect(await signInAs('google', { email: wrong })).toMatchObject(tokenInvalid)
    }
    expect(await guest.post('/auth/login', { identifier: email, password }))
      .toMatchObject({ status: 200 })
    expect(await signInAs('google', { email_verified: true })).toMatchObject({ status: 200 })
    // Google sends a boolean, and Auth accepts nothing else from Google. Apple also sends strings.
    expect(await signInAs('google', { email_verified: 'true' })).toMatchObject(tokenInvalid)
    for (const said of [true, 'true']) {
      expect(await signInAs('apple', { email_verified: said })).toMatchObject({ status: 200 })
    }
  })
})
