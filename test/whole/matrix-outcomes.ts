// Rights by table, row and caller. test/whole/matrix.test.ts tries each combination in SQL as the caller and
// fails if a table is missing here.
import { closed, closedTables, ofListing } from './matrix-closed.ts'

export const callers = ['guest', 'owner', 'other identity', 'stranger', 'suspended'] as const
export const commands = ['select', 'insert', 'update', 'delete', 'upsert'] as const

export type Command = (typeof commands)[number]
/** `none`: the command is allowed but reached no row. `-`: the caller has no such row. */
export type Outcome = 'done' | 'none' | 'denied' | '-'

export type Table = {
  /** SQL for the account, identity or property that a row belongs to; null for none. */
  of: string | null
  /**
   * The outcomes of each command for a guest, the owner acting as the row's identity, the owner acting as
   * another identity, another account, and the suspended owner. Omitted commands are denied to all.
   */
  may?: Partial<Record<Command, Outcome[]>>
  plant?: string
}

const ofIdentity: Outcome[] = ['denied', 'done', 'none', 'none', 'none']
const ofAccount: Outcome[] = ['denied', 'done', '-', 'none', 'none']
const open: Outcome[] = ['done', 'done', 'done', 'done', 'done']

const ofInvoice = '(select identity_id from public.invoices where id = invoice_id)'

