import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, newEmail, newPhone, type Person, signIn } from '../support/client.ts'
import { signUpByPhone } from '../support/codes.ts'
import { refusal } from '../support/problems.ts'
import { issuerUrl } from '../support/social-issuer.ts'
import { atAuth, begin, byPassword, change, contactOf, resetBy } from './contact-requests.ts'
import { personFrom, signInAs, tokenInvalid } from './social-sign-in.ts'

const full = (phone: string) => `+965${phone}`

describe.runIf(issuerUrl)('CON-14 providers', () => {
  const remove = (person: Person, provider = 'google') =>
    person.delete(`/auth/me/providers/${provider}`, byPassword(person))

  test('a removed one signs in no more, and comes back by the own proven email alone', async () => {
    const email = newEmail()
    const sub = randomUUID()
    const made = personFrom(await signInAs('google', { email, sub }))
    const person = await signIn(email, await resetBy(email))
    expect((await person.get('/auth/me')).body.user.providers).toEqual(['google'])
    expect(await remove(person, 'apple')).toMatchObject({ status: 204 })
    expect(await remove(person)).toMatchObject({ status: 204 })
    expect(await remove(person)).toMatchObject({ status: 204 })
    expect((await person.get('/auth/me')).body.user.providers).toEqual([])
    await change(person, 'email', newEmail())
    const back = await signInAs('google', { email, sub })
    expect(back).toMatchObject({ status: 200, body: { isNewAccount: true } })
    expect(back.body.user.id).not.toBe(made.id)
  })

  test('the only way in is not removed', async () => {
    const email = newEmail()
    const person = personFrom(await signInAs('google', { email }))
    const code = await person.post('/auth/otp/resend', { identifier: email, purpose: 'change' })
    expect(code).toMatchObject({ status: 202 })
    const phone = await signUpByPhone()
    expect(await phone.delete('/auth/me/phone', byPassword(phone)))
      .toMatchObject(refusal(409, 'last_identifier'))
  })

  test('one that was linked opens its account whatever becomes of the email, which keeps its own', async () => {
    const [email, next, sub] = [newEmail(), newEmail(), randomUUID()]
    const made = personFrom(await signInAs('google', { email, sub }))
    const person = await signIn(email, await resetBy(email))
    await change(person, 'email', next)
    expect((await atAuth(person)).said).toBeNull()
    const again = await signInAs('google', { email, sub })
    expect(again.body.user).toMatchObject({ id: made.id, email: next })
    // The sign-in does not restore the old email, which the provider still reports.
    expect(await atAuth(person)).toMatchObject({
      said: null,
      identities: [`email ${next}`, 'google '],
    })
    const stranger = await signInAs('google', { email })
    expect(stranger.body.user.id).not.toBe(made.id)
  })

  test('one linked since a change goes when that is undone', async () => {
    const person = await signUpByPhone()
    const theirs = newEmail()
    await change(person, 'email', theirs)
    const sub = randomUUID()
    expect((await signInAs('google', { email: theirs, sub })).body.user.id).toBe(person.id)
    const owner = await signIn(person.identifier, await resetBy(person.identifier))
    expect((await owner.get('/auth/me')).body.user).toMatchObject({ providers: [], email: null })
    const attacker = await signInAs('google', { email: theirs, sub })
    expect(attacker.body.user.id).not.toBe(person.id)
  })

  test('where nothing else is left, its sign-in of the last five minutes is proof', async () => {
    const [email, sub] = [newEmail(), randomUUID()]
    const made = personFrom(await signInAs('apple', { email, sub }))
    // Undoing a change can leave an account without an email at Auth.
    await database().query('update auth.users set email = null where id = $1', [made.id])
    expect(await begin(made, 'phone', newPhone(), { currentPassword: 'not this one' }))
      .toMatchObject(refusal(401, 'invalid_credentials'))
    await database().query(
      `update auth.mfa_amr_claims set created_at = created_at - interval '6 minutes'
       where session_id in (select id from auth.sessions where user_id = $1)`,
      [made.id],
    )
    expect(await begin(made, 'phone', newPhone(), {}))
      .toMatchObject(refusal(401, 'invalid_credentials'))
    const fresh = personFrom(await signInAs('apple', { email: newEmail(), sub }))
    expect(fresh.id).toBe(made.id)
    const phone = newPhone()
    await change(fresh, 'phone', phone, {})
    expect(await contactOf(fresh)).toMatchObject({ phone: full(phone) })
  })

  test('a new subject with another email, or none, opens nothing', async () => {
    expect(await signInAs('google', { email: newEmail(), email_verified: false }))
      .toMatchObject(tokenInvalid)
  })
})
