create schema if not exists extensions authorization postgres;
grant usage on schema extensions to anon, authenticated, service_role;

create extension if not exists pgcrypto with schema extensions;
create extension if not exists "uuid-ossp" with schema extensions;
create extension if not exists pg_stat_statements with schema extensions;

-- Hosted projects let postgres create these two. In plain Postgres earthdistance is not a trusted
-- extension, so it is created here, and "create extension if not exists" in a migration finds it.
create extension if not exists cube with schema extensions;
create extension if not exists earthdistance with schema extensions;

grant usage on schema public to anon, authenticated, service_role;
grant usage, create on schema public to postgres;

do $$
begin
  if not exists (select from pg_publication where pubname = 'supabase_realtime') then
    create publication supabase_realtime;
    alter publication supabase_realtime owner to postgres;
  end if;
end
$$;
