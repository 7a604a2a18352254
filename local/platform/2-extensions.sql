create schema if not exists extensions authorization postgres;
grant usage on schema extensions to anon, authenticated, service_role;

create extension if not exists pgcrypto with schema extensions;
create extension if not exists "uuid-ossp" with schema extensions;
create extension if not exists pg_stat_statements with schema extensions;

-- On hosted projects, postgres may create these two. In plain Postgres, earthdistance is not a
-- trusted extension, so a superuser creates it here. A migration with "create extension if not
-- exists" then finds it.
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
