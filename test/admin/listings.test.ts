import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { unknownId } from '../support/problems.ts'
import { reason } from './requests.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

describe('listings', () => {
  const decide = (id: string, body: object, by = admin) =>
    by.post(`/admin/moderation/${id}/decide`, body)

  test('a listing is suspended with a reason and restored as it was', async () => {
    const owner = await signUp()
    const { id } = await publishListing(owner)
    expect((await decide(id, { decision: 'suspend' })).status).toBe(422)
    expect((await decide(id, { decision: 'suspend', reason })).body)
      .toEqual({ id, kind: 'listing', status: 'suspended', decisions: ['restore'] })
    expect((await guest.get(`/properties/${id}`)).status).toBe(404)
    expect((await owner.get(`/properties/${id}`)).body)
      .toMatchObject({ status: 'suspended', statusReason: reason })
    expect(await decide(id, { decision: 'approve' })).toMatchObject({
      status: 409,
      body: {
        error: { code: 'status_transition_invalid', from: 'suspended', allowed: ['restore'] },
      },
    })
    expect((await decide(id, { decision: 'restore' })).body).toMatchObject({ status: 'active' })
    expect((await guest.get(`/properties/${id}`)).status).toBe(200)
    expect((await auditOf(admin, id)).map(({ action }) => action))
      .toEqual(['property.restore', 'property.suspend'])
  })

  test('a waiting listing is listed with its possible decisions, and is decided', async () => {
    const owner = await signUp()
    const [one, two, three] = [
      await publishListing(owner),
      await publishListing(owner),
      await publishListing(owner),
    ]
    await database().query(
      `update public.properties set status = 'pending_review', created_at = '2001-01-01'
       where id = any ($1)`,
      [[one.id, two.id]],
    )
    await database().query(
      `update public.properties set pending_changes = '{"price":1}', created_at = '2001-01-02'
       where id = $1`,
      [three.id],
    )
    const waiting = async (query = '') => {
      const { body } = await admin.get(`/admin/moderation?limit=50${query}`)
      const mine = [one.id, two.id, three.id]
      return body.items.filter(({ id }: { id: string }) => mine.includes(id))
    }
    expect((await waiting()).map(({ kind }: { kind: string }) => kind))
      .toEqual(['listing', 'listing', 'changes'])
    expect(await waiting('&kind=changes')).toMatchObject([{
      id: three.id,
      decisions: ['approve', 'reject', 'suspend'],
      changes: { price: 1 },
      listing: { id: three.id, price: 185000 },
    }])
    const first = (await admin.get('/admin/moderation?limit=1')).body
    expect(first.items).toHaveLength(1)
    const second = (await admin.get(`/admin/moderation?limit=1&cursor=${first.nextCursor}`)).body
    expect(second.items[0].id).not.toBe(first.items[0].id)

    expect((await decide(one.id, { decision: 'approve' })).body)
      .toMatchObject({ status: 'active' })
    expect((await decide(two.id, { decision: 'reject', reason })).body)
      .toMatchObject({ status: 'rejected', decisions: ['suspend'] })
    expect((await decide(three.id, { decision: 'approve' })).body)
      .toMatchObject({ status: 'active' })
    expect((await guest.get(`/properties/${three.id}`)).body.price).toBe(1)
    expect(await waiting()).toEqual([])
  })

  test("one's own, a deleted and a non-existent listing are refused", async () => {
    const { id } = await publishListing(admin)
    expect(await decide(id, { decision: 'suspend', reason }))
      .toMatchObject({ status: 409, body: { error: { code: 'admin_self' } } })
    await admin.delete(`/properties/${id}`)
    for (const one of [id, unknownId]) {
      expect(await decide(one, { decision: 'suspend', reason }))
        .toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    }
    for (const body of [{}, { decision: 'delete' }, { decision: 'approve', reason: 'x' }]) {
      expect((await decide(unknownId, body)).status, JSON.stringify(body)).toBe(422)
    }
  })
})
