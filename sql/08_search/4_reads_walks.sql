-- Pages of the common searches, found by walking an index in their order.
--
-- These statements are static, so that a session plans them once. Each walks an index that holds
-- all that it compares, 1,000 listings far, and 10,000 where that finds some. A search that asks
-- for more than plain filters, or that is not answered by then, is for 4_reads_plans.sql.

create view private.search_facts with (security_invoker = true) as
  select
    search_documents.property_id,
    search_documents.published_at,
    search_documents.type,
    search_documents.kind,
    search_documents.governorate_id,
    search_documents.area_id,
    search_documents.price,
    search_documents.area_m2,
    search_documents.bedrooms,
    search_documents.bathrooms,
    search_documents.furnished,
    search_documents.auction_ends_at
  from private.search_documents;
comment on view private.search_facts is
  'What the indexes of walks hold of a listing. Reading more would mean to visit the table.';

create function private.has_plain_filters(strategy text, wanted private.search_filters)
  returns boolean
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return strategy in ('standard', 'exchange') and num_nonnulls(
    wanted.usage, wanted.is_direct, nullif(wanted.verified_only, false), wanted.bbox, wanted.near,
    wanted.company_id, wanted.request_year_min, wanted.request_year_max
  ) = 0;
end
$$;
comment on function private.has_plain_filters is
  'Whether private.search_facts tells all that a search asks.';

create function private.fits_plain_filters(
  type text, kind text, governorate_id text, area_id text, price numeric, area_m2 numeric,
  bedrooms smallint, bathrooms smallint, furnished text, auction_ends_at timestamptz,
  strategy text, types text[], kinds text[], governorate_ids text[], area_ids text[],
  price_min numeric, price_max numeric, area_m2_min numeric, area_m2_max numeric,
  bedrooms_min smallint, bathrooms_min smallint, wanted_furnished text
) returns boolean
  language sql
  stable
  return
    type = any (types)
    and (kinds is null or kind = any (kinds))
    and (bedrooms_min is null or bedrooms >= bedrooms_min)
    and (wanted_furnished is null or furnished = wanted_furnished)
    and (price_min is null or price >= price_min)
    and (price_max is null or price <= price_max)
    and (area_ids is null or area_id = any (area_ids))
    and (governorate_ids is null or governorate_id = any (governorate_ids))
    and (bathrooms_min is null or bathrooms >= bathrooms_min)
    and (area_m2_min is null or area_m2 >= area_m2_min)
    and (area_m2_max is null or area_m2 <= area_m2_max)
    and (strategy = 'exchange' or (auction_ends_at > now()) is not true);
comment on function private.fits_plain_filters is
  'What private.search_conditions says, of plain filters: for statements that are planned once. '
  'Filter by filter, because taking them out of a row for each listing takes longer than comparing '
  'them.';

create type private.search_walk as (
  ids uuid[], keys text[], complete boolean, reached timestamptz
);
comment on type private.search_walk is
  'What a walk found, in its order, with the sort keys. Complete: as many as were asked for, or '
  'nothing is left; else reached says how far it went.';

create function private.walk_newest(
  strategy text, wanted private.search_filters, before_at timestamptz, before_id uuid, size integer,
  depth integer
) returns private.search_walk
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  types constant text[] := private.search_types(strategy, wanted.type);
  since constant timestamptz := coalesce(wanted.posted_since, '-infinity');
  walk private.search_walk;
begin
  select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
  from (
    select walked.property_id, walked.published_at
    from (
      select facts.* from private.search_facts as facts
      where facts.published_at >= since
        and (facts.published_at, facts.property_id) < (before_at, before_id)
      order by facts.published_at desc, facts.property_id desc
      limit depth
    ) as walked
    where private.fits_plain_filters(
      walked.type, walked.kind, walked.governorate_id, walked.area_id, walked.price,
      walked.area_m2, walked.bedrooms, walked.bathrooms, walked.furnished, walked.auction_ends_at,
      strategy, types, wanted.kinds, wanted.governorate_ids, wanted.area_ids, wanted.price_min,
      wanted.price_max, wanted.area_m2_min, wanted.area_m2_max, wanted.bedrooms_min,
      wanted.bathrooms_min, wanted.furnished)
    order by walked.published_at desc, walked.property_id desc
    limit size
  ) as hits;
  if coalesce(cardinality(walk.ids), 0) < size then
    select facts.published_at into walk.reached from private.search_facts as facts
    where facts.published_at >= since
      and (facts.published_at, facts.property_id) < (before_at, before_id)
    order by facts.published_at desc, facts.property_id desc
    offset depth - 1 limit 1;
  end if;
  walk.complete := walk.reached is null;
  return walk;
