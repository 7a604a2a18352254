import { expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../../test/support/admins.ts'
import { database, signUp } from '../../test/support/client.ts'
import { testLocally } from '../../test/support/facade.ts'
import { bulk } from '../../test/support/nightly.ts'
import { views } from '../../test/whole/matrix-outcomes.ts'
import { tablesOf } from './studio.ts'
import { askRows, studio, tables } from './support/studio-rows.ts'

testLocally('Studio has a page, and shows tables and views with their comments', async () => {
  for (const path of ['/', '/studio.js', '/studio.css']) {
    expect((await fetch(studio + path)).status, path).toBe(200)
  }
  const found = await tables()
  const names = found.map(({ schema, name }) => `${schema}.${name}`)
  expect(names).toEqual(expect.arrayContaining(['public.accounts', 'private.settings', ...views]))
  for (const table of found.filter(({ schema, name }) => views.includes(`${schema}.${name}`))) {
    expect(table.comment, table.name).toEqual(expect.any(String))
    expect((await askRows('GET', table, 'select=*&limit=1')).status, table.name).toBe(200)
  }
})

testLocally('Studio shows nothing else of its package, and nothing to another page', async () => {
  for (const path of ['/_system/info', '/_system/introspect', '/auth/v1/settings', '/../main.ts']) {
    expect((await fetch(studio + path)).status, path).toBe(404)
  }
  const headers = { origin: 'https://elsewhere.example' }
  expect((await fetch(`${studio}/tables`, { headers })).status).toBe(403)
})

testLocally(
  'a status changed in Studio is in the audit trail, and sessions have ended',
  async () => {
    const [admin, person] = await Promise.all([signUpAdmin(), signUp()])
    const accounts = (await tables()).find(({ name }) => name === 'accounts')!
    const changed = await askRows('PATCH', accounts, `id=eq.${person.id}`, {
      status: 'suspended',
      status_reason: 'من الاستوديو',
    })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    expect((await person.get('/auth/me')).body.error.code).toBe('account_suspended')
    expect(await auditOf(admin, person.id)).toMatchObject([{
      action: 'account.status',
      actor: null,
      reason: 'من الاستوديو',
      before: { status: 'active' },
      after: { status: 'suspended' },
    }])
    const { rows } = await database().query(
      'select actor from public.admin_audit where target_id = $1',
      [person.id],
    )
    expect(rows).toEqual([{ actor: 'studio' }])
  },
)

testLocally('an admin is made in Studio and removed again', async () => {
  await signUpAdmin() // the last admin cannot be removed
  const person = await signUp()
  const admins = (await tables()).find(({ name }) => name === 'admins')!
  expect((await askRows('POST', admins, '', { account_id: person.id })).status).toBe(201)
  expect((await person.get('/admin/stats')).status).toBe(200)
  const removed = await askRows('DELETE', admins, `account_id=eq.${person.id}`)
  expect(removed).toMatchObject({ status: 200, body: [{ account_id: person.id }] })
  expect((await person.get('/admin/stats')).status).toBe(403)
})

testLocally(
  'a setting takes any JSON, and one that no function understands is refused',
  async () => {
    const settings = (await tables()).find(({ name }) => name === 'settings')!
    const { body: [before] } = await askRows('GET', settings, 'name=eq.review_listings')
    const set = (value: unknown) => askRows('PATCH', settings, 'name=eq.review_listings', { value })
    expect(await set(before.value)).toMatchObject({ status: 200, body: [before] })
    expect(await set('true')).toMatchObject({
      status: 400,
      body: { message: 'review_listings is true or false, without quotation marks.' },
    })
    expect((await askRows('GET', settings, 'name=eq.review_listings')).body).toEqual([before])
  },
)

testLocally('a write that means no row is refused and writes nothing', async () => {
  const all = await tables()
  const [rates, hits] = ['rates', 'rate_hits'].map((given) =>
    all.find(({ name }) => name === given)!
  )
  const before = (await database().query('select * from private.rates order by rule')).rows
  const refusals: [string, number, RegExp][] = [
    ['', 400, /filter is missing/],
    ['select=*', 400, /filter is missing/],
    ['rule=eq.undefined', 400, /undefined/],
    ['rule=in.(uploads,undefined)', 400, /not a value of its key/],
    ['rule=neq.uploads', 400, /not a value of its key/],
    ['id=eq.undefined', 400, /undefined/],
    ['rule=eq.no-such-rule', 404, /nothing was written/],
  ]
  for (const [query, status, sentence] of refusals) {
    for (const [method, table] of [['PATCH', rates], ['DELETE', hits]] as const) {
      const refused = await askRows(method, table!, query, { max: 1 })
      expect([refused.status, refused.body.message], `${method} ${query}`)
        .toEqual([status, expect.stringMatching(sentence)])
    }
  }
  expect((await database().query('select * from private.rates order by rule')).rows).toEqual(before)

  const areas = all.find(({ name }) => name === 'areas')!
  const half = await askRows('PATCH', areas, 'governorate_id=eq.hawalli', { name_en: 'Hawalli' })
  expect(half).toMatchObject({ status: 400, body: { message: expect.stringMatching(/several/) } })
  const { rows } = await database().query(
    `select from public.areas where name_en = 'Hawalli' and id <> 'hawalli'`,
  )
  expect(rows).toEqual([])
})

const last = bulk(150_000, 20_000)

testLocally(
  `row ${last} of a table is found by its place, by a filter and by an order, and edited`,
  async () => {
    const alarms = (await tables()).find(({ name }) => name === 'alarms')!
    const remove = `delete from private.alarms where kind = 'planted'`
    await database().query(remove)
    await database().query(
      `insert into private.alarms (kind, subject_id, settled_at, settled_note)
       select 'planted', 'row_' || to_char(n, 'FM000000'), now() - n * interval '1 second', 'صف ' || n
       from generate_series(1, $1::integer) as n`,
      [last],
    )
    try {
      const idsOf = async (query: string) => {
        const { status, body } = await askRows('GET', alarms, `select=*&${query}`)
        expect(status, JSON.stringify(body)).toBe(200)
        return body.map(({ subject_id }: { subject_id: string }) => subject_id)
      }
      const mine = 'kind=eq.planted&order=subject_id.asc'
      const subject = `row_${String(last).padStart(6, '0')}`
      expect(await idsOf(`${mine}&offset=${last - 1}&limit=100`)).toEqual([subject])
      expect(await idsOf(`settled_note=ilike.*${last}*`)).toEqual([subject])
      expect(await idsOf('kind=eq.planted&order=settled_at.asc,id.asc&limit=1')).toEqual([subject])
      const { rows: [{ id }] } = await database().query(
        'select id from private.alarms where subject_id = $1',
        [subject],
      )
      const edited = await askRows('PATCH', alarms, `id=eq.${id}`, { settled_note: 'آخر صف' })
      expect(edited.status, JSON.stringify(edited.body)).toBe(200)
      const { rows } = await database().query(
        'select settled_note from private.alarms where id = $1',
        [id],
      )
      expect(rows).toEqual([{ settled_note: 'آخر صف' }])
    } finally {
      await database().query(remove)
    }
  },
)

test('a table has its own key and comments, whatever another schema calls alike', () => {
  const column = { table: 'rates', name: 'rule', type: 'text', is_generated: false }
  const [one, other, view] = tablesOf({
    tables: [{ schema: 'private', name: 'rates' }, { schema: 'public', name: 'rates' }],
    views: [{ schema: 'public', name: 'seen' }],
    columns: [{ ...column, schema: 'private' }, { ...column, schema: 'public', name: 'a' }],
    primary_keys: [
      { schema: 'public', table: 'rates', columns: ['a', 'b'] },
      { schema: 'private', table: 'rates', columns: ['rule'] },
    ],
    foreign_keys: [
      { schema: 'public', table: 'rates', column: 'a', ref_table: 'seen', ref_column: 'b' },
    ],
    comments: [
      { schema: 'private', table: 'rates', text: 'Limits.' },
      { schema: 'private', table: 'rates', column: 'rule', text: 'Its name.' },
    ],
  })
  expect(one).toMatchObject({ key: ['rule'], comment: 'Limits.', columns: [{ name: 'rule' }] })
  expect(one!.columns[0]!).toMatchObject({ comment: 'Its name.', rows: undefined })
  expect(other!.columns[0]!.rows).toEqual({ schema: 'public', name: 'seen', column: 'b' })
  expect(other).toMatchObject({ key: ['a', 'b'], columns: [{ name: 'a' }] })
  expect(other!.comment).toBe(undefined)
  expect(view).toMatchObject({ name: 'seen', key: [] })
})
