import { beforeAll, describe, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { callDataApi } from '../support/data-api.ts'
import { insertListing } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { refusal, unknownId } from '../support/problems.ts'
import { leaveChanges, why } from './studio.ts'

let admin: Person
let other: Person

beforeAll(async () => {
  ;[admin, other] = await Promise.all([signUpAdmin('مريم'), signUpAdmin('فهد')])
})

const claim = (id: string, by = admin) => by.post(`/admin/moderation/${id}/claim`)
const release = (id: string, by = admin) => by.post(`/admin/moderation/${id}/release`)

async function holderOf(id: string) {
  const { body } = await claim(id)
  return body.claimedBy?.fullName
}

const minutesAgo = (id: string, minutes: number) =>
  database().query(
    `update public.item_claims set claimed_at = now() - make_interval(mins => $2) where item_id = $1`,
    [id, minutes],
  )

async function reported() {
  const [owner, reporter] = await Promise.all([signUp(), signUp()])
  const listing = await insertListing(owner.identityId)
  const { body } = await reporter.post('/reports', {
    targetType: 'property',
    targetId: listing,
    reason: 'spam',
  })
  return { id: body.id as string, listing, reporter }
}

const itemOf = async (listing: string) =>
  (await admin.get(`/admin/moderation?kind=report&targetId=${listing}`)).body.items[0]

describe('ADM-24 two administrators look at one item', () => {
  test('the first is named for 15 minutes, to both and in the list', async () => {
    const { id, listing } = await reported()
    expect((await itemOf(listing)).claimedBy).toBeNull()
    const { status, body } = await claim(id)
    expect([status, body]).toEqual([200, {
      id,
      waits: true,
      claimedBy: { id: admin.id, fullName: 'مريم', until: expect.any(String) },
      lastDecision: null,
      item: await itemOf(listing),
    }])
    expect(body.item).toMatchObject({ id, kind: 'report', claimedBy: body.claimedBy })
    expect(Math.round((Date.parse(body.claimedBy.until) - Date.now()) / 60_000)).toBe(15)
    expect((await claim(id, other)).body).toEqual(body)
    expect((await itemOf(listing)).claimedBy).toEqual(body.claimedBy)

    await minutesAgo(id, 14)
    expect((await claim(id, other)).body.claimedBy.id).toBe(admin.id)
    const again = Date.parse((await claim(id)).body.claimedBy.until)
    expect(Math.round((again - Date.now()) / 60_000)).toBe(15)
    await minutesAgo(id, 16)
    expect((await itemOf(listing)).claimedBy).toBeNull()
    expect((await claim(id, other)).body.claimedBy.id).toBe(other.id)

    for (let times = 0; times < 2; times++) expect((await release(id)).status).toBe(204)
    expect(await holderOf(id)).toBe('فهد')
    expect((await release(id, other)).status).toBe(204)
    expect((await itemOf(listing)).claimedBy).toBeNull()
  })

  test('of two at once one is named to both', async () => {
    const { id } = await reported()
    const answers = await Promise.all([claim(id), claim(id, other), claim(id), claim(id, other)])
    const named = answers.map(({ status, body }) => [status, body.claimedBy.id])
    expect(new Set(named.map(String)).size).toBe(1)
  })

  test('the decision of the second counts, and the first reads who decided what', async () => {
    const { id, listing, reporter } = await reported()
    const { body: alike } = await (await signUp()).post('/reports', {
      targetType: 'property',
      targetId: listing,
      reason: 'fraud',
    })
    await claim(id)
    const upheld = { decision: 'uphold', reason: why }
    expect((await other.post(`/admin/moderation/${id}/decide`, upheld)).status).toBe(200)
    expect(await admin.post(`/admin/moderation/${id}/decide`, { decision: 'dismiss' }))
      .toMatchObject(refusal(409, 'status_transition_invalid'))
    for (const one of [id, alike.id]) {
      expect((await claim(one)).body).toMatchObject({
        waits: false,
        lastDecision: {
          actor: { id: other.id, fullName: 'فهد' },
          action: 'report.status',
          reason: why,
          after: { status: 'upheld' },
        },
      })
    }
    // The suspension settled the listing's case, so it no longer waits for a decision.
    expect((await claim(listing)).body).toMatchObject({
      waits: false,
      claimedBy: null,
      lastDecision: { action: 'property.suspend', reason: why },
      item: null,
    })
    expect((await reporter.get('/reports/mine')).body.items[0].state).toBe('decided')
  })

  test('changes of a listing are claimed by its id, what never waited is not there', async () => {
    const listing = await insertListing((await signUp()).identityId)
    expect(await claim(listing)).toMatchObject(refusal(404, 'not_found'))
    expect(await claim(unknownId)).toMatchObject(refusal(404, 'not_found'))
    await leaveChanges(listing)
    expect((await claim(listing)).body).toMatchObject({ waits: true, claimedBy: { id: admin.id } })
    await minutesAgo(listing, 16)
    await drain('purge_claims')
    const { rows } = await database().query('select from public.item_claims where item_id = $1', [
      listing,
    ])
    expect(rows).toEqual([])
  })

  test('nobody else claims or releases anything, past the facade neither', async () => {
    const { id, reporter } = await reported()
    await claim(id)
    expect(await claim(id, reporter)).toMatchObject(refusal(403, 'admin_only'))
    expect(await release(id, reporter)).toMatchObject(refusal(403, 'admin_only'))
    for (const name of ['claim_moderation', 'release_moderation']) {
      const { status, text } = await callDataApi(reporter, name, { id })
      expect([status, text]).toEqual([403, expect.stringContaining('admin_only')])
    }
    expect((await callDataApi(other, 'release_moderation', { id })).status).toBe(204)
    expect(await holderOf(id)).toBe('مريم')
  })
})
