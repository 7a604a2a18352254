/** The checks that must always hold (cases, I-01 to I-30): each gives no row when all is well. */
export type Invariant = {
  id: string
  says: string
  sql: string
  /** SQL that breaks it, in a transaction that is rolled back; the check must find it. */
  plant?: string
}

const someone = '00000000-0000-4000-8000-000000000000'
const clients = `array['anon', 'authenticated', 'public']::name[]`

export const invariants: Invariant[] = [
  {
    id: 'I-01',
    says: 'row security is on for every table of the exposed schemas',
    sql: `select c.oid::regclass as bad
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in (select name from chk.exposed_schema) and c.relkind in ('r', 'p')
        and not c.relrowsecurity`,
    plant: 'create table public.planted (id integer)',
  },
  {
    id: 'I-02',
    says: "no function that clients call has its owner's rights",
    sql: `select p.oid::regprocedure as bad
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in (select name from chk.exposed_schema) and p.prosecdef
        and (has_function_privilege('anon', p.oid, 'execute')
          or has_function_privilege('authenticated', p.oid, 'execute'))
        and p.oid::regprocedure::text not in (select signature from chk.reviewed_function)`,
    plant: `create function api.planted() returns integer language sql security definer
        set search_path = '' as 'select 1';
      grant execute on function api.planted() to anon`,
  },
  {
    id: 'I-03',
    says: 'every such function has a fixed search path',
    sql: `select p.oid::regprocedure as bad
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where p.prosecdef and n.nspname in (select name from chk.own_schema)
        and not exists (
          select 1 from unnest(coalesce(p.proconfig, '{}'::text[])) s where s like 'search_path=%'
        )`,
    plant: `create function private.planted() returns integer language sql security definer
        as 'select 1'`,
  },
  {
    id: 'I-04',
    says: "every view has the caller's rights, and nothing else is like a view",
    sql: `select c.oid::regclass as bad
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in (select name from chk.exposed_schema)
        and (c.relkind in ('m', 'f') or (c.relkind = 'v' and not (coalesce(c.reloptions, '{}')
          && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'])))`,
    plant: 'create view public.planted as select 1 as one',
  },
  {
    id: 'I-05',
    says: 'user, profile and identity exist together',
    sql: `select 'auth user without account' as bad, u.id
        from chk.auth_user u left join chk.account a on a.id = u.id where a.id is null
      union all
      select 'account without auth user', a.id
        from chk.account a left join chk.auth_user u on u.id = a.id
        where u.id is null and a.status <> 'deleted'
      union all
      select 'account without profile', a.id
        from chk.account a left join chk.profile p on p.account_id = a.id
        where p.account_id is null and a.status <> 'deleted'
      union all
      select 'account without identity', a.id from chk.account a
        where a.status <> 'deleted'
          and not exists (select 1 from chk.identity i where i.account_id = a.id)
      union all
      select 'identity without account', i.id
        from chk.identity i left join chk.account a on a.id = i.account_id where a.id is null`,
    plant: `insert into public.accounts (id, email)
      values (gen_random_uuid(), 'planted@example.com')`,
  },
  {
    id: 'I-06',
    says: 'identifiers are in one normal form and unique',
    sql: `select 'email form' as bad, email as value from chk.account
        where email is not null
          and (email <> lower(normalize(email, nfc)) or email ~ '[[:space:][:cntrl:]]')
      union all
      select 'phone form', phone from chk.account
        where phone is not null and phone !~ '^[+]?965[569][0-9]{7}$'
      union all
      select 'double', coalesce(email, phone) from chk.account
        where status <> 'deleted' group by coalesce(email, phone) having count(*) > 1`,
    plant: `alter table public.accounts drop constraint accounts_email_is_normal;
      insert into public.accounts (id, email) values (gen_random_uuid(), 'Planted@example.com')`,
  },
  {
    id: 'I-07',
    says: "the active identity is the account's own and usable",
    sql: `select a.account_id as bad
      from chk.active_identity a
      left join chk.identity i
        on i.id = a.identity_id and i.account_id = a.account_id and i.status = 'active'
      where a.identity_id is not null and i.id is null`,
    plant: `alter table public.accounts drop constraint accounts_active_identity_is_own;
      insert into public.accounts (id, email, active_identity_id)
      values (gen_random_uuid(), 'planted@example.com', gen_random_uuid())`,
  },
  {
    id: 'I-08',
    says: 'one favorite per identity and property, of an existing identity',
    sql: `select identity_id as bad, property_id from chk.favorite
        group by 1, 2 having count(*) > 1
      union all
      select f.identity_id, f.property_id
        from chk.favorite f left join chk.identity i on i.id = f.identity_id where i.id is null`,
    plant: `alter table public.favorites drop constraint favorites_identity_id_fkey;
      alter table public.favorites drop constraint favorites_property_id_fkey;
      insert into public.favorites (identity_id, property_id)
      values (gen_random_uuid(), gen_random_uuid())`,
  },
  {
    id: 'ISO-16',
    says: 'a push token has one owner, a device a session that is there, of its account',
    sql: `select token as bad from chk.device group by 1 having count(*) > 1
      union all
      select d.token from chk.device d
        left join chk.session s on s.id = d.session_id and s.user_id = d.account_id
        where s.id is null`,
    plant: `create or replace view chk.device as
      select 'planted' as token, gen_random_uuid() as account_id, gen_random_uuid() as session_id`,
  },
  {
    id: 'I-18',
    says: 'files and rows belong together',
    sql: `select 'row without file' as bad, m.path
        from chk.media m left join chk.object o on o.bucket = m.bucket and o.path = m.path
        where o.path is null
      union all
      select 'file without row', o.path
        from chk.object o left join chk.media m on m.bucket = o.bucket and m.path = o.path
        where m.path is null and o.created_at < now() - interval '1 hour'`,
    plant: `insert into storage.objects (bucket_id, name, created_at)
      values ('listings', 'planted', now() - interval '2 hours')`,
  },
  {
    id: 'I-19',
    says: "positions are unique and pictures have the listing's owner",
    sql: `select property_id as bad from chk.media
        where property_id is not null group by property_id, position having count(*) > 1
      union all
      select m.property_id
        from chk.media m join chk.property p on p.id = m.property_id
        where m.owner_identity_id <> p.owner_identity_id`,
    plant: `create or replace view chk.media as
      select gen_random_uuid() as id, gen_random_uuid() as owner_identity_id,
        properties.id as property_id, 'listings'::text as bucket, 'planted'::text as path,
        0 as position, now() as created_at
      from public.properties`,
  },
  {
    id: 'I-12',
    says: 'paid by charge is one captured charge of that amount, and received money has a place',
    sql: `select i.id as bad from chk.invoice i
        where i.status = 'paid' and i.paid_with = 'charge' and (
          select count(*) from chk.charge c
          where c.invoice_id = i.id and c.status = 'captured' and c.amount = i.amount
            and c.currency = i.currency) <> 1
      union all
      select i.id from chk.invoice i
        where i.status not in ('paid', 'partially_refunded', 'refunded')
          and exists (
            select 1 from chk.charge c where c.invoice_id = i.id and c.status = 'captured')
      union all
      select c.invoice_id from chk.charge c where c.status = 'open'
        group by c.invoice_id having count(*) > 1`,
    plant: `create or replace view chk.charge as
      select gen_random_uuid() as id, id as invoice_id, '' as provider_ref, total as amount, currency,
        'open' as status
      from public.invoices, generate_series(1, 2)`,
  },
  {
    id: 'I-13',
    says: 'each transfer sums to zero and each balance is the sum of its entries',
    sql: `select transfer_id as bad from chk.entry group by transfer_id having sum(amount) <> 0
      union all
      select w.id from chk.wallet w
        left join (select wallet_id, sum(amount) as s from chk.entry group by wallet_id) e
          on e.wallet_id = w.id
        where w.balance <> coalesce(e.s, 0)`,
    plant: `alter table public.wallets disable trigger user;
      insert into public.wallets (identity_id, part, balance)
      select id, 'held', 1 from public.identities
      where id not in (select identity_id from public.wallets where part = 'held') limit 1`,
  },
  {
    id: 'I-14',
    says: 'one source, one transfer',
    sql: `select source_kind as bad, source_id from chk.entry
        where source_kind in ('charge', 'purchase')
        group by 1, 2 having count(distinct transfer_id) > 1`,
    plant: `create or replace view chk.entry as
      select gen_random_uuid() as id, gen_random_uuid() as wallet_id, gen_random_uuid() as transfer_id,
        1::numeric as amount, 'charge' as source_kind, md5('')::uuid as source_id, now() as created_at
      from generate_series(1, 2)`,
  },
  {
    id: 'I-15',
    says: 'no wallet is below zero, and no payment is given back more than once over',
    sql: `select id as bad from chk.wallet where balance < 0 and not house
      union all
      select e.source_id from chk.entry e join chk.wallet w on w.id = e.wallet_id
        where not w.house and e.source_kind in ('charge', 'refund')
        group by 1 having sum(e.amount) < 0`,
    plant: `alter table public.wallets drop constraint wallets_never_below_zero;
      alter table public.wallets disable trigger user;
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
        private.house('adjustments'), private.wallet_of(identities.id, 'held'), 1,
        'hold', 'hold', gen_random_uuid())
      from public.identities limit 1`,
  },
  {
    id: 'I-16',
    says: 'nobody may rewrite the ledger',
    sql: `select r as bad, p
      from unnest(array['anon', 'authenticated', 'service_role']) r,
        unnest(array['UPDATE', 'DELETE', 'TRUNCATE']) p, chk.base b
      where has_table_privilege(r, b.rel, p)`,
    plant: 'grant update on public.wallet_entries to service_role',
  },
  {
    id: 'I-17',
    says: 'webhook events are stored once and finished',
    sql: `select provider as bad, event_key from chk.webhook_event
        group by 1, 2 having count(*) > 1
      union all
      select provider, event_key from chk.webhook_event
        where processed_at is null and received_at < now() - interval '5 minutes'`,
    plant: `insert into public.payment_events (provider, event_key, kind, received_at)
      values ('sandbox', 'planted', 'other', now() - interval '6 minutes')`,
  },
  {
    id: 'I-26',
    says: 'invoices change state only in allowed ways, and their numbers have no gaps',
    sql: `select e.invoice_id as bad, e.from_status, e.to_status from chk.invoice_event e
        where (e.from_status, e.to_status) not in (
          select from_status, to_status from chk.invoice_allowed)
      union all
      select null, year::text, count(*)::text from public.invoices
        group by year having count(*) <> max(serial) or min(serial) <> 1`,
    plant: `insert into public.invoice_events (invoice_id, from_state, to_state)
      select id, 'paid', 'open' from public.invoices limit 1`,
  },
  {
    id: 'I-20',
    says: 'numbers are numbers',
    sql: `select id as bad from chk.property
        where price = 'NaN' or price < 0 or price <> round(price, 3)
          or property_income = 'NaN' or property_income <> round(property_income, 3)
      union all
      select id from chk.invoice
        where amount = 'NaN' or amount < 0 or amount <> round(amount, 3)
      union all
      select id from chk.entry where amount = 'NaN' or amount <> round(amount, 3)`,
    plant: `drop view chk.invoice;
      create view chk.invoice as select gen_random_uuid() as id, 'NaN'::numeric as amount`,
  },
  {
    id: 'I-09',
    says: 'messages are numbered once and sent once',
    sql: `select conversation_id as bad from chk.message
        group by conversation_id having count(*) <> count(distinct seq)
      union all
      select conversation_id from chk.message where client_id is not null
        group by conversation_id, sender_id, client_id having count(*) > 1
      union all
      -- Numbers have no gaps.
      select conversation_id from chk.message
        group by conversation_id having count(*) <> max(seq)`,
    plant: `drop view chk.message;
      create view chk.message as select '${someone}'::uuid as conversation_id,
        '${someone}'::uuid as sender_id, null::text as client_id, 2 as seq`,
  },
  {
    id: 'I-10',
    says: 'every sender takes part',
    sql: `select m.id as bad from chk.message m
      left join chk.participant p
        on p.conversation_id = m.conversation_id and p.account_id = m.sender_id
      where p.account_id is null`,
    plant: `drop view chk.message;
      create view chk.message as select '${someone}'::uuid as id,
        '${someone}'::uuid as conversation_id, '${someone}'::uuid as sender_id`,
  },
  {
    id: 'I-11',
    says: 'the unread count is the number of unread messages',
    sql: `select p.conversation_id as bad, p.account_id from chk.participant p
      where p.unread <> (
        select count(*) from chk.message m
        where m.conversation_id = p.conversation_id and m.sender_id <> p.account_id
          and m.seq > coalesce(p.last_read_seq, 0))`,
    plant: `create or replace view chk.participant as select '${someone}'::uuid as conversation_id,
      '${someone}'::uuid as account_id, 1::bigint as unread, 0::bigint as last_read_seq`,
  },
  {
    id: 'I-21',
    says: 'no control characters in texts, no invisible ones in names',
    sql: String.raw`select id as bad from chk.message
        where body ~ '[\u0001-\u0008\u000B\u000C\u000E-\u001F]'
      union all
      select id from chk.identity
        where display_name
          ~ '[\u0001-\u001F\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]'
      union all
      select id from chk.property where title ~ '[\u0001-\u001F]'`,
    plant: `drop view chk.message;
      create view chk.message as select gen_random_uuid() as id, e'a\\u0007b' as body`,
  },
  {
    id: 'I-23',
    says: 'no connection is stuck',
    sql: `select pid as bad, state, query from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend'
        and pid <> pg_backend_pid() and (
          (state like 'idle in transaction%' and xact_start < now() - interval '30 s')
          or (state = 'active' and query_start < now() - interval '60 s')
        )`,
  },
  {
    id: 'I-24',
    says: 'constraints and indexes are valid',
    sql: `select conname::text as bad from pg_constraint where not convalidated
      union all
      select indexrelid::regclass::text from pg_index where not indisvalid`,
    plant: `alter table public.favorites
      add constraint planted check (created_at > 'infinity') not valid`,
  },
  {
    id: 'I-25',
    says: 'every status change by an admin is recorded',
    sql: `select a.id as bad from chk.account a
        where a.status = 'suspended'
          and not exists (
            select 1 from chk.audit x where x.target_id = a.id and x.action like '%status%'
          )
      union all
      select i.id from chk.identity i
        where i.status = 'suspended'
          and not exists (
            select 1 from chk.audit x
            where x.target_id in (i.id, i.account_id) and x.action like '%status%'
          )`,
    plant: `alter table public.accounts disable trigger accounts_are_audited;
      insert into public.accounts (id, email) values (gen_random_uuid(), 'planted@example.com');
      update public.accounts set status = 'suspended' where email = 'planted@example.com'`,
  },
  {
    id: 'I-25',
    says: 'nobody may rewrite the record, and it is nowhere open',
    sql: `select r as bad, p
        from unnest(array['anon', 'authenticated', 'service_role', 'backend', 'facade']) r,
          unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) p
        where has_table_privilege(r, 'public.audit', p)
      union all
      select 'no trigger keeps it', ''
        where not exists (
          select from pg_trigger
          where tgrelid = 'public.audit'::regclass and tgname = 'audit_is_only_added_to'
            and tgenabled in ('O', 'A')
        )`,
    plant: 'alter table public.audit disable trigger audit_is_only_added_to',
  },
  {
    id: 'I-27',
    says: 'settings are durable',
    sql: `select name as bad, setting from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting <> 'on'`,
    plant: 'set local synchronous_commit = off',
  },
  {
    id: 'I-28',
    says: 'no writing for guests, no truncate for users',
    sql: `select grantee as bad, table_schema, table_name, privilege_type
      from information_schema.role_table_grants
      where table_schema in (select name from chk.exposed_schema) and (
        (grantee in ('anon', 'PUBLIC')
          and privilege_type in ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'))
        or (grantee = 'authenticated' and privilege_type in ('TRUNCATE', 'TRIGGER', 'REFERENCES'))
      )`,
    plant: 'grant truncate on public.favorites to authenticated',
  },
  {
    // Clients speak on live topics only: broadcast and presence, which a policy can tell apart.
    id: 'I-29',
    says: 'clients may not broadcast on Realtime but on live topics',
    sql: `select policyname as bad from pg_policies
      where schemaname = 'realtime' and tablename = 'messages' and cmd in ('INSERT', 'ALL')
        and roles && ${clients}
        and (coalesce(with_check, '') ~ ' OR ' or coalesce(with_check, '')
          !~ '^\\(\\(topic = .*\\) AND private\\.may_speak\\(.*extension\\)\\)$')`,
    plant: `create policy planted on realtime.messages for insert to authenticated
      with check (true)`,
  },
  {
    id: 'I-30',
    says: 'clients may not write to public buckets, nor list them',
    sql: `select policyname as bad, cmd from pg_policies p
      where schemaname = 'storage' and tablename = 'objects' and roles && ${clients}
        and exists (
          select 1 from storage.buckets b
          where b.public
            and (coalesce(p.qual, '') || coalesce(p.with_check, '')) like '%' || b.id || '%'
        )`,
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
]
