-- Usually a function counts an action in its own transaction (count_action). An action that cannot
-- be undone, or that costs something even if it fails, is counted in an earlier transaction
-- (count_rate, require_rate).

create function private.refuse_rate(rate text, path text default null) returns void
  language plpgsql set search_path = ''
as $$
begin
  raise exception using
    errcode = 'PT429', message = 'rate_limited',
    detail = (jsonb_build_object('retryAfter', split_part(rate, ',', 3)::integer) || case
      when path is null then '{}'
      else jsonb_build_object('fields', jsonb_build_array(
        jsonb_build_object('path', path, 'code', 'rate_limited'))) end)::text,
    hint = rate;
end
$$;
comment on function private.refuse_rate is
  'Raises 429. The numbers for the response headers are in the hint, because a setting would be '
  'rolled back.';

create function private.count_action(rule text, allowed integer default null) returns timestamptz
  language plpgsql
  security definer -- writes a table closed to clients, also for an account that may not act
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
  -- Writes that bypass the facade are also counted here, so maintenance mode is checked here too.
  perform private.require_open();
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
  'Counts an action in the caller''s transaction, so that only completed actions count, or raises '
  '429. Called before any other lock is taken, so that concurrent calls of the same account wait '
  'without holding locks. The calling function checks afterwards that the account may act; an '
  'error there undoes the count.';

create function private.uncount_action(rule text, hit timestamptz) returns void
  language plpgsql
  security definer -- writes a table closed to clients
  set search_path = ''
as $$
begin
  perform private.uncount_hit(rule, private.account_id()::text, hit),
    set_config('private.rate', '', true);
end
$$;
comment on function private.uncount_action is
  'Undoes the count of a repeated action that changed nothing.';

create function private.check_limit(rule text, code text, used bigint) returns void
  language plpgsql set search_path = ''
as $$
declare
  allowed constant integer := (
    select rates.max from private.rates where rates.rule = check_limit.rule
  );
begin
  if used >= allowed then
    perform private.refuse(409, code, jsonb_build_object('limit', allowed, 'used', used));
  end if;
end
$$;
comment on function private.check_limit is
  'Raises 409 if used has reached the maximum of the rule.';

create function private.unproven_limit(rule text, account_id uuid) returns integer
  language sql stable
  security definer -- reads an account that may be suspended
  set search_path = ''
as $$
  select min(rates.max) from private.rates
  where rates.rule in (unproven_limit.rule, unproven_limit.rule || '_unproven') and exists (
    select from public.accounts
    where accounts.id = account_id and accounts.phone is null and not accounts.email_proven
  )
$$;
comment on function private.unproven_limit is
  'The lower limit for an unproven account; null if the account is proven.';

create function private.count_rate(rule text, address text) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid;
  unproven_limit integer;
  refusal jsonb;
  shared record;
  counted record;
  rate text;
begin
  caller_id := private.account_id();
  if caller_id is null then
    refusal := private.caller_refusal();
  else
    unproven_limit := private.unproven_limit(rule, caller_id);
    -- Unproven accounts are free to create, so all of them at one IP address share a limit.
    shared := private.count_hits(
      array[case when unproven_limit is not null then rule || '_unproven_address' end],
      array[address]);
    if shared.refused is not null then
      rate := format('%s,0,%s', shared."limit", shared.reset);
      refusal := '{"status":429}';
    else
      counted := private.count_hit(rule, caller_id::text, unproven_limit);
      rate := format('%s,%s,%s', counted."limit", counted.remaining, counted.reset);
      if counted.hit is null then
        perform private.uncount_hits(shared.hits);
        refusal := '{"status":429}';
      end if;
    end if;
  end if;
  -- Losing a count in a crash does no harm, so the commit need not wait for the disk.
  perform set_config('synchronous_commit', 'off', true),
    set_config('facade.rate', coalesce(rate, ''), false),
    set_config('facade.verdict', coalesce(refusal::text, ''), false);
exception
  when query_canceled then raise; -- the rate stays unknown, and the connection is dropped
  when read_only_sql_transaction then
    -- While the database is read-only, reads continue without being counted, and writes fail anyway.
    perform set_config('facade.rate', '', false), set_config('facade.verdict', '', false);
  when others then
    -- No alarm is raised for lock conflicts, or if the database is full, shutting down or read-only.
    if sqlstate !~ '^(25|40|53|55|57)' then
      perform private.raise_alarm('rate_uncounted', sqlstate, jsonb_build_object(
        'rule', rule, 'message', private.cause_of(sqlstate, sqlerrm)));
    end if;
    perform set_config('facade.verdict',
      '{"status":503,"code":"service_unavailable","detail":{"retryAfter":2}}', false);
end
$$;
comment on function private.count_rate is
  'Counts a request before it is executed. Only a timeout is raised here; require_rate raises all '
  'other errors.';

create function private.require_rate() returns void
  language plpgsql set search_path = ''
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
  'Raises the error that count_rate has recorded, if any.';

grant execute on function private.count_rate to backend;
grant execute on function private.count_action to authenticated;
grant execute on function private.refuse_rate, private.require_rate to anon, authenticated, backend;
