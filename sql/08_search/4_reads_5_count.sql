create function private.count_facets(
  strategy text, filters private.search_filters, words tsquery, rules private.search_filter_rules[]
) returns jsonb
  language plpgsql stable
  security definer -- reads the documents of all listings
  set search_path = '' set enable_seqscan = off set enable_bitmapscan = on
  set max_parallel_workers_per_gather = 0
as $$
declare
  plan private.search_plan := private.search_plan(
    strategy, 'newest', filters, words, null, null, null, null);
  -- 0, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100 and so on up to eight million
  steps constant numeric[] := array(
    select 0 union select trim_scale(step * 10::numeric ^ power)
    from unnest('{1,1.5,2,2.5,3,4,5,6,8}'::numeric[]) as step cross join generate_series(1, 6) as power
    order by 1);
  share integer := case when private.expected_listings(plan, plan.conditions) > 10000 then 16 else 1 end;
  total bigint;
  columns text;
  names text;
  facets text;
  counts jsonb;
begin
  if num_nonnulls(plan.words, filters.near) > 0 then
    plan := private.with_source(plan, strategy);
  end if;
  select
    string_agg(format(case rule.compared when 'price' then 'width_bucket(search_documents.%I, $3) as %1$I'
      else 'search_documents.%I' end, rule.compared), ', '),
    string_agg(quote_ident(rule.compared), ', '),
    string_agg(format($sql$%L, (
      select coalesce(jsonb_agg(%s || case when $4 = 1 and counted.listings <= 10000
          then jsonb_build_object('count', counted.listings)
          else jsonb_build_object('approximate', true, 'count', round(
            counted.listings, 1 - trunc(log(counted.listings))::integer)) end
        order by %s), '[]')
      from (select %s as value, %s as listings from plain group by 1) as counted
      where counted.value is not null)$sql$,
      replace(rule.name, 'Min', ''),
      case rule.compared when 'price'
        then $sql$jsonb_build_object('from', ($3)[counted.value], 'to', ($3)[counted.value + 1] - 0.001)$sql$
        else $sql$jsonb_build_object('value', counted.value)$sql$ end,
      case rule.comparison when '>=' then 'counted.value' else 'counted.listings desc, counted.value' end,
      format(case rule.comparison when '@>' then 'unnest(%I)' else '%I' end, rule.compared),
      case rule.compared when 'bedrooms' -- counts listings with this many bedrooms or more
        then format('sum(sum(listings)) over (order by %I desc nulls last)', rule.compared)
        else 'sum(listings)' end), ', ')
  into columns, names, facets
  from unnest(rules) as rule
  -- Rents and sale prices have different scales, so they are not counted together.
  where rule.compared <> 'price' or filters.type is not null
    or count_facets.strategy = 'exchange';
  if columns is null then
    return '{}';
  end if;
  loop
    perform set_config('enable_bitmapscan', case share when 1 then 'on' else 'off' end, true);
    execute format('with plain as materialized (select %1$s, $4 * count(*) as listings '
      'from (select %2$s from %3$s) as matches group by %1$s) '
      'select jsonb_build_object(%4$s), (select sum(listings) from plain)', names, columns, case share
        when 1 then private.matches_of(plan)
        else format('private.search_documents where %s and search_documents.property_id < '
          '''10000000-0000-0000-0000-000000000000''', plan.conditions) end, facets)
    into counts, total using filters, plan, steps, share;
    exit when share = 1 or total > 10000;
    share := 1;
  end loop;
  return counts;
end
$$;

create function private.count_listings(
  strategy text, filters jsonb, q text default null, literal boolean default false,
  facets text[] default null
) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  given constant private.search_filters := private.parse_search_filters(filters, strategy);
  exact record;
  facet_query record; -- the query whose listings a facet counts
  counted integer;
  is_similar boolean := false;
  is_late boolean := false; -- the statement has timed out; the timeout does not fire a second time
  part record;
  counts jsonb;
begin
  perform private.require_search(strategy, null, given);
  perform private.query_words(q);
  exact := private.exact_query(strategy, 'newest', given, q, literal);
  counted := cardinality((private.find_listings(
    strategy, null, exact.filters, exact.words, null, null, null, 1001)).ids);
  select coalesce(jsonb_object_agg(name, null), '{}') into counts from unnest(facets) as name;
  for part in
    select others.filters, array_agg(rule) as rules
    from private.search_filter_rules as rule
    cross join lateral (select jsonb_populate_record(given, jsonb_build_object(
      rule.name, null, replace(rule.name, 'Min', 'Max'), null)) as filters) as others
    where replace(rule.name, 'Min', '') = any (facets)
    -- Amenities are counted apart, because only the index of the sample contains them.
    group by others.filters, rule.comparison = '@>'
    order by others.filters is distinct from given, rule.comparison = '@>'
  loop
    exit when is_late;
    begin
      facet_query := exact;
      if part.filters is distinct from given then
        facet_query := private.exact_query(strategy, 'newest', part.filters, q, literal);
      end if;
      counts := counts || private.count_facets(
        strategy, facet_query.filters, facet_query.words, part.rules);
    exception
      when query_canceled then is_late := true;
    end;
  end loop;
  begin
    is_similar := counted = 0 and not is_late and (exact.read).words is not null
      and (private.similar_listings(strategy, private.default_sort(strategy), given, exact.read,
        exact.words, coalesce(literal, false), '{}')).items <> '{}';
  exception
    when query_canceled then null; -- the count is known already
  end;
  return jsonb_build_object('count', least(counted, 1000), 'capped', counted > 1000)
    || case when is_similar then '{"similar": true}' else '{}' end::jsonb
    || case when facets is null then '{}' else jsonb_build_object('facets', counts) end;
end
$$;
comment on function private.count_listings is
  'Facade: returns {count, capped}: the number of listings that match a search, without similar '
  'ones, exact up to 1,000. similar is true if count is 0 but private.search finds similar '
  'listings. Each of the facets is counted without the filter on its own field, and is null after '
  'a timeout.';

grant execute on function private.count_listings to anon, authenticated;
