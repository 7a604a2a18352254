// Edits by hand as in Studio: one UPDATE by the tables' owner. Each one either has the same
// effects as the route, as seen over HTTP, or is refused with an explanation. The tables below
// cover every column with a state.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signIn, signUp } from '../support/client.ts'
import { countSessions } from '../support/codes.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { company } from '../support/identities.ts'
import { publishListing } from '../support/listings.ts'
import { act, decide, edit, leaveChanges, why } from './studio.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

const notifiedKinds = async (person: Person) =>
  (await person.get('/notifications')).body.items.map(({ kind }: { kind: string }) => kind)

// deno-lint-ignore no-explicit-any
function shape(record: any) {
  const {
    id: _id,
    refNo: _refNo,
    version: _version,
    owner: _owner,
    createdAt: _createdAt,
    ...rest
  } = record
  const minute = (at: string | null) => at && Math.round(Date.parse(at) / 600_000)
  return {
    ...rest,
    publishedAt: minute(rest.publishedAt),
    confirmedAt: minute(rest.confirmedAt),
    expiresAt: minute(rest.expiresAt),
  }
}

describe('properties.status', () => {
  // Each row has the status that an owner's action leads to, the action, and the actions taken before it.
  test.each([
    ['paused', 'pause', []],
    ['active', 'resume', ['pause']],
    ['sold', 'mark-sold', []],
    ['archived', 'archive', ['mark-sold']],
    ['draft', 'restore', ['archive']],
    ['active', 'publish', ['archive', 'restore']],
  ])('set to %s it is as after the route’s %s', async (status, act, before) => {
    const seller = await signUp()
    const [byRoute, byHand] = [await publishListing(seller), await publishListing(seller)]
    for (const { id } of [byRoute, byHand]) {
      for (const one of before) await seller.post(`/properties/${id}/${one}`)
    }
    const { body } = await seller.post(`/properties/${byRoute.id}/${act}`)
    await edit('properties', byHand.id, { status })
    const edited = (await seller.get(`/properties/${byHand.id}`)).body
    expect(edited.status).toBe(status)
    expect(shape(edited)).toEqual(shape(body))
    expect((await guest.get(`/properties/${byHand.id}`)).status)
      .toBe((await guest.get(`/properties/${byRoute.id}`)).status)
    expect((await seller.delete(`/properties/${byHand.id}`)).status).toBe(204)
  })

  test.each(['active', 'rejected'])(
    'what waits for review and is set to %s is as after the decision',
    async (status) => {
      const seller = await signUp()
      const waiting = () =>
        insertListing(seller.identityId, {
          status: 'pending_review',
          published_at: null,
          expires_at: null,
        })
      const [byRoute, byHand] = [await waiting(), await waiting()]
      await decide(admin, byRoute, status === 'active' ? 'approve' : 'reject')
      await edit('properties', byHand, {
        status,
        ...(status === 'rejected' && { status_reason: why }),
      })
      const [one, other] = [
        (await seller.get(`/properties/${byRoute}`)).body,
        (await seller.get(`/properties/${byHand}`)).body,
      ]
      expect(shape(other)).toEqual(shape(one))
      expect(other).toMatchObject(
        status === 'active'
          ? { publishedAt: expect.any(String), expiresAt: expect.any(String), statusReason: null }
          : { publishedAt: null, expiresAt: null, statusReason: why },
      )
      expect((await guest.get(`/properties/${byHand}`)).status).toBe(
        status === 'active' ? 200 : 404,
      )
      const kind = status === 'active' ? 'listing_approved' : 'listing_rejected'
      expect(await notifiedKinds(seller)).toEqual([kind, kind])
      expect(await auditOf(admin, byHand)).toMatchObject([
        { action: 'property.status', actor: null, after: { status } },
      ])
    },
  )

  test('suspended it is restored by the route as it was; suspended by the route, by hand', async () => {
    const seller = await signUp()
    const { id } = await publishListing(seller)
    const before = (await seller.get(`/properties/${id}`)).body
    await edit('properties', id, { status: 'suspended', status_reason: why })
    expect((await guest.get(`/properties/${id}`)).status).toBe(404)
    expect((await seller.get(`/properties/${id}`)).body)
      .toMatchObject({ status: 'suspended', statusReason: why })
    expect((await decide(admin, id, 'restore')).body).toMatchObject({ status: 'active' })

    await seller.post(`/properties/${id}/pause`)
    await decide(admin, id, 'suspend')
    await edit('properties', id, { status: 'paused' })
    expect((await decide(admin, id, 'suspend')).body).toMatchObject({ decisions: ['restore'] })
    expect((await decide(admin, id, 'restore')).body).toMatchObject({ status: 'paused' })
    await edit('properties', id, { status: 'active' })
    expect(shape((await seller.get(`/properties/${id}`)).body)).toEqual(shape(before))
    expect((await guest.get(`/properties/${id}`)).status).toBe(200)
  })

  test('expired it is renewed by its owner', async () => {
    const seller = await signUp()
    const { id } = await publishListing(seller)
    await edit('properties', id, { status: 'expired' })
    expect((await guest.get(`/properties/${id}`)).status).toBe(404)
    expect((await seller.post(`/properties/${id}/renew`)).status).toBe(200)
  })

  test('archived while changes wait it has them, as after the act', async () => {
    const seller = await signUp()
    const { id } = await publishListing(seller)
    await leaveChanges(id)
    await edit('properties', id, { status: 'archived' })
    expect((await seller.get(`/properties/${id}`)).body).toMatchObject({ price: 77 })
  })

  test('deleted it is gone, its picture too, and does not come back', async () => {
    const seller = await signUp()
    const { id } = await publishListing(seller)
    await edit('properties', id, { status: 'deleted' })
    expect((await seller.get(`/properties/${id}`)).status).toBe(404)
    await expect(edit('properties', id, { status: 'active' })).rejects.toThrow('does not come back')
  })
})

