-- Roles of our own. A script that may run twice: roles belong to the cluster, not to a database.
--
-- facade   the login of the edge functions. It owns nothing and inherits nothing; every message
--          first becomes anon, authenticated or backend.
-- backend  what the facade may do for nobody in particular: registration, codes, jobs. It has no
--          BYPASSRLS and executes the functions that are granted to it by name, nothing else.

do $$
begin
  if not exists (select from pg_roles where rolname = 'backend') then
    create role backend nologin noinherit;
  end if;
  if not exists (select from pg_roles where rolname = 'facade') then
    create role facade login noinherit;
  end if;
end
$$;

grant anon, authenticated, backend to facade;

alter role facade set statement_timeout = '5s';
alter role facade set lock_timeout = '4s';
alter role facade set idle_in_transaction_session_timeout = '10s';
alter role facade set jit = off;
alter role facade set timezone = 'UTC';
-- Connections are young, and five plans before the one that is kept cost more than they bring: the
-- first five calls of a fresh one take 33 ms of processor time, not 26 (search), 43 and 29 (feed), 44
-- and 22 (favorites), 26 and 16 (a listing); later ones the same, whatever the filters, at 20,000 and
-- 100,000 listings. Functions whose filters may be missing say for themselves what they need.
alter role facade set plan_cache_mode = force_generic_plan;
