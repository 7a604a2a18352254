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

create function private.walk_area_kind(
  strategy text, wanted private.search_filters, area text, kind text, before_at timestamptz,
  before_id uuid, size integer, depth integer
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
      where facts.area_id = area and facts.kind = walk_area_kind.kind
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
    where facts.area_id = area and facts.kind = walk_area_kind.kind
      and facts.published_at >= since
      and (facts.published_at, facts.property_id) < (before_at, before_id)
    order by facts.published_at desc, facts.property_id desc
    offset depth - 1 limit 1;
  end if;
  walk.complete := walk.reached is null;
  return walk;
end
$$;
comment on function private.walk_area_kind is
  'Walks the listings of a kind in an area, the newest first.';

create function private.walk_kind(
  strategy text, wanted private.search_filters, type text, kind text, before_at timestamptz,
  before_id uuid, size integer, depth integer
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
