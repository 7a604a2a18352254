import { expect, test } from 'vitest'
import { database, guest, inboxOf, type Person, signIn, signUp } from '../support/client.ts'
import { ageCodes, codeSentBy, signUpByPhone, wrongCode } from '../support/codes.ts'
import { openConversation, postMessage } from '../support/conversations.ts'
import { insertOrganisation, proveEmail } from '../support/fixtures.ts'
import { actAs } from '../support/identities.ts'
import { refusal } from '../support/problems.ts'
import { drain, runJobs } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import {
  alarmsAbout,
  createCharge,
  hasSandbox,
  submitSandboxPage,
  topUpInvoice,
  walletOf,
} from '../support/money.ts'
import { notificationsOf, notify } from '../support/notifications.ts'
import { signUpAdmin } from '../support/admins.ts'
import { waitUntil } from '../support/wait.ts'
import { logIn, wrong } from '../accounts/password-requests.ts'

test('requesting deletion signs out, and signing in again cancels it', async () => {
  const person = await signUp()
  const { identifier, password } = person
  const other = await signIn(identifier, password)
  expect(await person.post('/auth/me/delete', { password: 'not this one' })).toMatchObject(wrong)
  expect(await person.post('/auth/me/delete', {})).toMatchObject({ status: 422 })
  expect(await person.post('/auth/me/delete', { password, code: '123456' }))
    .toMatchObject({ status: 422 })
  expect(await person.get('/auth/me')).toMatchObject({ status: 200 })

  const { status, body } = await person.post('/auth/me/delete', { password })
  expect(status).toBe(202)
  const days = (Date.parse(body.deleteAt) - Date.now()) / 86_400_000
  expect(days).toBeGreaterThan(13.99)
  expect(days).toBeLessThanOrEqual(14)
  for (const gone of [person, other]) {
    expect(await gone.get('/auth/me')).toMatchObject(refusal(401, 'token_invalid'))
    expect(await guest.post('/auth/refresh', { refreshToken: gone.refreshToken }))
      .toMatchObject(refusal(401, 'token_invalid'))
  }
  const again = await signIn(identifier, password)
  const { rows } = await database().query(
    'select status, delete_at from public.accounts where id = $1',
    [person.id],
  )
  expect(rows).toEqual([{ status: 'active', delete_at: null }])
  expect((await again.get('/auth/me')).body.user.id).toBe(person.id)
})

test('ADM-10 from the request on nothing of the account is public, until a sign-in says that it is back', async () => {
  const [person, friend] = [await signUpByPhone(), await signUp('هند المطيري')]
  await proveEmail(friend)
  const office = await insertOrganisation(person.id, 'office')
  const { id: ofOffice } = (await actAs(person, office), await publishListing(person))
  const { id: listing } = (await actAs(person, person.identityId), await publishListing(person))
  const { id: conversation } = await openConversation(friend, {
    propertyId: listing,
    message: 'متاح؟',
  })
  const talk = await openConversation(person, { identityId: friend.identityId, message: 'أهلاً' })
  expect(await postMessage(friend, talk.id)).toMatchObject({ status: 201 })
  expect(await person.post('/reviews', { identityId: friend.identityId, rating: 5 }))
    .toMatchObject({ status: 201 })

  const open = async () =>
    await Promise.all([
      guest.get(`/properties/${listing}`),
      guest.get(`/properties/${ofOffice}`),
      guest.get(`/office/${office}`),
      guest.get(`/identities/${person.identityId}`),
      friend.post(`/properties/${listing}/contact`, { kind: 'call' }),
    ].map(async (reply) => (await reply).status))
  const reviews = async () =>
    (await guest.get(`/reviews?identityId=${friend.identityId}`)).body.count
  const write = () => postMessage(friend, conversation, 'هل ما زال متاحاً؟')
  expect(await open()).toEqual([200, 200, 200, 200, 200])
  expect(await reviews()).toBe(1)

  expect(await person.post('/auth/me/delete', { password: person.password }))
    .toMatchObject({ status: 202 })
  expect(await open()).toEqual([404, 404, 404, 404, 404])
  expect(await reviews()).toBe(0)
  expect(await write()).toMatchObject({ status: 403 })
  // People who talked to an identity, asked for its number or reviewed it can still report it.
  const report = (by: Person, targetId: string) =>
    by.post('/reports', { targetType: 'identity', targetId, reason: 'fraud' })
  expect(await report(friend, person.identityId)).toMatchObject({ status: 201 })
  expect(await report(friend, office)).toMatchObject(refusal(404, 'identity_not_found'))
  await database().query(
    `insert into public.leads (property_id, owner_identity_id, identity_id, kind)
     values ($1, $2, $3, 'call')`,
    [ofOffice, office, friend.identityId],
  )
  expect(await report(friend, office)).toMatchObject({ status: 201 })

  const { status, body } = await guest.post('/auth/login', {
    identifier: person.identifier,
    password: person.password,
  })
  expect([status, body.deletionCancelled]).toEqual([200, true])
  expect(await open()).toEqual([200, 200, 200, 200, 200])
  expect(await reviews()).toBe(1)
  expect(await write()).toMatchObject({ status: 201 })
  const next = await guest.post('/auth/refresh', { refreshToken: body.refreshToken })
  expect(next.body).not.toHaveProperty('deletionCancelled')
})

