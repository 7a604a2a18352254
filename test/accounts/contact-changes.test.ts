import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { guest, inboxOf, newEmail, newPhone, signIn, signUp } from '../support/client.ts'
import { ageCodes, codeTries, countAccounts, signUpByPhone, wrongCode } from '../support/codes.ts'
import { notificationsOf } from '../support/notifications.ts'
import { fieldRefusal, refusal, unknownId } from '../support/problems.ts'
import { bearer, race } from '../support/races.ts'
import {
  ageChanges,
  atAuth,
  begin,
  beginChange,
  byPassword,
  change,
  contactOf,
  isNobodys,
  notFound,
  noticeTo,
  proofCode,
  resetBy,
  signedOut,
  signUpProven,
  tooSoon,
  verify,
  wrongProof,
} from './contact-requests.ts'

const full = (phone: string) => `+965${phone}`

test('CON-01 a person who registered by phone adds an email, and signs in by either', async () => {
  const person = await signUpByPhone()
  const other = await signIn(person.identifier, person.password)
  const email = newEmail()
  const begun = await beginChange(person, 'email', email.toUpperCase())
  expect(begun.body).toEqual({
    changeId: begun.changeId,
    resendAfter: 45,
    expiresIn: 300,
  })
  expect(await contactOf(person)).toMatchObject({ email: null })
  const done = await verify(person, 'email', begun)
  expect(done).toMatchObject({
    status: 200,
    body: { user: { id: person.id, email, emailProven: true, phone: full(person.identifier) } },
  })
  expect(done.body).not.toHaveProperty('closes')
  expect((await verify(person, 'email', begun)).body).toEqual(done.body)
  expect(await verify(person, 'email', { ...begun, code: wrongCode(begun.code) }))
    .toMatchObject(refusal(422, 'otp_invalid'))
  expect((await signIn(email, person.password)).id).toBe(person.id)
  expect((await signIn(person.identifier, person.password)).id).toBe(person.id)
  expect(await other.get('/auth/me')).toMatchObject(signedOut)
  expect(await atAuth(person)).toMatchObject({
    email,
    phone: `965${person.identifier}`,
    confirmed: true,
    identities: [`email ${email}`, `phone 965${person.identifier}`],
  })
  expect(await notificationsOf(person, 'security_contact')).toMatchObject([
    { titleEn: 'Your email was changed', data: { route: 'sessions', entityId: null } },
  ])
  expect(await noticeTo(person.identifier)).toContain('تغيّر البريد في حسابك')
  expect((await inboxOf(email)).filter(({ code }) => !code)).toEqual([])
})

test('CON-01 a changed phone is told where it was and where the email is, in one part of an SMS', async () => {
  const person = await signUpByPhone()
  const [email, phone] = [newEmail(), newPhone()]
  await change(person, 'email', email)
  await ageChanges(person, 73)
  await change(person, 'phone', phone, await proofCode(person, person.identifier))
  expect(await contactOf(person)).toEqual({ email, phone: full(phone), emailProven: true })
  for (const [to, says] of [[person.identifier, 'لم يعد هذا الرقم'], [email, 'تغيّر رقم الهاتف']]) {
    await expect.poll(async () => (await inboxOf(to!))[0]!.body).toContain(says)
    for (const { body } of await inboxOf(to!)) {
      expect(body.length).toBeLessThanOrEqual(70)
      expect(body).not.toContain(phone)
    }
  }
  expect(await isNobodys(person.identifier)).toBe(true)
  expect(
    await guest.post('/auth/login', {
      identifier: person.identifier,
      password: person.password,
    }),
  ).toMatchObject(refusal(401, 'invalid_credentials'))
  expect((await signUpByPhone(person.identifier)).id).not.toBe(person.id)
})

test('CON-02 the own unproven email is proven by its code', async () => {
  const person = await signUp()
  expect(await contactOf(person)).toMatchObject({ emailProven: false })
  await change(person, 'email', person.identifier)
  expect(await contactOf(person)).toEqual({
    email: person.identifier,
    phone: null,
    emailProven: true,
  })
  expect(await begin(person, 'email', person.identifier))
    .toMatchObject(fieldRefusal(422, 'identifier_unchanged', 'email'))
})

test('CON-03 a phone takes an unproven email off, and says so before', async () => {
  const person = await signUp()
  const phone = newPhone()
  const begun = await beginChange(person, 'phone', phone)
  expect(begun.body).toMatchObject({ emailLeaves: true })
  expect(await verify(person, 'phone', begun)).toMatchObject({
    status: 200,
    body: { user: { email: null, emailProven: false, phone: full(phone) } },
  })
  expect(await atAuth(person)).toMatchObject({
    email: null,
    confirmed: true,
    identities: [`phone 965${phone}`],
  })
  expect(await isNobodys(person.identifier)).toBe(true)
  expect((await signIn(phone, person.password)).id).toBe(person.id)
  const proven = await signUpProven()
  expect((await beginChange(proven, 'phone', newPhone())).body).not.toHaveProperty('emailLeaves')
})

