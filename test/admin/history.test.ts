import { beforeAll, describe, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { type Person, signUp } from '../support/client.ts'
import { callDataApi } from '../support/data-api.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { hasSandbox, topUp, topUpInvoice } from '../support/money.ts'
import { refusal, unknownId } from '../support/problems.ts'
import { identityOf, reason, statusOf } from './requests.ts'

let admin: Person
let person: Person

beforeAll(async () => {
  ;[admin, person] = await Promise.all([signUpAdmin(), signUp('سالم العنزي')])
})

const historyOf = (id: string, by = admin) => by.get(`/admin/users/${id}/history`)

const ids = (items: { id: string }[]) => items.map(({ id }) => id)

async function report(by: Person, targetType: string, targetId: string): Promise<string> {
  const { body } = await by.post('/reports', { targetType, targetId, reason: 'fraud' })
  return body.id
}

describe('ADM-26 a person on one page', () => {
  test('has all that is theirs and what was done about it, and nothing of others', async () => {
    const stranger = await signUp()
    const office = await insertOrganisation(person.id, 'office')
    const { id: gone } = await publishListing(person)
    await person.delete(`/properties/${gone}`)
    const live = await insertListing(office)
    const theirs = await insertListing(stranger.identityId)
    const made = await report(person, 'property', theirs)
    const about = await report(stranger, 'property', live)
    const invoice = hasSandbox ? await topUp(person) : await topUpInvoice(person)
    await topUpInvoice(stranger)
    await admin.post(`/admin/moderation/${about}/decide`, { decision: 'uphold', reason })
    await identityOf(admin, office, 'suspended')
    await admin.post('/admin/notes', {
      targetType: 'identity',
      targetId: office,
      text: 'راجعنا الرخصة',
    })
    await admin.post('/admin/notes', { targetType: 'property', targetId: theirs, text: 'أخرى' })

    const { status, body } = await historyOf(person.id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      user: { id: person.id, fullName: 'سالم العنزي' },
      sessions: 1,
      listings: { deleted: 1, suspended: 1 },
      invoices: [{ id: invoice.id, payments: hasSandbox ? [{ state: 'captured' }] : [] }],
      notes: [{ text: 'راجعنا الرخصة', by: { id: admin.id } }],
    })
    expect(ids(body.identities)).toEqual([person.identityId, office])
    expect(body.newestListings).toMatchObject([
      { id: live, identityId: office, status: 'suspended', statusReason: reason },
      { id: gone, identityId: person.identityId, status: 'deleted' },
    ])
    expect([ids(body.reports.made), ids(body.reports.about)]).toEqual([[made], [about]])
    expect(body.reports.about[0].status).toBe('upheld')
    const acts = body.audit.map((
      { action, targetId }: Record<string, string>,
    ) => [action, targetId])
    expect(acts).toEqual([
      ['identity.status', office],
      ['property.suspend', live],
      ['report.status', about],
    ])
    expect(JSON.stringify(body)).not.toContain(stranger.identityId)
  })

  test('is for administrators alone, past the facade too', async () => {
    const refused = refusal(403, 'admin_only')
    expect(await historyOf(person.id, person)).toMatchObject(refused)
    const given = { user_id: person.id }
    expect(await callDataApi(person, 'get_user_history', given))
      .toMatchObject({ status: 403, text: expect.stringContaining('admin_only') })
    expect((await callDataApi(admin, 'get_user_history', given)).status).toBe(200)
    for (const id of [unknownId, person.identityId]) {
      expect(await historyOf(id)).toMatchObject(refusal(404, 'user_not_found'))
    }
  })

  test('of a locked account is there, of a deleted one without a name or contact', async () => {
    const leaver = await signUp('نورة الشمري')
    await statusOf(admin, leaver.id, { status: 'suspended' })
    await admin.post('/admin/notes', { targetType: 'account', targetId: leaver.id, text: 'سرية' })
    expect((await historyOf(leaver.id)).body).toMatchObject({
      user: { status: 'suspended' },
      sessions: 0,
      notes: [{ text: 'سرية' }],
    })
    await admin.delete(`/admin/users/${leaver.id}`, { reason })
    const { body } = await historyOf(leaver.id)
    expect(body).toMatchObject({ user: { status: 'deleted', fullName: null }, notes: [] })
    for (const text of ['نورة', leaver.identifier]) expect(JSON.stringify(body)).not.toContain(text)
  })
})
