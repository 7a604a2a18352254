-- The lanes of walks (4_reads_walks.sql): all listings, those of an area, of a kind in an area, or of
-- a type and kind. Each has an index that holds all that is compared.

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

-- Those without a search_path are planned into the statements and expressions that use them, as
-- private.may_act (03_accounts/2_rules_access.sql).
create function private.search_types(strategy text, type text) returns text[]
  language sql
  immutable
  return case
    when (search_types.strategy = 'exchange') <> (search_types.type = 'EXCHANGE') then '{}'::text[]
    when search_types.type is not null then array[search_types.type]
    when search_types.strategy = 'exchange' then '{EXCHANGE}'
    else '{SALE,RENT}'
  end;
comment on function private.search_types is 'Where a search with plain filters has to look.';

create function private.fits_plain_filters(
  facts private.search_facts, strategy text, types text[], kinds text[], governorate_ids text[],
  area_ids text[], price_min numeric, price_max numeric, area_m2_min numeric, area_m2_max numeric,
  bedrooms_min smallint, bathrooms_min smallint, furnished text[]
) returns boolean
  language sql
  stable
  return
    (types is null or (facts).type = any (types))
    and (kinds is null or (facts).kind = any (kinds))
    and (bedrooms_min is null or (facts).bedrooms >= bedrooms_min)
    and (fits_plain_filters.furnished is null or (facts).furnished = any (fits_plain_filters.furnished))
    and (price_min is null or (facts).price >= price_min)
    and (price_max is null or (facts).price <= price_max)
    and (area_ids is null or (facts).area_id = any (area_ids))
    and (governorate_ids is null or (facts).governorate_id = any (governorate_ids))
    and (bathrooms_min is null or (facts).bathrooms >= bathrooms_min)
    and (area_m2_min is null or (facts).area_m2 >= area_m2_min)
    and (area_m2_max is null or (facts).area_m2 <= area_m2_max)
    and (strategy = 'exchange' or ((facts).auction_ends_at > now()) is not true);
comment on function private.fits_plain_filters is
  'What private.search_conditions says, of plain filters: for statements that are planned once. '
  'Filter by filter, because taking them out of a row for each listing takes longer than comparing '
  'them.';

create type private.search_walk as (ids uuid[], keys timestamptz[], complete boolean);
comment on type private.search_walk is
  'What a walk found, in its order, with the sort keys. Complete: as many as were asked for, or '
  'nothing is left.';

create function private.newest_listings(
  since timestamptz, before_at timestamptz, before_id uuid, depth integer
) returns setof private.search_facts
  language sql
  stable
begin atomic
  select facts.* from private.search_facts as facts
  where facts.published_at >= since
    and (facts.published_at, facts.property_id) < (before_at, before_id)
  order by facts.published_at desc, facts.property_id desc
  limit depth;
end;
comment on function private.newest_listings is
  'The newest listings in a span of time.';

create function private.newest_in_area(
  area_id text, since timestamptz, before_at timestamptz, before_id uuid, depth integer
) returns setof private.search_facts
  language sql
  stable
begin atomic
  select facts.* from private.search_facts as facts
  where facts.area_id = newest_in_area.area_id and facts.published_at >= since
    and (facts.published_at, facts.property_id) < (before_at, before_id)
  order by facts.published_at desc, facts.property_id desc
  limit depth;
end;
comment on function private.newest_in_area is
  'The newest listings of an area in a span of time.';

create function private.newest_of_kind_in_area(
  area_id text, kind text, since timestamptz, before_at timestamptz, before_id uuid, depth integer
) returns setof private.search_facts
  language sql
  stable
begin atomic
  select facts.* from private.search_facts as facts
  where facts.area_id = newest_of_kind_in_area.area_id
    and facts.kind = newest_of_kind_in_area.kind and facts.published_at >= since
    and (facts.published_at, facts.property_id) < (before_at, before_id)
  order by facts.published_at desc, facts.property_id desc
  limit depth;
end;
comment on function private.newest_of_kind_in_area is
  'The newest listings of a kind in an area in a span of time.';

create function private.newest_of_type_and_kind(
  type text, kind text, since timestamptz, before_at timestamptz, before_id uuid, depth integer
) returns setof private.search_facts
  language sql
  stable
