import { randomInt, randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, newPhone, type Person, signUp } from '../support/client.ts'
import { givePhone, insertListing, insertWaitingCompany } from '../support/fixtures.ts'
import { hasSandbox, topUp } from '../support/money.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

type Query = Record<string, string | number>
type Item = { id: string | number }

async function pageOf(list: string, query: Query): Promise<{ items: Item[]; nextCursor?: string }> {
  const given = new URLSearchParams(Object.entries(query).map(([key, one]) => [key, String(one)]))
  const { status, body } = await admin.get(`/admin/${list}?${given}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

const idsOf = async (list: string, query: Query) =>
  (await pageOf(list, query)).items.map(({ id }) => id)

async function idsByPage(list: string, query: Query): Promise<Item['id'][]> {
  const ids: Item['id'][] = []
  let cursor: string | undefined
  do {
    const page = await pageOf(list, { ...query, limit: 2, ...(cursor && { cursor }) })
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor)
  return ids
}

async function expectOrder(list: string, query: Query, sort: string, ids: unknown[], by: string) {
  const { rows } = await database().query(by, [ids])
  const ordered = rows.map(({ id }) => (typeof ids[0] === 'number' ? Number(id) : id))
  expect(ordered).toHaveLength(ids.length)
  const [forth, back] = sort === 'oldest' ? ['oldest', 'newest'] : [sort, `-${sort}`]
  expect(await idsByPage(list, { ...query, sort: forth }), forth).toEqual(ordered)
  expect(await idsByPage(list, { ...query, sort: back }), back).toEqual(ordered.toReversed())
}

const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

test('users by what they show', async () => {
  const family = `العجمي ${randomUUID().slice(0, 8)}`
  const people: Person[] = []
  for (const name of ['سعد', 'بدر', 'سعد', 'نورة', 'دلال']) {
    people.push(await signUp(`${name} ${family}`))
  }
  const ids = people.map(({ id }) => id)
  const [first, second, third, fourth] = ids
  const set = (table: string, key: string, id: string, values: Record<string, unknown>) =>
    database().query(
      `update ${table} set ${Object.keys(values).map((name, i) => `${name} = $${i + 2}`)}
       where ${key} = $1`,
      [id, ...Object.values(values)],
    )
  for (const person of people.slice(0, 2)) await givePhone(person, newPhone())
  const [longAgo, lately] = [daysFromNow(-400), daysFromNow(-200)]
  for (const [id, at] of [[first, lately], [second, longAgo], [third, lately], [fourth, null]]) {
    await set('auth.users', 'id', id!, { last_sign_in_at: at })
  }
  const locked = { status: 'suspended', suspended_until: daysFromNow(3) }
  await set('public.accounts', 'id', second!, locked)
  await set('public.accounts', 'id', fourth!, { ...locked, suspended_until: daysFromNow(1) })
  await set('public.accounts', 'id', third!, { status: 'suspended' })
  const leaving = { delete_at: daysFromNow(5) }
  await set('public.accounts', 'id', first!, leaving)

  const orders = {
    oldest: 'created_at',
    name: 'full_name',
    email: 'email',
    phone: 'phone nulls first',
    lastSignInAt: 'users.last_sign_in_at nulls first',
    suspendedUntil: 'suspended_until nulls last',
    deleteAt: 'delete_at nulls last',
  }
  for (const [sort, order] of Object.entries(orders)) {
    await expectOrder(
      'users',
      { q: family },
      sort,
      ids,
      `select accounts.id from public.accounts
       join public.individual_profiles on account_id = accounts.id
       join auth.users using (id)
       where accounts.id = any ($1) order by ${
        order.replace(/^(created_at|email|phone)/, 'accounts.$1')
      }, accounts.id`,
    )
  }
  const found = async (query: Query) => (await idsOf('users', { q: family, ...query })).sort()
  expect(await found({ toBeDeleted: 'true' })).toEqual([first])
  expect(await found({ toBeDeleted: 'false' })).toEqual(ids.filter((id) => id !== first).toSorted())
  const between = daysFromNow(-300)
  expect(await found({ signedInUntil: between })).toEqual([second, fourth].toSorted())
  expect(await found({ signedInSince: between, signedInUntil: daysFromNow(-100) }))
    .toEqual([first, third].toSorted())
  const { items } = await pageOf('users', { q: family, sort: 'lastSignInAt' })
  expect(items[0]).toMatchObject({ id: fourth, lastSignInAt: null })
  expect(Date.parse((items[1] as never as { lastSignInAt: string }).lastSignInAt))
    .toBe(Date.parse(longAgo))
})

test('a sign-in moves its account to the end of the order by last sign-in', async () => {
  const name = `حصة ${randomUUID().slice(0, 8)}`
  const [earlier, later] = [await signUp(name), await signUp(name)]
  const query = { q: name, sort: 'lastSignInAt' }
  expect(await idsOf('users', query)).toEqual([earlier.id, later.id])
  await earlier.post('/auth/login', { identifier: earlier.identifier, password: earlier.password })
  expect(await idsOf('users', query)).toEqual([later.id, earlier.id])
})

test('what waits by what it shows; a filter or sort of one kind leaves out the others', async () => {
  const [owner, reporter, other] = [await signUp(), await signUp(), await signUp()]
  const unpublished = { status: 'pending_review', published_at: null, expires_at: null }
  const listings: string[] = []
  for (const [price, title_ar] of [['900', 'بيت'], [100.5, 'شقة'], ['900', 'أرض'], [20, 'فيلا']]) {
    listings.push(
      await insertListing(owner.identityId, {
        ...unpublished,
        price,
        title_ar: `${title_ar} للبيع`,
        kind: price === 20 ? 'house' : 'villa',
      }),
    )
  }
  listings.push(
    await insertListing(owner.identityId, { ...unpublished, type: 'EXCHANGE', price: null }),
  )
  const mine = { accountId: owner.id }
  const ofListings = (order: string) =>
    `select id from public.properties where id = any ($1) order by ${order}, id`
  await expectOrder('moderation', mine, 'oldest', listings, ofListings('created_at'))
  await expectOrder('moderation', mine, 'name', listings, ofListings('title_ar'))

  const companies: string[] = []
  for (const expires of ['2031-05-01', '2030-01-01', '2031-05-01']) {
    const company = await insertWaitingCompany(owner.id)
    companies.push(company)
    await database().query(
      'update public.organisations set licence_expires_on = $2 where identity_id = $1',
      [company, expires],
    )
  }
  await expectOrder('moderation', mine, 'price', listings, ofListings('price nulls first'))
  await expectOrder(
    'moderation',
    mine,
    'licenceExpiresOn',
    companies,
    `select identity_id as id from public.organisations where identity_id = any ($1)
     order by licence_expires_on, identity_id`,
  )

  const reports: string[] = []
  const targets = await Promise.all([1, 2, 3].map(() => insertListing(owner.identityId)))
  for (const targetId of targets) {
    const body = { targetType: 'property', targetId, reason: 'spam' }
    reports.push(
      (await reporter.post('/reports', { ...body, note: `إعلان مكرر ${targetId}` })).body.id,
    )
  }
  const again = { targetType: 'property', targetId: targets[1], reason: 'fraud' }
  await other.post('/reports', again)
  const reported = { accountId: reporter.id }
  await expectOrder(
    'moderation',
    reported,
    'reports',
    reports,
    `select one.id from public.reports as one where one.id = any ($1)
     order by (select count(*) from public.reports where target_id = one.target_id), one.id`,
  )

  const found = async (query: Query) => (await idsOf('moderation', { ...mine, ...query })).sort()
  const { rows: [{ ref_no }] } = await database().query(
    'select ref_no from public.properties where id = $1',
    [listings[0]],
  )
  const { rows: [{ licence_no }] } = await database().query(
    'select licence_no from public.organisations where identity_id = $1',
    [companies[1]],
  )
  expect(await found({ refNo: `KW-${ref_no}` })).toEqual([listings[0]])
  expect(await found({ refNo: `kw-${ref_no}` })).toEqual([listings[0]])
  expect(await found({ refNo: `\u2068KW ${ref_no}\u2069` })).toEqual([listings[0]])
  expect(await found({ licenceNo: `\u200F${licence_no}\u200B` })).toEqual([companies[1]])
  expect(await found({ listingKind: 'house' })).toEqual([listings[3]])
  expect(await found({ priceMin: 100.5, priceMax: 899.999 })).toEqual([listings[1]])
  expect(await found({ q: 'الشقه' })).toEqual([listings[1]])
  expect(await found({ licenceNo: licence_no })).toEqual([companies[1]])
  expect(await found({ licenceExpiresBefore: '2031-05-01' })).toEqual([companies[1]])
  expect(await idsOf('moderation', { ...reported, targetId: targets[2]! })).toEqual([reports[2]])
  expect(await idsOf('moderation', { ...reported, q: targets[2]! })).toEqual([reports[2]])
  expect(await found({ licenceNo: licence_no, listingKind: 'house' })).toEqual([])
})

test('payment events by what they show', async () => {
  const currency = String.fromCharCode(...[0, 0, 0].map(() => 65 + randomInt(26)))
  const ids: number[] = []
  const times = [daysFromNow(-3), daysFromNow(-2), daysFromNow(-2), daysFromNow(-1), daysFromNow(0)]
  for (const [i, amount] of ['12.5', '3', null, '12.5', '100'].entries()) {
    const { rows } = await database().query(
      `insert into public.payment_events
         (provider, event_key, kind, outcome, amount, currency, received_at, processed_at)
       values ('sandbox', $1, 'other', 'ignored', $2, $3, $4, $5) returning id`,
      [randomUUID(), amount, currency, times[i], i === 1 ? null : times[4 - i]],
    )
    ids.push(Number(rows[0].id))
  }
  const orders = {
    oldest: 'received_at',
    amount: 'amount nulls first',
    processedAt: 'processed_at nulls last',
  }
  for (const [sort, order] of Object.entries(orders)) {
    await expectOrder(
      'payments/events',
      { currency },
      sort,
      ids,
      `select id from public.payment_events where id = any ($1) order by ${order}, id`,
    )
  }
  const found = async (query: Query) => await idsByPage('payments/events', { currency, ...query })
  expect(await found({ processed: 'false' })).toEqual([ids[1]])
  expect(await found({ processed: 'true', sort: 'oldest' })).toEqual(ids.filter((_, i) => i !== 1))
  expect(await found({ amountMin: 3, amountMax: 12.5, sort: 'oldest' }))
    .toEqual([ids[0], ids[1], ids[3]])
  expect(await found({ amountMax: 5 })).toEqual([ids[1]])
  expect(await found({ invoiceState: 'paid' })).toEqual([])
  // Marks the event as processed, because invariant I-17 (test/whole/money-checks.ts)
  // allows no unprocessed ones.
  await database().query('update public.payment_events set processed_at = now() where id = $1', [
    ids[1],
  ])
})

test.runIf(hasSandbox)('payment events name their invoice and are found by it', async () => {
  const { id, number } = await topUp(await signUp())
  const { items } = await pageOf('payments/events', { invoiceNumber: number })
  expect(items).toEqual([
    expect.objectContaining({ invoiceId: id, invoiceNumber: number, invoiceState: 'paid' }),
  ])
  const [event] = items.map((item) => item.id)
  expect(await idsOf('payments/events', { invoiceId: id, invoiceState: 'paid' })).toEqual([event])
  expect(await idsOf('payments/events', { invoiceId: id, invoiceState: 'refunded' })).toEqual([])
})

test('the audit trail by time, of which many entries have the same', async () => {
  const actorRole = `role ${randomUUID().slice(0, 8)}`
  const ids: number[] = []
  for (const days of [-1, -2, -2, -2, -3]) {
    const { rows } = await database().query(
      `insert into public.audit (at, actor_role, action, target_type)
       values (date_trunc('day', now()) + $1 * interval '1 day', $2, 'test', 'test') returning id`,
      [days, actorRole],
    )
    ids.push(Number(rows[0].id))
  }
  const order = 'select id from public.audit where id = any ($1) order by at, id'
  await expectOrder('audit', { actorRole }, 'oldest', ids, order)
  expect(await idsOf('audit', { actorRole, targetType: 'account' })).toEqual([])
})

test('a cursor of one sort is none of another, and no list has the sort of another', async () => {
  for (const list of ['users', 'moderation', 'audit', 'payments/events']) {
    for (const sort of ['-newest', '-oldest', '--name', 'name desc', 'id', '']) {
      const { status, body } = await admin.get(`/admin/${list}?sort=${encodeURIComponent(sort)}`)
      expect([status, body.error.fields[0].path], `${list} ${sort}`).toEqual([422, 'sort'])
    }
  }
  await signUp()
  const { nextCursor } = await pageOf('users', { sort: 'name', limit: 1 })
  for (const sort of ['-name', 'email', 'newest']) {
    const { body } = await admin.get(`/admin/users?limit=1&sort=${sort}&cursor=${nextCursor}`)
    expect(body.error.code, sort).toBe('cursor_invalid')
  }
})
