// Setting a status and its reason by hand has the same effects on records, notifications and the audit trail
// as calling the route. A reason that is set after the status adds a second notification and audit entry.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { guest, type Person, signIn, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { edit, why } from './studio.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

type Order = 'together' | 'the reason first' | 'the status first'
const orders: Order[] = ['together', 'the reason first', 'the status first']

async function editInOrder(order: Order, table: string, id: string, status: string) {
  const changes = {
    'together': [{ status, status_reason: why }],
    'the reason first': [{ status_reason: why }, { status }],
    'the status first': [{ status }, { status_reason: why }],
  }[order]
  for (const columns of changes) await edit(table, id, columns)
}

/**
 * Expects the reason in the last notification, and an earlier one only if the
 * reason was set after the status.
 */
async function expectNotified(person: Person, order: Order, kind: string) {
  const { items } = (await person.get('/notifications')).body
  expect(items.map((item: { kind: string }) => item.kind))
    .toEqual(order === 'the status first' ? [kind, kind] : [kind])
  expect(items[0].bodyAr).toContain(why)
}

/**
 * Expects the status and reason in the newest audit entry, and an earlier one only if the
 * reason was set after the status.
 */
async function expectAudited(order: Order, id: string, status: string) {
  const trail = await auditOf(admin, id)
  expect(trail[0]).toMatchObject({ reason: why, actor: null, after: { status } })
  expect(trail).toHaveLength(order === 'the status first' ? 2 : 1)
}

describe.each(orders)('%s', (order) => {
  test('an office is rejected', async () => {
    const owner = await signUp()
    const { body: { id } } = await owner.post('/auth/identities', {
      type: 'office',
      nameAr: 'مكتب الواحة',
      licenceNo: randomUUID().slice(0, 12).toUpperCase(),
      licenceExpiresOn: '2040-01-01',
    })
    await editInOrder(order, 'identities', id, 'rejected')
    expect((await owner.get(`/auth/identities/${id}`)).body)
      .toMatchObject({ status: 'rejected', statusReason: why })
    await expectNotified(owner, order, 'identity_rejected')
    await expectAudited(order, id, 'rejected')
  })

  test('an identity is suspended', async () => {
    const owner = await signUp()
    await editInOrder(order, 'identities', owner.identityId, 'suspended')
    expect((await owner.get(`/auth/identities/${owner.identityId}`)).body)
      .toMatchObject({ status: 'suspended', statusReason: why })
    await expectNotified(owner, order, 'identity_suspended')
    await expectAudited(order, owner.identityId, 'suspended')
  })

  test('a listing that waits is rejected', async () => {
    const seller = await signUp()
    const id = await insertListing(seller.identityId, {
      status: 'pending_review',
      published_at: null,
      expires_at: null,
    })
    await editInOrder(order, 'properties', id, 'rejected')
    expect((await seller.get(`/properties/${id}`)).body)
      .toMatchObject({ status: 'rejected', statusReason: why })
    await expectNotified(seller, order, 'listing_rejected')
    await expectAudited(order, id, 'rejected')
  })

  test('a listing is suspended', async () => {
    const seller = await signUp()
    const { id } = await publishListing(seller)
    await editInOrder(order, 'properties', id, 'suspended')
    expect((await guest.get(`/properties/${id}`)).status).toBe(404)
    expect((await seller.get(`/properties/${id}`)).body)
      .toMatchObject({ status: 'suspended', statusReason: why })
    await expectNotified(seller, order, 'listing_suspended')
    await expectAudited(order, id, 'suspended')
  })

  test.each(['suspended', 'banned'])(
    'an account is %s, and comes back without it',
    async (status) => {
      const person = await signUp()
      await editInOrder(order, 'accounts', person.id, status)
      expect((await person.get('/auth/me')).body.error.code).toBe(`account_${status}`)
      expect((await admin.get(`/admin/users/${person.id}`)).body.user)
        .toMatchObject({ status, statusReason: why })
      await expectAudited(order, person.id, status)
      await edit('accounts', person.id, { status: 'active' })
      await signIn(person.identifier, person.password)
      expect((await admin.get(`/admin/users/${person.id}`)).body.user)
        .toMatchObject({ status: 'active', statusReason: null })
    },
  )

  test('a report is upheld, or refused while nothing says why', async () => {
    const seller = await signUp()
    const { id } = await publishListing(seller)
    const { body: report } = await (await signUp()).post('/reports', {
      targetType: 'property',
      targetId: id,
      reason: 'fraud',
    })
    const edited = editInOrder(order, 'reports', report.id, 'upheld')
    if (order === 'the status first') {
      await expect(edited).rejects.toThrow('status_reason, first or in the same change')
      expect((await guest.get(`/properties/${id}`)).status).toBe(200)
      return
    }
    await edited
    expect((await seller.get(`/properties/${id}`)).body)
      .toMatchObject({ status: 'suspended', statusReason: why })
    await expectNotified(seller, 'together', 'listing_suspended')
    await expectAudited(order, report.id, 'upheld')
  })
})