end
$$;
comment on function private.walk_newest is 'Walks all listings, the newest first.';

create function private.walk_area(
  strategy text, wanted private.search_filters, area text, before_at timestamptz, before_id uuid,
  size integer, depth integer
) returns private.search_walk
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  types constant text[] := private.search_types(strategy, wanted.type);
  since constant timestamptz := coalesce(wanted.posted_since, '-infinity');
  walk private.search_walk;
begin
  select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
  from (
    select walked.property_id, walked.published_at
    from (
      select facts.* from private.search_facts as facts
      where facts.area_id = area and facts.published_at >= since
        and (facts.published_at, facts.property_id) < (before_at, before_id)
      order by facts.published_at desc, facts.property_id desc
      limit depth
    ) as walked
    where private.fits_plain_filters(
      walked.type, walked.kind, walked.governorate_id, walked.area_id, walked.price,
      walked.area_m2, walked.bedrooms, walked.bathrooms, walked.furnished, walked.auction_ends_at,
      strategy, types, wanted.kinds, wanted.governorate_ids, wanted.area_ids, wanted.price_min,
      wanted.price_max, wanted.area_m2_min, wanted.area_m2_max, wanted.bedrooms_min,
      wanted.bathrooms_min, wanted.furnished)
    order by walked.published_at desc, walked.property_id desc
    limit size
  ) as hits;
  if coalesce(cardinality(walk.ids), 0) < size then
    select facts.published_at into walk.reached from private.search_facts as facts
    where facts.area_id = area and facts.published_at >= since
      and (facts.published_at, facts.property_id) < (before_at, before_id)
    order by facts.published_at desc, facts.property_id desc
    offset depth - 1 limit 1;
  end if;
  walk.complete := walk.reached is null;
  return walk;
end
$$;
comment on function private.walk_area is 'Walks the listings of an area, the newest first.';

create function private.walk_kind(
  strategy text, wanted private.search_filters, type text, kind text, before_at timestamptz,
  before_id uuid, size integer,
  depth integer
) returns private.search_walk
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  types constant text[] := private.search_types(strategy, wanted.type);
  since constant timestamptz := coalesce(wanted.posted_since, '-infinity');
  walk private.search_walk;
begin
  select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
  from (
    select walked.property_id, walked.published_at
    from (
      select facts.* from private.search_facts as facts
      where facts.type = walk_kind.type and facts.kind = walk_kind.kind
        and facts.published_at >= since
        and (facts.published_at, facts.property_id) < (before_at, before_id)
      order by facts.published_at desc, facts.property_id desc
      limit depth
    ) as walked
    where private.fits_plain_filters(
      walked.type, walked.kind, walked.governorate_id, walked.area_id, walked.price,
      walked.area_m2, walked.bedrooms, walked.bathrooms, walked.furnished, walked.auction_ends_at,
      strategy, types, wanted.kinds, wanted.governorate_ids, wanted.area_ids, wanted.price_min,
      wanted.price_max, wanted.area_m2_min, wanted.area_m2_max, wanted.bedrooms_min,
      wanted.bathrooms_min, wanted.furnished)
    order by walked.published_at desc, walked.property_id desc
    limit size
  ) as hits;
  if coalesce(cardinality(walk.ids), 0) < size then
    select facts.published_at into walk.reached from private.search_facts as facts
    where facts.type = walk_kind.type and facts.kind = walk_kind.kind
      and facts.published_at >= since
      and (facts.published_at, facts.property_id) < (before_at, before_id)
    order by facts.published_at desc, facts.property_id desc
    offset depth - 1 limit 1;
  end if;
  walk.complete := walk.reached is null;
  return walk;
end
$$;
comment on function private.walk_kind is
  'Walks the listings of a type and kind, the newest first.';

