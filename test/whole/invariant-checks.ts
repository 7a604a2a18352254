// The invariants as SQL (cases, I-01 to I-30 except I-22): each query returns no row if the invariant holds.
import { catalogue } from './catalogue-checks.ts'
import { type Invariant, unguarded } from './invariant.ts'
import { cachedValues } from './cached-values.ts'
import { money } from './money-checks.ts'

export const invariants: Invariant[] = [
  ...catalogue,
  ...money,
  ...cachedValues,
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
        where phone is not null and phone !~ ('^[+]965(?=' || private.mobile_prefixes() || ')[0-9]{8}$')
      union all
      select 'double', identifier
        from public.accounts cross join unnest(array[email, phone]) as identifier
        where identifier is not null group by identifier having count(*) > 1
      union all
      select 'not proven, beside a phone', email
        from public.accounts where not email_proven and email is not null and phone is not null
      union all
      select 'another at Auth', accounts.id::text
        from public.accounts join auth.users on users.id = accounts.id
        where accounts.status <> 'deleted'
          and (accounts.email, ltrim(accounts.phone, '+'))
            is distinct from (nullif(users.email, ''), nullif(users.phone, ''))`,
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
    id: 'ISO-16',
    says:
      'a push token has one owner, a device a session that is there, of its account; so has a place',
    sql: `select push_token as bad from public.devices group by 1 having count(*) > 1
      union all
      select push_token
        from public.devices
        left join auth.sessions
          on sessions.id = session_id and sessions.user_id = devices.account_id
        where sessions.id is null
      union all
      select session_id::text from private.session_clients
        where session_id not in (select id from auth.sessions)`,
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
      select 'row without file', file
        from public.documents
        left join storage.objects on bucket_id = 'documents' and objects.name = file
        where objects.name is null
      union all
      select 'file without row', objects.name
        from storage.objects
        left join private.file_rows as named
          on bucket = bucket_id and named.name = objects.name and removed_at is null
        where bucket_id in ('avatars', 'listings', 'documents') and named.name is null
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
    plant: `alter table public.properties
        drop constraint properties_price_is_in_dinars_with_three_decimals;
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
    id: 'I-21',
    says: 'no control characters in texts, no invisible ones in names',
    sql: String.raw`select id as bad
        from public.messages
        where body ~ '[\u0001-\u0008\u000B\u000C\u000E-\u001F]'
      union all
      select id
        from public.identities
        where display_name
          ~ '[\u0001-\u001F\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]|^[\u200C\u200D]|[\u200C\u200D]$'
      union all
      select id from public.properties where title_ar ~ '[\u0001-\u001F]'`,
    plant: `${unguarded('public.messages')}
      update public.messages set body = e'a\\u0007b'
      where id = (select id from public.messages limit 1)`,
  },
  {
    id: 'I-23',
    says: 'no connection is stuck',
    // Ignores the platform's own role, which is used for monitoring and Realtime's long reads.
    sql: `select pid as bad, state, query
      from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend'
        and usename <> 'supabase_admin' and pid <> pg_backend_pid() and (
          (state like 'idle in transaction%' and xact_start < now() - interval '30 s')
          or (state = 'active' and query_start < now() - interval '60 s')
        )`,
    // A stuck connection cannot be created here, so a temporary table that hides the view contains one.
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
]
