import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { png } from '../support/pictures.ts'
import { unknownId } from '../support/problems.ts'
import { uploadPictures } from '../support/uploads.ts'
import { reason } from './requests.ts'
import { byHand, leaveChanges } from './studio.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

const waiting = async (query: Record<string, string>) => {
  const { status, body } = await admin.get(`/admin/moderation?${new URLSearchParams(query)}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const idsOf = async (query: Record<string, string>) =>
  (await waiting(query)).items.map(({ id }: { id: string }) => id)
const decide = (id: string, body: object, by = admin) =>
  by.post(`/admin/moderation/${id}/decide`, body)

async function askFor(type: 'company' | 'office', owner: Person, nameAr = 'دار السالمية') {
  const licenceNo = randomUUID().slice(0, 12).toUpperCase()
  const { body } = await owner.post('/auth/identities', {
    type,
    nameAr,
    licenceNo,
    licenceExpiresOn: '2040-01-01',
  })
  return { id: body.id as string, licenceNo }
}

describe('companies and offices that wait', () => {
  test('each is listed with its licence and whose it is, and is verified', async () => {
    const owner = await signUp()
    const { id, licenceNo } = await askFor('office', owner)
    const { items } = await waiting({ kind: 'identity', accountId: owner.id })
    expect(items).toEqual([{
      id,
      kind: 'identity',
      since: expect.any(String),
      decisions: ['approve', 'reject'],
      version: expect.any(Number),
      listing: null,
      changes: null,
      before: null,
      pictures: null,
      report: null,
      of: null,
      payout: null,
      claimedBy: null,
      notes: [],
      identity: {
        accountId: owner.id,
        fullName: expect.any(String),
        email: owner.identifier,
        phone: null,
        record: expect.objectContaining({
          id,
          type: 'office',
          status: 'pending_verification',
          nameAr: 'دار السالمية',
          licenceNo,
          licenceExpiresOn: '2040-01-01',
          verified: false,
        }),
        documents: [],
        claims: [],
        earlierDecisions: [],
        lastDecision: null,
      },
    }])
    expect(await idsOf({ accountId: owner.id })).toEqual([id])
    for (const kind of ['listing', 'changes', 'report']) {
      expect(await idsOf({ kind, accountId: owner.id }), kind).toEqual([])
    }
    expect((await guest.get(`/office/${id}`)).status).toBe(404)
    expect((await decide(id, { decision: 'approve' })).body)
      .toEqual({ id, kind: 'identity', status: 'active', decisions: ['suspend'] })
    expect((await guest.get(`/office/${id}`)).status).toBe(200)
    expect((await owner.get(`/auth/identities/${id}`)).body)
      .toMatchObject({ verified: true, statusReason: null })
    expect((await owner.get('/notifications')).body.items)
      .toMatchObject([{ kind: 'identity_verified' }])
    expect(await idsOf({ accountId: owner.id })).toEqual([])
    expect(await auditOf(admin, id)).toMatchObject([{
      action: 'identity.status',
      actor: { id: admin.id },
      reason: null,
      before: { status: 'pending_verification' },
      after: { status: 'active' },
    }])
  })

  test('ADM-08 a page that was changed since an admin looked at it is not approved unseen', async () => {
    const owner = await signUp()
    const { id } = await askFor('office', owner)
    const find = async () => (await waiting({ kind: 'identity', accountId: owner.id })).items[0]
    const { version } = await find()
    expect((await find()).version).toBe(version)
    await owner.patch(`/auth/identities/${id}`, { nameAr: 'الهيئة العامة للإسكان' })
    for (const decision of ['approve', 'reject']) {
      expect(await decide(id, { decision, reason, version })).toMatchObject({
        status: 409,
        body: { error: { code: 'version_conflict' } },
      })
    }
    expect(await decide(id, { decision: 'approve', version: (await find()).version }))
      .toMatchObject({ status: 200, body: { status: 'active' } })
  })

  test('one is rejected with a reason that its owner reads, corrected, and waits again', async () => {
    const owner = await signUp()
    const { id } = await askFor('company', owner)
    expect((await decide(id, { decision: 'reject' })).status).toBe(422)
    expect((await decide(id, { decision: 'reject', reason })).body)
      .toEqual({ id, kind: 'identity', status: 'rejected', decisions: [] })
    expect((await owner.get(`/auth/identities/${id}`)).body)
      .toMatchObject({ status: 'rejected', statusReason: reason })
    const [{ kind, bodyAr }] = (await owner.get('/notifications')).body.items
    expect([kind, bodyAr]).toEqual(['identity_rejected', expect.stringContaining(reason)])
    expect(await auditOf(admin, id)).toMatchObject([{ reason, after: { status: 'rejected' } }])
    await owner.patch(`/auth/identities/${id}`, { nameAr: 'دار السالمية العقارية' })
    expect((await waiting({ accountId: owner.id })).items).toMatchObject([{
      id,
      identity: {
        lastDecision: { reason, actor: { id: admin.id }, after: { status: 'rejected' } },
      },
    }])
  })

  test('who asks anew is shown with every earlier decision about account and licence, and waits', async () => {
    const [owner, friend] = [await signUp(), await signUp()]
    const { id, licenceNo } = await askFor('office', owner)
    await decide(id, { decision: 'approve' })
    await decide(id, { decision: 'suspend', reason })
    // A closed page gives up its licence number. Its owner now applies with another number, and a friend with
    // the one that was given up.
    await database().query(`update public.identities set status = 'closed' where id = $1`, [id])
    const { id: anew } = await askFor('company', owner)
    const { body: { id: ofFriend } } = await friend.post('/auth/identities', {
      type: 'office',
      nameAr: 'واجهة السالمية',
      licenceNo,
      licenceExpiresOn: '2040-01-01',
    })
    for (const [account, caseId] of [[owner, anew], [friend, ofFriend]] as const) {
      const [item] = (await waiting({ accountId: account.id })).items
      expect(item).toMatchObject({ id: caseId, decisions: ['approve', 'reject'] })
      expect(item.identity.earlierDecisions.filter(({ reason }: { reason: string }) => reason))
        .toMatchObject([{ targetId: id, reason, after: { status: 'suspended', licenceNo } }])
      const { rows } = await byHand(
        'select decisions from public.admin_identities_to_verify where id = $1',
        [caseId],
      )
      expect(rows[0].decisions).toContain(`${licenceNo} suspended ${reason}`)
    }
    expect((await decide(ofFriend, { decision: 'approve' })).status).toBe(200)
  })

  test('a verified one is suspended and restored by its id, with its listings', async () => {
    const owner = await signUp()
    const { id } = await askFor('office', owner)
    await decide(id, { decision: 'approve', reason })
    await owner.post('/auth/identity/switch', { identityId: id })
    const listing = (await publishListing(owner)).id
    expect((await decide(id, { decision: 'suspend', reason })).body)
      .toMatchObject({ status: 'suspended', decisions: ['restore'] })
    expect((await guest.get(`/properties/${listing}`)).status).toBe(404)
    expect((await decide(id, { decision: 'restore' })).body).toMatchObject({ status: 'active' })
    expect((await guest.get(`/properties/${listing}`)).status).toBe(200)
  })

  test('what cannot be decided is refused as by the route of its status', async () => {
    const owner = await signUp()
    const { id } = await askFor('company', owner)
    expect(await decide(id, { decision: 'uphold', reason })).toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'status_transition_invalid',
          from: 'pending_verification',
          allowed: ['approve', 'reject'],
        },
      },
    })
    expect((await decide(unknownId, { decision: 'approve' })).body.error.code).toBe('not_found')
    const own = await askFor('company', admin)
    expect((await decide(own.id, { decision: 'approve' })).body.error.code).toBe('admin_self')
    expect((await decide(id, { decision: 'approve' }, owner)).status).toBe(403)
    await database().query(
      `update public.organisations set licence_expires_on = '2020-01-01' where identity_id = $1`,
      [id],
    )
    expect(await decide(id, { decision: 'approve' }))
      .toMatchObject({ status: 422, body: { error: { code: 'licence_expired' } } })
  })

  test('two admins who decide at once are not both right', async () => {
    const other = await signUpAdmin()
    const { id } = await askFor('company', await signUp())
    const decided = await Promise.all([
      decide(id, { decision: 'approve' }),
      decide(id, { decision: 'reject', reason }, other),
    ])
    expect(decided.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe('filters and sorts', () => {
  test('ADM-08 what was changed since an admin looked at it is not approved unseen', async () => {
    const owner = await signUp()
    const unpublished = { status: 'pending_review', published_at: null, expires_at: null }
    const id = await insertListing(owner.identityId, unpublished)
    const seen = async () => (await waiting({ accountId: owner.id })).items[0]
    const first = await seen()
    expect(first).toMatchObject({ id, kind: 'listing', version: first.listing.version })

    expect((await owner.patch(`/properties/${id}`, { titleAr: 'شيء آخر تماماً' })).status).toBe(200)
    const conflict = { status: 409, body: { error: { code: 'version_conflict' } } }
    const approved = (version: number) => decide(id, { decision: 'approve', version })
    expect(await approved(first.version)).toMatchObject(conflict)
    const second = await seen()
    expect((await uploadPictures(owner, [png({ width: 9, height: 9 })], { propertyId: id })).status)
      .toBe(201)
    expect(await approved(second.version)).toMatchObject(conflict)
    const third = await seen()
    expect(
      (await owner.put(`/properties/${id}/media/order`, {
        mediaIds: third.listing.media.map(({ id }: { id: string }) => id),
      })).status,
    ).toBe(200)
    expect((await owner.get(`/properties/${id}`)).body.status).toBe('pending_review')
    await expect(byHand('select private.decide_property($1, true, null, $2)', [id, first.version]))
      .rejects.toMatchObject({
        message: expect.stringContaining('look at it again'),
        hint: 'version_conflict',
      })
    expect((await approved((await seen()).version)).body).toMatchObject({ status: 'active' })
    expect((await guest.get(`/properties/${id}`)).body.titleAr).toBe('شيء آخر تماماً')

    // Changes to a published listing work in the same way. An approval without a version is still accepted.
    await leaveChanges(id)
    const changes = await seen()
    expect(changes).toMatchObject({ kind: 'changes', version: expect.any(Number) })
    expect(await approved(changes.version - 1)).toMatchObject(conflict)
    expect((await guest.get(`/properties/${id}`)).body.price).not.toBe(77)
    expect((await approved(changes.version)).status).toBe(200)
    expect((await guest.get(`/properties/${id}`)).body.price).toBe(77)
    await leaveChanges(id)
    expect((await decide(id, { decision: 'approve' })).status).toBe(200)
  })

  test('what waits is filtered by what each kind has, and pages join in both directions', async () => {
    const [owner, reporter] = [await signUp(), await signUp()]
    const office = (await askFor('office', owner)).id
    const company = (await askFor('company', owner)).id
    const unpublished = { status: 'pending_review', published_at: null, expires_at: null }
    const sale = await insertListing(owner.identityId, unpublished)
    const rent = await insertListing(owner.identityId, {
      ...unpublished,
      type: 'RENT',
      area_id: 'rumaithiya',
    })
    const changed = (await publishListing(owner)).id
    await database().query(
      `update public.properties set pending_changes = '{"price":1}' where id = $1`,
      [changed],
    )
    const mine = { accountId: owner.id }
    const all = [office, company, sale, rent, changed]
    expect((await idsOf(mine)).sort()).toEqual(all.toSorted())
    expect(await idsOf({ ...mine, kind: 'changes' })).toEqual([changed])
    expect(await idsOf({ ...mine, listingType: 'RENT' })).toEqual([rent])
    expect(await idsOf({ ...mine, areaId: 'rumaithiya' })).toEqual([rent])
    expect(await idsOf({ ...mine, identityType: 'office' })).toEqual([office])
    expect(await idsOf({ ...mine, identityType: 'office', listingType: 'RENT' })).toEqual([])
    const later = new Date(Date.now() + 3_600_000).toISOString()
    expect(await idsOf({ ...mine, since: later })).toEqual([])
    expect(await idsOf({ ...mine, until: later })).toHaveLength(5)

    const { body: report } = await reporter.post('/reports', {
      targetType: 'property',
      targetId: changed,
      reason: 'duplicate',
    })
    const reported = { accountId: reporter.id }
    expect(await idsOf(reported)).toEqual([report.id])
    expect(await idsOf({ ...reported, targetType: 'property', reportReason: 'duplicate' }))
      .toEqual([report.id])
    expect(await idsOf({ ...reported, targetType: 'review' })).toEqual([])
    expect(await idsOf({ ...reported, reportReason: 'spam' })).toEqual([])

    const oldest = await idsOf(mine)
    for (const sort of ['oldest', 'newest']) {
      const seen: string[] = []
      let page = await waiting({ ...mine, sort, limit: '2' })
      while (page.nextCursor) {
        seen.push(...page.items.map(({ id }: { id: string }) => id))
        page = await waiting({ ...mine, sort, limit: '2', cursor: page.nextCursor })
      }
      seen.push(...page.items.map(({ id }: { id: string }) => id))
      expect(seen, sort).toEqual(sort === 'oldest' ? oldest : oldest.toReversed())
    }
    const { nextCursor } = await waiting({ ...mine, limit: '2' })
    const other = new URLSearchParams({ ...mine, sort: 'newest', limit: '2', cursor: nextCursor })
    expect((await admin.get(`/admin/moderation?${other}`)).body.error.code).toBe('cursor_invalid')
  })
})
