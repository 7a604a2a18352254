-- The one way in which listings are found: walk, then one estimate, then walk on or gather.
--
-- A page of something common is full after a few steps along the lanes of its plan, while another
-- index would first gather all matches; something rare is gathered at once, while a walk would pass
-- nearly everything. By itself the planner decides by averages, and walks a million rows for two
-- frequent words that never meet. So it is asked for estimates only: of the words before a walk, and
-- of the listings in the lanes after one, when what the walk has met tells how many of them match.

create function private.walk_lanes(
  plan private.search_plan, depth integer, out ids uuid[], out keys text[], out is_complete boolean
)
  language plpgsql
  stable
  set search_path = ''
  -- Else what is thought to be little is sorted, and not walked.
  set enable_sort = off
  set enable_bitmapscan = off
  set enable_seqscan = off
as $$
declare
  lanes text := '(select) as of_all';
  lane text := 'true';
begin
  for n in 1 .. cardinality(plan.compared) loop
    lanes := lanes || format(' cross join unnest(%s) as of_%s (value)', plan.choices[n], n);
    lane := lane || format(' and %s = of_%s.value', plan.compared[n], n);
  end loop;
  lane := lane || plan.bounds || plan.after;
  execute format('select array_agg(property_id), array_agg(key::text) from (select hits.* from %1$s '
    'cross join lateral (select search_documents.property_id, search_documents.key from ('
    'select *, %2$s as key from private.search_documents where %3$s '
    'order by key%4$s, property_id%4$s limit $3) as search_documents where %5$s '
    'limit ($2).size) as hits order by hits.key%4$s, hits.property_id%4$s limit ($2).size) as page',
    lanes, plan.key, lane, plan.direction, plan.conditions)
  into ids, keys using plan.wanted, plan, depth;
  ids := coalesce(ids, '{}');
  keys := coalesce(keys, '{}');
  is_complete := cardinality(ids) = plan.size and plan.lanes = 1;
  if not is_complete then
    -- What a lane has left does not matter where it comes after the end of the page.
    execute format('select not exists (select from %s cross join lateral (select from '
      '(select %s as key, property_id from private.search_documents where %s%s '
      'order by key%s, property_id%5$s limit $3) as walked offset $3 - 1) as last)',
      lanes, plan.key, lane, case when cardinality(ids) = plan.size then format(
        ' and (%s, search_documents.property_id) %s ($4::%s, $5)', plan.key,
        case plan.direction when '' then '<=' else '>=' end, plan.key_type) end, plan.direction)
    into is_complete using plan.wanted, plan, depth, keys[plan.size], ids[plan.size];
  end if;
end
$$;
comment on function private.walk_lanes is
  'The first listings of a plan that are met by walking each of its lanes so many rows far. Complete: '
  'there is no other that belongs on the page.';

create function private.gather_listings(
  plan private.search_plan, out ids uuid[], out keys text[]
)
  language plpgsql
  stable
  set search_path = ''
  set enable_seqscan = off -- else what is thought frequent is looked for in all listings
as $$
begin
  -- With offset 0, or the planner would walk, or join the bitmap of another index to it.
  execute format('select array_agg(property_id), array_agg(key::text) from (select * from (select '
    'search_documents.property_id, %1$s as key from (select * from private.search_documents where %2$s '
    'offset 0) as search_documents where %3$s%4$s offset 0) as gathered '
    'order by key%5$s, property_id%5$s limit ($2).size) as page',
    plan.key, plan.found_by, plan.conditions, plan.after, plan.direction)
  into ids, keys using plan.wanted, plan;
  ids := coalesce(ids, '{}');
  keys := coalesce(keys, '{}');
end
$$;
comment on function private.gather_listings is
  'The first listings of a plan among all that some condition finds.';

create function private.expected_listings(plan private.search_plan, condition text)
  returns double precision
  language plpgsql
  volatile -- Postgres refuses EXPLAIN in a stable function
  set search_path = ''
as $$
declare
  explained json;
begin
  execute 'explain (format json) select from private.search_documents where ' || condition
    into explained using plan.wanted, plan;
  return explained -> 0 -> 'Plan' -> 'Plan Rows';
end
$$;
comment on function private.expected_listings is
  'How many listings the planner expects where a condition holds.';

create function private.listings_in_lanes(plan private.search_plan) returns double precision
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.expected_listings(plan, coalesce((
    select string_agg(format('%s = any (%s)', lane.compared, lane.choices), ' and ')
    from unnest(plan.compared, plan.choices) as lane (compared, choices)
  ), 'true'));
end
$$;
comment on function private.listings_in_lanes is 'How many listings stand in the lanes of a plan.';

create function private.with_source(plan private.search_plan, strategy text)
  returns private.search_plan
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  wanted constant private.search_filters := plan.wanted;
  terms constant tsquery := private.search_terms(wanted);
  source text;
  expected double precision;