describe('reports.status', () => {
  const report = async (by: Person, targetType: string, targetId: string) =>
    (await by.post('/reports', { targetType, targetId, reason: 'fraud' })).body.id as string

  test('upheld the listing is suspended for the reason, and all reports of it are answered', async () => {
    const [seller, one, two] = [await signUp(), await signUp(), await signUp()]
    const { id } = await publishListing(seller)
    const reports = [await report(one, 'property', id), await report(two, 'property', id)]
    await edit('reports', reports[0]!, { status: 'upheld', status_reason: why })
    expect((await seller.get(`/properties/${id}`)).body)
      .toMatchObject({ status: 'suspended', statusReason: why })
    expect(await decide(admin, reports[1]!, 'dismiss'))
      .toMatchObject({ status: 409, body: { error: { from: 'upheld' } } })
    expect((await decide(admin, id, 'restore')).body).toMatchObject({ status: 'active' })
    expect((await auditOf(admin, id)).map(({ action }) => action))
      .toEqual(['property.restore', 'property.suspend'])
    const { rows } = await database().query(
      'select status, status_reason, decided_at from public.reports where id = any ($1)',
      [reports],
    )
    const upheld = { status: 'upheld', status_reason: why, decided_at: expect.any(Date) }
    expect(rows).toEqual([upheld, upheld])
  })

  test('dismissed nothing happens to it', async () => {
    const { id } = await publishListing(await signUp())
    const one = await report(await signUp(), 'property', id)
    await edit('reports', one, { status: 'dismissed' })
    expect((await guest.get(`/properties/${id}`)).status).toBe(200)
    expect(await decide(admin, one, 'uphold')).toMatchObject({ status: 409 })
  })
})

describe('accounts.status', () => {
  test.each(['suspended', 'banned'])(
    '%s it is locked out at once, and comes back',
    async (status) => {
      const person = await signUp()
      await edit('accounts', person.id, { status, status_reason: why })
      expect(await countSessions(person.id)).toBe(0)
      expect((await person.get('/auth/me')).body.error.code).toBe(`account_${status}`)
      await edit('accounts', person.id, { status: 'active' })
      expect((await admin.get(`/admin/users/${person.id}`)).body.user)
        .toMatchObject({ status: 'active', statusReason: null, suspendedUntil: null })
      expect((await signIn(person.identifier, person.password)).id).toBe(person.id)
    },
  )

  test('a temporary suspension that becomes a ban no longer ends', async () => {
    const person = await signUp()
    await edit('accounts', person.id, {
      status: 'suspended',
      suspended_until: new Date(Date.now() + 3_600_000),
    })
    await edit('accounts', person.id, { status: 'banned' })
    expect((await admin.get(`/admin/users/${person.id}`)).body.user.suspendedUntil).toBe(null)
  })

  test('delete_at asks for its deletion: it is signed out, and stays by signing in', async () => {
    const person = await signUp()
    const later = new Date(Date.now() + 14 * 86_400_000)
    await edit('accounts', person.id, { delete_at: later })
    const user = async () => (await admin.get(`/admin/users/${person.id}`)).body.user
    expect(Date.parse((await user()).deleteAt)).toBe(later.getTime())
    expect((await person.get('/auth/me')).status).toBe(401)
    await signIn(person.identifier, person.password)
    expect(await user()).toMatchObject({ status: 'active', deleteAt: null })
  })
})

