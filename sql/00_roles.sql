-- The script may run twice, because roles belong to the cluster and not to a database.
-- facade   the login of the edge functions; each message first becomes anon, authenticated or backend
-- backend  for what the facade does without a caller: registration, codes, jobs. It has no BYPASSRLS
--          and executes only the functions that are granted to it by name.
-- acting   owns the functions that clients execute (16_api.sql), so that row security binds every
--          statement in them. It owns no table, and nobody can become it.

do $$
begin
  if not exists (select from pg_roles where rolname = 'backend') then
    create role backend nologin noinherit;
  end if;
  if not exists (select from pg_roles where rolname = 'acting') then
    create role acting nologin noinherit;
  end if;
  if not exists (select from pg_roles where rolname = 'facade') then
    create role facade login noinherit;
  end if;
end
$$;

grant anon, authenticated, backend to facade;
grant acting to postgres;

alter role facade set statement_timeout = '5s';
alter role facade set lock_timeout = '4s';
alter role facade set idle_in_transaction_session_timeout = '10s';
alter role facade set jit = off;
alter role facade set timezone = 'UTC';
-- Postgres plans a statement five times before it reuses a generic plan, and most connections are
-- new: the first five calls of a connection take 33 ms of processor time instead of 26 (search), 43
-- and 29 (feed), 44 and 22 (favorites), 26 and 16 (a listing). Later calls cost the same. Functions
-- with optional filters choose for themselves.
alter role facade set plan_cache_mode = force_generic_plan;
