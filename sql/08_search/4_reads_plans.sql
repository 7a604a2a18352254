-- Finding a page of listings: by walking the table in the order asked for, else by other indexes.
--
-- A page of something common is full after a few steps of a walk, while another index would first
-- gather all matches; something rare is found at once by such an index, while a walk would pass
-- nearly everything. By itself the planner decides by averages, and walks a million rows for a rare
-- word. So it is asked only what it estimates well, namely what is surely rare, and that is
-- gathered at once. All else walks 2,000 rows, which takes a millisecond. If the page is not full
-- by then, at most about one in a hundred rows matches. Up to 1,000 of them are looked at one by
-- one (4_reads_common_words.sql); for more, how many the walk met tells whether to walk on or to
-- gather them all.

create type private.search_plan as (
  wanted private.search_filters,
  conditions text,
  key text,
  key_type text,
  direction text,
  branches text[],
  terms tsquery,
  box extensions.cube,
  strategy text
);
comment on type private.search_plan is
  'A search as constant pieces of SQL: the conditions, the sort key, and the branches of the table '
  'that are walked in its order; then what the other indexes are asked if walking is not enough.';

create function private.search_plan(strategy text, sort text, wanted private.search_filters)
  returns private.search_plan
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  plan private.search_plan;
  types text[] := case
    when wanted.type is not null then array[wanted.type]
    when strategy in ('standard', 'deal') then array['SALE', 'RENT']
    when strategy = 'exchange' then array['EXCHANGE']
    else array['SALE', 'RENT', 'EXCHANGE']
  end;
  kinds text[] := case when cardinality(wanted.kinds) <= 8 then wanted.kinds end;
  areas text[] := case when cardinality(wanted.area_ids) <= 4 then wanted.area_ids end;
  bounds text;
begin
  plan.strategy := strategy;
  plan.wanted := wanted;
  plan.conditions := private.search_conditions(strategy, wanted);
  plan.terms := private.search_terms(wanted);
  plan.box := private.search_box(wanted);
  plan.direction := case when sort in ('price_asc', 'ends_at', 'distance') then '' else ' desc' end;
  plan.key_type := case
    when sort in ('newest', 'ends_at') then 'timestamptz'
    when sort = 'distance' then 'double precision'
    else 'numeric'
  end;
  case sort
    when 'newest' then
      plan.key := 'search_documents.published_at';
      plan.branches := array(
        select 'search_documents.area_id = (($1).area_ids)[' || n || ']'
        from generate_subscripts(areas, 1) as n
      );
      bounds := case when wanted.posted_since is not null then
        ' and search_documents.published_at >= ($1).posted_since' end;
    when 'area_desc' then
      plan.key := 'search_documents.area_m2';
      plan.branches := array(
        select 'search_documents.kind = (($1).kinds)[' || n || ']'
        from generate_subscripts(kinds, 1) as n
      );
      bounds := case when wanted.area_m2_min is not null then
          ' and search_documents.area_m2 >= ($1).area_m2_min' else '' end
        || case when wanted.area_m2_max is not null then
          ' and search_documents.area_m2 <= ($1).area_m2_max' else '' end;
    when 'ends_at' then
      plan.key := 'search_documents.auction_ends_at';
      bounds := ' and search_documents.auction_ends_at > now()';
    when 'drop_desc' then
      plan.key := 'search_documents.drop_pct';
      bounds := ' and search_documents.drop_pct is not null';
    when 'distance' then
      plan.key := '(search_documents.place operator(extensions.<->) private.search_center($1))';
      bounds := ' and search_documents.place operator(extensions.<@) $4';
    else
      plan.key := case sort
        when 'price_asc' then 'coalesce(search_documents.price, 100000000000)'
        else 'coalesce(search_documents.price, -1)'
      end;
      plan.branches := array(
        select concat_ws(' and ', 'search_documents.type = ' || quote_literal(type),
          'search_documents.kind = (($1).kinds)[' || n || ']')
        from unnest(types) as type
        left join generate_subscripts(kinds, 1) as n on true
      );
      bounds := case when wanted.price_min is not null then
          ' and ' || plan.key || ' >= ($1).price_min' else '' end
        || case when wanted.price_max is not null then
          ' and ' || plan.key || ' <= ($1).price_max' else '' end;
  end case;
  plan.branches := array(
    select branch || coalesce(bounds, '')
    from unnest(coalesce(nullif(plan.branches, '{}'), '{true}')) as branch
  );
  return plan;
end
$$;
comment on function private.search_plan(text, text, private.search_filters) is
  'How a search in this order is done. A branch narrows the walk by the leading columns of its '
  'index: types and kinds differ in prices and sizes, and without them a walk would begin among '
  'all others.';

create function private.is_rare_match(
  conditions text, wanted private.search_filters, words tsquery
) returns boolean
  language plpgsql
  volatile -- Postgres refuses EXPLAIN in a stable function
  set search_path = ''
