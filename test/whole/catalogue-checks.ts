// Invariants of schema, grants and settings (cases, I-01 to I-04, I-16, I-24, I-25, I-27 to I-30).
import type { Invariant } from './invariant.ts'

const ours = `('api', 'private', 'public')`
// The schemas that clients can reach: the Data API's schema and the schema of the tables.
const exposed = `('api', 'public')`
const clients = `array['anon', 'authenticated', 'public']::name[]`

export const catalogue: Invariant[] = [
  {
    id: 'I-01',
    says: 'row security is on for every table of the exposed schemas',
    sql: `select pg_class.oid::regclass as bad
      from pg_class
      where relnamespace::regnamespace::text in ${exposed} and relkind in ('r', 'p')
        and not relrowsecurity`,
    plant: 'create table public.planted (id integer)',
  },
  {
    id: 'I-02',
    says: "no function that clients call has its owner's rights",
    sql: `select pg_proc.oid::regprocedure as bad
      from pg_proc
      where pronamespace::regnamespace::text in ${exposed} and prosecdef
        and (has_function_privilege('anon', pg_proc.oid, 'execute')
          or has_function_privilege('authenticated', pg_proc.oid, 'execute'))`,
    plant: `create function api.planted() returns integer language sql security definer
        set search_path = '' as 'select 1';
      grant execute on function api.planted to anon`,
  },
  {
    id: 'I-03',
    says: 'every such function has a fixed search path',
    sql: `select pg_proc.oid::regprocedure as bad
      from pg_proc
      where prosecdef and pronamespace::regnamespace::text in ${ours}
        and not exists (select from unnest(proconfig) as one where one like 'search_path=%')`,
    plant: `create function private.planted() returns integer language sql security definer
      as 'select 1'`,
  },
  {
    id: 'I-04',
    says: "every view has the caller's rights, and nothing else is like a view",
    sql: `select pg_class.oid::regclass as bad
      from pg_class
      where relnamespace::regnamespace::text in ${exposed}
        and (relkind in ('m', 'f') or (relkind = 'v' and not (coalesce(reloptions, '{}')
          && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'])))`,
    plant: 'create view public.planted as select 1 as one',
  },
  {
    id: 'I-16',
    says: 'nobody may rewrite the ledger',
    sql: `select role as bad, privilege, ledger
      from unnest(array['anon', 'authenticated', 'service_role']) as role,
        unnest(array['UPDATE', 'DELETE', 'TRUNCATE']) as privilege,
        unnest(array[
          'public.wallet_entries', 'public.wallet_transfers', 'public.invoices',
          'public.payment_events'
        ]) as ledger
      where has_table_privilege(role, ledger, privilege)`,
    plant: 'grant update on public.wallet_entries to service_role',
  },
  {
    id: 'I-24',
    says: 'constraints and indexes are valid',
    sql: `select conname::text as bad
        from pg_constraint
        where not convalidated and connamespace::regnamespace::text in ${ours}
      union all
      select indexrelid::regclass::text
        from pg_index join pg_class on pg_class.oid = indexrelid
        where not indisvalid and relnamespace::regnamespace::text in ${ours}`,
    plant: `alter table public.favorites
      add constraint planted check (created_at > 'infinity') not valid`,
  },
  {
    id: 'I-25',
    says: 'nobody may rewrite the record, and it is nowhere open',
    sql: `select role as bad, privilege
        from unnest(array['anon', 'authenticated', 'service_role', 'backend', 'facade']) as role,
          unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) as privilege
        where has_table_privilege(role, 'public.audit', privilege)
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
      where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting <> 'on'
        -- remote_apply is stricter than on: a commit waits for the replica, too.
        and (name, setting) <> ('synchronous_commit', 'remote_apply')`,
    plant: 'set local synchronous_commit = off',
  },
  {
    id: 'I-28',
    says: 'no writing for guests, no truncate for users',
    sql: `select grantee as bad, table_schema, table_name, privilege_type
      from information_schema.role_table_grants
      where table_schema in ${exposed} and (
        (grantee in ('anon', 'PUBLIC')
          and privilege_type in ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'))
        or (grantee = 'authenticated' and privilege_type in ('TRUNCATE', 'TRIGGER', 'REFERENCES'))
      )`,
    plant: 'grant truncate on public.favorites to authenticated',
  },
  {
    // Clients may send only on live channels, where a policy can distinguish broadcasts from presence.
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
    sql: `select policyname as bad, cmd from pg_policies
      where schemaname = 'storage' and tablename = 'objects' and roles && ${clients}
        and exists (
          select from storage.buckets
          where buckets.public and concat(qual, with_check) like '%' || buckets.id || '%'
        )`,
    plant: `create policy planted on storage.objects for insert to authenticated
      with check (bucket_id = 'listings')`,
  },
]
