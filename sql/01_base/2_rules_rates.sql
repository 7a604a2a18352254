-- Rates: how often something may be done, counted exactly even when calls arrive at once.
--
-- A sliding log of the last hits for each rule and subject. A rule with a max of a million or more
-- is off and writes nothing. The rules and their numbers: 91_data.sql.
--
-- What an account does is counted by the function that does it, in its transaction (count_action).
-- What cannot be taken back, and what may fail after it has already cost something, is counted and
-- committed before it is tried (count_rate, require_rate).

create function private.log_hit(
  rule text, subject text, "limit" integer, seconds integer,
  out remaining integer, out reset integer, out hit timestamptz
)
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  recent timestamptz[];
begin
  -- One statement takes the row, whether or not it exists, and reads the clock once it has it. Hits
  -- are in order, so width_bucket finds how many of them are too old to count.
  insert into private.rate_hits as counted (rule, subject, hits, expires_at)
  values (log_hit.rule, log_hit.subject, array[clock_timestamp()],
    clock_timestamp() + make_interval(secs => seconds))
  on conflict on constraint rate_hits_pkey do update
  set hits = counted.hits[width_bucket(
        clock_timestamp() - make_interval(secs => seconds), counted.hits) + 1:]
        || clock_timestamp(),
      expires_at = clock_timestamp() + make_interval(secs => seconds)
  where cardinality(counted.hits) - width_bucket(
    clock_timestamp() - make_interval(secs => seconds), counted.hits) < "limit"
  returning counted.hits into recent;
  if found then
    hit := recent[cardinality(recent)];
  else
    select rate_hits.hits[width_bucket(
      clock_timestamp() - make_interval(secs => seconds), rate_hits.hits) + 1:]
    into recent from private.rate_hits
    where rate_hits.rule = log_hit.rule and rate_hits.subject = log_hit.subject;
  end if;
  remaining := greatest(0, "limit" - cardinality(recent));
  -- There may be more hits than the limit, where it was larger when they were counted.
  reset := greatest(1, ceil(extract(epoch from
    recent[greatest(1, cardinality(recent) - "limit" + 1)]
    + make_interval(secs => seconds) - clock_timestamp())))::integer;
end
$$;
comment on function private.log_hit is
  'Logs one hit where the limit has room for it; as count_hit, which knows the limit of a rule.';

create function private.count_hit(
  rule text, subject text, allowed integer default null,
  out "limit" integer, out remaining integer, out reset integer, out hit timestamptz
)
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  seconds integer;
  logged record;
begin
  select coalesce(allowed, rates.max), coalesce(allowed, rates.max), 0, rates.seconds
  into "limit", remaining, reset, seconds
  from private.rates where rates.rule = count_hit.rule;
  if not found or "limit" >= 1000000 then
    hit := clock_timestamp();
    return;
  end if;
  logged := private.log_hit(rule, subject, "limit", seconds);
  remaining := logged.remaining;
  reset := logged.reset;
  hit := logged.hit;
end
$$;
comment on function private.count_hit is
  'Counts one hit, against allowed instead of the max of the rule where that is given. hit is null '
  'when the rate was used up; reset is the seconds until there is room.';

create function private.uncount_hit(rule text, subject text, hit timestamptz) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  update private.rate_hits set hits = array_remove(rate_hits.hits, uncount_hit.hit)
  where rate_hits.rule = uncount_hit.rule and rate_hits.subject = uncount_hit.subject;
end
$$;
comment on function private.uncount_hit is
  'Takes a hit back: after a success, where only failures count.';

create function private.uncount_hits(hits jsonb) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.uncount_hit(taken.rule, taken.subject, taken.hit)
  from jsonb_to_recordset(hits) as taken (rule text, subject text, hit timestamptz);
end
$$;
comment on function private.uncount_hits is 'Takes back what private.count_hits counted.';

create function private.count_hits(
  rules text[], subjects text[], out refused text, out reset integer, out hits jsonb
)
  language plpgsql
  set search_path = ''
as $$
declare
  counted record;
begin
  hits := '[]';
  for nth in 1 .. cardinality(rules) loop
    counted := private.count_hit(rules[nth], subjects[nth]);
    if counted.hit is null then
      perform private.uncount_hits(hits);
      refused := rules[nth];
      reset := counted.reset;
      hits := null;
      return;
    end if;
    hits := hits || jsonb_build_object(
      'rule', rules[nth], 'subject', subjects[nth], 'hit', counted.hit);
  end loop;
end
$$;
comment on function private.count_hits is
  'Counts one hit for each rule and subject, in this order, or none at all: refused is the first '
  'rule that is used up, reset the seconds until it has room.';

