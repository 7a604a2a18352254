import { beforeAll, describe, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { completeFields, publishListing } from '../support/listings.ts'
import { topUpInvoice } from '../support/money.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { byHand, decide, edit, leaveChanges, why } from './studio.ts'

const appWith = (parts: object) =>
  JSON.stringify({
    minVersion: { ios: null, android: null, web: null },
    storeUrl: { ios: null, android: null },
    privacyUrl: null,
    support: { phone: null, email: null, whatsapp: null },
    ...parts,
  })

const sellerWith = (parts: object) =>
  JSON.stringify({
    nameAr: 'سوق',
    nameEn: 'Market',
    registrationNo: '1',
    addressAr: 'شرق',
    phone: '+96522000000',
    email: 'info@example.com',
    ...parts,
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
    ['properties', 'deleted_at', () => listing, { deleted_at: new Date() }, /set by triggers/],
    ['properties', 'closed_at', () => listing, { closed_at: new Date() }, /set by triggers/],
    ['properties', 'paused_at', () => listing, { paused_at: new Date() }, /set by triggers/],
    ['properties', 'published_at', () => listing, { published_at: null }, /set by triggers/],
    ['properties', 'expires_at', () => listing, { expires_at: null }, /set by triggers/],
    ['properties', 'suspended_from', () => listing, { suspended_from: 'draft' }, /set by triggers/],
    ['properties', 'listed', () => listing, { listed: false }, /set by triggers/],
    ['properties', 'owner_verified', () => listing, { owner_verified: true }, /set by triggers/],
    ['properties', 'owner_active', () => listing, { owner_active: false }, /set by triggers/],
    ['properties', 'type', () => listing, { type: 'RENT' }, /keeps its owner, type/],
    ['properties', 'auction_ends_at', () => listing, { auction_ends_at: new Date() }, /auction/],
    ['accounts', 'status', () => seller.id, { status: 'deleted' }, /under Authentication/],
    ['accounts', 'email', () => seller.id, { email: 'x@example.com' }, /under Authentication/],
    ['accounts', 'delete_at', () => seller.id, { delete_at: 'infinity' }, /deletion has a date/],
    [
      'accounts',
      'suspended_until',
      () => seller.id,
      { suspended_until: new Date() },
      /only suspensions end/,
    ],
    ['identities', 'status', () => seller.identityId, { status: 'rejected' }, /no licence/],
    ['identities', 'status', () => seller.identityId, { status: 'closed' }, /with the account/],
    ['identities', 'type', () => seller.identityId, { type: 'office' }, /keeps its type/],
    [
      'identities',
      'display_name',
      () => office,
      { display_name: 'اسم آخر' },
      /organisations.name_ar/,
    ],
    ['organisations', 'verified', () => office, { verified: true }, /identities.status to active/],
    ['organisations', 'active', () => office, { active: true }, /follows its identity/],
    ['organisations', 'logo_url', () => office, { logo_url: 'https://x.example' }, /its pictures/],
    ['organisations', 'rating_count', () => office, { rating_count: 9 }, /kept by the service/],
    ['identities', 'avatar_url', () => office, { avatar_url: 'https://x.example' }, /in the app/],
    ['properties', 'ref_no', () => listing, { ref_no: 1 }, /keeps its owner, type and number/],
    ['properties', 'kind', () => listing, { kind: 'castle' }, /castle is no code of kind/],
    ['properties', 'title_ar', () => listing, { title_ar: 'شقة' }, /^Not saved: title_ar does not/],
    ['properties', 'title_ar', () => listing, { title_ar: null }, /^Not saved: .*published/],
    ['properties', 'area_id', () => listing, { area_id: 'atlantis' }, /is none of public.areas/],
    ['properties', 'allow_chat', () => listing, { allow_chat: null }, /allow_chat is missing/],
    ['properties', 'allow_chat', () => listing, { allow_chat: false }, /Nobody could reach/],
    ['invoices', 'state', () => invoice, { state: 'paid' }, /paid by a payment/],
    ['invoices', 'total', () => invoice, { total: 1 }, /Money is moved by payments/],
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

  test('what the routes refuse with a code is refused by hand with a sentence', async () => {
    const { id } = await signUp()
    const over = await insertOrganisation(id)
    await edit('identities', over, { status: 'suspended' })
    await edit('organisations', over, { licence_expires_on: '2020-01-01' }, 'identity_id')
    await expect(edit('identities', over, { status: 'active' })).rejects
      .toMatchObject({ message: expect.stringContaining('expires_on'), hint: 'licence_expired' })
    await expect(edit('invoices', invoice, { state: 'failed' })).rejects.toMatchObject({
      hint: 'status_transition_invalid',
      message:
        'An invoice that is open does not become failed: private.invoice_steps() says what it can.',
    })
    await signUpAdmin()
    const client = await database().connect()
    try {
      await client.query('begin')
      await expect(client.query('delete from public.admins')).rejects
        .toMatchObject({ message: expect.stringContaining('add a row'), hint: 'last_admin' })
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
    await leaveChanges(id)
    await expect(edit('properties', id, { pending_changes: null })).rejects.toThrow(
      'approve_changes',
    )
    await decide(await signUpAdmin(), id, 'approve')
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
    ['find_duplicates', 'true', 'in quotation marks'],
    ['admin_passkeys', '"always"', '"optional" or "required"'],
    ['seller', '"سوق"', 'is an object with'],
    ['seller', '{"nameAr":"سوق"}', 'is an object with'],
    ['seller', sellerWith({ registrationNo: 123456 }), 'each in quotation marks'],
    ['seller', sellerWith({ phone: null }), 'each in quotation marks'],
    ['reserved_names', '["دعم"]', 'two lists of words'],
    ['reserved_names', '{"everybody":[],"people":[1]}', 'two lists of words'],
    ['share_url', '"https://elsewhere.example/{refNo}"', 'written by the functions'],
    ['app', '{}', 'null where nothing is said'],
    ['app', appWith({ minVersion: { ios: '1.4', android: null, web: null } }), 'as 1.4.0'],
    ['app', appWith({ minVersion: { ios: 1, android: null, web: null } }), 'as 1.4.0'],
    ['app', appWith({ storeUrl: { ios: 'http://example.com', android: null } }), 'https://'],
    ['app', appWith({ support: { phone: 'شرق', email: null, whatsapp: null } }), 'support (phone'],
    ['files_url', '"https://elsewhere.example"', 'written by the functions'],
    ['maintenance', 'true', 'is null, or has ar and en'],
    ['maintenance', '{"ar":"نعود بعد قليل"}', 'is null, or has ar and en'],
    ['maintenance', '{"ar":"نعود بعد قليل","en":" "}', 'is null, or has ar and en'],
    ['maintenance', `{"ar":"نعود","en":"${'x'.repeat(301)}"}`, '300 characters at most'],
  ])('private.settings %s set to %s', async (name, value, sentence) => {
    await expect(edit('private.settings', name, { value }, 'name')).rejects.toThrow(sentence)
  })

  test.each([
    ['private.rates', 'rule', 'uploads', { rule: 'upload' }, 'keeps its name'],
    ['plans', 'code', 'free', { code: 'none' }, 'change its figures'],
    ['private.settings', 'name', 'seller', { name: 'vendor' }, 'keeps its name'],
    ['vocabularies', 'code', 'house', { code: 'home' }, 'A code stays'],
    ['areas', 'id', 'salmiya', { governorate_id: 'ahmadi' }, 'keeps its id and governorate'],
    ['governorates', 'id', 'hawalli', { id: 'hawally' }, 'keeps its id'],
  ])('%s.%s that functions ask for', async (table, key, name, columns, sentence) => {
    await expect(edit(table, name, columns, key)).rejects.toThrow(sentence)
  })

  test.each([
    ['plans', 'code', 'free', { price: -1 }, 'price'],
    ['plans', 'code', 'free', { price: '1.2345' }, 'price'],
    ['plans', 'code', 'free', { price: 'NaN' }, 'price'],
    ['plans', 'code', 'free', { price: '100000000000' }, 'price'],
    ['plans', 'code', 'free', { price: null }, 'price'],
    ['plans', 'code', 'free', { interval_days: 0 }, 'interval_days'],
    ['plans', 'code', 'free', { active_listings: -1 }, 'active_listings'],
    ['plans', 'code', 'free', { listing_days: 3661 }, 'listing_days'],
    ['plans', 'code', 'free', { photos_per_listing: 41 }, 'photos_per_listing'],
    ['plans', 'code', 'free', { featured_credits: -1 }, 'featured_credits'],
    ['plans', 'code', 'free', { audience: 'everybody' }, 'audience'],
    ['plans', 'code', 'free', { name_ar: '' }, 'name_ar'],
    ['plans', 'code', 'free', { on_sale: null }, 'on_sale'],
    ['private.settings', 'name', 'seller', { note: null }, 'note'],
    ['private.rates', 'rule', 'uploads', { max: 0 }, 'max'],
  ])('%s.%s %s: %j, which a constraint would refuse', async (table, key, name, columns, column) => {
    await expect(edit(table, name, columns, key)).rejects.toMatchObject({
      message: expect.stringMatching(`^Not saved: ${column} (does not fit|is missing)`),
    })
  })

  test.each([{ price: -1 }, { price: '1.2345' }, { property_income: 'NaN' }])(
    'a listing with %j',
    async (columns) => {
      await expect(edit('properties', listing, columns)).rejects
        .toThrow(`Not saved: ${Object.keys(columns)} does not fit`)
    },
  )

  test('rows that come anew', async () => {
    const plan = `insert into public.plans (code, name_ar, name_en, audience, price, interval_days,
        active_listings, listing_days, photos_per_listing)
      values ($1, 'باقة', $2, 'office', 1, 30, 1, 30, 1)`
    await expect(byHand(plan, ['free', 'Again'])).rejects.toThrow('code is taken by another row')
    await expect(byHand(plan, ['free plan', 'Again'])).rejects.toThrow(/code does not fit/)
    await expect(byHand(plan, ['another', null])).rejects.toThrow('name_en is missing')
    await expect(byHand(
      `insert into public.vocabularies values ('period', 'week', 'أسبوعياً', 'Per week', null, 9)`,
    )).rejects.toThrow('Functions know the codes of this vocabulary')
    await insertOrganisation(seller.id)
    const licence = await insertOrganisation(seller.id)
    const { rows: [other] } = await database().query(
      `select licence_no from public.organisations
       where holds_licence and identity_id <> $1 limit 1`,
      [licence],
    )
    await expect(
      edit('organisations', licence, { licence_no: other.licence_no }, 'identity_id'),
    ).rejects.toThrow('holds this licence')
  })
})

const states: Record<string, 'acts' | 'refused'> = {
  'accounts.status': 'acts',
  'admin_acts.state': 'refused',
  'duplicates.state': 'refused',
  'identities.status': 'acts',
  'invoices.state': 'refused',
  'messages.hidden_at': 'refused',
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
  'wallet_payouts.state': 'refused',
}

test('every column that holds a state is covered', async () => {
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
