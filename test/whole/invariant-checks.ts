/** The checks that must always hold (cases, I-01 to I-30): each gives no row when all is well. */
import { catalogue } from './catalogue-checks.ts'

export type Invariant = {
  id: string
  says: string
  sql: string
  /**
   * SQL that breaks it in the tables themselves, on rows of invariants-planted.test.ts, in a
   * transaction that is rolled back. The check must find it.
   */
  plant?: string
}

/** Disables what would refuse or repair the fault. */
const unguarded = (table: string, ...constraints: string[]) =>
  [
    `alter table ${table} disable trigger user;`,
    ...constraints.map((name) => `alter table ${table} drop constraint ${name};`),
  ].join('\n')

export const invariants: Invariant[] = [
  ...catalogue,
  {
    id: 'I-05',
    says: 'user, profile and identity exist together',
    sql: `select 'auth user without account' as bad, users.id
        from auth.users
        left join public.accounts on accounts.id = users.id
        where accounts.id is null
      union all
      select 'account without auth user', accounts.id
        from public.accounts
        left join auth.users on users.id = accounts.id
        where users.id is null and accounts.status <> 'deleted'
      union all
      select 'account without profile', accounts.id
        from public.accounts
        left join public.individual_profiles on account_id = accounts.id
        where account_id is null and accounts.status <> 'deleted'
      union all
      select 'account without identity', accounts.id
        from public.accounts
        where accounts.status <> 'deleted'
          and not exists (select from public.identities where account_id = accounts.id)
      union all
      select 'identity without account', identities.id
        from public.identities
        left join public.accounts on accounts.id = account_id
        where accounts.id is null`,
    plant: `insert into public.accounts (id, email)
      values (gen_random_uuid(), 'planted@example.com')`,
  },
  {
    id: 'I-06',
    says: 'identifiers are in one normal form and unique',
    sql: `select 'email form' as bad, email as value
        from public.accounts
        where email is not null
          and (email <> lower(normalize(email, nfc)) or email ~ '[[:space:][:cntrl:]]')
      union all
      select 'phone form', phone
        from public.accounts
        where phone is not null and phone !~ '^[+]?965[569][0-9]{7}$'
      union all
      select 'double', coalesce(email, phone)
        from public.accounts
        where status <> 'deleted' group by coalesce(email, phone) having count(*) > 1`,
    plant: `alter table public.accounts drop constraint accounts_email_is_normal;
      insert into public.accounts (id, email) values (gen_random_uuid(), 'Planted@example.com')`,
  },
  {
    id: 'I-07',
    says: "the active identity is the account's own and usable",
    sql: `select accounts.id as bad
      from public.accounts
      left join public.identities
        on identities.id = active_identity_id and account_id = accounts.id
          and identities.status = 'active'
      where active_identity_id is not null and identities.id is null`,
    plant: `alter table public.accounts drop constraint accounts_active_identity_is_own;
      insert into public.accounts (id, email, active_identity_id)
      values (gen_random_uuid(), 'planted@example.com', gen_random_uuid())`,
  },
  {
    id: 'I-08',
    says: 'one favorite per identity and property, of an existing identity',
    sql: `select identity_id as bad, property_id
        from public.favorites
        group by 1, 2 having count(*) > 1
      union all
      select identity_id, property_id
        from public.favorites
        left join public.identities on identities.id = identity_id
        where identities.id is null`,
    plant: `alter table public.favorites drop constraint favorites_identity_id_fkey;
      alter table public.favorites drop constraint favorites_property_id_fkey;
      alter table public.favorites disable trigger favorites_are_counted;
      insert into public.favorites (identity_id, property_id)
      values (gen_random_uuid(), gen_random_uuid())`,
  },
  {
    id: 'I-08',
    says: 'a listing is saved as often as it says',
    sql: `select property_id as bad, saved.favorites, counters.favorites
        from (select property_id, count(*) as favorites from public.favorites group by 1) as saved
        full join private.property_counters as counters using (property_id)
        where coalesce(saved.favorites, 0) <> coalesce(counters.favorites, 0)`,
    plant: `insert into private.property_counters (property_id, favorites)
      select id, 1 from public.properties
      on conflict (property_id) do update set favorites = property_counters.favorites + 1`,
  },
  {
    id: 'ISO-16',
    says: 'a push token has one owner, a device a session that is there, of its account',
    sql: `select push_token as bad from public.devices group by 1 having count(*) > 1
      union all
      select push_token
        from public.devices
        left join auth.sessions
          on sessions.id = session_id and sessions.user_id = devices.account_id
        where sessions.id is null`,
    plant: `${unguarded('public.devices')}
      insert into public.devices (account_id, device_id, session_id, platform, push_token)
      select id, 'planted', gen_random_uuid(), 'web', 'planted' from public.accounts limit 1`,
  },
  {
    id: 'I-18',
    says: 'files and rows belong together',
    sql: `select 'row without file' as bad, media.name
        from public.media
        left join storage.objects on bucket_id = bucket and objects.name = media.name
        where removed_at is null and objects.name is null
      union all
      select 'file without row', objects.name
        from storage.objects
        left join public.media
          on bucket = bucket_id and media.name = objects.name and removed_at is null
        where bucket_id in ('avatars', 'listings') and media.name is null
          and objects.created_at < now() - interval '1 hour'`,
    plant: `insert into storage.objects (bucket_id, name, created_at)
      values ('listings', 'planted', now() - interval '2 hours')`,
  },
  {
    id: 'I-19',
    says: "positions are unique and pictures have the listing's owner",
    sql: `select property_id as bad
        from public.media
        where property_id is not null and removed_at is null
        group by property_id, position having count(*) > 1
      union all
      select property_id
        from public.media
        join public.properties on properties.id = property_id
        where removed_at is null and identity_id <> owner_identity_id`,
    plant: `${unguarded('public.media', 'media_positions_are_distinct')}
      update public.media set position = 0
      where property_id in (
        select property_id from public.media where removed_at is null and property_id is not null
        group by property_id having count(*) > 1 limit 1)`,
  },
  {
    id: 'I-12',
    says: 'paid by charge is one captured charge of that amount, and received money has a place',
    sql: `select invoices.id as bad
        from public.invoices
        where state = 'paid' and paid_with = 'charge' and (
          select count(*) from public.payments
          where invoice_id = invoices.id and payments.state = 'captured' and amount = total
            and payments.currency = invoices.currency) <> 1
      union all
      select invoices.id
        from public.invoices
        where state not in ('paid', 'partially_refunded', 'refunded')
          and exists (
            select from public.payments
            where invoice_id = invoices.id and payments.state = 'captured')
      union all
      select invoice_id
        from public.payments
        where state in ('starting', 'open')
        group by invoice_id having count(*) > 1`,
    plant: `${unguarded('public.invoices')}
      update public.invoices set state = 'paid', paid_with = 'charge', paid_at = now()
      where id = (select id from public.invoices where state = 'open' limit 1)`,
  },
  {
    id: 'I-13',
    says: 'each transfer sums to zero and each balance is the sum of its entries',
    sql: `select transfer_id as bad
        from public.wallet_entries
        group by transfer_id having sum(amount) <> 0
      union all
      select wallets.id
        from public.wallets
        left join (
          select wallet_id, sum(amount) as total from public.wallet_entries group by wallet_id
        ) as entries on wallet_id = wallets.id
        -- A system account keeps no balance of its own: it is its entries.
        where part <> 'house' and balance <> coalesce(total, 0)`,
    plant: `${unguarded('public.wallets')}
      insert into public.wallets (identity_id, part, balance)
      select id, 'held', 1 from public.identities
      where id not in (select identity_id from public.wallets where part = 'held') limit 1`,
  },
  {
    id: 'I-14',
    says: 'one source, one transfer',
    sql: `select source_kind as bad, source_id
      from public.wallet_transfers
      where source_kind in ('charge', 'purchase')
      group by 1, 2 having count(*) > 1`,
    plant: `alter table public.wallet_transfers
        drop constraint wallet_transfers_one_per_source_key;
      insert into public.wallet_transfers (kind, source_kind, source_id)
      select 'topup', 'charge', md5('planted')::uuid from generate_series(1, 2)`,
  },
  {
    id: 'I-15',
    says: 'no wallet is below zero, and no payment is given back more than once over',
    sql: `select id as bad from public.wallets where part <> 'house' and balance < 0
      union all
      -- What a refund takes is held against the payment that it takes it from.
      select coalesce(refunds.payment_id, source_id)
        from public.wallet_entries
        join public.wallet_transfers on wallet_transfers.id = transfer_id
        join public.wallets on wallets.id = wallet_id
        left join public.refunds on refunds.id = source_id and destination = 'source'
        where part <> 'house' and source_kind in ('charge', 'refund')
        group by 1 having sum(wallet_entries.amount) < 0`,
    plant: `${unguarded('public.wallets', 'wallets_never_below_zero')}
      insert into public.wallets (identity_id, part, balance)
      select id, 'held', -1 from public.identities
      where id not in (select identity_id from public.wallets where part = 'held') limit 1`,
  },
  {
    id: 'WAL-05',
    says: 'nothing is held but for a refund that is under way',
    sql: `select w.identity_id as bad
      from public.wallets w
      left join (
        select i.identity_id, sum(r.amount) as asked
        from public.refunds r
        join public.invoices i on i.id = r.invoice_id
        left join public.payments p on p.id = r.payment_id
        where r.state = 'requested' and r.destination = 'source'
          and (i.credited or p.state = 'surplus')
        group by i.identity_id
      ) as open on open.identity_id = w.identity_id
      where w.part = 'held' and w.balance <> coalesce(open.asked, 0)`,
    plant: `select private.move_money(
        private.system_account('adjustments'), private.wallet_of(identities.id, 'held'), 1,
        'hold', 'hold', gen_random_uuid())
      from public.identities limit 1`,
  },
  {
    id: 'I-17',
    says: 'webhook events are stored once and finished',
    sql: `select provider as bad, event_key
        from public.payment_events
        group by 1, 2 having count(*) > 1
      union all
      select provider, event_key
        from public.payment_events
        where processed_at is null and received_at < now() - interval '5 minutes'`,
    plant: `insert into public.payment_events (provider, event_key, kind, received_at)
      values ('sandbox', 'planted', 'other', now() - interval '6 minutes')`,
  },
  {
    id: 'I-26',
    says: 'invoices change state only in allowed ways, and their numbers have no gaps',
    sql: `select invoice_id as bad, from_state, to_state
        from public.invoice_events
        where from_state is not null
          and (from_state, to_state) not in (
            select steps.from_state, steps.to_state from private.invoice_steps() as steps)
      union all
      select null, year::text, count(*)::text
        from public.invoices
        group by year having count(*) <> max(serial) or min(serial) <> 1`,
    plant: `insert into public.invoice_events (invoice_id, from_state, to_state)
      select id, 'paid', 'open' from public.invoices limit 1`,
  },
  {
    id: 'I-20',
    says: 'numbers are numbers',
    sql: `select id::text as bad
        from public.properties
        where price = 'NaN' or price < 0 or price <> round(price, 3)
          or property_income = 'NaN' or property_income <> round(property_income, 3)
      union all
      select id::text
        from public.invoices
        where total = 'NaN' or total < 0 or total <> round(total, 3)
      union all
      select id::text
        from public.wallet_entries
        where amount = 'NaN' or amount <> round(amount, 3)`,
    plant: `alter domain private.kwd drop constraint kwd_in_range;
      ${unguarded('public.properties')}
      update public.properties set price = 'NaN'
      where id = (select id from public.properties where price is not null limit 1)`,
  },
  {
    id: 'I-09',
    says: 'messages are numbered once and without gaps, and sent once',
    sql: `select conversation_id as bad
        from public.messages
        group by conversation_id having count(*) <> count(distinct seq) or count(*) <> max(seq)
      union all
      select conversation_id
        from public.messages
        group by conversation_id, sender_identity_id, client_message_id having count(*) > 1`,
    plant: `${unguarded('public.messages')}
      update public.messages set seq = seq + 1
      where id = (select id from public.messages order by created_at desc limit 1)`,
  },
  {
    id: 'I-10',
    says: 'every sender takes part',
    sql: `select messages.id as bad
      from public.messages
      left join public.participants
        on participants.conversation_id = messages.conversation_id
          and participants.identity_id = sender_identity_id
      where participants.identity_id is null`,
    plant: `alter table public.messages drop constraint messages_sender_takes_part;
      ${unguarded('public.participants')}
      delete from public.participants
      where identity_id = (select sender_identity_id from public.messages limit 1)`,
  },
  {
    id: 'I-11',
    says: 'the unread count is the number of unread messages',
    sql: `select conversation_id as bad, identity_id
      from public.participants
      where unread <> (
        select count(*) from public.messages
        where messages.conversation_id = participants.conversation_id
          and sender_identity_id <> participants.identity_id
          and seq > participants.last_read_seq)`,
    plant: `${unguarded('public.participants')}
      update public.participants set unread = unread + 1
      where identity_id = (select identity_id from public.participants limit 1)`,
  },
  {
    id: 'I-21',
    says: 'no control characters in texts, no invisible ones in names',
    sql: String.raw`select id as bad
        from public.messages
        where body ~ '[\u0001-\u0008\u000B\u000C\u000E-\u001F]'
      union all
      select id
        from public.identities
        where display_name
          ~ '[\u0001-\u001F\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]'
      union all
      select id from public.properties where title_ar ~ '[\u0001-\u001F]'`,
    plant: `${unguarded('public.messages')}
      update public.messages set body = e'a\\u0007b'
      where id = (select id from public.messages limit 1)`,
  },
  {
    id: 'I-23',
    says: 'no connection is stuck',
    // The platform's own role is somebody else: what watches a project, Realtime's long reads.
    sql: `select pid as bad, state, query
      from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend'
        and usename <> 'supabase_admin' and pid <> pg_backend_pid() and (
          (state like 'idle in transaction%' and xact_start < now() - interval '30 s')
          or (state = 'active' and query_start < now() - interval '60 s')
        )`,
    // No connection can be made to have waited, so one is said to: what is temporary is seen first.
    plant: `create temporary table pg_stat_activity on commit drop as
      select 0 as pid, 'idle in transaction' as state, 'select' as query,
        current_database() as datname, 'client backend' as backend_type, 'facade' as usename,
        now() - interval '1 min' as xact_start, now() as query_start`,
  },
  {
    id: 'I-25',
    says: 'every status change by an admin is recorded',
    sql: `select accounts.id as bad
        from public.accounts
        where status = 'suspended' and not exists (
          select from public.audit where target_id = accounts.id and action like '%status%')
      union all
      select identities.id
        from public.identities
        where status = 'suspended' and not exists (
          select from public.audit
          where target_id in (identities.id, account_id) and action like '%status%')`,
    plant: `alter table public.accounts disable trigger accounts_are_audited;
      insert into public.accounts (id, email) values (gen_random_uuid(), 'planted@example.com');
      update public.accounts set status = 'suspended' where email = 'planted@example.com'`,
  },
  {
    id: 'ORG-01',
    says: 'everybody sees a company or office while identity and account are in order',
    sql: `select o.identity_id as bad
      from public.organisations o
      join public.identities i on i.id = o.identity_id
      join public.accounts a on a.id = i.account_id
      where o.type <> i.type
        or o.listed <> (
          o.verified and i.status = 'active' and a.status in ('active', 'deletion_requested')
        )
        or o.active_listings_count <> (
          select count(*) from public.properties p where p.owner_identity_id = i.id and p.listed
        )`,
    plant: `with born as (select gen_random_uuid() as id), account as (
        insert into public.accounts (id, email)
        select id, id || '@example.com' from born returning id
      ), identity as (
        insert into public.identities (account_id, type, status, display_name)
        select id, 'office', 'active', 'مكتب' from account returning id
      )
      insert into public.organisations
        (identity_id, name_ar, slug, licence_no, licence_expires_on, active_listings_count)
      select id, 'مكتب', id, 'PLANTED', '2040-01-01', 1 from identity`,
  },
  {
    id: 'REV-01',
    says: 'averages and histograms are those of the reviews that are shown',
    sql: `select t.identity_id as bad
      from private.review_totals t
      where t.histogram is distinct from array(
          select count(r.id)::integer
          from generate_series(1, 5) as n
          left join public.reviews r
            on r.subject_identity_id = t.identity_id and r.listed and r.rating = n
          group by n order by n
        )
      union all
      select o.identity_id
      from public.organisations o
      left join lateral (
        select count(*) as count, round(avg(r.rating), 2) as average
        from public.reviews r where r.subject_identity_id = o.identity_id and r.listed
      ) as given on true
      where o.rating_count <> given.count or o.rating_count > 0 and o.rating_avg <> given.average`,
    plant: `insert into private.review_totals (identity_id, histogram)
      select identities.id, '{0,0,0,0,999}' from public.identities limit 1
      on conflict (identity_id) do update set histogram = excluded.histogram`,
  },
  {
    id: 'PR-18',
    says: 'the kept card of a listing is what would be made of it now',
    sql: `select properties.id as bad
        from public.properties
        left join private.property_cards on property_cards.property_id = properties.id
        where properties.listed
          and property_cards is distinct from private.property_card(properties)
      union all
      select properties.id
        from private.property_cards
        join public.properties on properties.id = property_cards.property_id
        where not properties.listed`,
    plant: `${unguarded('public.media')}
      update public.media set width = width + 1 where position = 0 and not pending`,
  },
  {
    id: 'PR-18',
    says: 'the kept record of a listing is what would be made of it now',
    sql: `select properties.id as bad
        from public.properties
        cross join lateral private.listed_record(properties) as made
        left join private.listed_records on listed_records.property_id = properties.id
        where properties.listed and (
          to_jsonb(listed_records) - 'deal' is distinct from to_jsonb(made) - 'deal'
          or made.drop_until > now() and listed_records.deal <> made.deal
        )
      union all
      select properties.id
        from private.listed_records
        join public.properties on properties.id = listed_records.property_id
        where not properties.listed`,
    plant: `alter table public.properties disable trigger user;
      update public.properties set description_ar = 'changed' where listed`,
  },
]
