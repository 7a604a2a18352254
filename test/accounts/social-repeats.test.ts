import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { testFromAddresses } from '../support/addresses.ts'
import {
  database,
  guest,
  inboxOf,
  newEmail,
  type Person,
  projectUrl,
  publishableKey,
  type Reply,
} from '../support/client.ts'
import { type Facade, hasStack, startFacade, testLocally } from '../support/facade.ts'
import { race, sendRaw } from '../support/races.ts'
import {
  claims,
  hashed,
  issuerUrl,
  type Provider,
  requestsWith,
  token,
} from '../support/social-issuer.ts'
import { pause, waitFor } from '../support/wait.ts'
import { type AuthProxy, startAuthProxy } from './auth-proxy.ts'
import {
  accountsByEmail,
  personFrom,
  providers,
  signInElsewhere,
  signInWith,
  tokenUsed,
} from './social-sign-in.ts'

const keyOf = (provider: Provider, idToken: string) =>
  `${provider} token ${hashed(idToken.slice(0, idToken.lastIndexOf('.')))}`

const setToken = (provider: Provider, idToken: string, changes: string) =>
  database().query(`update private.social_tokens set ${changes} where key = $1`, [
    keyOf(provider, idToken),
  ])

async function signedIn(provider: Provider) {
  const said = claims(provider, { email: newEmail() })
  const idToken = await token(provider, said)
  const first = await signInWith(provider, idToken)
  expect(first).toMatchObject({ status: 200, body: { isNewAccount: true } })
  return { idToken, said, first, email: said.email as string }
}

const setStatus = (id: string, status: string) =>
  database().query(
    `update public.accounts set status = $2, status_reason = 'مخالفة' where id = $1`,
    [id, status],
  )

async function setPassword(email: string): Promise<string> {
  const before = (await inboxOf(email)).length
  await guest.post('/auth/password/forgot', { identifier: email })
  const code = await waitFor('a code', async () => (await inboxOf(email))[before]?.code)
  const newPassword = randomUUID()
  const body = { identifier: email, code, newPassword, confirmPassword: newPassword }
  expect(await guest.post('/auth/password/reset', body)).toMatchObject({ status: 204 })
  return newPassword
}

