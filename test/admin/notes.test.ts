import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { callDataApi } from '../support/data-api.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import { giveMoney } from '../support/money.ts'
import { fieldRefusal, refusal, unknownId } from '../support/problems.ts'
import { waitedFor } from '../support/races.ts'
import { reason } from './requests.ts'

let admin: Person
let owner: Person

beforeAll(async () => {
  ;[admin, owner] = await Promise.all([signUpAdmin(), signUp()])
})

const query = (sql: string, values: unknown[] = []) => database().query(sql, values)

const post = (targetType: string, targetId: string, text: string, by = admin) =>
  by.post('/admin/notes', { targetType, targetId, text })

async function note(targetType: string, targetId: string, text = 'اتصلنا به ولم يرد') {
  const { status, body } = await post(targetType, targetId, text)
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

const textsOf = async (filter: Record<string, string>): Promise<string[]> =>
  (await admin.get(`/admin/notes?${new URLSearchParams(filter)}`)).body.items
    .map(({ text }: { text: string }) => text)

async function report(targetType: string, targetId: string): Promise<string> {
  const { body } = await (await signUp()).post('/reports', {
    targetType,
    targetId,
    reason: 'fraud',
  })
  return body.id
}

describe('ADM-23 what administrators note', () => {
  test('is read by all of them, by thing and by account, and by nobody else', async () => {
    const { id } = await publishListing(owner)
    const reported = await report('property', id)
    const about = await note('account', owner.id, '  عنوانه غير صحيح\nراجع البطاقة  ')
    expect(about).toEqual({
      id: expect.any(String),
      targetType: 'account',
      targetId: owner.id,
      accountId: owner.id,
      by: { id: admin.id, fullName: 'مشرفة السوق' },
      text: 'عنوانه غير صحيح\nراجع البطاقة',
      createdAt: expect.any(String),
    })
    await note('property', id, 'الصور من إعلان آخر')
    expect(await note('report', reported, 'بلاغ صحيح')).toMatchObject({ accountId: owner.id })
    const other = await signUpAdmin()
    const { body } = await other.get(`/admin/notes?accountId=${owner.id}&limit=2`)
    expect(body.items.map(({ text }: { text: string }) => text))
      .toEqual(['بلاغ صحيح', 'الصور من إعلان آخر'])
    const next = `/admin/notes?accountId=${owner.id}&limit=2&cursor=${body.nextCursor}`
    expect((await other.get(next)).body).toEqual({ items: [about], nextCursor: null })
    expect(await textsOf({ targetId: id })).toEqual(['الصور من إعلان آخر'])
    expect(await textsOf({ accountId: owner.id, targetType: 'report' })).toEqual(['بلاغ صحيح'])
    expect(await textsOf({ accountId: owner.id, sort: 'oldest' })).toEqual([
      about.text,
      'الصور من إعلان آخر',
      'بلاغ صحيح',
    ])

    expect(await post('account', owner.id, 'نص', owner)).toMatchObject(refusal(403, 'admin_only'))
    expect(await owner.get('/admin/notes')).toMatchObject(refusal(403, 'admin_only'))
    const given = { target_type: 'account', target_id: owner.id, note: 'نص' }
    for (const [name, args] of [['add_note', given], ['list_notes', {}]] as const) {
      const { status, text } = await callDataApi(owner, name, args)
      expect([status, text]).toEqual([403, expect.stringContaining('admin_only')])
    }
    expect(JSON.parse((await callDataApi(admin, 'list_notes', { target_id: id })).text))
      .toMatchObject([{ items: [{ text: 'الصور من إعلان آخر' }] }])
  })

  test('is no part of an export, and in the trail without its words', async () => {
    const person = await signUp()
    const { id } = await note('account', person.id, 'كلمة السر هي المشمش')
    expect(JSON.stringify((await person.get('/auth/me/export')).body)).not.toContain('المشمش')
    expect(await auditOf(admin, id)).toMatchObject([{
      action: 'note.added',
      actor: { id: admin.id },
      targetType: 'note',
      reason: null,
      after: { targetType: 'account', targetId: person.id },
    }])
  })

  test('is about something that is there, and says something', async () => {
    expect(await post('account', owner.id, ' \n ')).toMatchObject(
      fieldRefusal(422, 'validation_failed', 'text'),
    )
    expect(await post('account', owner.id, 'ا'.repeat(1001))).toMatchObject(
      fieldRefusal(422, 'validation_failed', 'text'),
    )
    expect(await post('account', owner.id, 'ا\u0007')).toMatchObject(
      fieldRefusal(422, 'validation_failed', 'text'),
    )
    for (const type of ['account', 'identity', 'property', 'report', 'duplicate', 'payout']) {
      expect(await post(type, unknownId, 'نص'), type).toMatchObject(refusal(404, 'not_found'))
    }
    // The id has to belong to a record of the given type.
    expect(await post('account', owner.identityId, 'نص')).toMatchObject(refusal(404, 'not_found'))
  })

  test('goes with the company, listing, pair, report or payout that it is about', async () => {
    const person = await signUp()
    const office = await insertOrganisation(person.id, 'office')
    const [listing, copy] = [
      await insertListing(person.identityId),
      await insertListing(person.identityId),
    ]
    const { rows: [pair] } = await query(
      'insert into public.duplicates (property_id, of_id) values ($1, $2) returning id',
      [copy, listing],
    )
    const reported = await report('identity', office)
    await note('identity', office)
    await note('property', listing)
    await note('duplicate', pair.id)
    await note('report', reported)
    const left = async () =>
      (await admin.get(`/admin/notes?accountId=${person.id}`)).body.items
        .map(({ targetType }: { targetType: string }) => targetType)
    expect(await left()).toEqual(['report', 'duplicate', 'property', 'identity'])

    await admin.post(`/admin/moderation/${reported}/decide`, { decision: 'dismiss' })
    await query(
      `update public.reports set decided_at = now() - interval '181 days' where id = $1`,
      [reported],
    )
    await drain('empty_reports')
    expect(await left()).toEqual(['duplicate', 'property', 'identity'])
    const gone = refusal(404, 'not_found')
    expect(await post('report', reported, 'نص')).toMatchObject(gone)
    for (
      const [id, targets] of [[copy, ['property', 'identity']], [listing, ['identity']]] as const
    ) {
      await person.delete(`/properties/${id}`)
      await query(
        `update public.properties set deleted_at = now() - interval '91 days' where id = $1`,
        [id],
      )
      await drain('purge_deleted_listings')
      expect(await left()).toEqual(targets)
    }
    await query(`update public.identities set status = 'closed' where id = $1`, [office])
    expect(await left()).toEqual([])
    expect(await post('identity', office, 'نص')).toMatchObject(gone)

    await giveMoney(person.identityId, 5)
    await person.post('/auth/me/delete', { password: person.password, money: 'refund' })
    await query('update public.accounts set delete_at = now() where id = $1', [person.id])
    await drain('delete_due_accounts')
    const { rows: [payout] } = await query(
      'select id from public.wallet_payouts where account_id = $1',
      [person.id],
    )
    await note('payout', payout.id, 'اتصل به البنك')
    expect(await left()).toEqual(['payout'])
    const paid = { decision: 'paid_out', note: 'NBK 2026-7' }
    expect((await admin.post(`/admin/moderation/${payout.id}/decide`, paid)).status).toBe(200)
    expect(await left()).toEqual([])
    expect(await post('payout', payout.id, 'نص')).toMatchObject(gone)
  })

  test('is not left behind where it is written while a job empties the report', async () => {
    const reported = await report('property', await insertListing(owner.identityId))
    await admin.post(`/admin/moderation/${reported}/decide`, { decision: 'dismiss' })
    const client = await database().connect()
    try {
      await client.query('begin')
      await client.query('update public.reports set stored_content = null where id = $1', [
        reported,
      ])
      const answer = post('report', reported, 'نص')
      await waitedFor(client)
      await client.query('commit')
      expect(await answer).toMatchObject(refusal(404, 'not_found'))
    } finally {
      client.release()
    }
    expect(await textsOf({ targetId: reported })).toEqual([])
  })

  test('goes with the account, also when it is written at that moment', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => signUp()))
    for (const { id } of people) await note('account', id)
    const answers = await Promise.all(people.flatMap(({ id, identityId }) => [
      admin.delete(`/admin/users/${id}`, { reason }),
      post('identity', identityId, 'نص'),
      post('account', id, 'نص'),
    ]))
    for (const { status } of answers) expect([201, 204, 404]).toContain(status)
    const { rows } = await query('select id from public.notes where account_id = any ($1)', [
      people.map(({ id }) => id),
    ])
    expect(rows).toEqual([])
    expect(await post('account', people[0]!.id, 'نص')).toMatchObject(refusal(404, 'not_found'))
  })
})
