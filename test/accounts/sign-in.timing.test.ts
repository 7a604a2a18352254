import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { database, guest, newEmail, newPhone, signUp } from '../support/client.ts'
import { ageCodes, registerPhone, signUpByPhone } from '../support/codes.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { expectSameTimes } from './response-times.ts'

const samples = 300

const suspend = (id: string) =>
  database().query(
    `update public.accounts set status = 'suspended', status_reason = 'سبب' where id = $1`,
    [id],
  )

test('REG-20 a refused sign-in takes as long whatever the reason', async () => {
  const email = (await signUp()).identifier
  const suspended = await signUp()
  await suspend(suspended.id)
  const waiting = (await registerPhone()).phone
  const logIn = (identifier: () => string) => ({
    ask: async () => {
      const body = { identifier: identifier(), password: 'not the password' }
      expect((await guest.post('/auth/login', body)).status).toBe(401)
    },
  })
  await expectSameTimes({
    'unknown email': logIn(newEmail),
    'unknown phone': logIn(newPhone),
    'wrong password': logIn(() => email),
    'awaiting a code': logIn(() => waiting),
    suspended: logIn(() => suspended.identifier),
  }, samples)
})

test('REG-21 asking for a code takes as long whether or not there is an account', async () => {
  const email = (await signUp()).identifier
  const phone = (await signUpByPhone()).identifier
  const suspended = await signUp()
  await suspend(suspended.id)
  const forgot = (identifier: () => string, soon = false) => ({
    before: () => soon ? Promise.resolve() : ageCodes(identifier(), 45),
    ask: async () => {
      const reply = await guest.post('/auth/password/forgot', { identifier: identifier() })
      expect(reply.status).toBe(202)
    },
  })
  const nobody = [newEmail(), newPhone()]
  await expectSameTimes({
    'known email': forgot(() => email),
    'known phone': forgot(() => phone),
    suspended: forgot(() => suspended.identifier),
    'unknown email': forgot(() => nobody[0]!),
    'unknown phone': forgot(() => nobody[1]!),
  }, samples)
  await expectSameTimes({
    'known, too soon': forgot(() => phone, true),
    'unknown, too soon': forgot(() => nobody[1]!, true),
  }, samples)
})

test("ISO-08 somebody else's id takes as long as one that does not exist", async () => {
  const person = await signUp()
  const other = await signUp()
  const draft = await insertListing(other.identityId, { status: 'draft' })
  const company = await insertOrganisation(other.id)
  const missing = (path: string) => ({
    ask: async () => expect((await person.get(path)).status).toBe(404),
  })
  await expectSameTimes(
    {
      "another's draft": missing(`/properties/${draft}`),
      'no listing': missing(`/properties/${randomUUID()}`),
    },
    samples,
    false,
  )
  await expectSameTimes(
    {
      "another's identity": missing(`/auth/identities/${company}`),
      'no identity': missing(`/auth/identities/${randomUUID()}`),
    },
    samples,
    false,
  )
})
