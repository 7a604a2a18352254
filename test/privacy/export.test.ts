// The export contains all data that has an owner, as the screens show it. It includes every text column of a
// table with an owner, or this file gives the reason for leaving it out.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type pg from 'pg'
import { database, newPhone, type Person, signUp } from '../support/client.ts'
import { givePhone, insertListing, insertOrganisation } from '../support/fixtures.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadAvatar } from '../support/uploads.ts'
import { claimsOf, plantRows } from '../whole/planted-rows.ts'

const sets = {
  account: 'select $1::uuid',
  identity: 'select id from public.identities where account_id = $1',
  listing: `select properties.id from public.properties
    join public.identities on identities.id = owner_identity_id where account_id = $1`,
  conversation: 'select conversation_id from public.participants where account_id = $1',
  invoice: 'select id from public.invoices where account_id = $1',
  wallet: `select wallets.id from public.wallets
    join public.identities on identities.id = identity_id where account_id = $1`,
  transfer: `select transfer_id from public.wallet_entries
    join public.wallets on wallets.id = wallet_id
    join public.identities on identities.id = identity_id where account_id = $1`,
  session: 'select id from auth.sessions where user_id = $1',
}

/**
 * The contents of the export: each table, the column that names a row's owner, and the columns that are
 * exported. The fields of listings are added when the tests run.
 */
const shown: [table: string, by: string, of: keyof typeof sets, columns: string][] = [
  ['public.accounts', 'id', 'account', 'email phone terms_version language'],
  ['public.individual_profiles', 'account_id', 'account', 'full_name avatar_url'],
  [
    'public.identities',
    'account_id',
    'account',
    'id type status status_reason display_name avatar_url pending_changes',
  ],
  ['public.account_settings', 'account_id', 'account', 'notifications who_may_write'],
  ['private.contact_changes', 'account_id', 'account', 'act kind value old_value'],
  ['private.session_clients', 'session_id', 'session', 'user_agent'],
  ['public.devices', 'account_id', 'account', 'device_id platform app_version locale'],
  [
    'public.notifications',
    'account_id',
    'account',
    'kind title_ar body_ar title_en body_en route',
  ],
  ['public.blocks', 'account_id', 'account', 'identity_id'],
  ['private.suspensions', 'account_id', 'account', 'listing'],
  ['public.reports', 'account_id', 'account', 'target_type part reason note status'],
  [
    'public.organisations',
    'identity_id',
    'identity',
    'type name_ar name_en slug licence_no logo_url cover_url about_ar phone whatsapp email website ' +
    'governorate_id area_id address_ar working_hours',
  ],
  [
    'public.properties',
    'owner_identity_id',
    'identity',
    'status status_reason pause_reason pending_changes owner_type',
  ],
  ['public.price_history', 'property_id', 'listing', 'property_id price'],
  ['public.auctions', 'property_id', 'listing', 'property_id start_price min_increment'],
  ['private.property_counters', 'property_id', 'listing', 'views favorites'],
  ['public.leads', 'owner_identity_id', 'identity', 'property_id identity_id kind'],
  ['public.leads', 'identity_id', 'identity', 'property_id kind'],
  ['public.favorites', 'identity_id', 'identity', 'property_id'],
  ['private.property_views', 'identity_id', 'identity', 'property_id day'],
  ['public.media', 'identity_id', 'identity', 'bucket name use'],
  ['public.documents', 'identity_id', 'identity', 'name type'],
  ['public.conversations', 'id', 'conversation', 'property_id'],
  ['public.participants', 'account_id', 'account', 'muted archived'],
  ['public.messages', 'conversation_id', 'conversation', 'type'],
  ['public.reviews', 'author_identity_id', 'identity', 'subject_identity_id comment reply'],
  ['public.reviews', 'subject_identity_id', 'identity', 'reply'],
  ['public.subscriptions', 'identity_id', 'identity', 'status pay_with terms'],
  ['public.featured_credits', 'identity_id', 'identity', 'credits'],
  ['private.closed_licences', 'account_id', 'account', 'licence_no'],
  ['public.refund_documents', 'invoice_id', 'invoice', 'number payer_name'],
  ['public.invoices', 'account_id', 'account', 'number purpose state currency paid_with'],
  ['public.invoice_lines', 'invoice_id', 'invoice', 'kind title_ar title_en'],
  [
    'public.payments',
    'invoice_id',
    'invoice',
    'provider state currency provider_payment_id details',
  ],
  ['public.receipts', 'invoice_id', 'invoice', 'payer_name receipt'],
  ['public.wallets', 'identity_id', 'identity', 'part'],
  ['public.wallet_entries', 'wallet_id', 'wallet', 'amount'],
  ['public.wallet_transfers', 'id', 'transfer', 'kind'],
]

