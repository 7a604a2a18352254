-- Concurrent hits are counted exactly. Thousands of people may share one IPv4 address, because
-- mobile carriers put their customers behind NAT. A single IPv6 customer has a /64, often a /48.

create function private.log_hit(
  rule text, subject text, "limit" integer, seconds integer,
  out remaining integer, out reset integer, out hit timestamptz
)
  language plpgsql
  security definer -- writes a table closed to clients
  set search_path = ''
as $$
declare
  recent timestamptz[];
begin
  -- The clock is read after the row is locked, so that hits stays sorted, as width_bucket requires.
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
  -- There may be more hits than the limit if the limit was larger when they were counted.
  reset := greatest(1, ceil(extract(epoch from
    recent[greatest(1, cardinality(recent) - "limit" + 1)]
    + make_interval(secs => seconds) - clock_timestamp())))::integer;
end
$$;

create function private.hits_within(rule text, subject text, seconds integer) returns integer
  language plpgsql stable
  security definer -- reads a table closed to clients
  set search_path = ''
as $$
begin
  return coalesce((
    select cardinality(counted.hits)
      - width_bucket(clock_timestamp() - make_interval(secs => seconds), counted.hits)
    from private.rate_hits as counted
    where counted.rule = hits_within.rule and counted.subject = hits_within.subject
  ), 0);
end
$$;

create function private.count_hit(
  rule text, subject text, allowed integer default null, times integer default 1,
  out "limit" integer, out remaining integer, out reset integer, out hit timestamptz
)
  language plpgsql security definer set search_path = ''
as $$
declare
  rate private.rates;
  logged record;
begin
  select * into rate from private.rates where rates.rule = count_hit.rule;
  "limit" := coalesce(allowed, rate.max);
  if not found or "limit" >= 1000000 then
    remaining := "limit";
    reset := 0;
    hit := clock_timestamp();
    return;
  end if;
  "limit" := "limit" * times;
  if rate.earned_by is not null then
    "limit" := least(rate.most * times,
      "limit" + rate.earns * private.hits_within(rate.earned_by, subject, rate.seconds));
  end if;
  logged := private.log_hit(rule, subject, "limit", rate.seconds);
  remaining := logged.remaining;
  reset := logged.reset;
  hit := logged.hit;
end
$$;
comment on function private.count_hit is
  'Counts a hit and returns its time; hit is null if the limit is used up. reset is the number of '
  'seconds until a hit leaves the window.';

create function private.store_hit(rule text, subject text) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  rate private.rates;
begin
  select * into rate from private.rates where rates.rule = store_hit.rule and rates.max < 1000000;
  if not found then
    return;
  end if;
  insert into private.rate_hits as stored (rule, subject, hits, expires_at)
  values (store_hit.rule, store_hit.subject, array[clock_timestamp()],
    clock_timestamp() + make_interval(secs => rate.seconds))
  on conflict on constraint rate_hits_pkey do update
  set hits = stored.hits[greatest(1, cardinality(stored.hits) - rate.max + 2):] || clock_timestamp(),
      expires_at = clock_timestamp() + make_interval(secs => rate.seconds);
end
$$;
comment on function private.store_hit is
  'Stores a hit without checking the limit, and keeps only the latest rates.max hits.';

create function private.hold_hits(rule text, subjects text[]) returns void
  language plpgsql
  security definer -- writes a table closed to clients
  set search_path = ''
as $$
begin
  -- Locks each row, or creates it, without changing existing rows.
  insert into private.rate_hits as held (rule, subject, hits, expires_at)
  select hold_hits.rule, given.subject, '{}', clock_timestamp() + make_interval(secs => rates.seconds)
  from unnest(subjects) with ordinality as given (subject, nth)
  join private.rates on rates.rule = hold_hits.rule
  order by given.nth
  on conflict on constraint rate_hits_pkey do update set hits = held.hits where false;
end
$$;
comment on function private.hold_hits is
  'Locks the rows of the subjects in the given order, before hits are counted.';

create function private.uncount_hit(rule text, subject text, hit timestamptz) returns void
  language plpgsql
  security definer -- writes a table closed to clients
  set search_path = ''
as $$
begin
  update private.rate_hits set hits = array_remove(rate_hits.hits, uncount_hit.hit)
  where rate_hits.rule = uncount_hit.rule and rate_hits.subject = uncount_hit.subject;
end
$$;

create function private.uncount_hits(hits jsonb) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.uncount_hit(taken.rule, taken.subject, taken.hit)
  from jsonb_to_recordset(hits) as taken (rule text, subject text, hit timestamptz);
end
$$;

create function private.rate_subjects(subject text) returns text[]
  language plpgsql immutable set search_path = ''
as $$
declare
  block constant text := substring(subject from '^(?:[0-9a-f]{1,4}:){3}(?=[0-9a-f]{1,4}::/64)');
begin
  return array_remove(
    array[subject, block || ':/48' || split_part(subject, '::/64', 2)], null);
end
$$;
comment on function private.rate_subjects is
  'The subjects that a hit counts for: the given one and, for an IPv6 /64, also its /48, which has '
  'ten times the limit.';

create function private.count_hits(
  rules text[], subjects text[],
  out refused text, out "limit" integer, out remaining integer, out reset integer, out hits jsonb
)
  language plpgsql set search_path = ''
as $$
declare
  every_subject text[];
  counted record;
begin
  hits := '[]';
  for nth in 1 .. cardinality(rules) loop
    continue when rules[nth] is null;
    every_subject := private.rate_subjects(subjects[nth]);
    for block in 1 .. cardinality(every_subject) loop
      counted := private.count_hit(
        rules[nth], every_subject[block], times => case block when 1 then 1 else 10 end);
      if "limit" is null or counted.hit is null then
        "limit" := counted."limit";
        remaining := counted.remaining;
        reset := counted.reset;
      end if;
      if counted.hit is null then
        perform private.uncount_hits(hits);
        refused := rules[nth];
        hits := null;
        return;
      end if;
      hits := hits || jsonb_build_object(
        'rule', rules[nth], 'subject', every_subject[block], 'hit', counted.hit);
    end loop;
  end loop;
end
$$;
comment on function private.count_hits is
  'Counts one hit for each pair of rule and subject. If a limit is used up, it counts none and '
  'returns the rule of this limit in refused. limit, remaining and reset (seconds) describe the '
  'refused rule, otherwise the first one.';

grant execute on function private.count_hit, private.uncount_hit, private.uncount_hits to backend;
