// Edits by hand as in Studio: every table refuses those that `open` does not list, with an explanation.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { root } from '../../local/config/settings.ts'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { byHand, edit, leaveChanges } from './studio.ts'

const open: Record<string, { columns?: string; may?: string[] }> = {
  'private.alarms': { columns: 'settled_at settled_note' },
  'private.landmarks': { columns: 'name_ar name_en lat lng edited', may: ['insert', 'delete'] },
  'private.banned_contacts': { may: ['delete'] },
  'private.rate_hits': { may: ['delete'] },
  'private.rates': { columns: 'max seconds note earned_by earns most edited' },
  'private.reading_words': { columns: 'phrase field value', may: ['insert', 'delete'] },
  'private.settings': { columns: 'value note' },
  'private.suggest_hidden': { columns: 'word', may: ['insert', 'delete'] },
  'public.accounts': { columns: 'language status status_reason suspended_until delete_at' },
  'public.admin_acts': { may: ['insert'] },
  'public.admins': { columns: 'role', may: ['insert', 'delete'] },
  'public.areas': {
    columns: 'name_ar name_en alias_ar lat lng approximate reach_km position edited',
    may: ['insert'],
  },
  'public.featured_credits': { may: ['insert'] },
  'public.governorates': { columns: 'name_ar name_en lat lng position edited' },
  'public.identities': { columns: 'status status_reason' },
  'public.individual_profiles': { columns: 'full_name' },
  'public.invoices': { columns: 'state' },
  'public.organisations': {
    columns:
      'name_ar name_en licence_no licence_expires_on about_ar phone whatsapp email website ' +
      'governorate_id area_id address_ar working_hours verified',
  },
  'public.plans': {
    columns: 'name_ar name_en audience price interval_days active_listings listing_days ' +
      'photos_per_listing featured_credits position on_sale',
    may: ['insert'],
  },
  'public.reports': { columns: 'status status_reason' },
  'public.reviews': { columns: 'hidden_at' },
  'public.subscription_intervals': { may: ['insert'] },
  'public.subscriptions': { columns: 'renews', may: ['insert'] },
  'public.vocabularies': { columns: 'text_ar text_en note position edited', may: ['insert'] },
}

beforeAll(async () => {
  const { rows } = await database().query(`select private.property_columns('by_hand') as fields`)
  const columns = ['status', 'status_reason', ...rows[0].fields].join(' ')
  open['public.properties'] = { columns }
})

type Table = { name: string; columns: string[]; generated: string[]; fence: string[] }

const tables = async (): Promise<Table[]> =>
  (await database().query(`
    select pg_class.oid::regclass::text as name,
      array_agg(quote_ident(attname) order by attnum) filter (where attgenerated = '') as columns,
      coalesce(array_agg(attname::text) filter (where attgenerated <> ''), '{}') as generated,
      (
        select string_to_array(encode(tgargs, 'escape'), '\\000') from pg_trigger
        where tgrelid = pg_class.oid and tgfoid = 'private.check_edit'::regproc
      ) as fence
    from pg_class
    join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where relkind in ('r', 'p') and not relispartition
      and relnamespace in ('public'::regnamespace, 'private'::regnamespace)
    group by pg_class.oid`)).rows.map((table) => ({
    ...table,
    name: table.name.includes('.') ? table.name : `public.${table.name}`,
  }))

const sentence = /^[A-Z].{40,}\.$/s

test('ADM-05 every table refuses by hand, with a sentence, what would lack its effects', async () => {
  const found = await tables()
  expect(found.length).toBeGreaterThan(70)
  expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(open)))
  for (const { name, columns, generated, fence } of found) {
    const { columns: free = '', may = [] } = open[name] ?? {}
    // A table that refuses every edit of a kind refuses it even if no row matches.
    const acts = {
      insert:
        `insert into ${name} (${columns}) overriding system value select ${columns} from ${name} where false`,
      update: `update ${name} set ${columns.at(-1)} = ${columns.at(-1)} where false`,
      delete: `delete from ${name} where false`,
    }
    for (const [act, sql] of Object.entries(acts)) {
      const done = byHand(sql)
      if (may.includes(act) || act === 'update' && free) await done
      else {
        await expect(done, `${act} ${name}`).rejects
          .toMatchObject({ message: expect.stringMatching(sentence) })
      }
    }
    const [said, ...allowed] = fence?.slice(0, -1) ?? ['', ...generated]
    expect(allowed.sort(), name).toEqual([...free.split(' ').filter(Boolean), ...generated].sort())
    if (free) expect(said, name).toMatch(sentence)
  }
})