export const tables: Record<string, Table> = {
  ...closedTables,
  'public.accounts': { of: 'id', may: { select: ofAccount } },
  'public.individual_profiles': { of: 'account_id', may: { select: ofAccount } },
  // An account sees all of its identities, so that the person can choose one.
  'public.identities': { of: 'id', may: { select: ['denied', 'done', 'done', 'none', 'none'] } },
  'public.organisations': {
    of: 'identity_id',
    may: { select: ['denied', '-', 'done', 'none', '-'] }, // an individual has no organisation
  },
  'public.reviews': {
    of: 'author_identity_id',
    may: { select: ofIdentity },
    plant: `with subject as (
        insert into public.identities (account_id, type, status, display_name)
        select account_id, 'company', 'suspended', 'شركة' from public.identities
        where id = :identity returning id
      )
      insert into public.reviews (author_identity_id, subject_identity_id, rating)
      select :identity, id, 5 from subject`,
  },
  'public.properties': { of: 'owner_identity_id', may: { select: ofIdentity } },
  'public.price_history': { of: ofListing, may: { select: ofIdentity } },
  'public.auctions': {
    of: ofListing,
    may: { select: ofIdentity },
    plant:
      `insert into public.auctions (property_id, starts_at, ends_at, start_price, min_increment)
      values (:property, now(), now() + interval '1 day', 1, 1)`,
  },
  'public.leads': {
    of: 'owner_identity_id',
    may: { select: ofIdentity },
    plant: `insert into public.leads (property_id, owner_identity_id, identity_id, kind)
      values (:property, :identity, :identity, 'call')`,
  },
  'public.media': {
    of: 'identity_id',
    may: { select: ofIdentity },
    plant: `insert into public.media (account_id, identity_id, bucket, name, width, height,
        orientation, bytes, sha256)
      values (:account, :identity, 'listings', :identity || '/' || gen_random_uuid() || '.jpg', 1,
        1, 1, 1, repeat('a', 64))`,
  },
  // An account sees the documents of all its companies and offices.
  'public.documents': {
    of: 'identity_id',
    may: { select: ['denied', 'done', 'done', 'none', 'none'] },
    plant: `insert into public.documents (account_id, identity_id, name, file, type, bytes, sha256)
      values (:account, :identity, 'رخصة', :identity || '/' || gen_random_uuid() || '.pdf',
        'application/pdf', 1, repeat('a', 64))`,
  },
  'public.favorites': {
    of: 'identity_id',
    may: {
      select: ofIdentity,
      // Clients cannot set the identity column, so an insert always saves for the acting identity.
      insert: ['denied', 'done', 'none', 'none', 'denied'],
      delete: ofIdentity,
    },
    plant: 'insert into public.favorites (identity_id, property_id) values (:identity, :property)',
  },
  'public.conversations': {
    of: '(select identity_id from public.participants where conversation_id = id limit 1)',
    may: { select: ofIdentity },
    plant: `with opened as (
        insert into public.conversations (pair_key) values (gen_random_uuid()) returning id
      )
      insert into public.participants (conversation_id, identity_id, account_id)
      select id, :identity, :account from opened`,
  },
  'public.participants': { of: 'identity_id', may: { select: ofIdentity } },
  'public.messages': {
    of: 'sender_identity_id',
    may: { select: ofIdentity },
    plant: `insert into public.messages
        (conversation_id, sender_identity_id, seq, client_message_id, type, body)
      select conversations.id, identity_id, last_seq + 1, 'planted', 'text', 'مرحبا'
      from public.participants
      join public.conversations on conversations.id = participants.conversation_id
      where identity_id = :identity`,
  },
  'public.blocks': {
    of: 'account_id',
    may: { select: ofAccount },
    plant: `insert into public.blocks (account_id, identity_id, blocked_account_id)
      select :account, id, account_id from public.identities where account_id <> :account limit 1
      on conflict do nothing`,
  },
  'public.plans': { of: null, may: { select: ['denied', 'done', 'done', 'done', 'done'] } },
  'public.subscriptions': {
    of: 'identity_id',
    may: { select: ofIdentity },
    plant: `insert into public.subscriptions (identity_id, plan_id, ends_at, pay_with)
      select :identity, plans.id, now() + interval '1 day', 'wallet' from public.plans
      where plans.code = 'plus'`,
  },
  'public.wallets': {
    of: 'identity_id',
    may: { select: ofIdentity },
    plant:
      `select private.move_money(private.system_account('provider'), private.wallet_of(:identity), 1,
      'topup', 'charge', gen_random_uuid())`,
  },
  'public.wallet_entries': {
    // Ledgers are long, so only entries of this transaction are compared.
    of: `case when created_at = now()
      then (select identity_id from public.wallets where id = wallet_id) end`,
    may: { select: ofIdentity },
  },
  'public.wallet_transfers': {
    of: `case when created_at = now() then (
      select distinct identity_id from public.wallet_entries as entries
      join public.wallets on wallets.id = entries.wallet_id
      where entries.transfer_id = wallet_transfers.id and part <> 'system') end`,
    may: { select: ofIdentity },
  },
  'public.invoices': {
    of: 'identity_id',
    may: { select: ofIdentity },
    // Each invoice gets a random year, so that tests do not wait for each other's invoice numbers.
    plant: `insert into public.invoices
        (year, serial, identity_id, account_id, purpose, total, due_at, issued_at)
      select 0, 0, id, account_id, 'topup', 1, now() + interval '1 day',
        make_date(1001 + cast(floor(random() * 900) as integer), 2, 3)
      from public.identities where id = :identity`,
  },
  'public.invoice_lines': {
    of: ofInvoice,
    may: { select: ofIdentity },
    plant: `insert into public.invoice_lines
        (invoice_id, position, kind, title_ar, title_en, unit_price, amount)
      select id, 1, 'topup', 'شحن رصيد', 'Top-up', 1, 1 from public.invoices
      where identity_id = :identity`,
  },
  'public.invoice_events': { of: ofInvoice, may: { select: ofIdentity } },
  'public.payments': {
    of: ofInvoice,
    may: { select: ofIdentity },
    plant: `insert into public.payments (invoice_id, provider, mode, amount, return_url)
      select id, 'sandbox', 'test', total, 'https://app.example/' from public.invoices
      where identity_id = :identity`,
  },
  'public.receipts': {
    of: ofInvoice,
    may: { select: ofIdentity },
    plant: 'select private.make_receipt(id) from public.invoices where identity_id = :identity',
  },
  'public.featured_credits': {
    of: 'identity_id',
    may: { select: ofIdentity },
    plant: 'insert into public.featured_credits (identity_id, credits) values (:identity, 1)',
  },
  'public.subscription_intervals': closed(
    null,
    `insert into public.subscription_intervals (subscription_id, days)
     select id, 30 from public.subscriptions where identity_id = :identity`,
  ),
  'public.payment_events': closed(
    null,
    `insert into public.payment_events (provider, event_key, kind)
     values ('sandbox', gen_random_uuid(), 'other')`,
  ),
  'public.refunds': closed(
    ofInvoice,
    `insert into public.refunds (invoice_id, destination, amount, reason)
     select id, 'wallet', total, 'why' from public.invoices where identity_id = :identity`,
  ),
  'public.refund_documents': {
    of: ofInvoice,
    may: { select: ofIdentity },
    // The year 2001 and a random serial number avoid waiting for other tests, as for invoices.
    plant: `insert into public.refund_documents
        (refund_id, invoice_id, year, serial, payer_name, document)
      select refunds.id, invoice_id, 2001, cast(random() * 1000000000 as integer), 'سالم', '{}'
      from public.refunds join public.invoices on invoices.id = invoice_id
      where identity_id = :identity`,
  },
  'public.wallet_payouts': closed(
    'account_id',
    `insert into public.wallet_payouts (account_id, amount, state) values (:account, 1, 'open')`,
  ),
  'public.notifications': {
    of: 'account_id',
    may: { select: ofAccount },
    plant: `insert into public.notifications
        (account_id, kind, title_ar, body_ar, title_en, body_en, route)
      values (:account, 'system', 'x', 'x', 'x', 'x', 'notifications')`,
  },
  'public.devices': {
    of: 'account_id',
    may: { select: ofAccount },
    plant: `insert into public.devices (account_id, device_id, session_id, platform, push_token)
      values (:account, gen_random_uuid(), gen_random_uuid(), 'ios', gen_random_uuid())`,
  },
  'public.account_settings': {
    of: 'account_id',
    may: { select: ofAccount },
    plant:
      'insert into public.account_settings (account_id) values (:account) on conflict do nothing',
  },
  'public.vocabularies': { of: null, may: { select: open } },
  'public.governorates': { of: null, may: { select: open } },
  'public.areas': { of: null, may: { select: open } },

  'public.admins': closed(
    null,
    `with someone as (
       insert into auth.users (id, email)
       values (gen_random_uuid(), gen_random_uuid() || '@example.com') returning id
     )
     insert into public.admins (account_id) select id from someone`,
  ),
  'public.reports': closed(
    'account_id',
    `insert into public.reports
       (account_id, identity_id, target_type, target_id, reported_identity_id, content_hash, reason)
     values (:account, :identity, 'property', gen_random_uuid(), :identity, '', 'spam')`,
  ),
  'public.duplicates': closed(
    ofListing,
    'insert into public.duplicates (property_id, of_id) values (:property, gen_random_uuid())',
  ),
  'public.item_claims': closed(
    'account_id',
    'insert into public.item_claims (item_id, account_id) values (gen_random_uuid(), :account)',
  ),
  'public.notes': closed(
    'account_id',
    `insert into public.notes (account_id, target_type, target_id, by_id, body)
     values (:account, 'account', :account, :account, 'planted')`,
  ),
  'public.admin_act_kinds': closed(null),
  'public.admin_acts': closed(
    'account_id',
    // Repeating an act within ten minutes is refused, so this moves earlier acts into the past.
    `update public.admin_acts set created_at = '-infinity' where account_id = :account;
     insert into public.admin_acts (act, "by", target, reason)
     select 'activate_account', cast(account_id as text), cast(:account as text), 'planted'
     from public.admins limit 1 for key share skip locked`,
  ),
  'public.audit': closed(
    null,
    `select private.audit('planted.status', 'account', :account)`,
  ),
}