as $$
declare
  plan json;
  expected double precision;
  listings double precision := (
    select greatest(pg_class.reltuples, 1000) from pg_catalog.pg_class
    where pg_class.oid = 'private.search_documents'::regclass
  );
begin
  execute 'explain (format json) select from private.search_documents where ' || conditions
    into plan using wanted, words;
  expected := plan -> 0 -> 'Plan' -> 'Plan Rows';
  -- To fill a page of 20, a walk passes 20 * listings / expected rows and compares their words,
  -- while the text index gathers the expected ones. Within an area a walk is short in any case.
  return case
    when wanted.area_ids is not null then expected < case when words is null then 20 else 100 end
    when words is not null then expected ^ 2 < listings * (10 + 4 * numnode(words))
    else expected ^ 2 < listings * 5
  end;
end
$$;
comment on function private.is_rare_match is
  'Whether the planner expects so few listings that gathering them costs less than walking past '
  'the others. It knows the common words, and expects all others to be rare.';

create function private.walk_in_order(
  plan private.search_plan, words tsquery, without uuid[], after_key text, after_id uuid,
  size integer, depth integer,
  out ids uuid[], out keys text[], out is_complete boolean
)
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set enable_sort = off -- else a branch of thousands is read whole and sorted, and not walked
as $$
declare
  conditions text := plan.conditions
    || case when words is not null then ' and search_documents.document @@ $2' else '' end
    || case when without <> '{}' then ' and search_documents.property_id <> all ($8)' else '' end;
  after text := case when after_id is not null then format(
    ' and (%s, search_documents.property_id) %s ($5::%s, $6)',
    plan.key, case plan.direction when '' then '>' else '<' end, plan.key_type
  ) else '' end;
  statement text;
  found_in integer[]; -- the branch of each
  steps integer;
begin
  select format(
    'select array_agg(property_id order by key%1$s, property_id%1$s), '
    'array_agg(key::text order by key%1$s, property_id%1$s), array_agg(branch) from (',
    plan.direction) || string_agg(format(
    '(select search_documents.property_id, search_documents.key, %s as branch from ('
    'select *, %s as key from private.search_documents where %s%s '
    'order by key%s, property_id%5$s limit %s'
    ') as search_documents where %s order by key%5$s, property_id%5$s limit $7)',
    n, plan.key, branch, after, plan.direction, depth, conditions
  ), ' union all ') || ') as walked'
  into statement
  from unnest(plan.branches) with ordinality as branches (branch, n);
  execute statement into ids, keys, found_in
    using plan.wanted, words, plan.terms, plan.box, after_key, after_id, size, without;
  for n in 1 .. cardinality(plan.branches) loop
    -- A branch of fewer rows has given all its matches.
    if coalesce(cardinality(array_positions(found_in, n)), 0) < size then
      execute format(
        'select count(*) from (select from private.search_documents where %s%s limit %s) as w',
        plan.branches[n], after, depth
      ) into steps
        using plan.wanted, words, plan.terms, plan.box, after_key, after_id;
      is_complete := steps < depth;
      exit when not is_complete;
    end if;
  end loop;
  is_complete := coalesce(is_complete, true);
  ids := coalesce(ids, '{}');
  keys := coalesce(keys, '{}');
end
$$;
comment on function private.walk_in_order is
  'As private.search_hits, by walking the branches. Not complete: too few of what was passed by '
  'match.';

create function private.walk_as_planned(
  plan private.search_plan, words tsquery, without uuid[], after_key text, after_id uuid,
  size integer, depth integer,
  out ids uuid[], out keys text[], out is_complete boolean
)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if plan.key_type = 'double precision' then
    select * into ids, keys, is_complete
    from private.walk_by_distance(plan, words, without, after_key, after_id, size, depth);
  else
    select * into ids, keys, is_complete
    from private.walk_in_order(plan, words, without, after_key, after_id, size, depth);
  end if;
end
$$;
comment on function private.walk_as_planned is 'Walks in the order of a plan, so many listings far.';

create function private.gather_hits(
  plan private.search_plan, words tsquery, rare tsquery, among uuid[], without uuid[],
  after_key text, after_id uuid, size integer,
  out ids uuid[], out keys text[]
)
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  conditions text := plan.conditions
    || case when words is not null then ' and search_documents.document @@ $2' else '' end
    || case when without <> '{}' then ' and search_documents.property_id <> all ($9)' else '' end
    || case when after_id is not null then format(
      ' and (%s, search_documents.property_id) %s ($5::%s, $6)',
      plan.key, case plan.direction when '' then '>' else '<' end, plan.key_type
    ) else '' end;
  source text := 'private.search_documents';
  walk private.search_walk;
