import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { openConversation } from '../support/conversations.ts'
import { insertListing } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import { topUpInvoice } from '../support/money.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadPictures } from '../support/uploads.ts'

const ways = {
  cleaned: /Cleaned by (private\.\w+)[^.]*\.$/,
  goes: /Deleted with the (account|identity|listing|conversation)\.$/,
  stays: /Never purged: [^.]{6,}\.$/,
}

test('every table says what cleans it, or why nothing does, and it is so', async () => {
  const { rows: tables } = await database().query<{ name: string; comment: string | null }>(
    `select format('%s.%s', nspname, relname) as name, obj_description(pg_class.oid) as comment
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname in ('public', 'private') and relkind in ('r', 'p') order by 1`,
  )
  expect(tables.length).toBeGreaterThan(70)
  const { rows: functions } = await database().query<
    { name: string; source: string; runs: boolean }
  >(
    `select format('%s.%s', nspname, proname) as name, prosrc as source,
       prorettype = 'trigger'::regtype or has_function_privilege('backend', pg_proc.oid, 'execute')
         as runs
     from pg_proc join pg_namespace on pg_namespace.oid = pronamespace where nspname = 'private'`,
  )
  const { rows: owners } = await database().query<{ name: string; owner: string }>(
    `select format('%s.%s', a.nspname, one.relname) as name,
       format('%s.%s', b.nspname, other.relname) as owner
     from pg_constraint
     join pg_class one on one.oid = conrelid join pg_namespace a on a.oid = one.relnamespace
     join pg_class other on other.oid = confrelid join pg_namespace b on b.oid = other.relnamespace
     where contype = 'f' and confdeltype = 'c'`,
  )

  const sourceOf = (name: string, seen = new Set<string>()): string => {
    const { source = '' } = functions.find((one) => one.name === name) ?? {}
    if (seen.has(name)) return ''
    seen.add(name)
    const called = [...source.matchAll(/private\.\w+/g)].map(([one]) => one)
    return source + called.map((one) => sourceOf(one, seen)).join('\n')
  }
  const isCleaned = (table: string, by: string) => {
    const source = sourceOf(by)
    return functions.some(({ name, runs }) => name === by && runs) &&
      (source.includes(`delete from ${table} `) || source.includes(`delete from ${table}\n`) ||
        source.includes(`purge('${table}'`))
  }
  const parents = {
    account: 'public.accounts',
    identity: 'public.identities',
    listing: 'public.properties',
    conversation: 'public.conversations',
  }
  const goesWith = (table: string, owner: string): boolean =>
    owners.some((one) => one.name === table && (one.owner === owner || goesWith(one.owner, owner)))

  const wrong = tables.filter(({ name, comment }) => {
    const by = ways.cleaned.exec(comment ?? '')?.[1]
    const owner = ways.goes.exec(comment ?? '')?.[1] as keyof typeof parents | undefined
    if (by) return !isCleaned(name, by)
    if (owner) return !goesWith(name, parents[owner])
    return !ways.stays.test(comment ?? '')
  })
  expect(wrong).toEqual([])
})

const count = async (table: string, where: string, values: unknown[] = []) =>
  Number(
    (await database().query(`select count(*) from ${table} where ${where}`, values)).rows[0].count,
  )

async function deletedListing(seller: Person, days: number, id?: string) {
  const listing = id ?? (await publishListing(seller)).id
  expect((await seller.delete(`/properties/${listing}`)).status).toBe(204)
  await database().query(
    'update public.properties set deleted_at = now() - make_interval(days => $2) where id = $1',
    [listing, days],
  )
  return listing
}
const isThere = async (id: string) => await count('public.properties', 'id = $1', [id]) === 1

test('a listing that was deleted 90 days ago is gone with all that was kept of it', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const { id } = await publishListing(seller, { price: 1000 })
  await seller.patch(`/properties/${id}`, { price: 900 })
  await buyer.post(`/favorites/${id}`)
  const talk = await openConversation(buyer, { propertyId: id, message: 'مرحبا' })
  await deletedListing(seller, 91, id)
  const recent = await deletedListing(seller, 89)
  const other = (await publishListing(seller)).id
  await drain('purge_deleted_listings')

  expect(await isThere(id)).toBe(false)
  for (const table of ['price_history', 'favorites', 'leads']) {
    expect([table, await count(`public.${table}`, 'property_id = $1', [id])]).toEqual([table, 0])
  }
  expect(await isThere(recent)).toBe(true)
  expect((await guest.get(`/properties/${other}`)).status).toBe(200)
  const { body } = await buyer.get('/conversations')
  expect(body.items).toMatchObject([{ id: talk.id, property: { id, status: 'unavailable' } }])
  expect((await seller.get(`/conversations/${talk.id}/messages`)).body.items)
    .toMatchObject([{ body: 'مرحبا' }])
  const again = await openConversation(buyer, { identityId: seller.identityId, message: 'أهلاً' })
  expect(again.id).not.toBe(talk.id)
})

