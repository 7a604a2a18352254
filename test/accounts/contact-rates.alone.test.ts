import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { newAddress, testFromAddresses } from '../support/addresses.ts'
import { database, newEmail, newPhone, type Person, signUp } from '../support/client.ts'
import { ageCodes, normalizedIdentifier, signUpByPhone } from '../support/codes.ts'
import { ageHits, hitsOf, plantHits } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { defaultRates } from '../support/rates.ts'
import { refusal } from '../support/problems.ts'
import { bearer, sendRaw } from '../support/races.ts'

withRates(defaultRates(/^(contact_changes|register_address|code_)/))

const limited = refusal(429, 'rate_limited')

const beginFrom = (from: string, person: Person, body: object) =>
  sendRaw({
    path: `/auth/me/${'phone' in body ? 'phone' : 'email'}`,
    body,
    from,
    headers: [bearer(person)],
  })

testFromAddresses(
  'CON-07 an account begins five changes a day, refused ones too, each a registration of its address',
  async () => {
    const [person, taken] = [await signUpByPhone(), await signUpByPhone()]
    await database().query('delete from private.rate_hits')
    const from = newAddress()
    const proof = { currentPassword: person.password }
    const registrations = () => hitsOf('register_address', from)
    expect(await beginFrom(from, person, { email: newEmail() }))
      .toMatchObject(refusal(401, 'invalid_credentials'))
    expect(await registrations()).toBe(0)

    const email = newEmail()
    expect(await beginFrom(from, person, { email, ...proof })).toMatchObject({ status: 202 })
    await ageCodes(email, 45)
    expect(await beginFrom(from, person, { email })).toMatchObject({ status: 202 })
    expect(await beginFrom(from, person, { phone: taken.identifier, ...proof }))
      .toMatchObject(refusal(409, 'phone_taken'))
    expect(await beginFrom(from, person, { phone: person.identifier, ...proof }))
      .toMatchObject(refusal(422, 'identifier_unchanged'))
    for (let more = 0; more < 2; more++) {
      expect(await beginFrom(from, person, { email: newEmail(), ...proof }))
        .toMatchObject({ status: 202 })
    }
    expect(await beginFrom(from, person, { email: newEmail(), ...proof })).toMatchObject(limited)
    // Each of the five changes counts as one registration, except the one that revealed an
    // account, which counts as five.
    expect(await hitsOf('register_address', from)).toBe(9)
  },
)

testFromAddresses(
  'CON-07 a code for a change goes out also where the service sends four fifths of what it may',
  async () => {
    const person = await signUpByPhone()
    const { identifier, password } = person
    await ageCodes(identifier, 45)
    const from = newAddress()
    await plantHits('code_service', 'all', 250)
    expect(await beginFrom(from, person, { email: newEmail(), currentPassword: password }))
      .toMatchObject(refusal(503, 'service_unavailable'))
    const resend = { path: '/auth/otp/resend', body: { identifier, purpose: 'change' } }
    expect(await sendRaw({ ...resend, from, headers: [bearer(person)] }))
      .toMatchObject({ status: 202 })
  },
)

testFromAddresses(
  'HARM-09 of the codes to a number half are kept for who registers or resets with it',
  async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => signUpByPhone()))
    await database().query('delete from private.rate_hits')
    const phone = newPhone()
    const ask = async (nth: number) => {
      await ageCodes(phone, 45)
      const { password } = people[nth]!
      return await beginFrom(newAddress(), people[nth]!, { phone, currentPassword: password })
    }
    for (const nth of [0, 1, 2]) expect(await ask(nth)).toMatchObject({ status: 202 })
    expect(await ask(3)).toMatchObject(limited)
    expect(await hitsOf('code_unknown_all_hour', normalizedIdentifier(phone))).toBe(3)
    const register = async () => {
      await ageCodes(phone, 45)
      return await sendRaw({
        path: '/auth/register',
        body: { identifier: phone, password: randomUUID() },
        from: newAddress(),
      })
    }
    for (const status of [201, 201, 201, 429]) expect(await register()).toMatchObject({ status })
    await ageHits(3600, normalizedIdentifier(phone))
    for (const nth of [3, 4]) expect(await ask(nth)).toMatchObject({ status: 202 })
    const refused = await ask(0)
    expect(refused).toMatchObject(limited)
    expect(refused.body.error.retryAfter).toBeGreaterThan(70_000)
    expect(await register()).toMatchObject({ status: 201 })
  },
)

testFromAddresses('HARM-09 who proves the own email takes nothing of that half', async () => {
  const person = await signUp()
  await database().query('delete from private.rate_hits')
  const { identifier: email, password } = person
  expect(await beginFrom(newAddress(), person, { email, currentPassword: password }))
    .toMatchObject({ status: 202 })
  expect(await hitsOf('code_another_hour', email)).toBe(0)
  expect(await hitsOf('code_unknown_all_hour', email)).toBe(1)
})
