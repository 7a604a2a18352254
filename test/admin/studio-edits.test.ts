/**
 * What an admin changes by hand, as Studio does: one UPDATE as the owner of the tables. It has the
 * effects of the route, seen over HTTP, or is refused with a sentence. Every column that says a state
 * is in one of the tables below.
 */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signIn, signUp } from '../support/client.ts'
import { countSessions } from '../support/codes.ts'
import { completeFields, publishListing } from '../support/listings.ts'
import { topUpInvoice } from '../support/money.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'

const why = 'مخالفة لشروط النشر'

const edit = (table: string, id: string, columns: Record<string, unknown>, key = 'id') =>
  database().query(
    `update ${table.includes('.') ? table : `public.${table}`}
     set ${Object.keys(columns).map((name, i) => `${name} = $${i + 2}`)}
     where ${key} = $1`,
    [id, ...Object.values(columns)],
  )

let admin: Person
beforeAll(async () => {
  admin = await signUpAdmin()
})

const decide = (id: string, decision: string) =>
  admin.post(`/admin/moderation/${id}/decide`, { decision, reason: why })
const kindsTold = async (person: Person) =>
  (await person.get('/notifications')).body.items.map(({ kind }: { kind: string }) => kind)

/** A record without what differs between any two listings. */
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
  // Which state an owner's act leads to, and which acts led there.
  test.each([
    ['paused', 'pause', []],
    ['active', 'resume', ['pause']],
    ['sold', 'mark-sold', []],
    ['archived', 'archive', ['mark-sold']],
    ['draft', 'restore', ['archive']],
    ['active', 'publish', ['archive', 'restore']],
  ])('set to %s it is as after the act %s', async (status, act, before) => {
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
    // And the owner goes on from there.
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
      await decide(byRoute, status === 'active' ? 'approve' : 'reject')
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
      expect(await kindsTold(seller)).toEqual([kind, kind])
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
    expect((await decide(id, 'restore')).body).toMatchObject({ status: 'active' })

    await seller.post(`/properties/${id}/pause`)
    await decide(id, 'suspend')
    await edit('properties', id, { status: 'paused' })
    expect((await decide(id, 'suspend')).body).toMatchObject({ decisions: ['restore'] })
    expect((await decide(id, 'restore')).body).toMatchObject({ status: 'paused' })
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
    await edit('properties', id, { pending_changes: '{"price": 77}' })
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
    expect(await decide(reports[1]!, 'dismiss'))
      .toMatchObject({ status: 409, body: { error: { from: 'upheld' } } })
    expect((await decide(id, 'restore')).body).toMatchObject({ status: 'active' })
    expect((await auditOf(admin, id)).map(({ action }) => action))
      .toEqual(['property.restore', 'property.suspend'])
    const { rows } = await database().query(
      'select status, status_reason, decided_at from public.reports where id = any ($1)',
      [reports],
    )
    const told = { status: 'upheld', status_reason: why, decided_at: expect.any(Date) }
    expect(rows).toEqual([told, told])
  })

  test('dismissed nothing happens to it', async () => {
    const { id } = await publishListing(await signUp())
    const one = await report(await signUp(), 'property', id)
    await edit('reports', one, { status: 'dismissed' })
    expect((await guest.get(`/properties/${id}`)).status).toBe(200)
    expect(await decide(one, 'uphold')).toMatchObject({ status: 409 })
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

  test('a suspension with an end that becomes a ban has none', async () => {
    const person = await signUp()
    await edit('accounts', person.id, {
      status: 'suspended',
      suspended_until: new Date(Date.now() + 3_600_000),
    })
    await edit('accounts', person.id, { status: 'banned' })
    expect((await admin.get(`/admin/users/${person.id}`)).body.user.suspendedUntil).toBe(null)
  })

  test('deletion_requested it goes in 14 days, is signed out, and stays by signing in', async () => {
    const person = await signUp()
    await edit('accounts', person.id, { status: 'deletion_requested' })
    const { rows: [{ days }] } = await database().query(
      `select round(extract(epoch from delete_at - now()) / 86400)::int as days
       from public.accounts where id = $1`,
      [person.id],
    )
    expect(days).toBe(14)
    expect((await person.get('/auth/me')).status).toBe(401)
    await signIn(person.identifier, person.password)
    expect((await admin.get(`/admin/users/${person.id}`)).body.user.status).toBe('active')
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

test('a name changed where it is written is the one that others see', async () => {
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

describe('refused with a sentence that says what to do, and nothing has changed', () => {
  let seller: Person
  let listing: string
  let office: string
  let invoice: string
  beforeAll(async () => {
    seller = await signUp()
    listing = (await publishListing(seller)).id
    office = await insertOrganisation(seller.id, 'office')
    await edit('identities', office, { status: 'suspended' })
    await edit('identities', office, { status: 'pending_verification' })
    invoice = (await topUpInvoice(seller)).id
  })
  const refused: [string, string, () => string, Record<string, unknown>, RegExp][] = [
    ['properties', 'status', () => listing, { status: 'rented' }, /SALE is sold/],
    ['properties', 'deleted_at', () => listing, { deleted_at: new Date() }, /deleted_say_when/],
    ['properties', 'closed_at', () => listing, { closed_at: new Date() }, /closed_say_when/],
    ['properties', 'paused_at', () => listing, { paused_at: new Date() }, /paused_say_when/],
    ['properties', 'published_at', () => listing, { published_at: null }, /since_and_until_when/],
    ['properties', 'expires_at', () => listing, { expires_at: null }, /since_and_until_when/],
    ['properties', 'suspended_from', () => listing, { suspended_from: 'draft' }, /what_they_were/],
    ['properties', 'listed', () => listing, { listed: false }, /change status here/],
    ['properties', 'owner_verified', () => listing, { owner_verified: true }, /set by triggers/],
    ['properties', 'owner_active', () => listing, { owner_active: false }, /set by triggers/],
    ['properties', 'type', () => listing, { type: 'RENT' }, /stays once it was published/],
    ['properties', 'auction_ends_at', () => listing, { auction_ends_at: new Date() }, /auction/],
    ['accounts', 'status', () => seller.id, { status: 'deleted' }, /under Authentication/],
    ['accounts', 'email', () => seller.id, { email: 'x@example.com' }, /under Authentication/],
    ['accounts', 'delete_at', () => seller.id, { delete_at: new Date() }, /deletion_says_when/],
    [
      'accounts',
      'suspended_until',
      () => seller.id,
      { suspended_until: new Date() },
      /only_suspensions_end/,
    ],
    ['identities', 'status', () => seller.identityId, { status: 'rejected' }, /no licence/],
    ['identities', 'status', () => seller.identityId, { status: 'closed' }, /with the account/],
    ['identities', 'type', () => seller.identityId, { type: 'office' }, /keeps its type/],
    ['identities', 'display_name', () => office, { display_name: 'اسم آخر' }, /change it there/],
    ['organisations', 'verified', () => office, { verified: true }, /identities.status to active/],
    ['organisations', 'active', () => office, { active: true }, /follows its identity/],
    ['invoices', 'state', () => invoice, {
      state: 'paid',
      paid_at: new Date(),
      paid_with: 'wallet',
    }, /paid by a payment/],
  ]
  test.each(refused)('%s.%s', async (table, _column, id, columns, sentence) => {
    const key = table === 'organisations' ? 'identity_id' : 'id'
    const row = async () =>
      (await database().query(`select * from public.${table} where ${key} = $1`, [id()])).rows
    const before = await row()
    expect(before).toHaveLength(1)
    await expect(edit(table, id(), columns, key)).rejects.toThrow(sentence)
    expect(await row()).toEqual(before)
  })

  test('what the routes refuse by a code says by hand what to do', async () => {
    const { id } = await signUp()
    const over = await insertOrganisation(id)
    await edit('identities', over, { status: 'suspended' })
    await edit('organisations', over, { licence_expires_on: '2020-01-01' }, 'identity_id')
    await expect(edit('identities', over, { status: 'active' })).rejects
      .toMatchObject({ message: 'licence_expired', hint: expect.stringContaining('expires_on') })
    await expect(edit('invoices', invoice, { state: 'failed' })).rejects.toMatchObject({
      message: 'status_transition_invalid',
      hint:
        'An invoice that is open does not become failed: private.invoice_steps() says what it can.',
    })
    const client = await database().connect()
    try {
      await client.query('begin')
      await expect(client.query('delete from public.admins')).rejects
        .toMatchObject({ message: 'last_admin', hint: expect.stringContaining('add a row') })
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  test('reports that say no reason, or were decided', async () => {
    const other = await signUp()
    const { body } = await other.post('/reports', {
      targetType: 'property',
      targetId: listing,
      reason: 'fraud',
    })
    await expect(edit('reports', body.id, { status: 'upheld' })).rejects.toThrow('status_reason')
    await edit('reports', body.id, { status: 'dismissed' })
    for (const status of ['open', 'upheld']) {
      await expect(edit('reports', body.id, { status, status_reason: why })).rejects
        .toThrow('stays so')
    }
    expect((await guest.get(`/properties/${listing}`)).status).toBe(200)
  })

  test('changes that wait, and a state that needs more than is there', async () => {
    const { id } = await publishListing(seller)
    await edit('properties', id, { pending_changes: '{"price": 77}' })
    await expect(edit('properties', id, { pending_changes: null })).rejects.toThrow(
      'decide_property',
    )
    await decide(id, 'approve')
    expect((await guest.get(`/properties/${id}`)).body.price).toBe(77)
    const { body: bare } = await seller.post('/properties', { type: 'SALE' })
    await expect(edit('properties', bare.id, { status: 'active' })).rejects
      .toThrow('needs kind, area_id, title_ar, land_area_m2, price')
    const whole = await seller.post('/properties', completeFields.SALE)
    await edit('properties', whole.body.id, { status: 'active' })
    expect((await guest.get(`/properties/${whole.body.id}`)).status).toBe(200)
  })

  test.each([
    ['review_listings', '"true"', 'without quotation marks'],
    ['review_listings', '1', 'without quotation marks'],
    ['seller', '"سوق"', 'is an object with'],
    ['seller', '{"nameAr":"سوق"}', 'is an object with'],
    ['files_url', '"https://elsewhere.example"', 'written by the functions'],
  ])('private.settings %s set to %s', async (name, value, sentence) => {
    await expect(edit('private.settings', name, { value }, 'name')).rejects.toThrow(sentence)
  })

  test.each([
    ['private.rates', 'rule', 'uploads', { rule: 'upload' }, 'keeps its name'],
    ['plans', 'code', 'free', { code: 'none' }, 'change its figures'],
    ['private.settings', 'name', 'seller', { name: 'vendor' }, 'keeps its name'],
  ])('%s.%s that functions ask for', async (table, key, name, columns, sentence) => {
    await expect(edit(table, name, columns, key)).rejects.toThrow(sentence)
  })

  test.each([
    ['payments', { state: 'captured' }, 'when its provider says so'],
    ['refunds', { state: 'settled' }, 'when its provider says so'],
    ['payment_events', { outcome: 'edited' }, 'looked up again by itself'],
    ['subscriptions', { status: 'lapsed' }, 'set renews to false'],
    ['media', { discarded_at: new Date() }, 'is removed with its file'],
    ['reviews', { author_active: false }, 'set hidden_at'],
  ])('public.%s', async (table, columns, sentence) => {
    // The sentences of triggers that look at no other row; that each of them is there:
    const { rows } = await database().query(
      `select 1 from pg_trigger where tgrelid = $1::regclass
         and tgfoid = 'private.refuse_edit'::regproc
         and pg_get_triggerdef(oid) like '%' || $2 || '%'
         and tgattr::int2[] && array(
           select attnum from pg_attribute where attrelid = tgrelid and attname = any ($3)
         )`,
      [`public.${table}`, sentence, Object.keys(columns)],
    )
    expect(rows).toHaveLength(1)
  })
})

/** Every column that says a state, and what a change by hand does to it. */
const states: Record<string, 'acts' | 'refused'> = {
  'accounts.status': 'acts',
  'identities.status': 'acts',
  'invoices.state': 'refused',
  'organisations.active': 'refused',
  'organisations.listed': 'refused',
  'organisations.verified': 'acts',
  'payment_events.outcome': 'refused',
  'payment_events.status': 'refused',
  'payments.state': 'refused',
  'plans.on_sale': 'acts',
  'properties.listed': 'refused',
  'properties.owner_active': 'refused',
  'properties.owner_verified': 'refused',
  'properties.status': 'acts',
  'properties.suspended_from': 'refused',
  'refunds.state': 'refused',
  'reports.status': 'acts',
  'reviews.author_active': 'refused',
  'reviews.hidden_at': 'acts',
  'reviews.listed': 'refused',
  'subscriptions.renews': 'acts',
  'subscriptions.status': 'refused',
}

test('no column that says a state is without an answer', async () => {
  const { rows } = await database().query(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public'
       and column_name ~ ('^(status|state|suspended_from|outcome|listed|active|.*_active|verified|'
         '.*_verified|hidden_at|on_sale|renews)$')
       and table_name in (select tablename from pg_tables where schemaname = 'public')
     order by 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(states).sort())
})
