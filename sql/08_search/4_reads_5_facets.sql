create function private.count_facet(
  strategy text, filters private.search_filters, words tsquery, rule private.search_filter_rules
) returns jsonb
  language plpgsql stable
  security definer -- reads the documents of all listings
  set search_path = '' set enable_seqscan = off
as $$
declare
  plan private.search_plan := private.search_plan(
    strategy, 'newest', filters, words, null, null, null, null);
  -- 0, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100 and so on up to eight millions
  steps constant numeric[] := array(
    select 0 union select trim_scale(step * 10::numeric ^ power)
    from unnest('{1,1.5,2,2.5,3,4,5,6,8}'::numeric[]) as step cross join generate_series(1, 6) as power
    order by 1);
  facet jsonb;
begin
  if plan.words is not null then
    plan := private.with_source(plan, strategy);
  end if;
  execute format($sql$
    select coalesce(jsonb_agg(%1$s || jsonb_build_object(
      'count', round(counted.listings, case when counted.listings > 10000 then -3 else 0 end))
      || case when counted.listings > 10000 then '{"approximate": true}' else '{}' end::jsonb
      order by %2$s), '[]')
    from (
      select %3$s as value, %4$s as listings
      from (select search_documents.%5$I as value, count(*) as listings from %6$s group by 1) as plain
      group by 1
    ) as counted
    where counted.value is not null
    $sql$, case rule.compared when 'price' then
      $sql$jsonb_build_object('from', ($3)[counted.value], 'to', ($3)[counted.value + 1] - 0.001)$sql$
      else $sql$jsonb_build_object('value', counted.value)$sql$ end,
    case rule.comparison when '>=' then 'counted.value' else 'counted.listings desc, counted.value' end,
    case rule.compared when 'price' then 'width_bucket(plain.value, $3)' else 'plain.value' end,
    case rule.name when 'bedroomsMin' then 'sum(sum(plain.listings)) over (order by plain.value desc nulls last)'
      else 'sum(plain.listings)' end,
    rule.compared, private.matches_of(plan))
  into facet using filters, plan, steps;
  return facet;
end
$$;

create function private.count_facets(
  strategy text, filters jsonb, facets text[], q text default null, literal boolean default false
) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  given constant private.search_filters := private.parse_search_filters(filters, strategy);
  facet text;
  rule private.search_filter_rules;
  exact record;
  counts jsonb;
  is_late boolean := false;
  answer jsonb := '{}';
begin
  perform private.require_search(strategy, null, given);
  perform private.query_words(q);
  foreach facet in array facets loop
    counts := null;
    begin
      select rules.* into rule from private.search_filter_rules as rules
      where rules.name in (facet, facet || 'Min');
      exact := private.exact_query(strategy, 'newest', jsonb_populate_record(given, jsonb_build_object(
        facet, null, facet || 'Min', null, facet || 'Max', null)), q, literal);
      -- Rents and prices have no scale in common.
      if not is_late and (facet <> 'price' or (exact.filters).type is not null or strategy = 'exchange') then
        counts := private.count_facet(strategy, exact.filters, exact.words, rule);
      end if;
    exception when query_canceled then
      is_late := true; -- the time of the statement is over, and no later limit would end it
    end;
    answer := answer || jsonb_build_object(facet, counts);
  end loop;
  return answer;
end
$$;
comment on function private.count_facets is
  'Facade: how many listings of a search have which value, for each facet without its own filter; '
  'null where the time limit of the statement ended it.';

grant execute on function private.count_facets to anon, authenticated;