create function private.search_types(strategy text, type text) returns text[]
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return array(
    select strategy_type
    from unnest(case strategy when 'exchange' then array['EXCHANGE'] else array['SALE', 'RENT'] end)
      as strategy_type
    where strategy_type = type or type is null
  );
end
$$;
comment on function private.search_types is 'Where a search with plain filters has to look.';

create function private.merge_walks(branches private.search_walk[], size integer)
  returns private.search_walk
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  walk private.search_walk;
begin
  select
    array_agg(hit.id order by hit.key desc, hit.id desc),
    array_agg(hit.key order by hit.key desc, hit.id desc)
  into walk.ids, walk.keys
  from (
    -- An area that is named twice is walked twice.
    select distinct hit.id, hit.key
    from unnest(branches) as branch
    cross join unnest(branch.ids, branch.keys) as hit (id, key)
  ) as hit;
  -- What a branch has left does not matter if all of it comes after the end of the page.
  walk.complete := not exists (
    select from unnest(branches) as branch
    where not branch.complete
      and coalesce(branch.reached >= walk.keys[size]::timestamptz, true)
  );
  return walk;
end
$$;
comment on function private.merge_walks is 'What several walks found, the newest first.';

create function private.has_price_between(
  type text, kind text, price_min numeric, price_max numeric
) returns boolean
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  low constant numeric := coalesce(price_min, 0);
  high constant numeric := coalesce(price_max, 99999999999.999);
begin
  perform from private.search_documents as listing
  where listing.type = has_price_between.type and listing.kind = has_price_between.kind
    and coalesce(listing.price, 100000000000) between low and high
  order by coalesce(listing.price, 100000000000)
  limit 1;
  return found;
end
$$;
comment on function private.has_price_between is
  'Whether a type and kind has any listing with such a price: no rent is a price of sale.';

create function private.walk_branches(
  strategy text, wanted private.search_filters, before_at timestamptz, before_id uuid, size integer,
  depth integer
) returns private.search_walk
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  area text;
  type text;
  kind text;
  branches private.search_walk[] := '{}';
begin
  if cardinality(wanted.area_ids) <= 4 then
    foreach area in array wanted.area_ids loop
      branches := branches
        || private.walk_area(strategy, wanted, area, before_at, before_id, size, depth);
    end loop;
  elsif cardinality(wanted.kinds) <= 8 then
    foreach type in array private.search_types(strategy, wanted.type) loop
      foreach kind in array wanted.kinds loop
        continue when num_nulls(wanted.price_min, wanted.price_max) < 2
          and not private.has_price_between(type, kind, wanted.price_min, wanted.price_max);
        branches := branches
          || private.walk_kind(strategy, wanted, type, kind, before_at, before_id, size, depth);
      end loop;
    end loop;
  else
    return private.walk_newest(strategy, wanted, before_at, before_id, size, depth);
  end if;
  if cardinality(branches) = 1 then
    return branches[1];
  end if;
  return private.merge_walks(branches, size);
end
$$;
comment on function private.walk_branches(
  text, private.search_filters, timestamptz, uuid, integer, integer
) is
  'Walks each area, else each type and kind, for itself: a walk through all listings would pass by '
  'too many others.';

create function private.walk_branches(
  strategy text, wanted private.search_filters, before_at timestamptz, before_id uuid, size integer
) returns private.search_walk
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  depth integer;
  walk private.search_walk;
begin
  foreach depth in array array[1000, 10000] loop
    walk := private.walk_branches(strategy, wanted, before_at, before_id, size, depth);
    exit when walk.complete or walk.ids is null or depth * size / cardinality(walk.ids) > 20 * (
      -- Those that match are so many, if they are as frequent everywhere. Finding one in the text
      -- index and visiting it takes as long as passing twenty by.
      select cardinality(walk.ids) * pg_class.reltuples / depth from pg_catalog.pg_class
      where pg_class.oid = 'private.search_documents'::regclass);
  end loop;
  return walk;
end
$$;
comment on function private.walk_branches(
  text, private.search_filters, timestamptz, uuid, integer
) is
  'The same, 1,000 listings far, and 10,000 where that finds some, but not all: gathering the few '
  'that there are is faster.';
