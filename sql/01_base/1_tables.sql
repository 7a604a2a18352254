-- What every area stands on: schemas, money, settings, rates, alarms.

create schema private;
comment on schema private is 'Helpers, rules and counters. Exposed to nobody.';
create schema api;
comment on schema api is
  'The functions that clients may call; the only schema that the Data API exposes.';

revoke all on schema private, api from public;
-- Functions are born closed, and what may be called is granted by name. For every schema: what is
-- said for one adds to this and cannot take from it.
alter default privileges for role postgres revoke execute on functions from public;
grant usage on schema private to anon, authenticated, service_role, backend, supabase_auth_admin;
grant usage on schema api to anon, authenticated, service_role;
grant usage on schema public to anon, authenticated, service_role, backend;

-- Plain numeric and not numeric(14,3), which would round silently. NaN counts as larger than any
-- number, so the upper bound keeps it out.
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
  'What an admin sets in Studio; the rows are in 91_data.sql. Stays: a few rows.';
alter table private.settings enable row level security;
create policy "nobody but functions of their owner" on private.settings using (false);

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
comment on table private.rates is
  'What may be done how often; change a row to change the rate. Stays: a few rows.';
comment on column private.rates.max is
  'Hits allowed within the window; a million or more means no limit.';
comment on column private.rates.seconds is 'Length of the sliding window in seconds.';
comment on column private.rates.earned_by is
  'Another rule, each of whose hits for the same subject within the window allows more of this one.';
comment on column private.rates.earns is 'How many more each of those allows.';
comment on column private.rates.most is 'Hits allowed at most, however many those are.';
comment on column private.rates.edited is
  'Columns that an admin has changed: a release leaves them as they are.';
alter table private.rates enable row level security;
create policy "nobody but functions of their owner" on private.rates using (false);

create table private.rate_hits (
  rule text not null,
  subject text not null,
  hits timestamptz[] not null,
  expires_at timestamptz not null,
  primary key (rule, subject)
);
comment on table private.rate_hits is
  'The last hits of each subject; a job deletes old ones. Cleaned by private.purge_rates.';
comment on column private.rate_hits.subject is
  'Who or what is counted: an account, an address, a phone.';
comment on column private.rate_hits.hits is
  'Times of the hits, oldest first, at most as many as the rate allows.';
comment on column private.rate_hits.expires_at is
  'When the last hit leaves the window; the row may go then.';
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
  seen_at timestamptz not null default now()
);
comment on table private.alarms is
  'What an admin has to look at: money that does not add up, a job or a provider that fails. One '
  'row for each until it is settled; settled ones are deleted after a year. Cleaned by '
  'private.purge_alarms.';
comment on column private.alarms.kind is
  'What happened, as wallet_differs, payment_mismatch or job_failed.';
comment on column private.alarms.subject_id is
  'The wallet, payment, invoice or event; for job_failed the job and the row it failed on; for '
  'others the provider, setting or route.';
create unique index alarms_one_unsettled_key on private.alarms (kind, subject_id)
  where settled_at is null;
create index alarms_settled_idx on private.alarms (settled_at) where settled_at is not null;
alter table private.alarms enable row level security;
create policy "nobody but functions of their owner" on private.alarms using (false);

create table private.moments (
  name text primary key,
  at timestamptz not null
);
comment on table private.moments is
  'Times that all workers of the functions share. Stays: a few rows.';
comment on column private.moments.name is
  'jobs_ran: when a run of all jobs last finished. doors_tried: when those of Auth were. pushes_paused: until when FCM accepts none. beat: the '
  'time on the primary, written every two seconds; replicas show by it how far they are behind.';
alter table private.moments enable row level security;
create policy "nobody but functions of their owner" on private.moments using (false);
