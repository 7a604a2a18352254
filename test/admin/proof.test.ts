import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { personFrom, signInAs } from '../accounts/social-sign-in.ts'
import { byTokenAlone, makeAdmin, proofOf, signUpAdmin } from '../support/admins.ts'
import {
  caller,
  database,
  guest,
  newEmail,
  type Person,
  signIn,
  signUp,
} from '../support/client.ts'
import { ageCodes, codeSentBy, signUpByPhone, wrongCode } from '../support/codes.ts'
import { refusal } from '../support/problems.ts'
import { issuerUrl } from '../support/social-issuer.ts'

const reason = 'تم التحقق من الهوية'
const noProof = refusal(403, 'proof_required')
const wrong = refusal(401, 'invalid_credentials')
const unknownId = '00000000-0000-4000-8000-000000000000'

/**
 * Asks to delete a user who does not exist, which requires a proof. With a valid proof the response is a 404.
 */
const proves = (admin: Person, proof?: string) =>
  caller(admin.accessToken, proof === undefined ? {} : { 'x-proof': proof })
    .delete(`/admin/users/${unknownId}`, { reason })
const proven = refusal(404, 'user_not_found')

const sudo = (admin: Person, given: unknown) => byTokenAlone(admin).post('/auth/sudo', given)
const byPassword = async (admin: Person): Promise<string> =>
  (await sudo(admin, { currentPassword: admin.password })).body.proof

describe('ADM-12 a proof', () => {
  let admin: Person

  beforeAll(async () => {
    admin = await signUpAdmin()
  })

  test('by the password: for ten minutes, and in this session alone', async () => {
    expect(await proves(admin)).toMatchObject(noProof)
    const { status, body } = await sudo(admin, { currentPassword: admin.password })
    expect([status, body]).toEqual([200, { proof: expect.any(String), expiresIn: 600 }])
    expect(await proves(admin, body.proof)).toMatchObject(proven)
    const elsewhere = await signIn(admin.identifier, admin.password)
    expect(await proves(elsewhere, body.proof)).toMatchObject(noProof)
    for (const other of ['', 'x', randomUUID(), `${body.proof}x`, '💥', 'x'.repeat(8000)]) {
      const sent = other === '💥' ? encodeURIComponent(other) : other
      expect(await proves(admin, sent), other.slice(0, 50)).toMatchObject(noProof)
    }
    await database().query(
      `update private.session_proofs set made_at = made_at - interval '10 minutes'
       where hash = sha256($1)`,
      [Buffer.from(body.proof)],
    )
    expect(await proves(admin, body.proof)).toMatchObject(noProof)
  })

  test('the next one takes its place', async () => {
    const first = await byPassword(admin)
    const second = await byPassword(admin)
    expect(await proves(admin, first)).toMatchObject(noProof)
    expect(await proves(admin, second)).toMatchObject(proven)
  })

  test('no table has it', async () => {
    const proof = await byPassword(admin)
    const { rows } = await database().query(
      `select count(*)::int from private.session_proofs
       where session_proofs::text like '%' || $1 || '%'
         or session_proofs::text like '%' || encode($1::text::bytea, 'hex') || '%'`,
      [proof],
    )
    expect(rows[0].count).toBe(0)
  })

  test('it is gone with the password, and with the session', async () => {
    const one = await signUpAdmin()
    const proof = await byPassword(one)
    const newPassword = randomUUID()
    const changed = await one.post('/auth/password/change', {
      currentPassword: one.password,
      newPassword,
    })
    expect(changed.status).toBe(204)
    expect(await proves(one, proof)).toMatchObject(noProof)
    one.password = newPassword
    await byPassword(one)
    expect((await one.post('/auth/logout')).status).toBe(204)
    const { rows } = await database().query(
      `select count(*)::int from private.session_proofs where session_id = $1`,
      [JSON.parse(Buffer.from(one.accessToken.split('.')[1]!, 'base64url').toString()).session_id],
    )
    expect(rows[0].count).toBe(0)
  })

  test('not by another password, nor by nothing, nor by both', async () => {
    expect(await sudo(admin, { currentPassword: randomUUID() })).toMatchObject(wrong)
    expect(await sudo(admin, {})).toMatchObject(wrong)
    expect((await sudo(admin, { currentPassword: 'x', code: '000000' })).status).toBe(422)
    expect((await sudo(admin, { assertion: {} })).status).toBe(422)
  })

  test('nobody else has one', async () => {
    const person = await signUp()
    const adminOnly = refusal(403, 'admin_only')
    expect(await sudo(person, { currentPassword: person.password })).toMatchObject(adminOnly)
    expect(await sudo(person, { currentPassword: 'wrong' })).toMatchObject(adminOnly)
    const resent = { identifier: person.identifier, purpose: 'sudo' }
    expect(await person.post('/auth/otp/resend', resent)).toMatchObject(adminOnly)
    expect((await guest.post('/auth/otp/resend', resent)).status).toBe(401)
    expect((await guest.post('/auth/sudo', {})).status).toBe(401)
    const proof = await proofOf(person)
    expect(await proves(person, proof)).toMatchObject(adminOnly)
  })

  test('by a code to what is proven of the account', async () => {
    const one = await makeAdmin(await signUpByPhone())
    const resend = () =>
      one.post('/auth/otp/resend', { identifier: one.identifier, purpose: 'sudo' })
    const [code] = await codeSentBy(one.identifier, resend)
    expect(await sudo(one, { code: wrongCode(code) })).toMatchObject(refusal(422, 'otp_invalid'))
    const { status, body: { proof } } = await sudo(one, { code })
    expect(status).toBe(200)
    expect(await proves(one, proof)).toMatchObject(proven)
    expect(await sudo(one, { code })).toMatchObject(refusal(422, 'otp_invalid'))
    const [other] = await codeSentBy(
      one.identifier,
      () => one.post('/auth/otp/resend', { identifier: one.identifier, purpose: 'delete' }),
    )
    expect((await sudo(one, { code: other })).status).toBe(422)
  })

  test('a code for it lives five minutes and five wrong tries', async () => {
    const request = async (seconds: number) => {
      const one = await makeAdmin(await signUpByPhone())
      await ageCodes(one.identifier, 45)
      const resend = { identifier: one.identifier, purpose: 'sudo' }
      const [code] = await codeSentBy(
        one.identifier,
        () => one.post('/auth/otp/resend', resend),
      )
      await ageCodes(one.identifier, seconds)
      return { code, prove: (code: string) => sudo(one, { code }) }
    }
    const late = await request(301)
    expect(await late.prove(late.code)).toMatchObject(refusal(410, 'otp_expired'))
    const guessed = await request(0)
    for (let tries = 1; tries <= 5; tries++) {
      expect(await guessed.prove(wrongCode(guessed.code, tries)))
        .toMatchObject(refusal(422, 'otp_invalid'))
    }
    expect(await guessed.prove(guessed.code)).toMatchObject(refusal(429, 'otp_locked'))
  })

  test('an email that nobody has proven gets no code', async () => {
    await admin.post('/auth/otp/resend', { identifier: admin.identifier, purpose: 'sudo' })
    const { rows } = await database().query(
      `select count(*)::int from private.codes where purpose = 'sudo' and account_id = $1`,
      [admin.id],
    )
    expect(rows[0].count).toBe(0)
  })
})