begin
  if among = '{}' then
    ids := '{}';
    keys := '{}';
    return;
  elsif num_nonnulls(among, rare) > 0 and plan.key = 'search_documents.published_at'
    and private.has_plain_filters(plan.strategy, plan.wanted) then
    -- The same as below, in a statement whose plan the connection keeps.
    walk := private.gather_for_words(
      plan.strategy, plan.wanted, case when among is null then rare end, among, words, without,
      coalesce(after_key, 'infinity')::timestamptz,
      coalesce(after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'));
    ids := coalesce(walk.ids[:size], '{}');
    keys := coalesce(walk.keys[:size]::text[], '{}');
    return;
  end if;
  if among is not null then
    -- With offset 0, or the planner would prefer the text index, which is what takes long.
    source := '(select * from private.search_documents where property_id = any ($8) offset 0) '
      'as search_documents';
  else
    if rare is not null then
      source := '(select * from private.search_documents where document @@ $10 offset 0) '
        'as search_documents';
    end if;
    conditions := conditions
      || case when plan.terms is not null then ' and search_documents.document @@ $3' else '' end
      -- The planner reads all listings where it expects many, and it knows of no box how many.
      || case when plan.box is not null and (
        num_nulls(words, plan.terms) = 2 or private.count_in_box(plan.wanted, 3000) < 3000
      ) then ' and search_documents.place operator(extensions.<@) $4' else '' end;
  end if;
  execute format(
    'select array_agg(property_id order by key%1$s, property_id%1$s), '
    'array_agg(key::text order by key%1$s, property_id%1$s) '
    'from (select * from (select search_documents.property_id, %2$s as key '
    'from %3$s where %4$s offset 0) as gathered '
    'order by key%1$s, property_id%1$s limit $7) as hits',
    plan.direction, plan.key, source, conditions
  ) into ids, keys
    using plan.wanted, words, plan.terms, plan.box, after_key, after_id, size, among, without,
      rare;
  ids := coalesce(ids, '{}');
  keys := coalesce(keys, '{}');
end
$$;
comment on function private.gather_hits is
  'As private.search_hits, by gathering all that match, or those among some. Rare: private.rare_words '
  'of the words, where nothing else says among which they are.';

create function private.search_hits(
  plan private.search_plan, words tsquery, among uuid[], without uuid[],
  after_key text, after_id uuid, size integer, walked_in_vain boolean,
  out ids uuid[], out keys text[]
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  asked constant tsquery := coalesce(words && plan.terms, words, plan.terms);
  is_newest constant boolean := plan.key = 'search_documents.published_at';
  -- Within an area a walk is short in any case.
  words_first constant boolean := is_newest and words is not null
    and (plan.wanted).area_ids is null;
  rare constant tsquery := case
    when among is null and words is not null then private.rare_words(words) end;
  depth integer := 2000;
  walked integer; -- how many the walk has met
  is_complete boolean;
begin
  if among is null and words_first and rare is null then
    select * into ids, keys, is_complete
    from private.newest_with(plan, words, asked, without, after_key, after_id, size);
    -- There are many, though maybe not among the newest.
    depth := case when is_complete is false then 5 * depth else depth end;
  end if;
  -- Five are found after a few steps or not at all: trying costs less than a wrong estimate.
  if among is null and is_complete is not true and not walked_in_vain and (
    asked is null or size <= 5 or is_newest and plan.box is not null or is_complete is false
    or rare is null and not private.is_rare_match(plan.conditions
      || case when words is not null then ' and search_documents.document @@ $2' else '' end,
      plan.wanted, words)
  ) then
    if is_newest and plan.box is not null then
      select * into ids, keys, is_complete
      from private.newest_in_box(plan, words, without, after_key, after_id, size);
    end if;
    if is_complete is not true then
      select * into ids, keys, is_complete
      from private.walk_as_planned(plan, words, without, after_key, after_id, size, depth);
      walked := nullif(cardinality(ids), 0);
    end if;
  end if;
  if among is null and is_complete is not true and asked is not null then
    if not is_newest then
      among := private.listings_with(plan.strategy, asked, 500);
    elsif not words_first then
      select * into ids, keys, is_complete
      from private.newest_with(plan, words, asked, without, after_key, after_id, size);
    end if;
  end if;
  if among is null and is_complete is not true and depth * size / walked <= 2 * (
    -- A longer walk must not pass by more than there is to gather, if they are as frequent as here.
    select walked * pg_class.reltuples / depth from pg_catalog.pg_class
    where pg_class.oid = 'private.search_documents'::regclass
  ) then
    select * into ids, keys, is_complete
    from private.walk_as_planned(plan, words, without, after_key, after_id, size, 5 * depth);
  end if;
  if is_complete is not true then
    select * into ids, keys
    from private.gather_hits(plan, words, rare, among, without, after_key, after_id, size);
  end if;
  ids := ids[1:size];
  keys := keys[1:size];
end
$$;
comment on function private.search_hits is
  'The first listings of a plan after a given one, in its order, with their sort keys.';