begin
  plan.asked := coalesce(plan.words && terms, plan.words, terms);
  if plan.among is not null then
    plan.found_by := 'search_documents.property_id = any (($2).among)';
    return plan;
  elsif num_nonnulls(wanted.bbox, wanted.near) > 0 then
    plan.cells := private.search_cells(private.search_rectangle(wanted));
  end if;
  foreach source in array array_remove(array[
    case when num_nonnulls(wanted."ownerId", wanted."companyId") > 0 then
      'search_documents.owner_identity_id = coalesce(($1)."ownerId", ($1)."companyId")' end,
    case strategy
      when 'auction' then 'search_documents.auction_ends_at > now()'
      when 'deal' then 'search_documents.drop_pct is not null' end,
    case when plan.asked is not null then 'search_documents.document @@ ($2).asked' end,
    case when num_nonnulls(wanted."priceMin", wanted."priceMax") = 2 then
      'search_documents.price between ($1)."priceMin" and ($1)."priceMax"' end,
    -- The planner knows of no box how many listings it holds, but of these cells it does.
    case when cardinality(plan.cells) <= 64 then
      'private.search_cell(search_documents.lat, search_documents.lng) = any (($2).cells)' end
  ], null) loop
    expected := private.expected_listings(plan, source);
    if plan.words is not null and source = 'search_documents.document @@ ($2).asked' then
      -- The planner takes words that are not frequent to be in one of a thousand listings, but all were
      -- counted. A query is made of what has to be there, or alternatives in brackets.
      expected := greatest(1, least(expected, (
        select min(asked.listings)
        from (
          select sum(coalesce(search_vocabulary.listings, 10)) as listings
          from string_to_table(plan.words::text, '&') with ordinality as given (alternatives, place)
          cross join regexp_matches(given.alternatives, '''([^'']+)''', 'g') as alternative
          left join private.search_vocabulary on search_vocabulary.word = alternative[1]
          group by given.place
          having bool_and(alternative[1] ~ '^[^0-9:]{3,}$')
        ) as asked
      )));
    end if;
    if plan.found_by is null or expected < plan.to_gather then
      plan.found_by := source;
      plan.to_gather := expected;
    end if;
  end loop;
  if plan.found_by is null then
    plan.found_by := plan.conditions;
    plan.to_gather := private.expected_listings(plan, plan.conditions);
  end if;
  return plan;
end
$$;
comment on function private.with_source is
  'A plan with what an index finds all matches by: those among some listings, or of an owner, auctions, '
  'deals, what the text index finds, a range of prices, or what is in the cells of a box, whichever are '
  'fewest.';

create function private.find_listings(
  strategy text, sort text, wanted private.search_filters, words tsquery, among uuid[],
  without uuid[], after_key text, after_id uuid, size integer,
  out ids uuid[], out keys text[]
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  -- What finds few for sure is not walked for.
  is_few constant boolean := num_nonnulls(among, wanted."ownerId", wanted."companyId") > 0;
  plan private.search_plan;
  found record;
  depth integer; -- of each lane
  cost double precision; -- of passing a listing by, where gathering one is 1
  to_pass double precision;
begin
  ids := '{}';
  keys := '{}';
  if strategy in ('standard', 'deal', 'exchange')
    and (strategy = 'exchange') <> (wanted.type = 'EXCHANGE') then
    return;
  end if;
  if sort = 'newest' and num_nonnulls(among, without) = 0 then
    found := private.newest_listings(strategy, wanted, words, after_key, after_id, size);
    if found.is_complete then
      ids := found.ids;
      keys := found.keys;
      return;
    end if;
  end if;
  plan := private.search_plan(
    strategy, sort, wanted, words, among, without, after_key, after_id, size);
  if is_few or words is not null then
    plan := private.with_source(plan, strategy);
  end if;
  -- In vain it takes a millisecond or two: the newest stand side by side in the table, and of an index
  -- that tells all nothing else is read. Measured at a million listings.
  depth := greatest(300, case when plan.is_indexed then 8000 else 1500 end / greatest(plan.lanes, 1));
  cost := case
    when plan.is_indexed then 0.05
    when sort = 'newest' and plan.compared = '{}' then 0.2
    else 1
  end;
  if words is not null then
    to_pass := private.listings_in_lanes(plan) * least(size / plan.to_gather, 1);
    -- Such estimates are often twice too high: a listing can have several of the words.
    depth := greatest(depth, least(3 * to_pass, 30000)::integer);
  end if;
  for attempt in 1 .. 2 loop
    exit when is_few or to_pass * cost > plan.to_gather;
    found := private.walk_lanes(plan, depth);
    if found.is_complete then
      ids := found.ids;
      keys := found.keys;
      return;
    elsif plan.to_gather is null then
      plan := private.with_source(plan, strategy);
    end if;
    to_pass := case when found.ids = '{}' then private.listings_in_lanes(plan)
      else depth::double precision * plan.lanes * size / cardinality(found.ids) end;
    -- Twice as far as where the page will be full, if they are as frequent there.
    depth := least(2 * to_pass, 2000000000);
  end loop;
  found := private.gather_listings(plan);
  ids := found.ids;
  keys := found.keys;
end
$$;
comment on function private.find_listings is
  'The first listings of a search after a given one, in its order, with their sort keys: among some, '
  'or without some.';
