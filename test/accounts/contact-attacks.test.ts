import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  database,
  guest,
  newEmail,
  newPhone,
  type Person,
  projectUrl,
  secretKey,
  signIn,
  signUp,
} from '../support/client.ts'
import {
  ageCodes,
  registerPhone,
  requestResetCode,
  signUpByPhone,
  verifyCode,
} from '../support/codes.ts'
import { insertListing } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { alarmsAbout } from '../support/money.ts'
import { notificationsOf } from '../support/notifications.ts'
import { refusal } from '../support/problems.ts'
import { bearer, race } from '../support/races.ts'
import {
  ageChanges,
  atAuth,
  begin,
  beginChange,
  type Begun,
  byPassword,
  change,
  contactOf,
  isNobodys,
  notFound,
  resetBy,
  signedOut,
  tooSoon,
  verify,
} from './contact-requests.ts'

const full = (phone: string) => `+965${phone}`

async function signUpWithBoth() {
  const person = await signUpByPhone()
  const email = newEmail()
  await change(person, 'email', email)
  await ageChanges(person, 73)
  return { person, phone: person.identifier, email }
}

describe('CON-10 an attacker who knows the password', () => {
  test('moves the phone, and the owner of the email takes it back by a reset', async () => {
    const { person, phone, email } = await signUpWithBoth()
    const theirs = newPhone()
    await change(person, 'phone', theirs)
    expect(await begin(person, 'email', newEmail())).toMatchObject(tooSoon)
    const owner = await signIn(email, await resetBy(email))
    expect(await contactOf(owner)).toEqual({ email, phone: full(phone), emailProven: true })
    expect(await atAuth(owner)).toMatchObject({
      phone: `965${phone}`,
      identities: [`email ${email}`, `phone 965${phone}`],
    })
    expect(await isNobodys(theirs)).toBe(true)
    expect(await person.get('/auth/me')).toMatchObject(signedOut)
    expect(await notificationsOf(owner, 'security_contact')).toMatchObject([
      { titleEn: 'A change of your phone number was undone' },
      { titleEn: 'Your phone number was changed' },
      { titleEn: 'Your email was changed' },
    ])
    // The owner, whose reset undid the change of the phone, can change the email at once;
    // only the phone stays blocked.
    await change(owner, 'email', newEmail(), byPassword(owner))
  })

  test('moves the email, changes it again, and the phone takes both back', async () => {
    const { person, phone, email } = await signUpWithBoth()
    const [first, second] = [newEmail(), newEmail()]
    await change(person, 'email', first)
    await change(person, 'email', second)
    const owner = await signIn(phone, await resetBy(phone))
    expect(await contactOf(owner)).toEqual({ email, phone: full(phone), emailProven: true })
    for (const gone of [first, second]) expect(await isNobodys(gone)).toBe(true)
  })

  test('adds an email to a phone, which the phone takes off again', async () => {
    const person = await signUpByPhone()
    const theirs = newEmail()
    await change(person, 'email', theirs)
    const owner = await signIn(person.identifier, await resetBy(person.identifier))
    expect(await contactOf(owner)).toMatchObject({ email: null, emailProven: false })
    expect(await atAuth(owner)).toMatchObject({ email: null, confirmed: true })
    expect(await isNobodys(theirs)).toBe(true)
  })

  test('removes the phone, which comes back by a reset unless somebody has it by then', async () => {
    const again = await signUpWithBoth()
    expect(await again.person.delete('/auth/me/phone', byPassword(again.person)))
      .toMatchObject({ status: 204 })
    expect(await contactOf(again.person)).toMatchObject({ phone: null })
    const owner = await signIn(again.email, await resetBy(again.email))
    expect(await contactOf(owner)).toMatchObject({ phone: full(again.phone) })

    const taken = await signUpWithBoth()
    await taken.person.delete('/auth/me/phone', byPassword(taken.person))
    const stranger = await signUpByPhone(taken.phone)
    const left = await signIn(taken.email, await resetBy(taken.email))
    expect(await contactOf(left)).toMatchObject({ phone: null, email: taken.email })
    expect(await contactOf(stranger)).toMatchObject({ phone: full(taken.phone) })
  })

  test('undoes nothing by what they put there, nor after 72 hours', async () => {
    const { person, phone, email } = await signUpWithBoth()
    const theirs = newPhone()
    await change(person, 'phone', theirs)
    // A password reset by the new phone does not undo the change, and the email
    // cannot be changed for a while.
    const attacker = await signIn(theirs, await resetBy(theirs))
    expect(await contactOf(attacker)).toEqual({ email, phone: full(theirs), emailProven: true })
    expect(await begin(attacker, 'email', newEmail())).toMatchObject(tooSoon)
    await ageChanges(attacker, 73)
    const late = await signIn(email, await resetBy(email))
    expect(await contactOf(late)).toMatchObject({ phone: full(theirs) })
    expect(await isNobodys(phone)).toBe(true)
  })
})