test('one that is reported stays until that is decided, one with pictures until they are gone', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const { id } = await publishListing(seller)
  await buyer.post('/reports', { targetType: 'property', targetId: id, reason: 'spam' })
  const pictured = (await publishListing(seller)).id
  await uploadPictures(seller, [jpeg({ width: 8, height: 8 })], { propertyId: pictured })
  await deletedListing(seller, 91, id)
  await deletedListing(seller, 91, pictured)
  // Simulates that Storage could not delete the listing's picture yet.
  await database().query(
    `update public.media set removal_due_at = now() + interval '1 day' where property_id = $1`,
    [pictured],
  )
  await drain('purge_deleted_listings')
  expect([await isThere(id), await count('public.media', 'property_id = $1', [pictured])])
    .toEqual([true, await isThere(pictured) ? 1 : 0])
  await database().query(
    `update public.reports set status = 'dismissed' where target_id = $1`,
    [id],
  )
  await drain('purge_deleted_listings')
  expect(await isThere(id)).toBe(false)
})

test('leads are kept for a year', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const id = await insertListing(seller.identityId)
  await database().query(
    `insert into public.leads (property_id, owner_identity_id, identity_id, kind, created_at, day)
     select $1, $2, $3, 'call', now() - make_interval(days => days), now()::date - days
     from unnest('{364,366,800}'::integer[]) as days`,
    [id, seller.identityId, buyer.identityId],
  )
  await drain('purge_leads')
  expect(await count('public.leads', 'property_id = $1', [id])).toBe(1)
})

test('a warning is kept until what it warned of has come', async () => {
  const seller = await signUp()
  const [over, ahead] = [
    await insertListing(seller.identityId),
    await insertListing(seller.identityId),
  ]
  await database().query(
    `insert into private.expiry_warnings (property_id, expires_at)
     values ($1, now() - interval '2 days'), ($2, now() + interval '2 days')`,
    [over, ahead],
  )
  await drain('purge_notifications')
  expect(await count('private.expiry_warnings', 'property_id = $1', [over])).toBe(0)
  expect(await count('private.expiry_warnings', 'property_id = $1', [ahead])).toBe(1)
})

test('an invoice that was void for a year keeps its number and nothing else', async () => {
  const person = await signUp()
  const [old, recent, open] = [
    await topUpInvoice(person),
    await topUpInvoice(person),
    await topUpInvoice(person),
  ]
  const is = (id: string, columns: string) =>
    database().query(`update public.invoices set ${columns} where id = $1`, [id])
  await is(old.id, `state = 'void', issued_at = now() - interval '366 days'`)
  await is(recent.id, `state = 'void', issued_at = now() - interval '364 days'`)
  await is(open.id, `issued_at = now() - interval '366 days'`)
  await drain('purge_void_lines')
  expect((await person.get(`/invoices/${old.id}`)).body)
    .toMatchObject({ number: old.number, state: 'void', total: 10, lines: [] })
  for (const { id } of [recent, open]) {
    expect((await person.get(`/invoices/${id}`)).body.lines).toHaveLength(1)
    await expect(database().query('delete from public.invoice_lines where invoice_id = $1', [id]))
      .rejects.toMatchObject({ code: '42501' })
  }
})

test('prices older than two years go when the price changes, but for the last of them', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller, { price: 1000 })
  await database().query(
    `insert into public.price_history (property_id, price, changed_at)
     select $1, 1000 + years, now() - make_interval(years => years) from generate_series(1, 5) as years`,
    [id],
  )
  await seller.patch(`/properties/${id}`, { price: 990 })
  const { body } = await guest.get(`/properties/${id}/price-history`)
  expect(body.items.map(({ price }: { price: number }) => price)).toEqual([990, 1000, 1001, 1002])
})