begin atomic
  select facts.* from private.search_facts as facts
  where facts.type = newest_of_type_and_kind.type
    and facts.kind = newest_of_type_and_kind.kind and facts.published_at >= since
    and (facts.published_at, facts.property_id) < (before_at, before_id)
  order by facts.published_at desc, facts.property_id desc
  limit depth;
end;
comment on function private.newest_of_type_and_kind is
  'The newest listings of a type and kind in a span of time.';

create function private.search_lane(
  area_id text, type text, kind text, since timestamptz, before_at timestamptz, before_id uuid,
  depth integer
) returns setof private.search_facts
  language sql
  stable
begin atomic
  select lane.* from private.newest_listings(since, before_at, before_id, depth) as lane
  where search_lane.area_id is null and search_lane.kind is null
  union all
  select lane.* from private.newest_in_area(area_id, since, before_at, before_id, depth) as lane
  where search_lane.kind is null
  union all
  select lane.*
  from private.newest_of_kind_in_area(area_id, kind, since, before_at, before_id, depth) as lane
  union all
  select lane.*
  from private.newest_of_type_and_kind(type, kind, since, before_at, before_id, depth) as lane
  offset 0; -- so that what is asked of them is asked once, and not in each statement
end;
comment on function private.search_lane is
  'The newest listings of a lane in a span of time, in order, because one of the statements gives '
  'them all. What is null does not narrow it.';

create function private.walk_lane(
  area_id text, type text, kind text, since timestamptz, before_at timestamptz, before_id uuid,
  depth integer, strategy text, types text[], wanted private.search_filters, size integer
) returns private.search_walk
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  walk private.search_walk;
  -- For each listing that is passed by, a variable is read faster than a field.
  kinds constant text[] := wanted.kinds;
  governorate_ids constant text[] := wanted.governorate_ids;
  area_ids constant text[] := wanted.area_ids;
  price_min constant numeric := wanted.price_min;
  price_max constant numeric := wanted.price_max;
  area_m2_min constant numeric := wanted.area_m2_min;
  area_m2_max constant numeric := wanted.area_m2_max;
  bedrooms_min constant smallint := wanted.bedrooms_min;
  bathrooms_min constant smallint := wanted.bathrooms_min;
  furnishing constant text[] := wanted.furnished;
begin
  if area_id is not null and kind is not null then
    select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
    from (
      select lane.property_id, lane.published_at
      from private.newest_of_kind_in_area(area_id, kind, since, before_at, before_id, depth) as lane
      where private.fits_plain_filters(lane,
        strategy, types, null, governorate_ids, null, price_min, price_max,
        area_m2_min, area_m2_max, bedrooms_min, bathrooms_min, furnishing)
      limit size
    ) as hits;
  elsif area_id is not null then
    select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
    from (
      select lane.property_id, lane.published_at
      from private.newest_in_area(area_id, since, before_at, before_id, depth) as lane
      where private.fits_plain_filters(lane,
        strategy, types, kinds, governorate_ids, null, price_min, price_max,
        area_m2_min, area_m2_max, bedrooms_min, bathrooms_min, furnishing)
      limit size
    ) as hits;
  elsif kind is not null then
    select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
    from (
      select lane.property_id, lane.published_at
      from private.newest_of_type_and_kind(type, kind, since, before_at, before_id, depth) as lane
      where private.fits_plain_filters(lane,
        strategy, null, null, governorate_ids, area_ids, price_min, price_max,
        area_m2_min, area_m2_max, bedrooms_min, bathrooms_min, furnishing)
      limit size
    ) as hits;
  else
    select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
    from (
      select lane.property_id, lane.published_at
      from private.newest_listings(since, before_at, before_id, depth) as lane
      where private.fits_plain_filters(lane,
        strategy, types, kinds, governorate_ids, area_ids, price_min, price_max,
        area_m2_min, area_m2_max, bedrooms_min, bathrooms_min, furnishing)
      limit size
    ) as hits;
  end if;
  walk.complete := cardinality(walk.ids) = size;
  return walk;
end
$$;
comment on function private.walk_lane is
  'The first that fit of private.search_lane. A statement for each kind of lane, because starting '
  'all four takes half as long as the walk, and each compares only what its lane leaves open.';
