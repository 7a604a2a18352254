create schema private;
comment on schema private is 'Helpers, rules and counters. The Data API does not expose it.';
create schema api;
comment on schema api is
  'Functions for clients. This is the only schema that the Data API exposes.';

revoke all on schema private, api from public;
-- Not limited to one schema: per-schema default privileges cannot revoke what the global defaults
-- grant.
alter default privileges for role postgres revoke execute on functions from public;
grant usage on schema private to anon, authenticated, service_role, backend, supabase_auth_admin;
-- A role can become the owner of a function only if it has the CREATE privilege on the schema.
grant usage, create on schema private to acting, administering, exporting;
grant usage on schema api to anon, authenticated, service_role;
grant usage on schema public to anon, authenticated, service_role, backend, acting,
  administering, exporting;

-- Not numeric(14,3), which would round silently. The upper bound also excludes NaN, which sorts
-- above all numbers.
create domain private.kwd as numeric
  constraint kwd_has_three_decimals check (value = round(value, 3))
  constraint kwd_in_range check (value >= 0 and value <= 99999999999.999);
comment on domain private.kwd is 'An amount in Kuwaiti dinar, exact to the fils.';

create table private.settings (
  name text primary key,
  value jsonb not null,
  note text not null
);
comment on table private.settings is
  'Settings that admins or the edge functions change. Never purged: it has only a few rows.';
alter table private.settings enable row level security;
grant select on private.settings to acting, administering;
create policy "functions for clients read all" on private.settings
  for select to acting, administering using (true);

create table private.rates (
  rule text primary key,
  max integer not null constraint rates_max_is_positive check (max > 0),
  seconds integer not null constraint rates_seconds_is_positive check (seconds > 0),
  note text not null,
  earned_by text,
  earns integer,
  most integer,
  edited text[] not null default '{}',
  constraint rates_earn_up_to_an_end check (
    num_nulls(earned_by, earns, most) = 3
    or num_nulls(earned_by, earns, most) = 0 and earns > 0 and (most >= max or max >= 1000000))
);
comment on table private.rates is 'Editable rate limits. Never purged: it has only a few rows.';
comment on column private.rates.max is
  'How many hits (counted actions) a subject may have within the window; a million or more means '
  'no limit.';
comment on column private.rates.earned_by is
  'Another rule. Each hit of that rule by the same subject within the window raises this rule''s '
  'limit.';
comment on column private.rates.earns is 'How much each hit of earned_by adds to the limit.';
comment on column private.rates.edited is
  'Columns that an administrator has changed. Releases do not overwrite them.';
alter table private.rates enable row level security;
grant select on private.rates to acting;
create policy "functions for clients read all" on private.rates for select to acting using (true);

create table private.rate_hits (
  rule text not null,
  subject text not null,
  hits timestamptz[] not null,
  expires_at timestamptz not null,
  primary key (rule, subject)
);
comment on table private.rate_hits is
  'Recent hits, one row per rule and subject. Cleaned by private.purge_rates.';
comment on column private.rate_hits.subject is
  'Whose hits are counted: an account, an IP address, a phone and so on.';
comment on column private.rate_hits.hits is 'The times of the hits, oldest first.';
comment on column private.rate_hits.expires_at is 'When the last hit leaves the window.';
create index rate_hits_expires_idx on private.rate_hits (expires_at);
alter table private.rate_hits enable row level security;
create policy "nobody but functions of their owner" on private.rate_hits using (false);

create table private.alarms (
  id bigint generated always as identity primary key,
  kind text not null,
  subject_id text not null,
  details jsonb not null default '{}',
  raised_at timestamptz not null default now(),
  settled_at timestamptz,
  settled_note text,
  seen_at timestamptz not null default now(),
  deliver_at timestamptz default now(),
  tries integer not null default 0
);
comment on table private.alarms is
  'Problems that an admin has to solve, one row each. Cleaned by private.purge_alarms.';
comment on column private.alarms.kind is 'wallet_differs, payment_mismatch, job_failed and so on.';
comment on column private.alarms.subject_id is
  'The wallet, payment, provider, setting and so on; for job_failed, the job or its step and row.';
comment on column private.alarms.deliver_at is
  'When a job next sends the alarm to ALARM_WEBHOOK; null once the receiver has accepted it.';
create unique index alarms_one_unsettled_key on private.alarms (kind, subject_id)
  where settled_at is null;
create index alarms_settled_idx on private.alarms (settled_at) where settled_at is not null;
create index alarms_deliver_idx on private.alarms (deliver_at) where deliver_at is not null;
alter table private.alarms enable row level security;
create policy "nobody but functions of their owner" on private.alarms using (false);

create table private.timestamps (
  name text primary key,
  at timestamptz not null
);
comment on table private.timestamps is
  'Points in time that all workers share. Never purged: it has only a few rows.';
comment on column private.timestamps.name is
  'jobs_ran: when all jobs last ran; doors: when a test for unprotected Auth endpoints began; '
  'doors_tried: when the last daily test of this kind began; pushes_paused: when FCM accepts '
  'pushes again; beat: the primary''s clock; area_prices_kept: when area_price_history was last '
  'updated with this month''s figures.';
alter table private.timestamps enable row level security;
grant select on private.timestamps to acting;
create policy "functions for clients read all" on private.timestamps
  for select to acting using (true);