test('who asks for a deletion is told wherever a message comes, and of nothing but that', async () => {
  const person = await signUpByPhone()
  const { identifier, password } = person
  await person.post('/auth/me/delete', { password })
  await waitUntil('the SMS', async () => {
    await runJobs('jobs/often')
    return (await inboxOf(identifier)).some(({ body }) => body.includes('حذف حسابك'))
  })
  const sent = (await inboxOf(identifier)).find(({ body }) => body.includes('حذف حسابك'))!
  expect(sent.body.length).toBeLessThanOrEqual(70)
  // Of these two, only the refund is stored as a notification.
  await notify(person, 'listing_restored', { titleAr: 'شقة', status: 'active' })
  await notify(person, 'refund', { number: 'INV-1', amount: 5, to: 'wallet' })
  const again = await signIn(identifier, password)
  const kinds = (await notificationsOf(again)).map(({ kind }) => kind)
  expect(kinds).toEqual(
    expect.arrayContaining(['deletion_requested', 'refund', 'deletion_cancelled']),
  )
  expect(kinds).not.toContain('listing_restored')
})

test('a code for a deletion is sent to who is signed in, and to nobody else', async () => {
  const [person, other] = [await signUpByPhone(), await signUp()]
  const resend = { identifier: person.identifier, purpose: 'delete' }
  expect(await guest.post('/auth/otp/resend', resend)).toMatchObject(refusal(401, 'token_missing'))
  expect(await other.post('/auth/otp/resend', resend)).toMatchObject({ status: 202 })
  await ageCodes(person.identifier, 45)
  await codeSentBy(person.identifier, () => person.post('/auth/otp/resend', resend))
  // The first of the two codes came at registration.
  expect(await inboxOf(person.identifier)).toHaveLength(2)
  await person.post('/auth/logout')
  expect(await person.post('/auth/otp/resend', resend)).toMatchObject(refusal(401, 'token_invalid'))
})

test('a code for a deletion lives five minutes and five wrong tries', async () => {
  const request = async (seconds: number) => {
    const person = await signUpByPhone()
    const { identifier } = person
    await ageCodes(identifier, 45)
    const resend = { identifier, purpose: 'delete' }
    const [code] = await codeSentBy(identifier, () => person.post('/auth/otp/resend', resend))
    await ageCodes(identifier, seconds)
    return { code, confirm: (code: string) => person.post('/auth/me/delete', { code }) }
  }
  const late = await request(301)
  expect(await late.confirm(late.code)).toMatchObject(refusal(410, 'otp_expired'))
  const guessed = await request(0)
  for (let tries = 1; tries <= 5; tries++) {
    expect(await guessed.confirm(wrongCode(guessed.code, tries)))
      .toMatchObject(refusal(422, 'otp_invalid'))
  }
  expect(await guessed.confirm(guessed.code)).toMatchObject(refusal(429, 'otp_locked'))
})