create function private.refuse_rate(rate text) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  raise exception using
    errcode = 'PT429', message = 'rate_limited',
    detail = json_build_object('retryAfter', split_part(rate, ',', 3)::integer)::text,
    hint = rate;
end
$$;
comment on function private.refuse_rate is
  '429 rate_limited, with limit, remaining and reset as its hint, because a setting would be '
  'undone with the transaction.';

create function private.count_action(rule text, allowed integer default null) returns timestamptz
  language plpgsql
  security definer -- writes a closed table, for the calling account
  set search_path = ''
as $$
declare
  account_id text :=
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub';
  "limit" integer;
  seconds integer;
  logged record;
  rate text;
begin
  if account_id is null then
    perform private.require_account();
  end if;
  select coalesce(allowed, rates.max), rates.seconds into "limit", seconds
  from private.rates where rates.rule = count_action.rule;
  if not found or "limit" >= 1000000 then
    return clock_timestamp();
  end if;
  logged := private.log_hit(rule, account_id, "limit", seconds);
  rate := set_config('private.rate',
    concat_ws(',', "limit", logged.remaining, logged.reset), true);
  if logged.hit is null then
    perform private.require_account();
    perform private.refuse_rate(rate);
  end if;
  return logged.hit;
end
$$;
comment on function private.count_action is
  'Counts what the calling account does, in the same transaction, so only what is done counts. '
  'Called before any lock, so that two calls of one account wait here and hold nothing. Its caller '
  'locks the account after it and refuses one that may not act: then nothing is counted. 429 '
  'rate_limited.';

create function private.uncount_action(rule text, hit timestamptz) returns void
  language plpgsql
  security definer -- writes a closed table, for the calling account
  set search_path = ''
as $$
begin
  perform private.uncount_hit(rule, private.account_id()::text, hit),
    set_config('private.rate', '', true);
end
$$;
comment on function private.uncount_action is
  'Takes back what count_action counted, where it had been done already.';

create function private.unproven_limit(rule text, account_id uuid) returns integer
  language sql
  stable
  security definer -- reads a closed table, and what is proven of the account
  set search_path = ''
as $$
  select min(rates.max) from private.rates
  where rates.rule in (unproven_limit.rule, unproven_limit.rule || '_unproven') and exists (
    select from public.accounts
    where accounts.id = account_id and accounts.phone is null and not accounts.email_proven
  )
$$;
comment on function private.unproven_limit is
  'The limit for an account without a proven phone or email, where the rule has one; null for '
  'other accounts.';

create function private.count_rate(rule text, subject text default null) returns void
  language plpgsql
  security definer -- reads who calls and writes a closed table
  set search_path = ''
as $$
declare
  caller_id uuid;
  refusal jsonb;
  counted record;
  rate text;
begin
  -- With a subject, such as an address, the caller need not be signed in.
  if subject is null then
    caller_id := private.account_id();
    refusal := case when caller_id is null then private.caller_refusal() end;
  end if;

  if refusal is null then
    counted := private.count_hit(count_rate.rule, coalesce(count_rate.subject, caller_id::text),
      private.unproven_limit(count_rate.rule, caller_id));
    rate := format('%s,%s,%s', counted."limit", counted.remaining, counted.reset);
    if counted.hit is null then
      refusal := jsonb_build_object('status', 429);
    end if;
  end if;
  -- Losing a counter in a crash does no harm, so the commit need not wait for the disk.
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
comment on function private.count_rate is
  'Counts a call before it is tried, in a transaction of its own, so that a failing call counts '
  'too. Never raises: private.require_rate raises its verdict after the commit.';

create function private.require_rate() returns void
  language plpgsql
  set search_path = ''
as $$
declare
  verdict jsonb := nullif(current_setting('facade.verdict', true), '')::jsonb;
  rate text := current_setting('facade.rate', true);
begin
  if verdict ->> 'status' = '429' then
    perform private.refuse_rate(rate);
  elsif verdict is not null then
    perform private.refuse((verdict ->> 'status')::integer, verdict ->> 'code', verdict -> 'detail');
  end if;
  perform set_config('private.rate', rate, true);
end
$$;
comment on function private.require_rate is
  'Raises what private.count_rate decided, else keeps the rate for the headers of the answer.';

grant execute on function private.count_hit, private.uncount_hit, private.uncount_hits,
  private.count_rate
  to backend;
grant execute on function private.count_action to authenticated;
grant execute on function private.refuse_rate, private.require_rate to anon, authenticated, backend;
