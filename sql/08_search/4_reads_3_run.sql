-- The one way in which listings are found: walk, then one estimate, then walk on or gather.
--
-- A page of something common is full after a few steps along the lanes of its plan, while another
-- index would first gather all matches; something rare is gathered at once, while a walk would pass
-- nearly everything. By itself the planner decides by averages, and walks a million rows for two
-- frequent words that never meet. So it is asked for estimates only: of the words before a walk, and
-- of the listings in the lanes after one, when what the walk has met tells how many of them match.

create function private.walk_lanes(
  plan private.search_plan, after_key text, after_id uuid, size integer, depth integer,
  out ids uuid[], out keys text[], out is_complete boolean
)
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  -- Else what is thought to be little is sorted, and not walked.
  set enable_sort = off
  set enable_bitmapscan = off
  set enable_seqscan = off
as $$
declare
  lanes text := '(select) as of_all';
  lane text := 'true';
  ending text := '';
begin
  for n in 1 .. cardinality(plan.compared) loop
    lanes := lanes || format(' cross join unnest(%s) as of_%s (value)', plan.choices[n], n);
    lane := lane || format(' and %s = of_%s.value', plan.compared[n], n);
  end loop;
  lane := lane || plan.bounds || case when after_id is not null then format(
    ' and (%s, search_documents.property_id) %s ($8::%s, $9)',
    plan.key, case plan.direction when '' then '>' else '<' end, plan.key_type) else '' end;
  execute format('select array_agg(property_id), array_agg(key::text) from (select hits.* from %1$s '
    'cross join lateral (select search_documents.property_id, search_documents.key from ('
    'select *, %2$s as key from private.search_documents where %3$s '
    'order by key%4$s, property_id%4$s limit $11) as search_documents where %5$s limit $10) as hits '
    'order by hits.key%4$s, hits.property_id%4$s limit $10) as page',
    lanes, plan.key, lane, plan.direction, plan.conditions)
  into ids, keys
    using plan.wanted, plan.words, plan.listings, plan.asked, plan.rectangle, plan.cells,
      plan.types, after_key, after_id, size, depth;
  ids := coalesce(ids, '{}');
  keys := coalesce(keys, '{}');
  is_complete := cardinality(ids) = size and plan.lanes = 1;
  if not is_complete then
    -- What a lane has left does not matter where it comes after the end of the page.
    if cardinality(ids) = size then
      ending := format(' and (%s, search_documents.property_id) %s ($10::%s, $12)', plan.key,
        case plan.direction when '' then '<=' else '>=' end, plan.key_type);
    end if;
    execute format('select not exists (select from %s cross join lateral (select from '
      '(select %s as key, property_id from private.search_documents where %s%s '
      'order by key%s, property_id%5$s limit $11) as walked offset $11 - 1) as last)',
      lanes, plan.key, lane, ending, plan.direction)
    into is_complete
      using plan.wanted, plan.words, plan.listings, plan.asked, plan.rectangle,
        plan.cells, plan.types, after_key, after_id, keys[size], depth, ids[size];
  end if;
end
$$;
comment on function private.walk_lanes is
  'The first listings of a plan that are met by walking each of its lanes so many rows far. Complete: '
  'there is no other that belongs on the page.';

create function private.gather_listings(
  plan private.search_plan, after_key text, after_id uuid, size integer,
  out ids uuid[], out keys text[]
)
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set enable_seqscan = off -- else what is thought frequent is looked for in all listings
as $$
begin
  -- With offset 0, or the planner would walk, or join the bitmap of another index to it.
  execute format('select array_agg(property_id), array_agg(key::text) from (select * from (select '
    'search_documents.property_id, %1$s as key from (select * from private.search_documents where %2$s '
    'offset 0) as search_documents where %3$s%4$s offset 0) as gathered '
    'order by key%5$s, property_id%5$s limit $9) as page',
    plan.key, plan.found_by, plan.conditions, case when after_id is not null then format(
      ' and (%s, search_documents.property_id) %s ($7::%s, $8)', plan.key,
      case plan.direction when '' then '>' else '<' end, plan.key_type) else '' end, plan.direction)
  into ids, keys
    using plan.wanted, plan.words, plan.listings, plan.asked, plan.rectangle, plan.cells,
      after_key, after_id, size;
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
    into explained
    using plan.wanted, plan.words, plan.listings, plan.asked, plan.rectangle, plan.cells,
      plan.types;
  return explained -> 0 -> 'Plan' -> 'Plan Rows';
end
$$;
comment on function private.expected_listings is
  'How many listings the planner expects where a condition holds. It knows the frequent words, and '
  'takes all others to be rare.';

create function private.counted_listings(asked tsquery) returns double precision
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
begin
  return (
    select min(place.listings)
    from (
      -- A query is made of words that all have to be there, or alternatives of them in brackets.
      select sum(coalesce(search_vocabulary.listings, 10)) as listings
      from string_to_table(asked::text, '&') with ordinality as asked_for (alternatives, place)
      cross join lateral regexp_matches(asked_for.alternatives, '''([^'']+)''', 'g') as alternative
      left join private.search_vocabulary on search_vocabulary.word = alternative[1]
      group by asked_for.place
      having bool_and(alternative[1] ~ '^[^0-9:]{3,}$')
    ) as place
  );
