-- The script can be repeated, because roles belong to the cluster and not to a database.
-- facade   is the login of the edge functions; its calls run as anon, authenticated or backend.
-- backend  is for work without a caller: registration, codes, jobs. It has no BYPASSRLS and can
--          execute only the functions that are granted to it by name.
-- acting and administering own nearly all functions that clients and administrators execute
--          (16_api.sql), so that row-level security binds every statement in them. They own no
--          table, and no client can become them.
-- exporting likewise owns the function that reads the data of all identities of an account, not only
--          of the acting one (14_privacy/4_reads_export_identities.sql).

do $$
begin
  if not exists (select from pg_roles where rolname = 'backend') then
    create role backend nologin noinherit;
  end if;
  if not exists (select from pg_roles where rolname = 'acting') then
    create role acting nologin noinherit;
  end if;
  if not exists (select from pg_roles where rolname = 'administering') then
    create role administering nologin noinherit;
  end if;
  if not exists (select from pg_roles where rolname = 'exporting') then
    create role exporting nologin noinherit;
  end if;
  if not exists (select from pg_roles where rolname = 'facade') then
    create role facade login noinherit;
  end if;
end
$$;

grant anon, authenticated, backend to facade;
grant acting, administering, exporting to postgres;

alter role facade set statement_timeout = '5s';
alter role facade set lock_timeout = '4s';
alter role facade set idle_in_transaction_session_timeout = '10s';
alter role facade set jit = off;
alter role facade set timezone = 'UTC';
-- By default Postgres plans a statement five times before it reuses a generic plan. As most
-- connections are new, the first five calls of each would take 33 ms of processor time instead of
-- 26 (search), 43 instead of 29 (feed), 44 instead of 22 (favorites), 26 instead of 16 (a listing).
-- Later calls cost the same. A function whose plan depends on optional filters sets its own mode.
alter role facade set plan_cache_mode = force_generic_plan;
