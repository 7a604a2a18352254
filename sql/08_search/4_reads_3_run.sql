-- If matches are frequent, a short scan of the index ranges fills the page (walk_ranges). If they are
-- rare, all of them are found through another index and then sorted (gather_listings). On its own, the
-- planner would decide by averages and scan a million rows for two frequent words that never occur
-- together. Therefore, the planner only provides estimates, and this code makes the decision.

create function private.walk_ranges(
  plan private.search_plan, depth integer, out ids uuid[], out keys text[], out is_complete boolean
)
  language plpgsql stable set search_path = ''
  -- Otherwise, the planner would sort results that it expects to be small instead of using the index.
  set enable_sort = off
  set enable_bitmapscan = off
  set enable_seqscan = off
as $$
declare
  ranges text := '(select) as of_all';
  range text := 'true';
begin
  for n in 1 .. cardinality(plan.compared) loop
    ranges := ranges || format(' cross join unnest(%s) as of_%s (value)', plan.choices[n], n);
    range := range || format(' and %s = of_%s.value', plan.compared[n], n);
  end loop;
  range := range || plan.bounds || plan.after;
  execute format('select array_agg(property_id), array_agg(key::text) from (select hits.* from %1$s '
    'cross join lateral (select search_documents.property_id, search_documents.key from ('
    'select *, %2$s as key from private.search_documents where %3$s '
    'order by key%4$s, property_id%4$s limit $3) as search_documents where %5$s '
    'limit ($2).size) as hits order by hits.key%4$s, hits.property_id%4$s limit ($2).size) as page',
    ranges, plan.key, range, plan.direction, plan.conditions)
  into ids, keys using plan.filters, plan, depth;
  ids := coalesce(ids, '{}');
  keys := coalesce(keys, '{}');
  is_complete := cardinality(ids) = plan.size and plan.ranges = 1;
  if not is_complete and (plan.compared <> '{}' or plan.bounds || plan.after <> '' or depth >= (
      select reltuples from pg_class where oid = 'private.search_documents'::regclass)) then
    -- The unread rest of a range does not matter if it sorts after the last listing of a full page.
    execute format('select not exists (select from %s cross join lateral (select from '
      '(select %s as key, property_id from private.search_documents where %s%s '
      'order by key%s, property_id%5$s limit $3) as walked offset $3 - 1) as last)',
      ranges, plan.key, range, case when cardinality(ids) = plan.size then format(
        ' and (%s, search_documents.property_id) %s ($4::%s, $5)', plan.key,
        case plan.direction when '' then '<=' else '>=' end, plan.key_type) end, plan.direction)
    into is_complete using plan.filters, plan, depth, keys[plan.size], ids[plan.size];
  end if;
end
$$;
comment on function private.walk_ranges is
  'Scans the first depth rows of each range. is_complete: whether no other listing can belong on '
  'the page.';

create function private.gather_listings(
  plan private.search_plan, out ids uuid[], out keys text[]
)
  language plpgsql stable set search_path = ''
  set enable_seqscan = off -- otherwise, the planner scans all listings for words it considers frequent
as $$
begin
  -- "offset 0" keeps the planner from scanning in sort order or combining the index with another one.
  execute format('select array_agg(property_id), array_agg(key::text) from (select * from (select '
    'search_documents.property_id, %1$s as key from (select * from private.search_documents where %2$s '
    'offset 0) as search_documents where %3$s%4$s offset 0) as gathered '
    'order by key%5$s, property_id%5$s limit ($2).size) as page',
    plan.key, plan.found_by, plan.rest, plan.after, plan.direction)
  into ids, keys using plan.filters, plan;
  ids := coalesce(ids, '{}');
  keys := coalesce(keys, '{}');
end
$$;

create function private.expected_listings(plan private.search_plan, condition text default null)
  returns double precision
  language plpgsql
  volatile -- Postgres refuses EXPLAIN in a stable function
  set search_path = ''
as $$
declare
  explained json;
begin
  execute 'explain (format json) select from private.search_documents where ' || coalesce(condition, (
    select string_agg(format('%s = any (%s)', range.compared, range.choices), ' and ')
    from unnest(plan.compared, plan.choices) as range (compared, choices)
  ), 'true') into explained using plan.filters, plan;
  return explained -> 0 -> 'Plan' -> 'Plan Rows';
end
$$;
comment on function private.expected_listings is
  'Returns how many listings, by the estimate of the planner, meet a condition or, without a '
  'condition, are in the index ranges.';

