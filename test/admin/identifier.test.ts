import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import {
  database,
  guest,
  inboxOf,
  newEmail,
  newPhone,
  type Person,
  signIn,
  signUp,
} from '../support/client.ts'
import { signUpByPhone } from '../support/codes.ts'
import { notificationsOf } from '../support/notifications.ts'
import { fieldRefusal, refusal, unknownId } from '../support/problems.ts'
import { issuerUrl } from '../support/social-issuer.ts'
import {
  atAuth,
  begin,
  beginChange,
  change,
  contactOf,
  isNobodys,
  noticeTo,
  resetBy,
  signedOut,
  signUpProven,
} from '../accounts/contact-requests.ts'
import { personFrom, signInAs } from '../accounts/social-sign-in.ts'
import { act, why } from './studio.ts'

const full = (phone: string) => `+965${phone}`

let admin: Person
beforeAll(async () => {
  admin = await signUpAdmin()
})

const set = ({ id }: Pick<Person, 'id'>, given: object) =>
  admin.patch(`/admin/users/${id}/identifier`, { reason: why, ...given })

describe('CON-20 what an administrator sets', () => {
  test.each(['by the route', 'by a row'])(
    '%s is proven, and what was there before opens nothing',
    async (how) => {
      const person = await signUpByPhone()
      const email = newEmail()
      await change(person, 'email', email)
      const begun = await beginChange(person, 'email', newEmail())
      const phone = newPhone()
      const row = how === 'by a row'
        ? await act({
          act: 'set_identifier',
          target: email,
          value: ` 00965 ${phone} `,
          reason: why,
        })
        : await set(person, { phone: `\u202D${phone.slice(0, 4)} ${phone.slice(4)}\u202C` })
      if (how === 'by a row') {
        expect(row).toMatchObject({
          state: 'done',
          target: person.id,
          value: null,
          account_id: person.id,
        })
      } else {
        expect(row).toMatchObject({
          status: 200,
          body: { id: person.id, phone: full(phone), email, emailProven: true },
        })
      }
      expect(await person.get('/auth/me')).toMatchObject(signedOut)
      for (const identifier of [phone, email, person.identifier]) {
        expect(await guest.post('/auth/login', { identifier, password: person.password }))
          .toMatchObject(refusal(401, 'invalid_credentials'))
      }
      expect(await isNobodys(person.identifier)).toBe(true)
      await expect.poll(async () => (await inboxOf(person.identifier))[0]!.body)
        .toContain('لم يعد هذا الرقم')
      await expect.poll(async () => (await inboxOf(email))[0]!.body).toContain('تغيّر رقم الهاتف')
      const again = await signIn(phone, await resetBy(phone))
      expect(await again.post('/auth/me/email/verify', begun)).toMatchObject({ status: 422 })
      expect(await notificationsOf(again, 'security_contact')).toMatchObject([
        { titleEn: 'An administrator set your phone number' },
        { titleEn: 'Your email was changed' },
      ])
      const [entry] = await auditOf(admin, person.id)
      expect(entry).toMatchObject({
        action: 'account.identifier',
        reason: why,
        after: { kind: 'phone', removeOther: false },
      })
      expect(JSON.stringify(entry)).not.toContain(phone)
      const stored = await database().query(
        'select admin_acts::text as text from public.admin_acts where account_id = $1',
        [person.id],
      )
      expect(JSON.stringify(stored.rows)).not.toContain(phone)
    },
  )

  test('ends a stalemate of 72 hours', async () => {
    const person = await signUpByPhone()
    const email = newEmail()
    await change(person, 'email', email)
    expect(await begin(person, 'phone', newPhone())).toMatchObject(refusal(409, 'change_too_soon'))
    const next = newEmail()
    await set(person, { email: next })
    const again = await signIn(next, await resetBy(next))
    await database().query(
      `delete from private.contact_changes where account_id = $1 and act = 'reset'`,
      [person.id],
    )
    await change(again, 'phone', newPhone())
  })

  test('takes the other one and providers off where that is asked', async () => {
    const person = await signUpByPhone()
    const email = newEmail()
    await change(person, 'email', email)
    const phone = newPhone()
    expect(await set(person, { phone, removeOther: true }))
      .toMatchObject({ status: 200, body: { email: null, phone: full(phone) } })
    expect(await atAuth(person)).toMatchObject({
      identities: [`phone 965${phone}`],
      confirmed: true,
    })
    expect(await isNobodys(email)).toBe(true)
    expect(await noticeTo(email)).toContain('لم يعد هذا البريد')
  })

  test('of a person with an unproven email takes that off, and proves it where it is that', async () => {
    const [one, other] = [await signUp(), await signUp()]
    const phone = newPhone()
    expect(await set(one, { phone })).toMatchObject({ body: { email: null, phone: full(phone) } })
    expect(await set(other, { email: other.identifier }))
      .toMatchObject({ body: { email: other.identifier, emailProven: true } })
  })

  test('is taken from who has it unproven, and refused where it is proven', async () => {
    const [person, squatter, proven] = [await signUpByPhone(), await signUp(), await signUpProven()]
    expect(await set(person, { email: proven.identifier }))
      .toMatchObject(fieldRefusal(409, 'email_taken', 'email'))
    expect(await set(person, { phone: (await signUpByPhone()).identifier }))
      .toMatchObject(fieldRefusal(409, 'phone_taken', 'phone'))
    expect(await set(person, { email: squatter.identifier })).toMatchObject({ status: 200 })
    expect(await contactOf(squatter)).toMatchObject({ email: null })
  })

  test("is neither one's own, nor of nobody, nor of a deleted account", async () => {
    expect(await set(admin, { phone: newPhone() })).toMatchObject(refusal(409, 'admin_self'))
    expect(await set({ id: unknownId }, { phone: newPhone() }))
      .toMatchObject(refusal(404, 'user_not_found'))
    const gone = await signUp()
    await admin.delete(`/admin/users/${gone.id}`, { reason: why })
    expect(await set(gone, { phone: newPhone() }))
      .toMatchObject(refusal(409, 'status_transition_invalid'))
    const person = await signUp()
    for (const given of [{}, { phone: newPhone(), email: newEmail() }, { phone: newEmail() }]) {
      expect(await set(person, given)).toMatchObject({ status: 422 })
    }
    expect(
      await person.patch(`/admin/users/${gone.id}/identifier`, { phone: newPhone(), reason: why }),
    )
      .toMatchObject(refusal(403, 'admin_only'))
  })

  test('by a row is refused with a sentence where it is no phone or email, taken, or done just now', async () => {
    const [person, other] = [await signUpByPhone(), await signUpByPhone()]
    const row = (value?: string) =>
      act({ act: 'set_identifier', target: person.id, value, reason: why })
    await expect(row()).rejects.toThrow('value is missing')
    await expect(row('12345')).rejects.toThrow('Kuwaiti mobile')
    await expect(row('a@b')).rejects.toThrow('as people write it')
    await expect(row(other.identifier)).rejects.toThrow('Another account has it')
    const phone = newPhone()
    await row(newPhone())
    await row(phone)
    await expect(row(full(phone))).rejects.toThrow('not done twice')
  })
})

test.runIf(issuerUrl)('CON-20 a provider that was linked goes with removeOther alone', async () => {
  const [email, sub] = [newEmail(), crypto.randomUUID()]
  const person = personFrom(await signInAs('google', { email, sub }))
  await set(person, { phone: newPhone() })
  expect((await signInAs('google', { email, sub })).body.user.id).toBe(person.id)
  await set(person, { phone: newPhone(), removeOther: true })
  expect((await signInAs('google', { email, sub })).body.user.id).not.toBe(person.id)
})