end
$$;
comment on function private.counted_listings is
  'How many listings have at most what is asked of their texts, as the vocabulary has counted; null '
  'where other things than words are asked everywhere. A word that is not counted (yet) is in few.';

create function private.listings_in_lanes(plan private.search_plan) returns double precision
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if plan.compared = '{}' then
    return (
      select greatest(pg_class.reltuples, 1) from pg_catalog.pg_class
      where pg_class.oid = 'private.search_documents'::regclass
    );
  end if;
  return private.expected_listings(plan, (
    select string_agg(format('%s = any (%s)', lane.compared, lane.choices), ' and ')
    from unnest(plan.compared, plan.choices) as lane (compared, choices)
  ));
end
$$;
comment on function private.listings_in_lanes is 'How many listings stand in the lanes of a plan.';

create function private.with_source(
  plan private.search_plan, strategy text, is_among boolean
) returns private.search_plan
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  terms constant tsquery := private.search_terms(plan.wanted);
  source text;
  expected double precision;
begin
  plan.asked := coalesce(plan.words && terms, plan.words, terms);
  if is_among then
    plan.found_by := 'search_documents.property_id = any ($3)';
    return plan;
  elsif num_nonnulls((plan.wanted).bbox, (plan.wanted).near) > 0 then
    plan.cells := private.search_cells(private.search_rectangle(plan.wanted));
  end if;
  foreach source in array array_remove(array[
    case when (plan.wanted)."companyId" is not null then
      'search_documents.owner_identity_id = ($1)."companyId"' end,
    case strategy
      when 'auction' then 'search_documents.auction_ends_at > now()'
      when 'deal' then 'search_documents.drop_pct is not null' end,
    case when plan.asked is not null then 'search_documents.document @@ $4' end,
    -- The planner knows of no box how many listings it holds, but of these cells it does.
    case when cardinality(plan.cells) <= 64 then
      'private.search_cell(search_documents.lat, search_documents.lng) = any ($6)' end
  ], null) loop
    expected := private.expected_listings(plan, source);
    if plan.words is not null and source = 'search_documents.document @@ $4' then
      -- The planner knows frequent words, and takes all others to be in one of a thousand listings.
      expected := greatest(1, least(expected, private.counted_listings(plan.words)));
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
  'A plan with what an index finds all matches by: those among some listings, or of a company, auctions, '
  'deals, what the text index finds, or what is in the cells of a box, whichever are fewest.';

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
  plan private.search_plan;
  -- What finds few for sure is not walked for.
  is_few constant boolean := num_nonnulls(among, wanted."companyId") > 0;
  depth integer; -- of each lane
  cost double precision; -- of passing a listing by, where gathering one is 1
  to_pass double precision;
  is_complete boolean := false;
begin
  if strategy in ('standard', 'deal', 'exchange')
    and (strategy = 'exchange') <> (wanted.type = 'EXCHANGE') then
    ids := '{}';
    keys := '{}';
    return;
  end if;
  if sort = 'newest' and num_nonnulls(words, among, without) = 0 then
    select newest.ids, newest.keys, newest.is_complete into ids, keys, is_complete
    from private.newest_listings(strategy, wanted, after_key, after_id, size) as newest;
    if is_complete then
      return;
    end if;
  end if;
  plan := private.search_plan(strategy, sort, wanted, words, among, without);
  if is_few or words is not null then
    plan := private.with_source(plan, strategy, among is not null);
  end if;
  if not is_few then
    -- In vain it takes a millisecond or two: the newest stand side by side in the table, and of an index
    -- that tells all nothing else is read. Measured at a million listings.
    depth := greatest(300, case when plan.is_indexed then 8000 else 1500 end
      / greatest(plan.lanes, 1));
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
    if words is null or to_pass * cost <= plan.to_gather then
      select walked.ids, walked.keys, walked.is_complete into ids, keys, is_complete
      from private.walk_lanes(plan, after_key, after_id, size, depth) as walked;
      if not is_complete then
        if words is null then
          plan := private.with_source(plan, strategy, false);
        end if;
        to_pass := case when ids = '{}' then private.listings_in_lanes(plan)
          else depth::double precision * plan.lanes * size / cardinality(ids) end;
        if to_pass * cost <= plan.to_gather then
          -- Twice as far as where the page will be full, if they are as frequent there.
          select walked.ids, walked.keys, walked.is_complete into ids, keys, is_complete
          from private.walk_lanes(
            plan, after_key, after_id, size, least(2 * to_pass, 2000000000)::integer) as walked;
        end if;
      end if;
    end if;
  end if;
  if not is_complete then
    select gathered.ids, gathered.keys into ids, keys
    from private.gather_listings(plan, after_key, after_id, size) as gathered;
  end if;
end
$$;
comment on function private.find_listings is
  'The first listings of a search after a given one, in its order, with their sort keys: among some, '
  'or without some.';