const copies = 'made of what the export has'
const waiting = 'waits for a job, and is gone within minutes'
const secret = 'a secret'
const figures = 'figures for how things are sorted or limited, which no screen shows'
const administrators = 'what administrators do and note'
const financial = 'how an invoice came to be as it is; the invoice has the sums and states'

/** Tables and columns that the export leaves out, with the reason. */
const leftOut: Record<string, string> = {
  'private.alarms': administrators,
  'private.announced_passwords': waiting,
  'private.apple_tokens': secret,
  'private.banned_contacts': 'of accounts that are banned, which export nothing',
  'private.codes': secret,
  'private.contact_changes.closes': 'about the former holder of an email',
  'private.contact_changes.other_value': 'the other contact, which `user` has',
  'private.contact_messages': waiting,
  'private.deferred_notifications': waiting,
  'private.duplicate_checks': waiting,
  'private.email_registrations': figures,
  'private.expiry_warnings': figures,
  'private.feed_places': figures,
  'private.file_moves': waiting,
  'private.idempotency_keys': 'answers that were given, kept for a day',
  'private.known_addresses': 'keyed hashes of addresses; `sessions` has those in use',
  'private.licence_warnings': figures,
  'private.listed_records': copies,
  'private.listing_places': figures,
  'private.notification_events': waiting,
  'private.office_ranks': figures,
  'private.passkey_challenges': secret,
  'private.passkeys': administrators,
  'private.property_cards': copies,
  'private.property_days': 'sums of what others did; the listings have those of all time',
  'private.publications': figures,
  'private.push_outbox': waiting,
  'private.response_measures': figures,
  'private.review_notices': figures,
  'private.review_totals': copies,
  'private.search_documents': copies,
  'private.session_proofs': secret,
  'private.sessions_left': 'a list of sessions, which `sessions` has',
  'private.suspensions.pictures': 'hashes of pictures',
  'private.upload_sessions': 'groups of pictures, which `pictures` has',
  'private.uploads': waiting,
  'public.accounts.money_at_deletion': 'of accounts that are to be deleted, which export nothing',
  'public.accounts.status': 'active in every export',
  'public.accounts.status_reason': 'of accounts that are suspended, which export nothing',
  'public.admin_acts': administrators,
  'public.admins': administrators,
  'public.audit': administrators,
  'public.item_claims': administrators,
  'public.conversations.pair_key': 'made of ids',
  'public.devices.push_token': secret,
  'public.documents.file': 'the name of a file that nobody can open by it',
  'public.documents.sha256': 'a hash',
  'public.duplicates': administrators,
  'public.identities.closes_from': 'what a closing one returns to',
  'public.identities.money_at_close': 'said with a closing, and gone with it',
  'public.invoice_events': financial,
  'public.invoice_lines.terms': 'of a plan, which `subscriptions` has',
  'public.media.sha256': 'a hash',
  'public.messages.body': 'not of hidden ones; looked at below',
  'public.messages.client_message_id': 'made by an app, to know what it sends again',
  'public.notes': administrators,
  'public.payment_events': financial,
  'public.payments.mode': 'whether the service tests payments',
  'public.payments.provider_ref': 'another number of what `reference` is',
  'public.payments.redirect_url': secret,
  'public.payments.return_url': 'an address of an app',
  'public.properties.suspended_from': 'what it was before an administrator suspended it',
  'public.refund_documents.document': 'its parts are in `refunds`',
  'public.refunds': financial,
  'public.reports.stored_content': 'of what others own; `reported` has what is kept of one’s own',
  'public.reports.content_hash': 'a hash',
  'public.reports.status_reason': administrators,
  'public.subscription_intervals': financial,
  'public.wallet_payouts': 'no screen shows them; `wallet` has what left for them',
  'public.wallet_transfers.source_kind': financial,
  'public.wallets.system_account': 'of the service',
}