describe('CON-04 what a change is proven by', () => {
  test('neither a token alone nor a wrong proof begins one, and nothing is sent', async () => {
    const person = await signUpByPhone()
    const email = newEmail()
    const wrong = [{}, { currentPassword: 'not this one' }, { code: '123456' }]
    for (const proof of wrong) {
      expect(await begin(person, 'email', email, proof)).toMatchObject(wrongProof)
      expect(await person.delete('/auth/me/phone', proof)).toMatchObject(wrongProof)
    }
    expect(await begin(person, 'email', email, { currentPassword: 'one', code: '123456' }))
      .toMatchObject(refusal(422, 'validation_failed'))
    expect(await inboxOf(email)).toEqual([])
  })

  test('a code proves only the one that it was sent to, and the other where that is not proven', async () => {
    const person = await signUpByPhone()
    const email = newEmail()
    await ageCodes(person.identifier, 45)
    await change(person, 'email', email, await proofCode(person, person.identifier))
    await ageChanges(person, 73)
    const bySms = await proofCode(person, person.identifier)
    expect(await begin(person, 'email', newEmail(), bySms)).toMatchObject(wrongProof)
    const byMail = await proofCode(person, email)
    expect(await begin(person, 'phone', newPhone(), byMail)).toMatchObject(wrongProof)
    await ageCodes(email, 45)
    expect(await person.delete('/auth/me/phone', await proofCode(person, email)))
      .toMatchObject(wrongProof)
    await ageCodes(email, 45)
    await change(person, 'email', newEmail(), await proofCode(person, email))
  })

  test('codes for a reset or a deletion prove no change, and one for a change nothing else', async () => {
    const person = await signUpByPhone()
    const { identifier } = person
    const resend = (purpose: string) => person.post('/auth/otp/resend', { identifier, purpose })
    await ageCodes(identifier, 45)
    await resend('delete')
    await guest.post('/auth/password/forgot', { identifier })
    await expect.poll(async () => (await inboxOf(identifier)).length).toBe(3)
    for (const { code } of await inboxOf(identifier)) {
      expect(await begin(person, 'email', newEmail(), { code })).toMatchObject(wrongProof)
    }
    const { code } = await proofCode(person, identifier)
    const newPassword = randomUUID()
    expect(
      await guest.post('/auth/password/reset', {
        identifier,
        code,
        newPassword,
        confirmPassword: newPassword,
      }),
    ).toMatchObject(refusal(422, 'otp_invalid'))
    expect(await person.post('/auth/me/delete', { code })).toMatchObject({ status: 422 })
  })

  test('a code for a change goes to the own proven phone or email alone', async () => {
    const [person, other] = [await signUp(), await signUpByPhone()]
    for (const identifier of [person.identifier, other.identifier, newPhone()]) {
      const before = (await inboxOf(identifier)).length
      await ageCodes(identifier, 45)
      expect(await person.post('/auth/otp/resend', { identifier, purpose: 'change' }))
        .toMatchObject({ status: 202 })
      expect(await inboxOf(identifier)).toHaveLength(before)
    }
    expect(
      await guest.post('/auth/otp/resend', {
        identifier: person.identifier,
        purpose: 'change',
      }),
    ).toMatchObject(refusal(401, 'token_missing'))
  })
})