describe('identities.status', () => {
  test('an office is verified, refused, suspended and closed as by the routes', async () => {
    const owner = await signUp()
    const { body: { id } } = await owner.post('/auth/identities', {
      type: 'office',
      nameAr: 'مكتب الواحة',
      licenceNo: randomUUID().slice(0, 12).toUpperCase(),
      licenceExpiresOn: '2040-01-01',
    })
    const seen = async () => (await guest.get(`/office/${id}`)).status
    await edit('identities', id, { status: 'rejected', status_reason: why })
    expect((await owner.get(`/auth/identities/${id}`)).body)
      .toMatchObject({ status: 'rejected', statusReason: why, verified: false })
    await edit('identities', id, { status: 'active' })
    expect((await owner.get(`/auth/identities/${id}`)).body)
      .toMatchObject({ status: 'active', statusReason: null, verified: true })
    expect(await seen()).toBe(200)
    await owner.post('/auth/identity/switch', { identityId: id })
    await edit('identities', id, { status: 'suspended' })
    expect(await seen()).toBe(404)
    expect((await owner.get('/auth/me')).body.activeIdentity).toBe(null)
    await edit('identities', id, { status: 'active' })
    expect(await seen()).toBe(200)
    await edit('identities', id, { status: 'closed' })
    expect(await seen()).toBe(404)
    expect((await owner.get(`/auth/identities/${id}`)).body)
      .toMatchObject({ displayName: 'حساب محذوف', nameAr: 'حساب محذوف' })
  })
})

test('a suspension that ends does not verify a company, by hand or by the act', async () => {
  const owner = await signUp()
  const { body: { id } } = await owner.post('/auth/identities', company())
  const own = async () => (await owner.get(`/auth/identities/${id}`)).body
  const waits = { status: 'pending_verification', verified: false }
  await edit('identities', id, { status: 'suspended' })
  await edit('identities', id, { status: 'active' })
  expect(await own()).toMatchObject(waits)
  expect((await auditOf(admin, id))[0]).toMatchObject({ after: { status: waits.status } })

  await edit('identities', id, { status: 'suspended' })
  expect(await act({ act: 'restore_identity', target: id, reason: why }))
    .toMatchObject({ state: 'done', result: 'The identity is pending_verification.' })
  expect(await own()).toMatchObject(waits)
  expect((await auditOf(admin, id))[0]).toMatchObject({ after: { status: waits.status } })
  expect((await guest.get(`/company/${id}`)).status).toBe(404)
  expect((await decide(admin, id, 'approve')).body).toMatchObject({ status: 'active' })
  expect(await own()).toMatchObject({ status: 'active', verified: true })
})

test('organisations.verified and reviews.hidden_at are seen at once', async () => {
  const office = await insertOrganisation((await signUp()).id, 'office')
  await edit('organisations', office, { verified: false }, 'identity_id')
  expect((await guest.get(`/office/${office}`)).status).toBe(404)
  await edit('organisations', office, { verified: true }, 'identity_id')
  expect((await guest.get(`/office/${office}`)).status).toBe(200)

  const author = await signUp()
  const { rows: [{ id }] } = await database().query(
    `insert into public.reviews (author_identity_id, subject_identity_id, rating)
     values ($1, $2, 4) returning id`,
    [author.identityId, office],
  )
  const summary = async () => (await guest.get(`/reviews?identityId=${office}`)).body
  expect(await summary()).toMatchObject({ count: 1 })
  await edit('reviews', id, { hidden_at: new Date() })
  expect(await summary()).toMatchObject({ count: 0, items: [] })
  await edit('reviews', id, { hidden_at: null })
  expect(await summary()).toMatchObject({ count: 1, average: 4 })
  await database().query('delete from public.reviews where id = $1', [id])
})

test('a name changed in its own table is the one that others see', async () => {
  const person = await signUp()
  const { id } = await publishListing(person)
  await edit('individual_profiles', person.id, { full_name: 'فهد المطيري' }, 'account_id')
  expect((await guest.get(`/properties/${id}`)).body.owner.displayName).toBe('فهد المطيري')
  expect((await person.get('/auth/me')).body).toMatchObject({
    user: { fullName: 'فهد المطيري' },
    activeIdentity: { displayName: 'فهد المطيري' },
  })
  const office = await insertOrganisation(person.id, 'office')
  await edit('organisations', office, { name_ar: 'مكتب النخيل' }, 'identity_id')
  expect((await person.get(`/auth/identities/${office}`)).body)
    .toMatchObject({ displayName: 'مكتب النخيل', nameAr: 'مكتب النخيل' })
})
