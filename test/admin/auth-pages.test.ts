// The buttons on Studio's Authentication pages call Auth's admin API with a secret key. Each one either has
// the same effects as our own act or is refused with an explanation (docs/admin.md).
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
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
import { countSessions } from '../support/codes.ts'
import { publishListing } from '../support/listings.ts'
import { byHand } from './studio.ts'

async function auth(method: string, path: string, body?: unknown) {
  const answer = await fetch(`${projectUrl}/auth/v1${path}`, {
    method,
    headers: { apikey: secretKey, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return { status: answer.status, body: await answer.json().catch(() => null) }
}
// deno-lint-ignore no-explicit-any
const said = ({ body }: { body: any }) => body.message ?? body.msg
const userNow = async (id: string) =>
  (await database().query('select banned_until, email from auth.users where id = $1', [id])).rows[0]

describe('ADM-09 under Authentication', () => {
  let admin: Person
  let person: Person
  beforeAll(async () => {
    ;[admin, person] = await Promise.all([signUpAdmin(), signUp()])
  })

  test('a ban is refused with the way to lock somebody out, and nothing has changed', async () => {
    const banned = await auth('PUT', `/admin/users/${person.id}`, { ban_duration: '24h' })
    expect(banned.status).toBe(409)
    expect(said(banned)).toContain('set accounts.status to banned')
    await expect(byHand(
      `update auth.users set banned_until = now() + interval '1 day' where id = $1`,
      [person.id],
    )).rejects.toThrow('act ban_account')
    expect((await userNow(person.id)).banned_until).toBe(null)
    expect((await person.get('/auth/me')).status).toBe(200)
    expect((await signIn(person.identifier, person.password)).id).toBe(person.id)
    expect(
      (await guest.post('/auth/login', { identifier: person.identifier, password: 'x'.repeat(9) }))
        .status,
    ).toBe(401)
    expect((await auth('PUT', `/admin/users/${person.id}`, { ban_duration: 'none' })).status).toBe(
      200,
    )
  })

  test.each([true, false])(
    'somebody added there, confirmed: %s, is an account that signs in, its email unproven',
    async (confirmed) => {
      const [email, password] = [newEmail(), randomUUID()]
      const made = await auth('POST', '/admin/users', {
        email,
        password,
        ...(confirmed && { email_confirm: true }),
      })
      expect(made.status, JSON.stringify(made.body)).toBe(200)
      const added = await signIn(email, password)
      expect(added.id).toBe(made.body.id)
      expect((await admin.get(`/admin/users/${added.id}`)).body.user)
        .toMatchObject({ email, emailProven: false, status: 'active' })
      await publishListing(added)
    },
  )

  test('a phone that is no Kuwaiti mobile is refused with a sentence', async () => {
    const refused = await auth('POST', '/admin/users', {
      phone: '12025550123',
      password: randomUUID(),
      phone_confirm: true,
    })
    expect(refused.status).toBe(422)
    expect(said(refused)).toContain('a Kuwaiti mobile number')
    const phone = `965${newPhone()}`
    const made = await auth('POST', '/admin/users', { phone, password: randomUUID() })
    expect(made.status, JSON.stringify(made.body)).toBe(200)
  })

  test.each([
    ['a password recovery', '/recover'],
    ['a magic link', '/magiclink'],
    ['an invitation', '/invite'],
  ])('%s is not sent, and leaves nobody behind', async (_what, path) => {
    const email = path === '/invite' ? newEmail() : person.identifier
    const answer = await auth('POST', path, { email })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    if (path !== '/invite') expect(said(answer)).toContain('asks for a code in the app')
    const { rows } = await database().query('select from auth.users where email = $1', [email])
    expect(rows).toHaveLength(path === '/invite' ? 0 : 1)
  })

  test.each([false, true])(
    'whoever is deleted there (kept: %s) is gone as by the route',
    async (isSoft) => {
      const gone = await signUp()
      const { id } = await publishListing(gone)
      const deleted = await auth('DELETE', `/admin/users/${gone.id}`, {
        should_soft_delete: isSoft,
      })
      expect(deleted.status, JSON.stringify(deleted.body)).toBe(200)
      expect((await gone.get('/auth/me')).status).toBe(401)
      expect(await countSessions(gone.id)).toBe(0)
      expect((await guest.get(`/properties/${id}`)).status).toBe(404)
      expect((await admin.get(`/admin/users/${gone.id}`)).body.user)
        .toMatchObject({ status: 'deleted', email: null, fullName: null })
      expect((await auditOf(admin, gone.id))[0])
        .toMatchObject({ action: 'account.status', actor: null, after: { status: 'deleted' } })
      expect(
        (await guest.post('/auth/login', { identifier: gone.identifier, password: gone.password }))
          .body.error.code,
      ).toBe('invalid_credentials')
    },
  )
})