test('ISO-21 every text column of every table that has an owner is in the export, or left out for a reason', async () => {
  const { rows } = await database().query<{ name: string; texts: string[] }>(
    `with recursive owned (id) as (
       select unnest('{public.accounts,public.identities}'::regclass[])::oid
       union
       select conrelid from pg_constraint join owned on confrelid = owned.id where contype = 'f'
     )
     select format('%s.%s', nspname, relname) as name, array(
       select attname::text from pg_attribute join pg_type on pg_type.oid = atttypid
       where attrelid = pg_class.oid and attnum > 0 and not attisdropped
         and typname in ('text', '_text', 'varchar', 'json', 'jsonb') order by attname
     ) as texts
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname in ('public', 'private') and relkind in ('r', 'p') and (
       pg_class.oid in (select id from owned) or exists (
         select from pg_attribute where attrelid = pg_class.oid
           and attname ~ '(account|identity|property|invoice|session|actor|subject)_id$'
       )
     )`,
  )
  expect(rows.length).toBeGreaterThan(50)
  const names = rows.flatMap(({ name, texts }) => [name, ...texts.map((one) => `${name}.${one}`)])
  const inExport = new Set(
    shown.flatMap(([table, , , columns]) => columns.split(' ').map((one) => `${table}.${one}`)),
  )
  const tables = new Set(shown.map(([table]) => table))

  const undecided = rows.filter(({ name }) => !(name in leftOut)).flatMap(({ name, texts }) => [
    ...(tables.has(name) ? [] : [name]),
    ...texts.map((one) => `${name}.${one}`)
      .filter((name) => !inExport.has(name) && !(name in leftOut)),
  ])
  expect(undecided).toEqual([])
  expect(Object.keys(leftOut).filter((name) => !names.includes(name))).toEqual([])
  const both = Object.keys(leftOut).filter((name) => tables.has(name) || inExport.has(name))
  expect(both).toEqual([])
})

let client: pg.PoolClient
let person: Person
let friend: Person
let phone: string

const hidden = ['كلام محجوب', 'تقييم محجوب']
const ofAdministrators = ['ملاحظة المبلّغ', 'سر الإدارة', `push-token-${randomUUID()}`]
const own = ['شكراً على ملاحظتك', 'بيت محذوف للبيع', 'مرحبا']

/** Returns the columns of the listings' fields that can hold text. */
async function textFields(): Promise<string> {
  const { rows } = await database().query(
    `select string_agg(attname, ' ') as names from pg_attribute
     where attrelid = 'public.properties'::regclass
       and attname = any (private.property_columns())
       and atttypid = any ('{text,text[],jsonb}'::regtype[])`,
  )
  return rows[0].names
}

/** Gives the listing a valid value in each text field that the person's listings leave empty. */
async function plantOtherFields(listing: string) {
  const { rows } = await client.query(
    `select private.column_of(name) as name, case form
         when 'code' then to_jsonb(code)
         when 'codes' then jsonb_build_array(code)
         else to_jsonb('مزروع ' || name)
       end as value
     from private.property_fields() as field
     left join lateral (
       select code from public.vocabularies where vocabularies.vocabulary = field.vocabulary limit 1
     ) as first on true
     where form in ('line', 'name', 'text', 'code', 'codes') and not exists (
       select from public.properties where owner_identity_id = $1
         and coalesce(to_jsonb(properties) ->> private.column_of(name), '[]') <> '[]'
     )`,
    [person.identityId],
  )
  for (const { name, value } of rows) {
    await client.query(
      `update public.properties set ${name} = (jsonb_populate_record(properties, $2)).${name}
       where id = $1`,
      [listing, { [name]: value }],
    )
  }
}

