-- The roles of a Supabase project, which all databases of the server share. The scripts in this
-- folder run again on data folders of earlier versions, so every statement must be repeatable.
-- prepare.ts sets the passwords.

do $$
declare
  name text;
begin
  foreach name in array array[
    'anon', 'authenticated', 'service_role', 'authenticator', 'postgres', 'supabase_auth_admin',
    'supabase_storage_admin', 'supabase_realtime_admin', 'data_api', 'studio'
  ] loop
    if to_regrole(name) is null then
      execute format('create role %I', name);
    end if;
  end loop;
end
$$;

alter role anon nologin inherit;
alter role authenticated nologin inherit;
alter role service_role nologin inherit bypassrls;
alter role authenticator login noinherit;
alter role supabase_auth_admin login noinherit nocreaterole;
alter role supabase_storage_admin login noinherit createrole;
alter role supabase_realtime_admin nologin noinherit;
alter role postgres login nosuperuser createrole createdb replication bypassrls;

alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
alter role supabase_auth_admin set search_path = auth;
alter role supabase_auth_admin set idle_in_transaction_session_timeout = '60s';
alter role supabase_storage_admin set search_path = storage;
alter role postgres set search_path = "$user", public, extensions;

grant anon, authenticated, service_role to authenticator;
grant authenticator to supabase_storage_admin;

-- The admin option lets a migration create login roles and grant these roles to them.
grant anon, authenticated, service_role to postgres with admin option;
grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres with admin option;
grant pg_create_subscription to postgres;

-- postgres may not change objects of Auth, Storage and Realtime (but see 6-supautils.sql).
revoke supabase_auth_admin, supabase_storage_admin, supabase_realtime_admin from postgres;

-- The stand-ins for Data API and Studio log in as data_api and studio, which do not exist on hosted
-- projects. They may switch to the roles that they act for. Their own rights are read-only, because
-- their package would grant everybody access to auth, storage and realtime if it could.
alter role data_api login noinherit;
alter role studio login noinherit;
grant anon, authenticated, service_role to data_api with inherit false, set true;
grant postgres to studio with inherit false, set true;
grant pg_read_all_data to data_api, studio with inherit true;
