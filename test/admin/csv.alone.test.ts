// An alarm notifies every administrator, so these tests run alone.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { byTokenAlone, signUpAdmin } from '../support/admins.ts'
import { baseUrl, database, type Person, signUp } from '../support/client.ts'
import { givePhone, insertListing } from '../support/fixtures.ts'
import { refusal } from '../support/problems.ts'

const query = (sql: string, values: unknown[] = []) => database().query(sql, values)

const csv = { headers: { accept: 'text/csv' } }

/** Parses CSV in which every cell is quoted, as the service writes it. */
const rowsOf = (text: string): string[][] => {
  const rows = text.match(/(?:"(?:[^"]|"")*",?)+\r\n/g) ?? []
  expect(rows.join('')).toBe(text)
  return rows.map((row) =>
    [...row.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell]) => cell!.replaceAll('""', '"'))
  )
}

async function table(by: Person, path: string): Promise<Record<string, string>[]> {
  const { status, body, headers } = await by.get(`/admin/${path}`, csv)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  const [names, ...rows] = rowsOf(body)
  return rows.map((cells) => Object.fromEntries(names!.map((name, i) => [name, cells[i]!])))
}

const rename = async (person: Person, name: string) => {
  await query('update public.individual_profiles set full_name = $2 where account_id = $1', [
    person.id,
    name,
  ])
}

