-- Pages of the common searches, found by walking an index in their order.
--
-- The statements are static, so that a session plans them once. A walk goes through lanes
-- (4_reads_lanes.sql), 1,000 listings far, and 10,000 where that finds some. A search that asks for
-- more than plain filters, or that is not answered by then, is for 4_reads_plans.sql.

create function private.has_plain_filters(strategy text, wanted private.search_filters)
  returns boolean
  language sql
  immutable
  return has_plain_filters.strategy in ('standard', 'exchange') and num_nonnulls(
    (has_plain_filters.wanted).usage, (has_plain_filters.wanted).is_direct,
    nullif((has_plain_filters.wanted).verified_only, false), (has_plain_filters.wanted).bbox,
    (has_plain_filters.wanted).near, (has_plain_filters.wanted).company_id,
    (has_plain_filters.wanted).request_year_min, (has_plain_filters.wanted).request_year_max,
    (has_plain_filters.wanted).floor_min, (has_plain_filters.wanted).floor_max,
    (has_plain_filters.wanted).plot_position, (has_plain_filters.wanted).block
  ) = 0;
comment on function private.has_plain_filters is
  'Whether private.search_facts tells all that a search asks.';

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
  'Whether a type and kind has any listing with such a price.';

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
  is_one_lane boolean;
  depth integer;
  walk private.search_walk;
  -- A single lane is passed by once: it goes on after the last that it has passed.
  passed integer := 0;
  more private.search_walk;
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
    if cardinality(types) > 1 and num_nonnulls(wanted.price_min, wanted.price_max) > 0 then
      -- Mostly one is left: no rent is a price of sale.
      types := array(
        select of_type.id from unnest(types) as of_type (id)
        where exists (
          select from unnest(kinds) as of_kind (id)
          where private.has_price_between(
            of_type.id, of_kind.id, wanted.price_min, wanted.price_max)
        )
      );
    end if;
  end if;

  is_one_lane := cardinality(areas) * cardinality(types) * cardinality(kinds) = 1;

  foreach depth in array array[1000, 10000] loop
    if is_one_lane then
      more := private.walk_lane(areas[1], types[1], kinds[1], since, before_at, before_id,
        depth - passed, strategy, all_types, wanted, size - coalesce(cardinality(walk.ids), 0));
      walk := row(walk.ids || more.ids, walk.keys || more.keys, more.complete);
      exit when walk.complete;
      select lane.published_at, lane.property_id into before_at, before_id
      from private.search_lane(
        areas[1], types[1], kinds[1], since, before_at, before_id, depth - passed) as lane
      offset depth - passed - 1;
      walk.complete := not found or (
        num_nonnulls(wanted.price_min, wanted.price_max) > 0 and types[1] is not null
        and not private.has_price_between(types[1], kinds[1], wanted.price_min, wanted.price_max));
      passed := depth;
    else
      select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
      from (
        select fitting.property_id, fitting.published_at
        from unnest(areas) as of_area (id)
        cross join unnest(types) as of_type (id)
        cross join unnest(kinds) as of_kind (id)
        cross join lateral (
          select lane.property_id, lane.published_at
          from private.search_lane(
            of_area.id, of_type.id, of_kind.id, since, before_at, before_id, depth) as lane
          where private.fits_plain_filters(lane,
            strategy, all_types, wanted.kinds, wanted.governorate_ids, wanted.area_ids,
            wanted.price_min, wanted.price_max, wanted.area_m2_min, wanted.area_m2_max,
            wanted.bedrooms_min, wanted.bathrooms_min, wanted.furnished)
          limit size
        ) as fitting
        order by fitting.published_at desc, fitting.property_id desc
        limit size
      ) as hits;
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
    end if;
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