beforeAll(async () => {
  shown.push(['public.properties', 'owner_identity_id', 'identity', await textFields()])
  ;[person, friend] = await Promise.all([signUp('سالم العنزي'), signUp('نورة الشمري')])
  const author = await signUp()
  await givePhone(person)
  phone = newPhone()
  await givePhone(friend, phone)
  const { body: { mediaId } } = await uploadAvatar(person, jpeg({ width: 40, height: 30 }))
  await person.patch('/auth/me', { avatarMediaId: mediaId })
  const company = await insertOrganisation(person.id)

  client = await database().connect()
  await client.query('begin')
  const property = await plantRows(client, person.id, person.identityId)
  await insertListing(person.identityId, {
    type: 'RENT',
    status: 'paused',
    status_reason: 'سبب الإيقاف',
    paused_at: new Date(),
    pause_reason: 'unproven_past',
    title_en: 'A planted flat',
    description_ar: 'وصف مزروع',
    description_en: 'A planted text',
    rent_conditions: JSON.stringify([{ code: 'other', textAr: 'شرط مزروع' }]),
    additional_expenses: JSON.stringify([
      { code: 'other', labelAr: 'بند مزروع', amount: 5, period: 'month' },
    ]),
    furnished: 'full',
    plot_position: 'corner',
    finishing: 'super_deluxe',
    amenities: ['elevator'],
    document_type: 'free_deed',
    block: '31',
    street: 'شارع مزروع',
    building: 'برج مزروع',
    paci_no: '87654321',
    pending_changes: JSON.stringify({ titleAr: 'عنوان ينتظر' }),
  }, client)
  const exchange = { type: 'EXCHANGE', wanted_kinds: ['chalet'], wanted_area_ids: ['jahra'] }
  await insertListing(person.identityId, exchange, client)
  const deleted = { status: 'deleted', deleted_at: new Date(), title_ar: own[1] }
  await insertListing(person.identityId, deleted, client)

  const values: Record<string, string> = {
    account: person.id,
    identity: person.identityId,
    company,
    property,
    friend: friend.identityId,
    friendAccount: friend.id,
    author: author.identityId,
    session: randomUUID(),
  }
  const statements = [
    `update public.accounts set terms_version = 'terms-7', terms_accepted_at = now() where id = :account`,
    `update public.identities set status_reason = 'سبب الحالة',
       pending_changes = '{"nameAr":"اسم ينتظر"}' where id = :company`,
    `insert into public.organisations (identity_id, name_ar, slug, licence_no, licence_expires_on)
     select id, 'شركة مزروعة', left(cast(id as text), 18), upper(left(cast(id as text), 18)), '2040-01-01'
     from public.identities where account_id = :account and type = 'company' and id <> :company`,
    `insert into private.contact_changes
       (account_id, act, kind, value, old_value, proven_at, done_at, expires_at)
     values (:account, 'change', 'email', 'new@example.com', 'old@example.com', now(), now(),
       now() + interval '72 hours')`,
    `delete from private.session_clients
     where session_id in (select id from auth.sessions where user_id = :account)`,
    `insert into private.session_clients (session_id, user_agent, refreshed_at)
     select id, 'planted agent', refreshed_at from auth.sessions where user_id = :account`,
    `update public.devices set push_token = '${
      ofAdministrators[2]
    }' || device_id, app_version = '7.8.9',
       locale = 'ar-KW' where account_id = :account`,
    `update public.notifications set title_ar = 'عنوان مزروع', body_ar = 'نص مزروع',
       title_en = 'planted title', body_en = 'planted body' where account_id = :account`,
    `insert into private.suspensions (property_id, account_id, listing, pictures)
     values (:session, :account, '{"title_ar":"إعلان أُوقف"}', '{}')`,
    `with talk as (
       select conversation_id from public.participants where account_id = :account limit 1
     )
     insert into public.reports (account_id, identity_id, target_type, target_id, conversation_id,
       part, reported_identity_id, content_hash, reason, note, status, status_reason)
     select :account, :identity, 'message', :session, conversation_id, 'picture', :friend, '', 'other',
       'بلاغ مزروع', 'dismissed', '${ofAdministrators[1]}' from talk`,
    `insert into public.reports (account_id, identity_id, target_type, target_id,
       reported_identity_id, stored_content, content_hash, reason, note)
     values (:friendAccount, :friend, 'identity', :identity, :identity, '{}', '', 'other',
       '${ofAdministrators[0]}')`,
    `update public.organisations set name_en = 'Planted', logo_url = 'https://planted.example/logo',
       cover_url = 'https://planted.example/cover', about_ar = 'نبذة مزروعة', phone = '+96522334455',
       whatsapp = '+9651888888', email = 'office@planted.example',
       website = 'https://planted.example', governorate_id = 'hawalli', area_id = 'salmiya',
       address_ar = 'عنوان مزروع', working_hours = '٩½ – ٥' where identity_id = :company`,
    `insert into private.property_views (property_id, identity_id) values (:property, :identity)
     on conflict do nothing`,
    `insert into private.property_counters (property_id, views, favorites) values (:property, 5, 1)
     on conflict (property_id) do nothing`,
    `insert into public.leads (property_id, owner_identity_id, identity_id, kind)
     values (:property, :identity, :friend, 'whatsapp')`,
    `update public.conversations set property_id = :property
     where id in (select conversation_id from public.participants where account_id = :account)`,
    `insert into public.messages (conversation_id, sender_identity_id, seq, client_message_id, type,
       body, hidden_at)
     select conversation_id, :identity, max(seq) + 1, 'hidden', 'text', '${hidden[0]}', now()
     from public.messages where sender_identity_id = :identity group by conversation_id`,
    `update public.reviews set comment = 'تقييم مزروع', reply = 'رد مزروع'
     where author_identity_id = :identity`,
    `insert into public.reviews (author_identity_id, subject_identity_id, rating, comment, reply)
     values (:friend, :identity, 4, 'تقييم عني', 'ردي')`,
    `insert into public.reviews
       (author_identity_id, subject_identity_id, rating, comment, reply, hidden_at)
     values (:author, :identity, 1, '${hidden[1]}', '${own[0]}', now())`,
    `update public.invoices set state = 'paid', paid_at = now(), paid_with = 'charge'
     where identity_id = :identity`,
    `update public.payments set provider_payment_id = 'planted-payment', details = '{"method":"knet"}'
     where invoice_id in (select id from public.invoices where identity_id = :identity)`,
  ]
  // Without edits.by, triggers would refuse the statements as manual edits.
  await client.query(`select set_config('edits.by', 'test', true)`)
  for (const statement of statements) {
    await client.query(statement.replace(/:(\w+)/g, (_, name) => `'${values[name]}'`))
  }
  await plantOtherFields(property)
})