describe('ADM-28 a list as a file', () => {
  let admin: Person
  let person: Person

  beforeAll(async () => {
    ;[admin, person] = await Promise.all([signUpAdmin(), signUp()])
  })

  afterAll(() =>
    query(
      `update private.alarms set settled_at = now()
       where kind = 'people_exported' and settled_at is null`,
    )
  )

  test('has names of fields, Arabic as spreadsheets read it, and what the filters leave', async () => {
    await givePhone(person)
    const { rows: [{ phone }] } = await query('select phone from public.accounts where id = $1', [
      person.id,
    ])
    const response = await fetch(`${baseUrl}/admin/users?q=${person.id}`, {
      headers: {
        accept: 'text/csv, application/json;q=0.5',
        authorization: `Bearer ${admin.accessToken}`,
        'x-proof': admin.proof!,
      },
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="users.csv"')
    const [user] = await table(admin, `users?q=${person.id}`)
    expect(user).toMatchObject({
      id: person.id,
      phone,
      email: person.identifier,
      emailProven: 'true',
      status: 'active',
      statusReason: '',
      isAdmin: 'false',
      'identities.type': 'individual',
      'identities.status': 'active',
    })
    expect(await table(admin, `users?q=${randomUUID()}`)).toEqual([])
  })

  test('a spreadsheet runs nothing of it, and reads every cell as it was', async () => {
    const author = await signUp()
    const cells: [name: string, shown: string][] = [
      ['=HYPERLINK("http://example.com";"x")', `'=HYPERLINK("http://example.com";"x")`],
      ['@SUM(1+1)', `'@SUM(1+1)`],
      ['-2+3', `'-2+3`],
      [`+1|' /C calc'!A0`, `'+1|' /C calc'!A0`],
      ['＝1+1', `'＝1+1`],
      ['+96550001234', '+96550001234'],
      ['-4.500', '-4.500'],
      ['فيلا;=1+1;بحوض', `فيلا;'=1+1;بحوض`],
      [';=1+1;', `;'=1+1;`],
      ['فيلا; "＝2+3"', `فيلا; "'＝2+3"`],
      ['فيلا - بحوض; دوران', 'فيلا - بحوض; دوران'],
      ['قال "نعم", ثم ذهب', 'قال "نعم", ثم ذهب'],
    ]
    for (const [name, shown] of cells) {
      await rename(author, name)
      expect((await table(admin, `users?q=${author.id}`))[0]!.fullName).toBe(shown)
    }
    const listing = await insertListing(author.identityId)
    const note = '=1+1\nسطر ثانٍ, "بين قوسين"'
    await (await signUp()).post('/reports', {
      targetType: 'property',
      targetId: listing,
      reason: 'other',
      note,
    })
    expect(await table(admin, `moderation?targetId=${listing}`))
      .toMatchObject([{ kind: 'report', 'report.targetId': listing, 'report.note': `'${note}` }])
    await admin.patch(`/admin/users/${author.id}/status`, { status: 'suspended', reason: '-1+2' })
    expect(await table(admin, `audit?targetId=${author.id}`)).toMatchObject([{
      action: 'account.status',
      'actor.id': admin.id,
      reason: `'-1+2`,
      after: expect.stringContaining('"suspended"'),
    }])
  })

  test('is for who proves it, but for payment events, and no less for a filter', async () => {
    const other = await signUpAdmin()
    const token = byTokenAlone(other)
    for (const list of ['users', 'moderation', 'audit']) {
      expect(await token.get(`/admin/${list}?limit=1`, csv), list)
        .toMatchObject(refusal(403, 'proof_required'))
      expect(await person.get(`/admin/${list}`, csv)).toMatchObject({ status: 403 })
    }
    expect((await token.get('/admin/payments/events?amountMin=99999', csv)).status).toBe(200)
    expect(await other.get('/admin/users?cursor=x', csv)).toMatchObject(
      refusal(422, 'cursor_invalid'),
    )
    expect(await other.get('/admin/users?status=gone', csv)).toMatchObject(
      refusal(422, 'validation_failed'),
    )
    // A generated client lists all media types of a response in its Accept header, JSON first.
    const { body } = await token.get(`/admin/users?q=${person.id}`, {
      headers: { accept: 'application/json, text/csv' },
    })
    expect(body.items).toMatchObject([{ id: person.id }])
  })

  test('is in the trail with its filters, and the fourth of people within a day is an alarm', async () => {
    const other = await signUpAdmin()
    const trail = async () =>
      (await admin.get(`/admin/audit?actorId=${other.id}&action=list.exported`)).body.items
        .map(({ after }: { after: object }) => after)
    const [one, two] = [randomUUID(), randomUUID()]
    await table(other, `users?q=${one}&isAdmin=false`)
    await table(other, `audit?targetId=${two}`)
    for (let times = 0; times < 5; times++) await table(other, 'payments/events?amountMin=99999')
    await table(other, `moderation?accountId=${one}`)
    expect(await trail()).toEqual([
      { list: 'moderation', filters: { accountId: one, sort: 'oldest' } },
      ...Array(5).fill({
        list: 'payment_events',
        filters: { amountMin: 99999, sort: 'newest' },
      }),
      { list: 'audit', filters: { targetId: two, sort: 'newest' } },
      { list: 'users', filters: { q: one, isAdmin: false, sort: 'newest' } },
    ])
    const alarms = async () =>
      (await query(
        `select subject_id from private.alarms
         where kind = 'people_exported' and subject_id like $1 || '%'`,
        [other.id],
      )).rows.map(({ subject_id }) => subject_id)
    expect(await alarms()).toEqual([])
    await table(other, `users?q=${one}`)
    await table(other, `users?q=${two}`)
    expect(await alarms()).toHaveLength(1)
    await table(other, `users?q=${two}`)
    expect(await alarms()).toHaveLength(1)
    // Renames the open alarm, as if it had been raised yesterday.
    await query(
      `update private.alarms set subject_id = subject_id || ' of yesterday'
       where kind = 'people_exported' and subject_id like $1 || '%'`,
      [other.id],
    )
    await table(other, `users?q=${two}`)
    expect(await alarms()).toHaveLength(2)
  })

  test('has 10,000 rows at most, each once', async () => {
    const target = randomUUID()
    await query(
      `insert into public.audit (action, target_type, target_id)
       select 'planted.row', 'planted', $1 from generate_series(1, 10020)`,
      [target],
    )
    const rows = await table(await signUpAdmin(), `audit?targetId=${target}&limit=1`)
    expect(rows).toHaveLength(10_000)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(10_000)
  })
})
