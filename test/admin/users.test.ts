import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, demote, makeAdmin, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signIn, signUp } from '../support/client.ts'
import { countSessions } from '../support/codes.ts'
import { publishListing } from '../support/listings.ts'
import { race } from '../support/races.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { unknownId } from '../support/problems.ts'
import { identityOf, reason, statusOf } from './requests.ts'

let admin: Person
let person: Person

beforeAll(async () => {
  admin = await signUpAdmin()
  person = await signUp()
})

describe('ADM-02 two admins, one user', () => {
  test('of two states set at once one holds, and both are in the audit trail', async () => {
    const second = await signUpAdmin()
    const target = await signUp()
    for (let round = 0; round < 100; round++) {
      const replies = await Promise.all([
        statusOf(admin, target.id, { status: 'suspended' }),
        statusOf(second, target.id, { status: round % 2 ? 'active' : 'banned' }),
      ])
      expect(replies.map(({ status }) => status)).toEqual([200, 200])
    }
    const { rows } = await database().query(
      `select before ->> 'status' as before, after ->> 'status' as after from public.audit
       where target_id = $1 and action = 'account.status' order by at, id`,
      [target.id],
    )
    expect(rows).toHaveLength(200)
    expect(rows.map(({ before }) => before))
      .toEqual(['active', ...rows.map(({ after }) => after)].slice(0, 200))
    const shown = await admin.get(`/admin/users/${target.id}`)
    expect(shown.body.audit[0].after.status).toBe(shown.body.user.status)
    expect(shown.body.audit).toHaveLength(20)
  })

  test('the same state twenty times at once changes it once', async () => {
    const target = await signUp()
    const replies = await race(Array.from({ length: 20 }, () => ({
      method: 'PATCH',
      path: `/admin/users/${target.id}/status`,
      body: { status: 'suspended', reason },
      headers: [['authorization', `Bearer ${admin.accessToken}`]] as [string, string][],
    })))
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect((await admin.get(`/admin/users/${target.id}`)).body.user)
      .toMatchObject({ status: 'suspended', statusReason: reason, suspendedUntil: null })
  })

  test('invalid states, reasons, times and accounts are refused', async () => {
    const invalid: object[] = [
      { status: 'deleted' },
      { status: 'Active' },
      { status: null },
      { status: 'suspended', reason: ' ' },
      { status: 'suspended', reason: 'a\u0007b' },
      { status: 'suspended', reason: 'ا'.repeat(501) },
      { status: 'suspended', reason: undefined },
      { status: 'suspended', until: '2020-01-01T00:00:00Z' },
      { status: 'suspended', until: 'tomorrow' },
      { status: 'banned', until: '2040-01-01T00:00:00Z' },
      { status: 'active', until: '2040-01-01T00:00:00Z' },
      { status: 'suspended', account: person.id },
    ]
    for (const body of invalid) {
      expect((await statusOf(admin, person.id, body)).status, JSON.stringify(body)).toBe(422)
    }
    const unknown = { status: 404, body: { error: { code: 'user_not_found' } } }
    expect(await statusOf(admin, unknownId, { status: 'banned' })).toMatchObject(unknown)
    expect(await statusOf(admin, person.identityId, { status: 'banned' })).toMatchObject(unknown)
    expect(await admin.get(`/admin/users/${unknownId}`)).toMatchObject(unknown)
    expect(await admin.delete(`/admin/users/${unknownId}`, { reason })).toMatchObject(unknown)
    const path = `/admin/users/${unknownId}?reason=${encodeURIComponent(reason)}`
    expect(await admin.delete(path)).toMatchObject(unknown)
    expect(await admin.delete(`/admin/users/${unknownId}`)).toMatchObject({
      status: 422,
      body: {
        error: { code: 'validation_failed', fields: [{ path: 'reason', code: 'required' }] },
      },
    })
    expect(await identityOf(admin, unknownId, 'active'))
      .toMatchObject({ status: 404, body: { error: { code: 'identity_not_found' } } })
    expect((await person.get('/auth/me')).status).toBe(200)
  })
})

describe('AUTH-13 locking an account', () => {
  test('ends its sessions at once and says why; once released, all is there', async () => {
    const target = await signUp()
    const { id } = await publishListing(target)
    expect(await statusOf(admin, target.id, { status: 'suspended' }))
      .toMatchObject({ status: 200, body: { id: target.id, status: 'suspended' } })
    expect(await countSessions(target.id)).toBe(0)
    const refusal = { status: 403, body: { error: { code: 'account_suspended' } } }
    expect(await target.get('/auth/me')).toMatchObject(refusal)
    const { identifier, password } = target
    expect(await guest.post('/auth/login', { identifier, password })).toMatchObject(refusal)
    expect((await guest.get(`/properties/${id}`)).status).toBe(404)
    expect(await guest.post('/auth/refresh', { refreshToken: target.refreshToken }))
      .toMatchObject({ status: 401 })

    expect(await statusOf(admin, target.id, { status: 'active' }))
      .toMatchObject({ body: { status: 'active', statusReason: null } })
    expect((await target.get('/auth/me')).status).toBe(401) // the old session is gone for good
    const again = await signIn(identifier, password)
    expect((await again.get(`/properties/${id}`)).body.id).toBe(id)
    expect(await auditOf(admin, target.id)).toMatchObject([
      { after: { status: 'active' }, before: { status: 'suspended' }, actor: { id: admin.id } },
      { after: { status: 'suspended' }, reason, action: 'account.status', targetType: 'account' },
    ])
  })

  test('a suspension can have an end', async () => {
    const target = await signUp()
    const until = new Date(Date.now() + 86_400_000).toISOString()
    const { body } = await statusOf(admin, target.id, { status: 'suspended', until })
    expect(Date.parse(body.suspendedUntil)).toBe(Date.parse(until))
  })

  test('done in Studio or by SQL it has the same effect, and is in the audit trail', async () => {
    const target = await signUp()
    await database().query(
      `update public.accounts set status = 'suspended', status_reason = $2 where id = $1`,
      [target.id, reason],
    )
    expect(await countSessions(target.id)).toBe(0)
    expect(await auditOf(admin, target.id)).toMatchObject([{
      action: 'account.status',
      actor: null,
      actorRole: 'postgres',
      reason,
      before: { status: 'active' },
      after: { status: 'suspended' },
    }])
  })
})

describe('the last admin', () => {
  test('no admin does it to their own account', async () => {
    const self = { status: 409, body: { error: { code: 'admin_self' } } }
    const { id, identityId } = admin
    for (const status of ['active', 'suspended', 'banned']) {
      expect(await statusOf(admin, id, { status })).toMatchObject(self)
    }
    expect(await admin.delete(`/admin/users/${id}`, { reason })).toMatchObject(self)
    expect(await identityOf(admin, identityId, 'suspended')).toMatchObject(self)
    const company = await insertOrganisation(id)
    expect(await identityOf(admin, company, 'suspended')).toMatchObject(self)
    expect((await admin.get('/auth/me')).status).toBe(200)
    expect(await auditOf(admin, id)).toMatchObject([{ action: 'admin.changed' }])
  })

  test('making and removing admins is in the audit trail', async () => {
    const other = await makeAdmin(await signUp())
    await demote(other)
    expect(await auditOf(admin, other.id)).toMatchObject([
      { action: 'admin.changed', before: { account_id: other.id }, after: null },
      { action: 'admin.changed', before: null, after: { account_id: other.id, role: 'admin' } },
    ])
  })
})
