import { randomUUID } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { describe, expect, test } from 'vitest'
import { guest, newEmail, signIn } from '../support/client.ts'
import { refusal } from '../support/problems.ts'
import { issuerUrl, type Provider } from '../support/social-issuer.ts'
import {
  accountsByEmail,
  personFrom,
  providers,
  registerEmail,
  signInAs,
  tokenInvalid,
} from './social-sign-in.ts'

/**
 * Returns an email address with its domain as people write it and in ASCII (Punycode), as networks use it.
 */
function spellings(provider: Provider) {
  const [name, domain] = [randomUUID(), provider === 'google' ? 'بريد.كويت' : 'bücher.example']
  return { written: `${name}@${domain}`, ascii: `${name}@${domainToASCII(domain)}` }
}

describe.runIf(issuerUrl)('an email with a domain in Unicode', () => {
  test('is the same as in ASCII for a provider, before and after', async () => {
    for (const provider of providers) {
      const { written, ascii } = spellings(provider)
      const sub = randomUUID()
      const first = await signInAs(provider, { sub, email: written })
      expect(first).toMatchObject({
        status: 200,
        body: { isNewAccount: true, user: { email: ascii, emailProven: true } },
      })
      for (const email of [ascii, written, written.toUpperCase()]) {
        expect(await signInAs(provider, { sub, email }))
          .toMatchObject({ status: 200, body: { isNewAccount: false, user: { email: ascii } } })
      }
      const other = provider === 'google' ? 'apple' : 'google'
      const linked = await signInAs(other, { email: written })
      expect(linked.body).toMatchObject({ isNewAccount: false, user: { id: first.body.user.id } })
      expect(await accountsByEmail(ascii)).toMatchObject([
        { identities: 1, providers: ['apple', 'email', 'google'] },
      ])
    }
  })

  test('is the same at registration and at login, and its owner takes it over', async () => {
    for (const provider of providers) {
      const { written, ascii } = spellings(provider)
      const password = await registerEmail(written)
      const stranger = await signIn(written, password)
      expect((await guest.post('/auth/login', { identifier: ascii, password })).body.user.id)
        .toBe(stranger.id)
      expect(await signInAs('google', { email: written, email_verified: false }))
        .toMatchObject(refusal(409, 'email_taken'))

      const owner = await signInAs(provider, { email: written })
      expect(owner).toMatchObject({ status: 200, body: { user: { id: stranger.id } } })
      expect(await stranger.get('/auth/me')).toMatchObject(refusal(401, 'token_invalid'))
      expect(await guest.post('/auth/login', { identifier: written, password }))
        .toMatchObject(refusal(401, 'invalid_credentials'))
      expect(await personFrom(owner).get('/auth/me')).toMatchObject({ status: 200 })
      expect(await accountsByEmail(ascii)).toMatchObject([
        { email_proven: true, sessions: 1, providers: ['email', provider].sort() },
      ])
    }
  })

  test('is none where the provider states what a person would have to clean', async () => {
    for (const provider of providers) {
      const email = newEmail()
      const [name, domain] = email.split('@')
      await registerEmail(email)
      const unclean = [
        ` ${email}`,
        `${email}\n`,
        `\u200f${email}`,
        `${name}\u200b@${domain}`,
        `${name}@\u00ad${domain}`,
        `${name}@exam\ufe0fple.com`,
        `\uff41${name}@${domain}`,
        `${name}@${domain}@${domain}`,
      ]
      for (const stated of unclean) {
        expect(await signInAs(provider, { email: stated }), JSON.stringify(stated))
          .toMatchObject(tokenInvalid)
      }
      expect(await accountsByEmail(email)).toMatchObject([{ providers: ['email'] }])
    }
  })
})