describe.runIf(issuerUrl)('ADM-13 the only administrator, who signs in by Google alone', () => {
  const byGoogle = async (email = newEmail(), sub = randomUUID()) =>
    personFrom(await signInAs('google', { email, sub }))

  test('proves by a code to the email', async () => {
    const email = newEmail()
    const admin = await makeAdmin(await byGoogle(email))
    expect(await sudo(admin, {})).toMatchObject(wrong)
    expect(await sudo(admin, { currentPassword: 'anything' })).toMatchObject(wrong)
    const [code] = await codeSentBy(
      email,
      () => admin.post('/auth/otp/resend', { identifier: email, purpose: 'sudo' }),
    )
    const { body: { proof } } = await sudo(admin, { code })
    expect(await proves(admin, proof)).toMatchObject(proven)
  })

  test('where no mail reaches them, by a sign-in of the last five minutes, once for each', async () => {
    const [email, sub] = [newEmail(), randomUUID()]
    const made = await byGoogle(email, sub)
    await database().query('insert into public.admins (account_id) values ($1)', [made.id])
    // An account loses its email when another person verifies that email.
    await database().query('update auth.users set email = null where id = $1', [made.id])
    const age = (minutes: number) =>
      database().query(
        `update auth.mfa_amr_claims set created_at = now() - make_interval(mins => $2)
         where session_id in (select id from auth.sessions where user_id = $1)`,
        [made.id, minutes],
      )
    await age(6)
    expect(await sudo(made, {})).toMatchObject(wrong)
    const fresh = await byGoogle(newEmail(), sub)
    expect(fresh.id).toBe(made.id)
    const { status, body: { proof } } = await sudo(fresh, {})
    expect(status).toBe(200)
    expect(await proves(fresh, proof)).toMatchObject(proven)
    // A sign-in can be used as a proof only once, and only by the session that it began.
    expect(await sudo(fresh, {})).toMatchObject(wrong)
    expect(await sudo(made, {})).toMatchObject(wrong)
  })

  test('who knows a password proves by it', async () => {
    const [email, sub] = [newEmail(), randomUUID()]
    const made = await byGoogle(email, sub)
    const [code] = await codeSentBy(
      email,
      () => guest.post('/auth/password/forgot', { identifier: email }),
    )
    const password = randomUUID()
    const reset = { identifier: email, code, newPassword: password, confirmPassword: password }
    expect((await guest.post('/auth/password/reset', reset)).status).toBe(204)
    await database().query('insert into public.admins (account_id) values ($1)', [made.id])
    await database().query('update auth.users set email = null where id = $1', [made.id])
    const fresh = await byGoogle(newEmail(), sub)
    expect(await sudo(fresh, {})).toMatchObject(wrong)
    expect((await sudo(fresh, { currentPassword: password })).status).toBe(200)
  })
})