test('ADM-05 no column that may be changed has a domain, which refuses before a sentence can', async () => {
  const { rows } = await database().query(
    `select table_schema || '.' || table_name || '.' || column_name as name
     from information_schema.columns where domain_name is not null and table_schema in ('public', 'private')`,
  )
  const changed = Object.entries(open).flatMap(([table, { columns = '' }]) =>
    columns.split(' ').map((column) => `${table}.${column}`)
  )
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.map(({ name }) => name).filter((name) => changed.includes(name))).toEqual([])
})

describe('what counts on a row', { shuffle: false }, () => {
  let seller: Person
  let buyer: Person
  let id: string
  beforeAll(async () => {
    ;[seller, buyer] = await Promise.all([signUp(), signUp()])
    id = (await publishListing(seller)).id
    await buyer.post(`/favorites/${id}`)
  })

  test.each([
    ['delete from public.favorites where property_id = $1', /in the app/],
    [
      'update public.favorites set property_id = gen_random_uuid() where property_id = $1',
      /in the/,
    ],
    ['delete from public.properties where id = $1', /setting status to deleted/],
    ['update private.property_counters set views = 9 where property_id = $1', /by itself/],
    ['update private.property_cards set owner_name = $1', /by itself/],
  ])('stays: %s', async (sql, why) => {
    await expect(byHand(sql, [id])).rejects.toThrow(why)
    expect((await guest.get(`/properties/${id}`)).body).toMatchObject({ favoritesCount: 1 })
    expect((await buyer.get('/favorites')).body.items).toMatchObject([{ id }])
  })

  test('changed as a function, a do block or a cascade does it is not by hand', async () => {
    await leaveChanges(id)
    await byHand('select private.decide_property($1, true)', [id])
    expect((await guest.get(`/properties/${id}`)).body.price).toBe(77)
    await byHand(
      `do $$ begin delete from public.favorites where identity_id = '${buyer.identityId}';
      end $$`,
    )
    expect((await guest.get(`/properties/${id}`)).body).toMatchObject({ favoritesCount: 0 })
    const gone = await signUp()
    await byHand('delete from auth.users where id = $1', [gone.id])
    expect((await gone.get('/auth/me')).status).toBe(401)
  })

  test('a listing edited by hand has another version, so nobody writes over it unseen', async () => {
    const { version } = (await seller.get(`/properties/${id}`)).body
    await edit('properties', id, { title_ar: 'بيت للبيع في مشرف' })
    expect((await guest.get(`/properties/${id}`)).body).toMatchObject({
      titleAr: 'بيت للبيع في مشرف',
      version: version + 1,
    })
    const seen = { headers: { 'if-match': `"${version}"` } }
    expect(await seller.patch(`/properties/${id}`, { price: 78 }, seen))
      .toMatchObject({ status: 409, body: { error: { code: 'version_conflict' } } })
  })

  test('what was counted against somebody begins anew where its row is deleted', async () => {
    const row = ['uploads', `studio ${id}`]
    await database().query(
      `insert into private.rate_hits values ($1, $2, array[now()], now() + interval '1 hour')`,
      row,
    )
    await byHand('delete from private.rate_hits where rule = $1 and subject = $2', row)
    const { rows: [{ hits }] } = await database().query(
      'select private.hits_within($1, $2, 3600) as hits',
      row,
    )
    expect(hits).toBe(0)
  })
})