test('a requested deletion is carried out after fourteen days', async () => {
  const person = await signUpByPhone()
  const { identifier, password } = person
  await ageCodes(identifier, 45)
  const resend = { identifier, purpose: 'delete' }
  const [code] = await codeSentBy(identifier, () => person.post('/auth/otp/resend', resend))
  expect(await person.post('/auth/me/delete', { code: wrongCode(code) }))
    .toMatchObject(refusal(422, 'otp_invalid'))
  expect(await person.post('/auth/me/delete', { code })).toMatchObject({ status: 202 })
  const deleteDue = () => drain('delete_due_accounts')
  const days = (count: number) =>
    database().query(
      `update public.accounts set delete_at = delete_at - make_interval(days => $2) where id = $1`,
      [person.id, count],
    )
  const users = async () => {
    const { rows } = await database().query(
      `select accounts.status, accounts.phone,
         exists (select from auth.users where users.id = accounts.id) as user
       from public.accounts where accounts.id = $1`,
      [person.id],
    )
    return rows
  }
  await days(13)
  await deleteDue()
  expect(await users()).toMatchObject([{ status: 'active', user: true }])
  await days(1)
  await deleteDue()
  expect(await users()).toEqual([{ status: 'deleted', phone: null, user: false }])
  expect(await logIn(identifier, password)).toMatchObject(wrong)
})

test('a rating is hidden with its author, and outlives the deletion without its words', async () => {
  const [person, friend] = [await signUp(), await signUp('هند المطيري')]
  await proveEmail(person)
  const talk = await openConversation(person, { identityId: friend.identityId, message: 'أهلاً' })
  await postMessage(friend, talk.id)
  const review = { identityId: friend.identityId, rating: 5, comment: 'تعامل راقٍ' }
  expect(await person.post('/reviews', review)).toMatchObject({ status: 201 })
  const reviews = async () => {
    const { body: { count, items } } = await guest.get(`/reviews?identityId=${friend.identityId}`)
    return [count, ...items.map(({ comment }: { comment: string | null }) => comment)]
  }
  expect(await reviews()).toEqual([1, 'تعامل راقٍ'])
  await person.post('/auth/me/delete', { password: person.password })
  expect(await reviews()).toEqual([0])
  await database().query('update public.accounts set delete_at = now() where id = $1', [person.id])
  await drain('delete_due_accounts')
  expect(await reviews()).toEqual([1, null])
})

async function paidTooLate() {
  const person = await signUp()
  const invoice = await topUpInvoice(person)
  const { ref } = await createCharge(person, invoice)
  await submitSandboxPage(ref, 'fail', 'once')
  const { password } = person
  expect(await person.post('/auth/me/delete', { password })).toMatchObject({ status: 202 })
  await submitSandboxPage(ref, 'pay', 'once')
  await database().query('update public.accounts set delete_at = now() where id = $1', [person.id])
  for (let times = 0; times < 2; times++) {
    await drain('delete_due_accounts')
    await drain('notify_of_stopped_deletions')
  }
  expect(await alarmsAbout(person.id)).toEqual(['deletion_stopped'])
  return { person, invoice }
}

const settledAlarms = async (subject: string) =>
  (await database().query(
    `select from private.alarms
     where kind = 'deletion_stopped' and subject_id = $1 and settled_at is not null`,
    [subject],
  )).rowCount

test.runIf(hasSandbox)('a deletion that late money stops is an alarm, and told once', async () => {
  const { person } = await paidTooLate()
  await database().query(
    `update private.alarms set settled_at = now(), settled_note = 'اطلعت عليه'
     where kind = 'deletion_stopped' and subject_id = $1`,
    [person.id],
  )
  await drain('notify_of_stopped_deletions')
  const again = await signIn(person.identifier, person.password)
  expect((await walletOf(again)).available).toBe(10)
  expect(await notificationsOf(again, 'system')).toMatchObject([{
    titleAr: 'لم يُحذف حسابك',
    titleEn: 'Your account was not deleted',
    readAt: null,
  }])
  await drain('notify_of_stopped_deletions')
  expect(await settledAlarms(person.id)).toBe(2)
  expect(await notificationsOf(again, 'system')).toHaveLength(1)
})

test.runIf(hasSandbox)(
  'a deletion goes on by itself when what stopped it is refunded',
  async () => {
    const { person, invoice } = await paidTooLate()
    const admin = await signUpAdmin()
    const sent = { to: 'source', reason: 'طلب الحذف' }
    expect((await admin.post(`/admin/invoices/${invoice.id}/refund`, sent)).status).toBe(200)
    await drain('delete_due_accounts')
    const { rows } = await database().query('select status from public.accounts where id = $1', [
      person.id,
    ])
    expect(rows).toEqual([{ status: 'deleted' }])
    await drain('notify_of_stopped_deletions')
    expect(await settledAlarms(person.id)).toBe(1)
  },
)
