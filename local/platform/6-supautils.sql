-- On hosted projects, the extension supautils lets postgres write policies and drop triggers on the
-- tables named below. postgres does not own them and may do nothing else that needs ownership.
-- Here, postgres gets the roles of the owners only while such a command runs. If the command is
-- about any other table, it is rolled back.

create or replace function extensions.lend_tables() returns event_trigger
  language plpgsql
  security definer -- only a superuser may grant the services' roles
  set search_path = ''
as $$
begin
  if coalesce(nullif(current_setting('role'), 'none'), session_user) = 'postgres' then
    grant supabase_auth_admin, supabase_storage_admin, supabase_realtime_admin to postgres
      with inherit true, set false;
  end if;
end
$$;
comment on function extensions.lend_tables is
  'Grants postgres the roles that own the services'' tables before a policy is written or a '
  'trigger dropped.';

create or replace function extensions.take_tables_back() returns event_trigger
  language plpgsql
  security definer -- only a superuser may revoke the services' roles
  set search_path = ''
as $$
declare
  allowed constant text[] := array[
    'auth.audit_log_entries', 'auth.flow_state', 'auth.identities', 'auth.instances',
    'auth.mfa_amr_claims', 'auth.mfa_challenges', 'auth.mfa_factors', 'auth.oauth_clients',
    'auth.one_time_tokens', 'auth.refresh_tokens', 'auth.saml_providers', 'auth.saml_relay_states',
    'auth.sessions', 'auth.sso_domains', 'auth.sso_providers', 'auth.users', 'realtime.messages',
    'realtime.subscription', 'storage.buckets', 'storage.buckets_analytics', 'storage.objects',
    'storage.prefixes', 'storage.s3_multipart_uploads', 'storage.s3_multipart_uploads_parts'
  ];
  tables text[];
  refused text;
begin
  if coalesce(nullif(current_setting('role'), 'none'), session_user) <> 'postgres' then
    return;
  end if;
  if tg_event = 'sql_drop' then
    tables := array(
      select address_names[1] || '.' || address_names[2]
      from pg_event_trigger_dropped_objects() where original
    );
  else
    revoke supabase_auth_admin, supabase_storage_admin, supabase_realtime_admin from postgres;
    tables := array(
      select pg_policy.polrelid::regclass::text
      from pg_event_trigger_ddl_commands() as command
      join pg_catalog.pg_policy on pg_policy.oid = command.objid
    );
  end if;
  select name into refused from unnest(tables) as name
  where name ~ '^(auth|storage|realtime)[.]' and not name = any (allowed);
  if found then
    raise exception 'must be owner of table %', split_part(refused, '.', 2)
      using errcode = 'insufficient_privilege';
  end if;
end
$$;
comment on function extensions.take_tables_back is
  'Revokes the roles that lend_tables granted, and raises if the command was about another table.';
revoke execute on function extensions.lend_tables, extensions.take_tables_back from public;

drop event trigger if exists lend_tables;
drop event trigger if exists take_tables_back;
drop event trigger if exists check_dropped;
create event trigger lend_tables on ddl_command_start
  when tag in ('CREATE POLICY', 'ALTER POLICY', 'DROP POLICY', 'DROP TRIGGER')
  execute function extensions.lend_tables();
create event trigger take_tables_back on ddl_command_end
  when tag in ('CREATE POLICY', 'ALTER POLICY', 'DROP POLICY', 'DROP TRIGGER')
  execute function extensions.take_tables_back();
create event trigger check_dropped on sql_drop
  when tag in ('DROP POLICY', 'DROP TRIGGER')
  execute function extensions.take_tables_back();
