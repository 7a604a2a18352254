-- Rates: how often something may be done, counted exactly also when calls arrive at once.
--
-- A sliding log of the last hits per rule and subject. A rule whose max is a million or more is off
-- and writes nothing.

create table private.rates (
  rule text primary key,
  max integer not null constraint rates_max_is_positive check (max > 0),
  seconds integer not null constraint rates_seconds_is_positive check (seconds > 0),
  note text not null
);
comment on table private.rates is 'What may be done how often; change a row to change the rate.';
comment on column private.rates.rule is 'The name that functions count under.';
comment on column private.rates.max is 'Hits allowed within the window; a million or more is no limit.';
comment on column private.rates.seconds is 'Length of the sliding window in seconds.';
comment on column private.rates.note is 'What is counted, and per what.';
alter table private.rates enable row level security;
create policy "nobody but functions of their owner" on private.rates using (false);

create table private.rate_hits (
  rule text not null references private.rates (rule) on delete cascade,
  subject text not null,
  hits timestamptz[] not null,
  expires_at timestamptz not null,
  primary key (rule, subject)
);
comment on table private.rate_hits is 'The last hits of each subject; emptied by a job.';
comment on column private.rate_hits.rule is 'Which rate.';
comment on column private.rate_hits.subject is 'Who or what is counted: an account, an address, a phone.';
comment on column private.rate_hits.hits is 'When, oldest first, no more than the rule''s max.';
comment on column private.rate_hits.expires_at is 'From then on the row says nothing any more.';
create index rate_hits_expires_idx on private.rate_hits (expires_at);
alter table private.rate_hits enable row level security;
create policy "nobody but functions of their owner" on private.rate_hits using (false);

create function private.count_hit(
  rule text, subject text,
  out "limit" integer, out remaining integer, out reset integer, out hit timestamptz
)
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  rate private.rates;
  recent timestamptz[];
  oldest timestamptz;
begin
  select * into rate from private.rates where rates.rule = count_hit.rule;
  "limit" := rate.max;
  remaining := rate.max;
  reset := 0;
  if rate.max is null or rate.max >= 1000000 then
    hit := clock_timestamp();
    return;
  end if;

  insert into private.rate_hits (rule, subject, hits, expires_at)
  values (count_hit.rule, count_hit.subject, '{}', clock_timestamp())
  on conflict do nothing;
  select rate_hits.hits into recent from private.rate_hits
  where rate_hits.rule = count_hit.rule and rate_hits.subject = count_hit.subject
  for update;

  recent := array(
    select at from unnest(recent) as at
    where at > clock_timestamp() - make_interval(secs => rate.seconds)
    order by at
  );
  if cardinality(recent) < rate.max then
    hit := clock_timestamp();
    recent := recent || hit;
    update private.rate_hits
    set hits = recent, expires_at = hit + make_interval(secs => rate.seconds)
    where rate_hits.rule = count_hit.rule and rate_hits.subject = count_hit.subject;
  end if;
  oldest := recent[1];
  remaining := rate.max - cardinality(recent);
  reset := greatest(1, ceil(extract(epoch from
    oldest + make_interval(secs => rate.seconds) - clock_timestamp())))::integer;
end
$$;
comment on function private.count_hit is
  'Counts one hit. hit is null when the rate was used up; reset is seconds until there is room.';

create function private.forget_hit(rule text, subject text, hit timestamptz) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  update private.rate_hits set hits = array_remove(rate_hits.hits, forget_hit.hit)
  where rate_hits.rule = forget_hit.rule and rate_hits.subject = forget_hit.subject
$$;
comment on function private.forget_hit is 'Takes a hit back: where only failures count, after a success.';

create function private.enter(rule text, subject text default null) returns void
  language plpgsql
  security definer -- reads who calls and writes a closed table
  set search_path = ''
as $$
declare
  refusal jsonb;
  counted record;
  rate text;
begin
  -- Whoever is counted by address need not be signed in.
  if subject is null then
    subject := private.account_id();
    refusal := case when subject is null then private.caller_refusal() end;
  end if;

  if refusal is null then
    counted := private.count_hit(enter.rule, enter.subject);
    if counted.hit is null then
      refusal := jsonb_build_object(
        'status', 429, 'code', 'rate_limited',
        'detail', jsonb_build_object('retryAfter', counted.reset)
      );
    end if;
    rate := format('%s,%s,%s', counted."limit", counted.remaining, counted.reset);
  end if;
  -- A counter lost in a crash is no harm, so the commit need not wait for the disk.
  perform set_config('synchronous_commit', 'off', true),
    set_config('facade.rate', coalesce(rate, ''), false),
    set_config('facade.verdict', coalesce(refusal::text, ''), false);
exception
  when query_canceled then raise; -- a time limit is no verdict; the connection is dropped
  when others then
    perform set_config('facade.verdict',
      '{"status":503,"code":"service_unavailable","detail":{"retryAfter":2}}', false);
end
$$;
comment on function private.enter is
  'Counts a call before it is tried, in a transaction of its own, so that a failing call counts too. '
  'Never raises: private.entered raises its verdict after the commit.';

create function private.entered() returns text
  language plpgsql
  set search_path = ''
as $$
declare
  verdict jsonb := nullif(current_setting('facade.verdict', true), '')::jsonb;
begin
  if verdict is not null then
    perform private.refuse((verdict ->> 'status')::integer, verdict ->> 'code', verdict -> 'detail');
  end if;
  return current_setting('facade.rate', true);
end
$$;
comment on function private.entered is
  'Raises what private.enter decided, else gives limit, remaining and reset in seconds.';

create function private.sweep_rates() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  with gone as (
    delete from private.rate_hits where rate_hits.expires_at < now() returning 1
  )
  select count(*) from gone
$$;
comment on function private.sweep_rates is 'Job: forgets counters whose window is over.';

revoke execute on all functions in schema private from public;
grant execute on function
  private.count_hit, private.forget_hit, private.enter, private.entered, private.sweep_rates
  to backend;
grant execute on function private.entered to anon, authenticated;