afterAll(async () => {
  await client?.query('rollback')
  client?.release()
})

async function exported() {
  await client.query(`select set_config('request.jwt.claims', $1, true)`, [claimsOf(person)])
  await client.query('set local role authenticated')
  const { rows } = await client.query('select private.export_account() as export')
  await client.query('reset role')
  return rows[0].export
}

/** The texts and numbers in a value, as they appear in JSON. */
const leaves = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(leaves)
    : typeof value === 'string' || typeof value === 'number'
    ? [JSON.stringify(value).replace(/^"|"$/g, '')]
    : []

test('ISO-21 the export has every value of every column that is said to be in it', async () => {
  const text = JSON.stringify(await exported())
  for (const [table, by, of, columns] of shown) {
    for (const column of columns.split(' ')) {
      const { rows } = await client.query(
        `select distinct to_jsonb(${column}) as value from ${table}
         where ${by} in (${sets[of]}) and ${column} is not null`,
        [person.id],
      )
      const name = `${table}.${column}`
      expect([name, rows.length]).not.toEqual([name, 0])
      const missing = leaves(rows.map(({ value }) => value)).filter((leaf) => !text.includes(leaf))
      expect([name, missing]).toEqual([name, []])
    }
  }
})

test('ISO-21 it has what is one’s own, and no hidden words, reporter, note, secret or number of a lead', async () => {
  const body = await exported()
  const text = JSON.stringify(body)
  for (const words of own) expect(text).toContain(words)
  for (const words of [...hidden, ...ofAdministrators, friend.id, friend.identifier, phone]) {
    expect(text).not.toContain(words)
  }
  const [individual] = body.identities
  expect(individual.deletedListings).toMatchObject([
    { titleAr: own[1], status: 'deleted', deletedAt: expect.any(String) },
  ])
  expect(individual.leads).toContainEqual(expect.objectContaining({
    kind: 'whatsapp',
    from: {
      identityId: friend.identityId,
      type: 'individual',
      displayName: 'نورة الشمري',
      avatarUrl: null,
    },
  }))
  expect(individual.reviewsReceived).toHaveLength(2)
  expect(individual.reviewsReceived).toEqual(expect.arrayContaining([
    expect.objectContaining({ rating: 4, comment: 'تقييم عني', reply: 'ردي' }),
    { id: expect.any(String), reply: own[0], repliedAt: null },
  ]))
  expect(individual.reported).toMatchObject([{ targetType: 'identity', reason: 'other' }])
})