create function private.listings_with_words(words tsquery) returns bigint
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  -- In a query, & joins words, or alternatives in parentheses.
  return (
    select min(required.listings)
    from (
      select sum(coalesce(search_vocabulary.listings, 10)) as listings
      from string_to_table(words::text, '&') with ordinality as given (alternatives, index)
      cross join regexp_matches(given.alternatives, '''([^'']+)''', 'g') as alternative
      left join private.search_vocabulary on search_vocabulary.word = alternative[1]
      group by given.index
      having bool_and(alternative[1] ~ '^[^0-9:]{3,}$')
    ) as required
  );
end
$$;
comment on function private.listings_with_words is
  'Returns an upper bound for the number of listings with all these words, based on the last '
  'count. Null if the words are not counted.';

create function private.few_with_words(words tsquery) returns uuid[]
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
declare
  -- "offset 0" keeps the planner from using another index.
  few constant uuid[] := array(
    select found.property_id
    from (
      select search_documents.property_id from private.search_documents
      where search_documents.document @@ words offset 0
    ) as found
    limit 301
  );
begin
  return case when cardinality(few) <= 300 then few end;
end
$$;
comment on function private.few_with_words is
  'Returns the listings that match the words, or null if there are more than 300.';

create function private.with_source(
  plan private.search_plan, strategy text, with_words bigint default null
)
  returns private.search_plan
  language plpgsql stable set search_path = ''
as $$
declare
  filters constant private.search_filters := plan.filters;
  terms constant tsquery := private.search_terms(to_jsonb(filters));
  by_text constant text := 'search_documents.document @@ ($2).text_query';
  source text;
  expected double precision;
begin
  plan.text_query := coalesce(plan.words && terms, plan.words, terms);
  plan.text_query := coalesce(plan.text_query && private.strategy_terms(strategy), plan.text_query);
  plan.rest := plan.conditions;
  if plan.among is not null then
    plan.found_by := 'search_documents.property_id = any (($2).among)';
    return plan;
  elsif num_nonnulls(filters.bbox, filters.near) > 0 then
    plan.cells := private.search_cells(private.search_rectangle(filters), filters.near);
  end if;
  foreach source in array array_remove(array[
    case when num_nonnulls(filters."ownerId", filters."companyId") > 0 then
      'search_documents.owner_identity_id = coalesce(($1)."ownerId", ($1)."companyId")' end,
    case strategy
      when 'auction' then 'search_documents.auction_ends_at > now()'
      when 'deal' then 'search_documents.drop_pct is not null' end,
    case when plan.text_query is not null then by_text end,
    case when num_nonnulls(filters."priceMin", filters."priceMax") = 2 then
      'search_documents.price between ($1)."priceMin" and ($1)."priceMax"' end,
    case when num_nonnulls(filters."floorMin", filters."floorMax") = 2 then
      'search_documents.floor_no between ($1)."floorMin" and ($1)."floorMax"' end,
    -- The planner cannot estimate a box, but it can estimate these cells.
    case when cardinality(plan.cells) <= 64 then
      'private.search_cell(search_documents.lat, search_documents.lng) = any (($2).cells)' end
  ], null) loop
    expected := private.expected_listings(plan, source);
    if source = by_text then
      -- The planner has no statistics for rare words and assumes that 1 in 1,000 listings has each.
      expected := greatest(1, least(expected, with_words));
    end if;
    if plan.found_by is null or expected < plan.to_gather then
      plan.found_by := source;
      plan.to_gather := expected;
    end if;
  end loop;
  if plan.found_by is null then
    plan.found_by := plan.conditions;
    plan.rest := 'true';
    plan.to_gather := private.expected_listings(plan, plan.conditions);
  elsif plan.found_by = by_text then
    plan.rest := plan.beside_words;
  end if;
  return plan;
end
$$;
comment on function private.with_source is
  'Sets found_by to the condition for which an index returns the fewest listings. with_words is '
  'the result of private.listings_with_words.';

create function private.find_listings(
  strategy text, sort text, filters private.search_filters, words tsquery, among uuid[],
  after_key text, after_id uuid, size integer, among_newest boolean default false,
  out ids uuid[], out keys text[]
)
  language plpgsql stable
  security definer -- reads the documents of all listings
  set search_path = ''
as $$
declare
  -- Gathering this many matches is faster than a scan in sort order that finds too few.
  few constant integer := 300;
  is_few boolean;
  is_rare boolean; -- whether matches may be too rare for a scan in sort order
  met integer; -- how many of the newest thousand listings match; null if unknown
  with_words bigint;
  plan private.search_plan;
  found record;
  depth integer; -- the number of rows to scan in each range
  cost double precision; -- the cost of skipping one listing, if gathering one costs 1
  to_pass double precision;
