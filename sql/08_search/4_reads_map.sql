-- Map: what is listed in a box, as clusters at low zooms and as points at high ones, and the prices
-- of each area.
--
-- Only the point that is shown is read here (properties.shown_lat): boxes and clusters of the true
-- one would reveal it. The filters are those that all strategies share (2_rules_filters.sql).

create function private.map_cells(source text, conditions text, zoom integer) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  -- Cells begin at 180 degrees west and 90 degrees south.
  return format($sql$
    select
      avg(search_documents.lat) as lat,
      avg(search_documents.lng) as lng,
      count(*) as count,
      min(search_documents.price) as min_price,
      min(search_documents.lng) as west,
      min(search_documents.lat) as south,
      max(search_documents.lng) as east,
      max(search_documents.lat) as north
    from %s
    where %s
    group by
      floor((search_documents.lng + 180) / %3$s), floor((search_documents.lat + 90) / %3$s)
    $sql$, source, conditions, 360 / 2 ^ (zoom + 2));
end
$$;
comment on function private.map_cells is
  'SQL for the cells of the grid of a zoom that are not empty, made of constant pieces.';

create function private.map_clusters(
  conditions text, wanted private.search_filters, zoom integer
) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  source text := 'private.search_documents';
  share double precision := 1;
  matches integer;
  clusters json;
begin
  execute format(
    'select count(*) from (select from private.search_documents where %s limit 20001) as matches',
    conditions) into matches using wanted;
  if matches > 20000 then
    -- A sample of whole blocks of the table, the same ones every time, so that a map does not
    -- flicker: so many that shares are still right, and no more as the table grows.
    share := least(1, 8000 / greatest((
      select pg_class.reltuples from pg_catalog.pg_class
      where pg_class.oid = 'private.search_documents'::regclass), 1));
    source := format(
      'private.search_documents tablesample system (%s) repeatable (1)', 100 * share);
  end if;
  execute format($sql$
    select json_agg(json_build_object(
      'lat', round(cells.lat::numeric, 6),
      'lng', round(cells.lng::numeric, 6),
      'count', round(cells.count / %s),
      'minPrice', cells.min_price,
      'bbox', json_build_array(cells.west, cells.south, cells.east, cells.north)
    ) order by cells.count desc, cells.west, cells.south)
    from (%s order by count desc, west, south limit 5000) as cells
    $sql$, share, private.map_cells(source, conditions, zoom)) into clusters using wanted;
  return json_build_object(
    'clusters', coalesce(clusters, '[]'),
    'approximate', share < 1
  );
end
$$;
comment on function private.map_clusters is
  'Counts by cell, at most of the fullest 5,000; from a sample where there are over 20,000 '
  'matches.';

create function private.map_points(conditions text, wanted private.search_filters) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  points json;
  matches integer;
begin
  execute format($sql$
    select count(*), json_agg(json_build_object(
      'id', newest.property_id,
      'lat', newest.lat,
      'lng', newest.lng,
      'type', newest.type,
      'kind', newest.kind,
      'price', newest.price,
      'priceLabel', private.price_label(newest.type, newest.price)
    ) order by newest.published_at desc, newest.property_id desc) filter (where newest.nth <= 500)
    from (
      select matches.*, row_number() over (
        order by matches.published_at desc, matches.property_id desc) as nth
      from (select * from private.search_documents where %s limit 20000) as matches
      order by matches.published_at desc, matches.property_id desc
      limit 501
    ) as newest
    $sql$, conditions) into matches, points using wanted;
  return json_build_object('points', coalesce(points, '[]'), 'truncated', matches > 500);
end
$$;
comment on function private.map_points is 'The newest 500 listings, each at its shown point.';

create function private.list_map_listings(bbox jsonb, zoom integer, filters jsonb) returns json
  language plpgsql
  stable
  security definer -- row security would keep it from its indexes; listed properties only
  set search_path = ''
as $$
declare
  wanted private.search_filters;
  conditions text;
begin
  if not coalesce(zoom between 0 and 20, false) then
    perform private.refuse_field('zoom', 'invalid');
  end if;
  wanted := private.parse_search_filters(
    filters || jsonb_build_object('bbox', coalesce(bbox, 'null')), 'map');
  conditions := private.search_conditions(null, wanted);
  if zoom < 15 then
    return private.map_clusters(conditions, wanted, zoom);
  end if;
  return private.map_points(conditions, wanted);
end
$$;
comment on function private.list_map_listings is
  'What is listed in a box; see api.list_map_listings.';

create function api.list_map_listings(bbox jsonb, zoom integer, filters jsonb default '{}')
  returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.list_map_listings(bbox, zoom, filters);
end
$$;
comment on function api.list_map_listings is
  'What is listed in a box [minLng, minLat, maxLng, maxLat], cut to Kuwait: clusters on a grid of '
  '360/2^(zoom+2) degrees below zoom 15, else points. 422 bbox_invalid, filter_unknown, '
  'range_invalid.';

create function private.map_area_prices(wanted private.search_filters) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  items json;
begin
  execute format($sql$
    with figures as (
      select
        search_documents.area_id,
        count(*) as count,
        count(search_documents.price) >= 5 and count(distinct identities.account_id)
          filter (where search_documents.price is not null) >= 3 as is_shown,
        percentile_cont(0.5) within group (order by search_documents.price::float8) as median,
        percentile_cont(0.5) within group (
          order by search_documents.price::float8 / search_documents.area_m2::float8) as median_m2
      from private.search_documents
      join public.identities on identities.id = search_documents.owner_identity_id
      where %s
      group by search_documents.area_id
    )
    select json_agg(json_build_object(
      'areaId', areas.id,
      'governorateId', areas.governorate_id,
      'nameAr', areas.name_ar,
      'nameEn', areas.name_en,
      'lat', areas.lat,
      'lng', areas.lng,
      'count', coalesce(figures.count, 0),
      'medianPrice', case when figures.is_shown then round(figures.median::numeric, 3) end,
      'medianPricePerM2', case when figures.is_shown then round(figures.median_m2::numeric, 3) end
    ) order by areas.position)
    from public.areas
    left join figures on figures.area_id = areas.id
    $sql$, private.search_conditions(null, wanted)) into items using wanted;
  return items;
end
$$;
comment on function private.map_area_prices is 'Prices of each area, as of now.';

create function private.list_map_areas(filters jsonb) returns json
  language plpgsql
  stable
  security definer -- row security would keep it from its indexes; listed properties only
  set search_path = ''
as $$
declare
  wanted private.search_filters := private.parse_search_filters(filters, 'map');
  items json;
begin
  if wanted is null then
    -- Where the job has not run in time they are computed, so they are never older than this.
    select area_prices.items into items from private.area_prices
    where area_prices.computed_at > now() - interval '5 minutes';
  end if;
  return json_build_object(
    'items', coalesce(items, private.map_area_prices(wanted)), 'nextCursor', null);
end
$$;
comment on function private.list_map_areas is 'Prices of each area; see api.list_map_areas.';

create function api.list_map_areas(filters jsonb default '{}') returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.list_map_areas(filters);
end
$$;
comment on function api.list_map_areas is
  'For each area how many listings there are, their median price and median price per m²; no '
  'median of fewer than 5 prices or those of fewer than 3 accounts. Without filters they may be 5 minutes old. 422 filter_unknown, '
  'range_invalid, bbox_invalid.';

grant execute on function
  private.list_map_listings, private.list_map_areas, api.list_map_listings, api.list_map_areas
  to guest, authenticated;
