import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { byTokenAlone, proofOf, signUpAdmin } from '../support/admins.ts'
import {
  database,
  newEmail,
  newPhone,
  type Person,
  projectUrl,
  publishableKey,
  signUp,
} from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { refusal } from '../support/problems.ts'

const reason = 'تم التحقق من الهوية'
const noProof = refusal(403, 'proof_required')
const unknownId = '00000000-0000-4000-8000-000000000000'

describe('ADM-14 the access token of an administrator, without a password', () => {
  let admin: Person
  let token: ReturnType<typeof byTokenAlone>

  beforeAll(async () => {
    admin = await signUpAdmin()
    token = byTokenAlone(admin)
  })

  const rpc = async (name: string, body: unknown) => {
    const response = await fetch(`${projectUrl}/rest/v1/rpc/${name}`, {
      method: 'POST',
      headers: {
        apikey: publishableKey,
        'content-type': 'application/json',
        authorization: `Bearer ${admin.accessToken}`,
        // The Data API does not accept proofs and ignores this header.
        'x-proof': await proofOf(admin),
      },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }

  test('reads, decides about listings, reports, companies and offices, and suspends', async () => {
    const person = await signUp()
    const { id } = await publishListing(person)
    const office = await insertOrganisation(person.id, 'office')
    const reported = await (await signUp()).post('/reports', {
      targetType: 'property',
      targetId: id,
      reason: 'spam',
    })
    const decide = (target: string, decision: string) =>
      token.post(`/admin/moderation/${target}/decide`, { decision, reason })
    for (const path of ['users', `users/${person.id}`, 'moderation', 'audit', 'stats']) {
      expect((await token.get(`/admin/${path}`)).status, path).toBe(200)
    }
    expect((await decide(reported.body.id, 'dismiss')).status).toBe(200)
    expect((await decide(id, 'suspend')).status).toBe(200)
    expect((await decide(id, 'restore')).status).toBe(200)
    const identity = (status: string) =>
      token.patch(`/admin/identities/${office}/status`, { status, reason })
    expect((await identity('suspended')).status).toBe(200)
    expect((await identity('active')).status).toBe(200)
    for (const status of ['suspended', 'active']) {
      const changed = await token.patch(`/admin/users/${person.id}/status`, { status, reason })
      expect([changed.status, changed.body.status]).toEqual([200, status])
    }
  })

  test('sets no identifier, deletes and bans nobody, and takes nobody along', async () => {
    const person = await signUp()
    const user = `/admin/users/${person.id}`
    expect(await token.patch(`${user}/identifier`, { phone: newPhone(), reason }))
      .toMatchObject(noProof)
    expect(await token.delete(user, { reason })).toMatchObject(noProof)
    expect(await token.delete(`${user}?reason=ab`)).toMatchObject(noProof)
    expect(await token.patch(`${user}/status`, { status: 'banned', reason })).toMatchObject(noProof)
    for (const list of ['users', 'moderation', 'audit']) {
      expect(await token.get(`/admin/${list}`, { headers: { accept: 'text/csv' } }), list)
        .toMatchObject(noProof)
    }
    expect((await person.get('/auth/me')).body.user.email).toBe(person.identifier)
  })

  test('moves no money away', async () => {
    const of = (id: string) => ({
      refund: token.post(`/admin/invoices/${id}/refund`, { to: 'source', reason }),
      paid: token.post(`/admin/moderation/${id}/decide`, { decision: 'paid_out', note: 'NBK 1' }),
      written: token.post(`/admin/moderation/${id}/decide`, { decision: 'written_off', reason }),
    })
    for (const answer of Object.values(of(randomUUID()))) {
      expect(await answer).toMatchObject(noProof)
    }
    const wallet = { to: 'wallet', reason }
    expect(await token.post(`/admin/invoices/${randomUUID()}/refund`, wallet))
      .toMatchObject(refusal(404, 'invoice_not_found'))
  })

  test('past the facade neither', async () => {
    const person = await signUp()
    const refused = { status: 403, text: expect.stringContaining('proof_required') }
    const set = { user_id: person.id, reason }
    expect(await rpc('set_user_status', { ...set, status: 'banned' })).toMatchObject(refused)
    expect((await rpc('set_user_status', { ...set, status: 'suspended' })).status).toBe(200)
    const decided = { id: unknownId, reason, note: reason }
    expect(await rpc('decide_moderation', { ...decided, decision: 'paid_out' }))
      .toMatchObject(refused)
    expect(await rpc('decide_moderation', { ...decided, decision: 'written_off' }))
      .toMatchObject(refused)
    expect(await rpc('refund_invoice', { invoice_id: unknownId, destination: 'source', reason }))
      .toMatchObject(refused)
    for (
      const name of [
        'begin_export',
        'change_plan',
        'change_setting',
        'delete_user',
        'open_payout',
        'set_user_identifier',
        'save_proof',
        'end_account',
      ]
    ) {
      expect((await rpc(name, set)).status, name).toBe(404)
    }
    for (const table of ['admins', 'admin_acts', 'accounts', 'session_proofs', 'wallet_payouts']) {
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
        const response = await fetch(`${projectUrl}/rest/v1/${table}`, {
          method,
          headers: {
            apikey: publishableKey,
            'content-type': 'application/json',
            authorization: `Bearer ${admin.accessToken}`,
          },
          body: ['POST', 'PATCH'].includes(method) ? '{}' : undefined,
        })
        await response.text()
        expect(response.status, `${method} ${table}`).toBe(404)
      }
    }
    expect(
      (await database().query('select status from public.accounts where id = $1', [person.id]))
        .rows[0].status,
    ).toBe('suspended')
  })

  test('makes no other way in: no password, phone, email or provider', async () => {
    const auth = (body: unknown) =>
      fetch(`${projectUrl}/auth/v1/user`, {
        method: 'PUT',
        headers: {
          apikey: publishableKey,
          'content-type': 'application/json',
          authorization: `Bearer ${admin.accessToken}`,
        },
        body: JSON.stringify(body),
      }).then(async (response) => [response.status, await response.text()] as const)
    expect((await auth({ password: randomUUID() }))[0]).not.toBe(200)
    await auth({ email: newEmail() })
    expect((await token.post('/auth/me/phone', { phone: newPhone() })).status).toBe(401)
    expect((await token.get('/auth/me')).body.user.email).toBe(admin.identifier)
  })
})

describe('ADM-15 administrators among themselves', () => {
  test('by a route nobody does anything to another’s account', async () => {
    const [admin, other] = [await signUpAdmin(), await signUpAdmin()]
    const target = refusal(409, 'admin_target')
    for (const status of ['suspended', 'banned', 'active']) {
      expect(await admin.patch(`/admin/users/${other.id}/status`, { status, reason }))
        .toMatchObject(target)
    }
    expect(await admin.patch(`/admin/users/${other.id}/identifier`, { phone: newPhone(), reason }))
      .toMatchObject(target)
    expect(await admin.delete(`/admin/users/${other.id}`, { reason })).toMatchObject(target)
    expect((await other.get('/admin/stats')).status).toBe(200)
    expect(await byTokenAlone(admin).delete(`/admin/users/${other.id}`, { reason }))
      .toMatchObject(noProof)
  })
})