describe.runIf(issuerUrl)('REG-08 a token that comes once more', () => {
  test('within a minute from the same client gets a new session and the same word', async () => {
    for (const provider of providers) {
      const { idToken, first, email } = await signedIn(provider)
      const second = await signInWith(provider, idToken)
      expect(second).toMatchObject({
        status: 200,
        body: { isNewAccount: true, user: { id: first.body.user.id } },
      })
      expect(second.body.refreshToken).not.toBe(first.body.refreshToken)
      for (const reply of [first, second]) {
        expect(await personFrom(reply).get('/auth/me')).toMatchObject({ status: 200 })
      }
      const third = await signInWith(provider, idToken)
      expect(third).toMatchObject(tokenUsed)
      const name = provider === 'google' ? 'Google' : 'Apple'
      expect(third.body.error).toMatchObject({
        provider: name,
        message: `استُخدمت بيانات الدخول هذه من قبل، أعد المحاولة من جديد عبر ${name}`,
      })
      expect(await accountsByEmail(email)).toMatchObject([{ sessions: 2 }])
    }
  })

  test('says of an account that was there what it said', async () => {
    const { said } = await signedIn('google')
    const nonce = randomUUID()
    const idToken = await token('google', { ...said, nonce: hashed(nonce), jti: randomUUID() })
    for (let i = 0; i < 2; i++) {
      expect(await signInWith('google', idToken, { nonce }))
        .toMatchObject({ status: 200, body: { isNewAccount: false } })
    }
    expect(await signInWith('google', idToken, { nonce })).toMatchObject(tokenUsed)
  })

  test('later, or from another client, is refused', async () => {
    for (const provider of providers) {
      const { idToken } = await signedIn(provider)
      expect(await signInElsewhere(provider, idToken)).toMatchObject(tokenUsed)
      await setToken(provider, idToken, `used_at = used_at - interval '1 minute'`)
      expect(await signInWith(provider, idToken)).toMatchObject(tokenUsed)
    }
  })

  testFromAddresses('from another address is refused', async () => {
    const idToken = await token('google', claims('google'))
    const shot = { path: '/auth/google', body: { idToken } }
    expect(await sendRaw({ ...shot, from: '127.0.0.2' })).toMatchObject({ status: 200 })
    expect(await sendRaw({ ...shot, from: '127.0.0.3' })).toMatchObject(tokenUsed)
    expect(await sendRaw({ ...shot, from: '127.0.0.2' })).toMatchObject({ status: 200 })
  })

  test('at the same moment waits, and of many one more gets a session', async () => {
    for (const provider of providers) {
      for (const count of [2, 6]) {
        const said = claims(provider, { email: newEmail() })
        const idToken = await token(provider, said)
        const code = randomUUID()
        const body = { idToken, ...(provider === 'apple' && { authorizationCode: code }) }
        const replies = await race(
          Array.from({ length: count }, () => ({ path: `/auth/${provider}`, body })),
        )
        const good = replies.filter(({ status }) => status === 200)
        expect(good.map(({ body }) => [body.isNewAccount, body.user.email]))
          .toEqual(Array(2).fill([true, said.email]))
        for (const reply of replies) {
          if (reply.status !== 200) expect(reply).toMatchObject(tokenUsed)
        }
        expect(await accountsByEmail(said.email as string)).toMatchObject([{ sessions: 2 }])
        if (provider === 'apple') {
          expect((await requestsWith(code)).filter(({ path }) => path === '/auth/token'))
            .toHaveLength(1)
        }
      }
    }
  })

  test('waits five seconds for one that is not done, and goes on where that one fails', async () => {
    const { idToken } = await signedIn('google')
    await setToken('google', idToken, `used_at = null, expires_at = now() + interval '2 minutes'`)
    const began = Date.now()
    expect(await signInWith('google', idToken)).toMatchObject(tokenUsed)
    expect(Date.now() - began).toBeGreaterThan(4900)

    const waiting = signInWith('google', idToken)
    await pause(500, 'time is the subject')
    await database().query('delete from private.social_tokens where key = $1', [
      keyOf('google', idToken),
    ])
    expect(await waiting).toMatchObject({ status: 200, body: { isNewAccount: false } })
  })

  type Ending = (person: Person, email: string, again: () => Promise<Reply>) => Promise<unknown>
  const endings: [what: string, end: Ending][] = [
    ['signed out', (person) => person.post('/auth/logout', {})],
    ['signed out everywhere', (person) => person.post('/auth/logout', { scope: 'global' })],
    ['signed out another one', async (person, _, again) => {
      await again()
      await person.post('/auth/logout', { scope: 'others' })
    }],
    ['ended a session of the list', async (person) => {
      const { body } = await person.get('/auth/sessions')
      await person.delete(`/auth/sessions/${body.items[0].id}`)
    }],
    ['reset the password', (_, email) => setPassword(email)],
    ['was suspended for a moment', async ({ id }) => {
      await setStatus(id, 'suspended')
      await setStatus(id, 'active')
    }],
    ['was deleted', ({ id }) => database().query('delete from auth.users where id = $1', [id])],
  ]

  test.each(endings)('is refused once the person %s', async (_, end) => {
    for (const provider of providers) {
      const { idToken, said, first, email } = await signedIn(provider)
      const another = async () =>
        await signInWith(provider, await token(provider, { ...said, jti: randomUUID() }))
      await end(personFrom(first), email, another)
      expect(await signInWith(provider, idToken)).toMatchObject(tokenUsed)
      const fresh = await another()
      expect(fresh.status).toBe(200)
    }
  })

  test('is refused after a change of the password that ended a session', async () => {
    const { said, email } = await signedIn('google')
    const currentPassword = await setPassword(email)
    const login = await guest.post('/auth/login', { identifier: email, password: currentPassword })
    const idToken = await token('google', { ...said, jti: randomUUID() })
    expect(await signInWith('google', idToken)).toMatchObject({ status: 200 })
    const changed = { currentPassword, newPassword: randomUUID() }
    expect(await personFrom(login).post('/auth/password/change', changed))
      .toMatchObject({ status: 204 })
    expect(await signInWith('google', idToken)).toMatchObject(tokenUsed)
  })

  test('is refused where the session ends before Auth gives the next one', async () => {
    const { idToken, said, first } = await signedIn('google')
    const { rows: [announced] } = await database().query(
      `select topic from public.accounts where id = $1`,
      [first.body.user.id],
    )
    await personFrom(first).post('/auth/logout', {})
    // Simulates a request that announced its sign-in while the session was still open.
    await database().query(
      `insert into private.announced_sign_ins (provider, subject, email, topic)
       values ('google', $1, $2, $3)`,
      [said.sub, said.email, announced.topic],
    )
    const reply = await fetch(`${projectUrl}/auth/v1/token?grant_type=id_token`, {
      method: 'POST',
      headers: { apikey: publishableKey, 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'google', id_token: idToken }),
    })
    expect(reply.status).toBe(401)
  })

  describe('while Auth fails', () => {
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

    testLocally('is used up by it', async () => {
      const idToken = await token('apple', claims('apple'))
      const post = () => functions.post('/auth/apple', { idToken })
      expect(await post()).toMatchObject({ status: 200 })
      auth.answerNext(idToken, Array(4).fill({ status: 500, body: { code: 'unexpected_failure' } }))
      expect(await post()).toMatchObject({ status: 503 })
      expect(await post()).toMatchObject(tokenUsed)
    })
  })
})