describe('CON-11 codes in flight', () => {
  test('die with a change: for a reset, a change, a deletion, at the old and at the new one', async () => {
    const { person, phone, email } = await signUpWithBoth()
    await ageCodes(phone, 45)
    const byOldSim = await requestResetCode(phone)
    const byMail = await requestResetCode(email)
    const other = await beginChange(person, 'phone', newPhone())
    await ageCodes(phone, 45)
    const next = newPhone()
    const registration = await registerPhone(next)
    await ageCodes(next, 45)
    await change(person, 'phone', next)
    expect(await verify(person, 'phone', other)).toMatchObject(notFound)
    const newPassword = randomUUID()
    for (const [identifier, code] of [[phone, byOldSim], [email, byMail]]) {
      expect(
        await guest.post('/auth/password/reset', {
          identifier,
          code,
          newPassword,
          confirmPassword: newPassword,
        }),
      ).toMatchObject(refusal(422, 'otp_invalid'))
    }
    expect(await verifyCode(next, registration.code, registration.registrationId))
      .toMatchObject({ status: 422 })
    expect(await contactOf(person)).toMatchObject({ phone: full(next) })
  })

  test('a reset ends a change that was begun, and a signed-out session its own', async () => {
    const { person, email } = await signUpWithBoth()
    const begun = await beginChange(person, 'email', newEmail())
    await ageCodes(email, 45)
    const password = await resetBy(email)
    expect(await verify(person, 'email', begun)).toMatchObject(signedOut)
    const again = await signIn(email, password)
    expect(await verify(again, 'email', begun)).toMatchObject(notFound)
    const out = await beginChange(again, 'email', newEmail())
    await again.post('/auth/logout')
    expect(await verify(again, 'email', out)).toMatchObject(signedOut)
    expect(await contactOf(await signIn(email, password))).toMatchObject({ email })
  })

  test('a deletion that was requested ends a change under way', async () => {
    const person = await signUpByPhone()
    const begun = await beginChange(person, 'email', newEmail())
    const { identifier, password } = person
    expect(await person.post('/auth/me/delete', { password })).toMatchObject({ status: 202 })
    expect(await verify(person, 'email', begun)).toMatchObject(signedOut)
    expect(await verify(await signIn(identifier, password), 'email', begun)).toMatchObject(notFound)
  })

  test('a change and a reset by the old number at once: one after the other, never both', async () => {
    for (let round = 0; round < 4; round++) {
      const { person, phone, email } = await signUpWithBoth()
      await ageCodes(phone, 45)
      const code = await requestResetCode(phone)
      const next = newPhone()
      const begun = await beginChange(person, 'phone', next)
      const newPassword = randomUUID()
      const [changed, reset] = await race([
        {
          path: '/auth/me/phone/verify',
          body: { changeId: begun.changeId, code: begun.code },
          headers: [bearer(person)],
        },
        {
          path: '/auth/password/reset',
          body: { identifier: phone, code, newPassword, confirmPassword: newPassword },
        },
      ])
      const now = await signIn(email, reset!.status === 204 ? newPassword : person.password)
      const contact = await contactOf(now)
      expect([changed!.status === 200, reset!.status === 204]).not.toEqual([true, true])
      expect(contact.phone).toBe(full(changed!.status === 200 ? next : phone))
    }
  })
})