export const views = [
  'private.file_rows',
  'private.named_rows',
  'private.notification_kinds',
  'private.notification_requests',
  'private.notification_texts',
  'private.search_filter_rules',
  'public.admin_alarms',
  'public.admin_audit',
  'public.admin_documents',
  'public.admin_duplicates',
  'public.admin_identities_to_verify',
  'public.admin_listings_to_review',
  'public.admin_payment_events',
  'public.admin_payouts',
  'public.admin_properties',
  'public.admin_reports',
  'public.admin_users',
]

/** Buckets, with the commands on files that Storage's policies allow clients. */
export const buckets: Record<string, Partial<Record<Command, (typeof callers)[number][]>>> = {
  // Clients read files at public URLs, without a policy; the functions write them with the secret key.
  avatars: {},
  listings: {},
  // The functions read the files with the secret key, if the database allows it.
  documents: {},
  suspended: {},
}

export const servicePolicies: Record<string, string[]> = {
  'realtime.messages': ['people hear their own channels', 'people speak on live channels only'],
  'storage.buckets': [],
  'storage.objects': [],
}

type Channel = {
  /** SQL for the topic of an :account, or of a conversation of an :identity. */
  topic: string
  /** The callers who may receive and send there, by Realtime's extensions. */
  hear: Partial<Record<'broadcast' | 'presence', (typeof callers)[number][]>>
  speak: Partial<Record<'broadcast' | 'presence', (typeof callers)[number][]>>
}

export const channels: Record<string, Channel> = {
  'of an account': {
    topic: 'select topic from public.accounts where id = :account',
    hear: { broadcast: ['owner', 'other identity'] },
    speak: {},
  },
  'of presence and typing': {
    topic: `select private.live_topic(conversation_id) from public.participants
      where identity_id = :identity
      and private.live_topic(conversation_id) is not null`,
    hear: { broadcast: ['owner'], presence: ['owner'] },
    speak: { broadcast: ['owner'], presence: ['owner'] },
  },
}
