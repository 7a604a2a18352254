-- Pages of the common searches, found by walking an index in their order.
--
-- The statements are static, so that a session plans them once. A walk goes through lanes: all
-- listings, those of an area, of a kind in an area, or of a type and kind. Each lane has an index that
-- holds all that is compared, and is walked 1,000 listings far, and 10,000 where that finds some. A
-- search that asks for more than plain filters, or that is not answered by then, is for
-- 4_reads_plans.sql.

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
create function private.has_plain_filters(strategy text, wanted private.search_filters)
  returns boolean
  language sql
  immutable
  return has_plain_filters.strategy in ('standard', 'exchange') and num_nonnulls(
    (has_plain_filters.wanted).usage, (has_plain_filters.wanted).is_direct,
    nullif((has_plain_filters.wanted).verified_only, false), (has_plain_filters.wanted).bbox,
    (has_plain_filters.wanted).near, (has_plain_filters.wanted).company_id,
    (has_plain_filters.wanted).request_year_min, (has_plain_filters.wanted).request_year_max
  ) = 0;
comment on function private.has_plain_filters is
  'Whether private.search_facts tells all that a search asks.';

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

create type private.search_walk as (ids uuid[], keys timestamptz[], complete boolean);
comment on type private.search_walk is
  'What a walk found, in its order, with the sort keys. Complete: as many as were asked for, or '
  'nothing is left.';

create function private.search_lane(
  area_id text, type text, kind text, since timestamptz, before_at timestamptz, before_id uuid,
  depth integer
) returns setof private.search_facts
  language sql
  stable
begin atomic
  (select facts.* from private.search_facts as facts
   where search_lane.area_id is null and search_lane.kind is null
     and facts.published_at >= search_lane.since and (facts.published_at, facts.property_id)
       < (search_lane.before_at, search_lane.before_id)
   order by facts.published_at desc, facts.property_id desc limit search_lane.depth)
  union all
  (select facts.* from private.search_facts as facts
   where facts.area_id = search_lane.area_id and search_lane.kind is null
     and facts.published_at >= search_lane.since and (facts.published_at, facts.property_id)
       < (search_lane.before_at, search_lane.before_id)
   order by facts.published_at desc, facts.property_id desc limit search_lane.depth)
  union all
  (select facts.* from private.search_facts as facts
   where facts.area_id = search_lane.area_id and facts.kind = search_lane.kind
     and facts.published_at >= search_lane.since and (facts.published_at, facts.property_id)
       < (search_lane.before_at, search_lane.before_id)
   order by facts.published_at desc, facts.property_id desc limit search_lane.depth)
  union all
  (select facts.* from private.search_facts as facts
   where facts.type = search_lane.type and facts.kind = search_lane.kind
     and facts.published_at >= search_lane.since and (facts.published_at, facts.property_id)
       < (search_lane.before_at, search_lane.before_id)
   order by facts.published_at desc, facts.property_id desc limit search_lane.depth);
end;
comment on function private.search_lane is
  'The newest listings of a lane in a span of time: of an area, a kind in an area, a type and kind, '
  'or all. What is null does not narrow it.';

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

create function private.walk_lanes(
  strategy text, wanted private.search_filters, before_at timestamptz, before_id uuid, size integer
) returns private.search_walk
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  all_types constant text[] := private.search_types(strategy, wanted.type);
  since constant timestamptz := coalesce(wanted.posted_since, '-infinity');
  -- The lanes: each of these areas with each of these types and kinds.
  areas text[] := '{null}';
  types text[] := '{null}';
  kinds text[] := '{null}';
  depth integer;
  walk private.search_walk;
begin
  -- A walk through all listings would pass by too many others.
  if cardinality(wanted.area_ids) <= 4 then
    areas := wanted.area_ids;
    if cardinality(wanted.area_ids) * cardinality(wanted.kinds) <= 4 then
      kinds := wanted.kinds;
    end if;
  elsif cardinality(wanted.kinds) <= 8 then
    types := all_types;
    kinds := wanted.kinds;
  end if;

  foreach depth in array array[1000, 10000] loop
    select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
    from (
      select fitting.property_id, fitting.published_at
      from unnest(areas) as of_area (id)
      cross join unnest(types) as of_type (id)
      cross join unnest(kinds) as of_kind (id)
      cross join lateral (
        select walked.property_id, walked.published_at
        from (
          select lane.* from private.search_lane(
            of_area.id, of_type.id, of_kind.id, since, before_at, before_id, depth) as lane
          order by lane.published_at desc, lane.property_id desc
          offset 0 -- what fits is asked here once, and not in each kind of lane
        ) as walked
        where private.fits_plain_filters(
          walked.type, walked.kind, walked.governorate_id, walked.area_id, walked.price,
          walked.area_m2, walked.bedrooms, walked.bathrooms, walked.furnished,
          walked.auction_ends_at,
          strategy, all_types, wanted.kinds, wanted.governorate_ids, wanted.area_ids,
          wanted.price_min, wanted.price_max, wanted.area_m2_min, wanted.area_m2_max,
          wanted.bedrooms_min, wanted.bathrooms_min, wanted.furnished)
        order by walked.published_at desc, walked.property_id desc
        limit size
      ) as fitting
      order by fitting.published_at desc, fitting.property_id desc
      limit size
    ) as hits;
    walk.complete := cardinality(walk.ids) = size
      and cardinality(areas) * cardinality(types) * cardinality(kinds) = 1;
    exit when walk.complete;
    -- What a lane has left does not matter if all of it comes after the end of the page.
    walk.complete := not exists (
      select from unnest(areas) as of_area (id)
      cross join unnest(types) as of_type (id)
      cross join unnest(kinds) as of_kind (id)
      cross join lateral (
        select from private.search_lane(
          of_area.id, of_type.id, of_kind.id, greatest(since, walk.keys[size]), before_at,
          before_id, depth)
        offset depth - 1
      ) as last
      where num_nonnulls(wanted.price_min, wanted.price_max) = 0 or of_type.id is null
        or private.has_price_between(of_type.id, of_kind.id, wanted.price_min, wanted.price_max)
    );
    exit when walk.complete or walk.ids is null;
    exit when depth * size / cardinality(walk.ids) > 20 * (
      -- Those that match are so many, if they are as frequent everywhere. Finding one in the text
      -- index and visiting it takes as long as passing twenty by.
      select cardinality(walk.ids) * pg_class.reltuples / depth from pg_catalog.pg_class
      where pg_class.oid = 'private.search_documents'::regclass);
  end loop;
  return walk;
end
$$;
comment on function private.walk_lanes is
  'The newest listings with plain filters. Not complete: gathering the few that there are is '
  'faster.';