describe('CON-12 at Auth', () => {
  const put = (id: string, body: object) =>
    fetch(`${projectUrl}/auth/v1/admin/users/${id}`, {
      method: 'PUT',
      headers: { apikey: secretKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  test('nothing is written that nobody has proven, and nothing but what was', async () => {
    const person = await signUpByPhone()
    const email = newEmail()
    await beginChange(person, 'email', email)
    for (
      const body of [
        { email, email_confirm: true },
        { phone: `965${newPhone()}`, phone_confirm: true },
      ]
    ) {
      const refused = await put(person.id, body)
      expect(refused.status).toBe(409)
    }
    // The change is verified, but Auth receives a different value or a second
    // identifier, or is called too late.
    await database().query(
      `update private.contact_changes set proven_at = now() where account_id = $1`,
      [person.id],
    )
    expect((await put(person.id, { email: newEmail(), email_confirm: true })).status).toBe(409)
    expect((await put(person.id, { email, phone: `965${newPhone()}` })).status).toBe(409)
    await database().query(
      `update private.contact_changes set proven_at = now() - interval '11 minutes'
       where account_id = $1`,
      [person.id],
    )
    expect((await put(person.id, { email, email_confirm: true })).status).toBe(409)
    expect(await contactOf(person)).toMatchObject({ email: null, phone: full(person.identifier) })
    // A verified change that Auth receives in time takes full effect, regardless of who called Auth.
    await database().query(
      `update private.contact_changes set proven_at = now() where account_id = $1`,
      [person.id],
    )
    expect((await put(person.id, { email, email_confirm: true })).status).toBe(200)
    expect(await contactOf(person)).toMatchObject({ email, emailProven: true })
  })

  test('a user is not made with a phone and an email that nobody has proven', async () => {
    const email = newEmail()
    const made = await fetch(`${projectUrl}/auth/v1/admin/users`, {
      method: 'POST',
      headers: { apikey: secretKey, 'content-type': 'application/json' },
      body: JSON.stringify({ email, phone: `965${newPhone()}`, password: randomUUID() }),
    })
    expect([made.status, await made.text()]).toEqual([
      422,
      expect.stringContaining('A new account has an email or a phone'),
    ])
    expect(await isNobodys(email)).toBe(true)
  })

  test('a proven change whose session is over is not written any more', async () => {
    const person = await signUpByPhone()
    const email = newEmail()
    await beginChange(person, 'email', email)
    await database().query(
      `update private.contact_changes set proven_at = now() where account_id = $1`,
      [person.id],
    )
    await person.post('/auth/logout')
    expect((await put(person.id, { email, email_confirm: true })).status).toBe(409)
    expect(await isNobodys(email)).toBe(true)
  })
})

describe('CON-13 an email that somebody registered before its owner came', () => {
  test('gives way to who proves it, who is told what closes, and the other adds a phone', async () => {
    const squatter = await signUp()
    const email = squatter.identifier
    const owner = await signUpByPhone()
    await squatter.post('/properties', { type: 'SALE', titleAr: 'مسودة للتجربة' })
    const done = await change(owner, 'email', email)
    expect(done.body).toMatchObject({
      user: { email, emailProven: true },
      closes: [{ listings: 1 }],
    })
    expect(await contactOf(squatter)).toEqual({ email: null, phone: null, emailProven: false })
    expect(await atAuth(squatter)).toMatchObject({ email: null, confirmed: true, identities: [] })
    expect(await notificationsOf(squatter, 'security_contact')).toMatchObject([
      { titleEn: 'Somebody else has proven your email' },
    ])
    expect(await guest.post('/auth/login', { identifier: email, password: squatter.password }))
      .toMatchObject(refusal(401, 'invalid_credentials'))
    // The squatter's session stays valid, and so does the password for re-authentication.
    expect(await begin(squatter, 'phone', newPhone(), { currentPassword: 'not this one' }))
      .toMatchObject(refusal(401, 'invalid_credentials'))
    const phone = newPhone()
    await change(squatter, 'phone', phone)
    expect((await signIn(phone, squatter.password)).id).toBe(squatter.id)
    const { rows } = await database().query(
      'select unreachable_since from public.accounts where id = $1',
      [squatter.id],
    )
    expect(rows).toEqual([{ unreachable_since: null }])
  })

  const lose = async (squatter: Person) => {
    await change(await signUpByPhone(), 'email', squatter.identifier)
    await database().query(
      `update public.accounts set unreachable_since = unreachable_since - interval '15 days'
       where id = $1`,
      [squatter.id],
    )
  }
  const statusOf = async ({ id }: Person) =>
    (await database().query(
      `select case when delete_at is null then status else 'to be deleted' end as status
       from public.accounts where id = $1`,
      [id],
    )).rows[0].status

  test('without another way in, the account is asked to be deleted after 14 days', async () => {
    const squatter = await signUp()
    await change(await signUpByPhone(), 'email', squatter.identifier)
    await drain('give_up_unreachable_accounts')
    expect(await statusOf(squatter)).toBe('active')
    const late = await signUp()
    await lose(late)
    await drain('give_up_unreachable_accounts')
    expect(await statusOf(late)).toBe('to be deleted')
    expect(await late.get('/auth/me')).toMatchObject(signedOut)
  })

  test('what it still owes stops that, and an admin hears of it', async () => {
    const squatter = await signUp()
    await database().query(
      `insert into public.auctions (property_id, starts_at, ends_at, start_price, min_increment)
       values ($1, now(), now() + interval '5 days', 1000, 100)`,
      [await insertListing(squatter.identityId)],
    )
    await lose(squatter)
    await drain('give_up_unreachable_accounts')
    expect(await statusOf(squatter)).toBe('active')
    expect(await alarmsAbout(squatter.id)).toEqual(['unreachable_account'])
  })

  async function proveOnceMore(person: Person, email: string, begun: Begun) {
    if ((await verify(person, 'email', begun)).status !== 200) await change(person, 'email', email)
  }

  test('who loses an email while a change of theirs waits for its code asks for another code', async () => {
    const people = [await signUp(), await signUp()] as const
    const [one, other] = people.map(({ identifier }) => identifier) as [string, string]
    const begun = await beginChange(people[1], 'email', one)
    await change(people[0], 'email', other)
    expect(await verify(people[1], 'email', begun)).toMatchObject({ status: 422 })
    await change(people[1], 'email', one)
    expect(await contactOf(people[0])).toMatchObject({ email: other })
    expect(await contactOf(people[1])).toMatchObject({ email: one })
  })

  // Both changes may succeed. One may fail because the other has invalidated its code or because Auth has
  // rolled it back; the client then has to send it again.
  test("two that prove each other's at once have both, or one is asked once more", async () => {
    const people = [await signUp(), await signUp()]
    const begun = [
      await beginChange(people[0]!, 'email', people[1]!.identifier),
      await beginChange(people[1]!, 'email', people[0]!.identifier),
    ]
    const replies = await race(people.map((person, nth) => ({
      path: '/auth/me/email/verify',
      body: { changeId: begun[nth]!.changeId, code: begun[nth]!.code },
      headers: [bearer(person)],
    })))
    const statuses = replies.map(({ status }) => status)
    expect(statuses).toContain(200)
    expect([200, 422, 503]).toEqual(expect.arrayContaining(statuses))
    for (const [nth, status] of statuses.entries()) {
      if (status === 200) continue
      await proveOnceMore(people[nth]!, people[1 - nth]!.identifier, begun[nth]!)
    }
    expect(await contactOf(people[0]!)).toMatchObject({ email: people[1]!.identifier })
    expect(await contactOf(people[1]!)).toMatchObject({ email: people[0]!.identifier })
  })

  test("an email that only another account's provider identity holds is taken from it", async () => {
    const [person, other] = [await signUpByPhone(), await signUpByPhone()]
    const email = newEmail()
    await database().query(
      `update auth.identities set identity_data = identity_data || jsonb_build_object('email', $2::text)
       where user_id = $1`,
      [other.id, email],
    )
    await change(person, 'email', email)
    expect((await atAuth(other)).identities).toEqual([`phone 965${other.identifier}`])
    expect((await atAuth(person)).identities).toContain(`email ${email}`)
  })
})