begin
  ids := '{}';
  keys := '{}';
  if filters.kinds <@ filters."notKinds" or filters."areaIds" <@ filters."notAreaIds"
    or filters."governorateIds" <@ filters."notGovernorateIds"
    or strategy in ('standard', 'deal', 'exchange')
    and (strategy = 'exchange') <> (filters.type = 'EXCHANGE') then
    return;
  end if;
  if sort is null and filters.near is not null and words is null then
    plan := private.with_source(private.search_plan(
      strategy, 'newest', filters, null, null, null, null, size), strategy);
    execute format('select array_agg(property_id) from (select property_id from %s limit $3) as found',
      private.matches_of(plan)) into ids using filters, plan, size;
    ids := coalesce(ids, '{}');
    return;
  end if;
  sort := coalesce(sort, private.default_sort(strategy));
  if sort = 'newest' and among is null then
    found := private.newest_listings(strategy, filters, words, after_key, after_id, size);
    if found.is_complete then
      ids := found.ids;
      keys := found.keys;
      return;
    end if;
    -- With words, newest_listings reads more than a thousand listings, so only a result of 0 is
    -- used.
    met := case when words is null or found.ids = '{}' then cardinality(found.ids) end;
  end if;
  if words is not null and among is null then
    with_words := private.listings_with_words(words);
    -- There are few deals and auctions, so the text index quickly finds those with frequent words too.
    among := case when with_words <= few or strategy in ('deal', 'auction') then
      private.few_with_words(coalesce(words && private.strategy_terms(strategy), words)) end;
    if among = '{}' then
      return;
    elsif among is not null then
      words := null;
    end if;
  end if;
  is_few := num_nonnulls(among, filters."ownerId", filters."companyId") > 0;
  plan := private.search_plan(
    strategy, sort, filters, words, among, after_key, after_id, size);
  is_rare := coalesce(met <= size / 3, false) or plan.words is not null
    or sort <> 'newest' and filters."areaIds" is not null;
  if is_few or is_rare then
    plan := private.with_source(plan, strategy, with_words);
    is_few := is_few or plan.to_gather <= few;
  end if;
  -- With a million listings, a scan of this depth that does not fill the page wastes one or two
  -- milliseconds: the newest rows are stored close together, and an index that contains all compared
  -- columns needs no table rows.
  depth := greatest(300, case when plan.is_indexed then 3000 else 1500 end / greatest(plan.ranges, 1));
  cost := case
    when plan.is_indexed then 0.05
    when sort = 'newest' and plan.compared = '{}' then 0.2
    else 1
  end + coalesce(0.05 * numnode(plan.words), 0); -- comparing words costs more
  if not is_few and is_rare then
    to_pass := case
      when met > 0 then 1000.0 * size / met
      when met = 0 then private.expected_listings(plan)
      else private.expected_listings(plan) * least(size / plan.to_gather, 1)
    end;
    -- A listing with several of the words is counted several times, so to_gather is often twice the real
    -- number. Even if a scan of this depth does not fill the page, it takes no longer than gathering.
    depth := greatest(depth, least(3 * to_pass, 30000, plan.to_gather / cost)::integer);
  end if;
  if among_newest and words is not null and not is_few and plan.to_gather > 3000 then
    select walked.ids, walked.keys into ids, keys
    from private.walk_ranges(plan, greatest(300, 3000 / greatest(plan.ranges, 1))) as walked;
    return;
  end if;
  for attempt in 1 .. 2 loop
    exit when is_few or to_pass * cost > plan.to_gather;
    found := private.walk_ranges(plan, depth);
    if found.is_complete then
      ids := found.ids;
      keys := found.keys;
      return;
    elsif plan.to_gather is null then
      plan := private.with_source(plan, strategy);
    end if;
    to_pass := case when found.ids = '{}' then private.expected_listings(plan)
      else depth::double precision * plan.ranges * size / cardinality(found.ids) end;
    -- If matches stay equally frequent, half the depth of the next scan is enough for a full page.
    depth := least(2 * to_pass, 2000000000);
  end loop;
  found := private.gather_listings(plan);
  ids := found.ids;
  keys := found.keys;
end
$$;
comment on function private.find_listings is
  'Returns the first listings in sort order (in any order if sort is null) and their sort keys. '
  'after_key and after_id: only listings after this one. among: only these ids. among_newest: if '
  'more than about 3,000 listings have the words, only the first 3,000 of the ranges are searched.';
