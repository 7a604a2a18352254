import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signIn, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { identityOf, reason } from './requests.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

describe('identities', () => {
  const requested = async () => {
    const owner = await signUp()
    const { body } = await owner.post('/auth/identities', {
      type: 'office',
      nameAr: 'مكتب الواحة',
      licenceNo: randomUUID().slice(0, 12).toUpperCase(),
      licenceExpiresOn: '2040-01-01',
    })
    return { owner, id: body.id as string }
  }

  test('an identity is verified, suspended and released; each step is in the audit trail', async () => {
    const { owner, id } = await requested()
    expect((await guest.get(`/office/${id}`)).status).toBe(404)
    expect((await identityOf(admin, id, 'active')).body)
      .toMatchObject({ id, status: 'active', verified: true })
    expect((await guest.get(`/office/${id}`)).status).toBe(200)
    await owner.post('/auth/identity/switch', { identityId: id })
    const listing = (await publishListing(owner)).id

    expect((await identityOf(admin, id, 'suspended')).body)
      .toMatchObject({ status: 'suspended', statusReason: reason })
    expect((await guest.get(`/office/${id}`)).status).toBe(404)
    expect((await guest.get(`/properties/${listing}`)).status).toBe(404)
    expect((await owner.get('/auth/me')).body.activeIdentity).toBe(null)
    expect(await owner.get('/office/profile')).toMatchObject({ status: 403 })

    expect((await identityOf(admin, id, 'active')).body).toMatchObject({ statusReason: null })
    expect((await guest.get(`/properties/${listing}`)).status).toBe(200)
    const trail = await auditOf(admin, id)
    expect(trail.map(({ before, after }) => [before.status, after.status])).toEqual([
      ['suspended', 'active'],
      ['active', 'suspended'],
      ['pending_verification', 'active'],
    ])
  })

  test('states that do not follow one another are refused, repeats are harmless', async () => {
    const { owner, id } = await requested()
    const refused = (from: string, allowed: string[]) => ({
      status: 409,
      body: { error: { code: 'status_transition_invalid', from, allowed } },
    })
    expect(await identityOf(admin, id, 'suspended'))
      .toMatchObject(refused('pending_verification', ['active', 'rejected']))
    expect((await identityOf(admin, id, 'rejected')).status).toBe(200)
    expect((await identityOf(admin, id, 'rejected')).body)
      .toMatchObject({ status: 'rejected', statusReason: reason })
    expect(await identityOf(admin, id, 'active')).toMatchObject(refused('rejected', []))
    // The owner corrects the rejected identity, which then waits for verification again.
    expect((await owner.patch(`/auth/identities/${id}`, { nameAr: 'مكتب الواحة الجديد' })).body)
      .toMatchObject({ status: 'pending_verification' })
    expect((await identityOf(admin, id, 'active')).status).toBe(200)

    const individual = owner.identityId
    expect(await identityOf(admin, individual, 'rejected'))
      .toMatchObject(refused('active', ['suspended']))
    expect((await identityOf(admin, individual, 'active')).status).toBe(200)
  })

  test('nobody is verified with an expired licence', async () => {
    const { id } = await requested()
    await database().query(
      `update public.organisations set licence_expires_on = '2020-01-01' where identity_id = $1`,
      [id],
    )
    expect(await identityOf(admin, id, 'active'))
      .toMatchObject({ status: 422, body: { error: { code: 'licence_expired' } } })
  })

  test('IDN-06 a suspended identity no longer acts, and no other acts in its place', async () => {
    const owner = await signUp()
    const company = await insertOrganisation(owner.id)
    await owner.post('/auth/identity/switch', { identityId: company })
    await identityOf(admin, company, 'suspended')
    expect(await owner.get('/company/profile')).toMatchObject({ status: 403 })
    expect(await owner.post('/properties', { type: 'SALE' }))
      .toMatchObject({ status: 403, body: { error: { code: 'identity_not_usable' } } })
    const again = await signIn(owner.identifier, owner.password)
    expect((await again.get('/auth/me')).body).toMatchObject({
      activeIdentity: { id: owner.identityId },
      identities: [{ status: 'active' }, { id: company, status: 'suspended' }],
    })
  })
})