describe('in the audit trail', () => {
  let admin: Person
  beforeAll(async () => {
    admin = await signUpAdmin()
  })

  test('ADM-06 the price of a plan, and the plan itself', async () => {
    const { rows: [{ id }] } = await byHand(
      `insert into public.plans (code, name_ar, name_en, audience, price, interval_days,
         active_listings, listing_days, photos_per_listing, on_sale)
       values ('p' || substr(md5(random()::text), 1, 20), 'باقة', 'Plan', 'office', 1, 30, 1, 30, 1,
         false)
       returning id`,
    )
    await edit('plans', id, { price: 7.5 })
    await edit('plans', id, { price: 7.5 }) // changes nothing
    expect(await auditOf(admin, id)).toMatchObject([
      {
        action: 'plan.changed',
        actor: null,
        actorRole: 'postgres',
        before: { price: 1 },
        after: { price: 7.5 },
      },
      { action: 'plan.added', before: null, after: { price: 1, audience: 'office' } },
    ])
  })

  test('names, texts of listings and pages, and what was deleted', async () => {
    const person = await signUp()
    const { id } = await publishListing(person)
    const { titleAr } = (await person.get(`/properties/${id}`)).body
    await edit('properties', id, { title_ar: 'بيت للبيع في بيان', status: 'paused' })
    await edit('individual_profiles', person.id, { full_name: 'دلال المطوع' }, 'account_id')
    const trail = await auditOf(admin, id)
    expect(trail.map(({ action }) => action).sort()).toEqual([
      'property.changed',
      'property.status',
    ])
    expect(trail.find(({ action }) => action === 'property.changed')).toMatchObject({
      before: { id, title_ar: titleAr },
      after: { id, title_ar: 'بيت للبيع في بيان' },
    })
    expect(await auditOf(admin, person.id)).toMatchObject([
      { action: 'account.changed', after: { full_name: 'دلال المطوع' } },
    ])
    const row = ['uploads', `audited ${id}`]
    await database().query(`insert into private.rate_hits values ($1, $2, '{}', now())`, row)
    await byHand('delete from private.rate_hits where rule = $1 and subject = $2', row)
    const { rows } = await database().query(
      `select before from public.audit where action = 'rate_hits.deleted'
         and before ->> 'subject' = $1`,
      [row[1]],
    )
    expect(rows).toMatchObject([{ before: { rule: 'uploads' } }])
  })
})

test('ADM-07 a text that an admin edited survives the next release, and others come with it', async () => {
  const release = ['91_data.sql', '91_data_codes.sql', '91_data_places.sql']
    .map((name) => readFileSync(join(root, 'sql', name), 'utf8'))
  const client = await database().connect()
  try {
    await client.query('begin')
    // Gives some rows the values of an earlier release, then changes one value of each
    // by hand, as an admin would.
    await client.query(`
      set local edits.by = 'tests';
      update public.vocabularies set text_ar = 'قديم', text_en = 'Old'
      where vocabulary = 'kind' and code = 'stable';
      update public.areas set name_ar = 'قديم', name_en = 'Old' where id = 'salmi';
      update private.rates set note = 'old', seconds = 1 where rule = 'export';
      set local edits.by = '';
      update public.vocabularies set text_ar = 'إسطبل' where vocabulary = 'kind' and code = 'stable';
      update public.areas set name_en = 'As-Salmi' where id = 'salmi';
      update private.rates set seconds = 3600 where rule = 'export'`)
    for (const text of release) await client.query(text)
    const seen = async (sql: string) => (await client.query(sql)).rows[0]
    expect(
      await seen(`select text_ar, text_en, edited from public.vocabularies
        where vocabulary = 'kind' and code = 'stable'`),
    ).toEqual({ text_ar: 'إسطبل', text_en: 'Stable', edited: ['text_ar'] })
    expect(await seen(`select name_ar, name_en from public.areas where id = 'salmi'`))
      .toEqual({ name_ar: 'السالمي', name_en: 'As-Salmi' })
    expect(await seen(`select seconds, note from private.rates where rule = 'export'`))
      .toEqual({ seconds: 3600, note: expect.stringContaining('exports') })
    await client.query(`
      update public.vocabularies set edited = '{}' where vocabulary = 'kind' and code = 'stable'`)
    await client.query(release[0]!)
    expect(
      await seen(`select text_ar from public.vocabularies
        where vocabulary = 'kind' and code = 'stable'`),
    ).toEqual({ text_ar: 'جاخور' })
  } finally {
    await client.query('rollback')
    client.release()
  }
})