describe('CON-05 a change', () => {
  test('is sent again with the same call, without a proof, in its session alone', async () => {
    const person = await signUpByPhone()
    const other = await signIn(person.identifier, person.password)
    const email = newEmail()
    const first = await beginChange(person, 'email', email)
    expect(await begin(person, 'email', email, {})).toMatchObject(
      refusal(429, 'otp_resend_too_soon'),
    )
    await ageCodes(email, 45)
    expect(await begin(other, 'email', email, {})).toMatchObject(wrongProof)
    const second = await beginChange(person, 'email', email, {})
    expect(second.changeId).toBe(first.changeId)
    expect(await verify(other, 'email', second)).toMatchObject(notFound)
    expect(await verify(person, 'email', second)).toMatchObject({ status: 200 })
  })

  test('is not found when it is replaced, an hour old, of the other kind or another person', async () => {
    const [person, other] = [await signUpByPhone(), await signUpByPhone()]
    const replaced = await beginChange(person, 'email', newEmail())
    const late = await beginChange(person, 'email', newEmail())
    expect(await verify(person, 'email', replaced)).toMatchObject(notFound)
    expect(await verify(person, 'phone', late)).toMatchObject(notFound)
    expect(await verify(other, 'email', late)).toMatchObject(notFound)
    expect(await verify(person, 'email', { ...late, changeId: unknownId })).toMatchObject(notFound)
    await ageChanges(person, 1)
    expect(await verify(person, 'email', late)).toMatchObject(notFound)
    expect(await contactOf(person)).toMatchObject({ email: null })
  })

  test('has a code of five minutes and five tries', async () => {
    const person = await signUpByPhone()
    const [late, wrong] = [newEmail(), newEmail()]
    const expired = await beginChange(person, 'email', late)
    await ageCodes(late, 301)
    expect(await verify(person, 'email', expired)).toMatchObject(refusal(410, 'otp_expired'))
    const begun = await beginChange(person, 'email', wrong)
    for (const left of [4, 3, 2, 1, 0]) {
      expect(await verify(person, 'email', { ...begun, code: wrongCode(begun.code) }))
        .toMatchObject({ status: 422, body: { error: { attemptsLeft: left } } })
    }
    expect(await verify(person, 'email', begun)).toMatchObject(refusal(429, 'otp_locked'))
    expect(await codeTries(wrong)).toEqual([5])
  })

  test('refuses what is taken, malformed, of the other kind, or the present one', async () => {
    const [person, other, proven] = [
      await signUpByPhone(),
      await signUpByPhone(),
      await signUpProven(),
    ]
    expect(await begin(person, 'phone', other.identifier))
      .toMatchObject(fieldRefusal(409, 'phone_taken', 'phone'))
    expect(await begin(person, 'email', proven.identifier))
      .toMatchObject(fieldRefusal(409, 'email_taken', 'email'))
    expect(await begin(person, 'phone', person.identifier))
      .toMatchObject(fieldRefusal(422, 'identifier_unchanged', 'phone'))
    for (
      const [kind, value] of [
        ['phone', newEmail()],
        ['email', newPhone()],
        ['phone', '12345678'],
        ['email', 'decoy@accounts.invalid'],
      ] as const
    ) {
      expect(await begin(person, kind, value))
        .toMatchObject(fieldRefusal(422, 'identifier_invalid', kind))
    }
  })

  test.each([['email', newEmail], ['phone', newPhone]] as const)(
    'to %s that somebody else proves first is refused, also with its code',
    async (kind, make) => {
      const [person, other] = [await signUpProven(), await signUpProven()]
      const value = make()
      const mine = await beginChange(person, kind, value)
      await ageCodes(value, 45)
      const theirs = await beginChange(other, kind, value)
      expect(await verify(other, kind, theirs)).toMatchObject({ status: 200 })
      expect(await verify(person, kind, mine))
        .toMatchObject(fieldRefusal(409, `${kind}_taken`, kind))
      expect(String((await contactOf(person))[kind])).not.toContain(value)
    },
  )

  test('is proven by a code that is tried five times, for a removal too', async () => {
    const person = await signUpByPhone()
    const proof = await proofCode(person, person.identifier)
    const wrong = { code: wrongCode(proof.code!) }
    for (let nth = 0; nth < 5; nth++) {
      expect(await begin(person, 'phone', newPhone(), wrong)).toMatchObject(wrongProof)
    }
    const locked = refusal(429, 'otp_locked')
    expect(await begin(person, 'phone', newPhone(), proof)).toMatchObject(locked)
    expect(await person.delete('/auth/me/phone', proof)).toMatchObject(locked)
  })

  test('of two people to one email at the same moment is that of one', async () => {
    const people = [await signUpByPhone(), await signUpByPhone()]
    const email = newEmail()
    const first = await beginChange(people[0]!, 'email', email)
    await ageCodes(email, 45)
    const begun = [first, await beginChange(people[1]!, 'email', email)]
    const replies = await race(people.map((person, nth) => ({
      path: '/auth/me/email/verify',
      body: { changeId: begun[nth]!.changeId, code: begun[nth]!.code },
      headers: [bearer(person)],
    })))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await countAccounts(email)).toBe(1)
  })
})

describe('CON-06 for 72 hours', () => {
  test('a change of one holds the other proven one', async () => {
    const person = await signUpByPhone()
    const email = newEmail()
    await change(person, 'email', email)
    const held = await begin(person, 'phone', newPhone())
    expect(held).toMatchObject(tooSoon)
    expect(Date.parse(held.body.error.retryAt)).toBeGreaterThan(Date.now())
    expect(await person.delete('/auth/me/phone', byPassword(person))).toMatchObject(tooSoon)
    await change(person, 'email', newEmail())
    await ageChanges(person, 73)
    await change(person, 'phone', newPhone())
  })

  test('a reset by one holds the other, each anew', async () => {
    const person = await signUpByPhone()
    const email = newEmail()
    await change(person, 'email', email)
    await ageChanges(person, 73)
    const first = await signIn(email, await resetBy(email))
    const held = await begin(first, 'phone', newPhone())
    expect(held).toMatchObject(tooSoon)
    await ageChanges(first, 70)
    await ageCodes(email, 45)
    const again = await signIn(email, await resetBy(email))
    const heldAnew = await begin(again, 'phone', newPhone())
    expect(Date.parse(heldAnew.body.error.retryAt)).toBeGreaterThan(
      Date.parse(held.body.error.retryAt),
    )
    await change(again, 'email', newEmail())
  })
})
