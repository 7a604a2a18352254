-- Roles belong to the whole cluster, so they may exist already. The script can be run repeatedly.
-- facade   The edge functions log in as this role and then switch to anon, authenticated or backend.
-- backend  For work without a signed-in user: registration, codes, jobs. It has no BYPASSRLS and can
--          execute only the functions that are granted to it by name.
-- acting, administering
--          Own nearly all functions that clients and administrators call (16_api.sql), so that
--          row-level security applies to every statement in these functions. They own no tables,
--          and no client can switch to them.
-- exporting
--          Owns, for the same reason, the function that reads the data of all identities of an
--          account, not only of the acting one (14_privacy/4_reads_export_identities.sql).

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
-- By default Postgres plans a statement anew for its first five executions and only then considers a
-- generic plan. Most connections are new, so most executions are among these five and would take
-- more CPU time: 33 ms instead of 26 (search), 43 instead of 29 (feed), 44 instead of 22
-- (favorites), 26 instead of 16 (a listing). Later executions cost the same. A function whose plan
-- depends on optional filters sets its own mode.
alter role facade set plan_cache_mode = force_generic_plan;
