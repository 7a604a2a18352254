-- Map: what is listed in a box, as clusters at low zooms and as points at high ones, and the prices
-- of each area.
--
-- Only the point that is shown is read here (properties.shown_lat): boxes and clusters of the true
-- one would reveal it. The filters are those that all strategies share (2_rules_filters.sql).

create function private.map_share(plan private.search_plan) returns double precision
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  enough constant integer := 10000; -- one cell in 20,000 with a thousandth of them is missed
  probe double precision := 4000 / greatest((
    select pg_class.reltuples from pg_catalog.pg_class
    where pg_class.oid = 'private.search_documents'::regclass), 4000);
  matches integer;
begin
  execute 'select count(*) from (select from private.search_documents where ' || plan.conditions
    || ' limit 20001) as matches' into matches using plan.wanted, plan;
  if matches <= 20000 then
    return 1;
  end if;
  execute format(
    'select count(*) from private.search_documents tablesample system (%s) repeatable (1) where %s',
    100 * probe, plan.conditions) into matches using plan.wanted, plan;
  probe := probe * enough / greatest(matches, 1);
  -- What is nearly all of them is counted in full.
  return case when probe < 0.3 then probe else 1 end;
end
$$;
comment on function private.map_share is
  'The share of all listings of which clusters are counted: 1 up to 20,000 matches.';

create function private.map_clusters(
  plan private.search_plan, zoom integer, understood jsonb
) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  share constant double precision := private.map_share(plan);
  answer json;
begin
  -- Of a sample whole blocks of the table, the same ones every time, so that a map does not flicker.
  -- Cells begin at 180 degrees west and 90 degrees south.
  execute format($sql$
    select json_build_object(
      'clusters', coalesce(json_agg(json_build_object(
        'lat', round(cells.lat::numeric, 6),
        'lng', round(cells.lng::numeric, 6),
        'count', round(cells.count / $3),
        'minPrice', case when $3 = 1 then cells.min_price end,
        'bbox', json_build_array(cells.west, cells.south, cells.east, cells.north)
      ) order by cells.count desc, cells.west, cells.south), '[]'),
      'approximate', $3 < 1,
      'understood', $4
    )
    from (
      select
        avg(search_documents.lat) as lat,
        avg(search_documents.lng) as lng,
        count(*) as count,
        min(search_documents.price) as min_price,
        min(search_documents.lng) as west,
        min(search_documents.lat) as south,
        max(search_documents.lng) as east,
        max(search_documents.lat) as north
      from private.search_documents %s
      where %s
      group by floor((search_documents.lng + 180) / $5), floor((search_documents.lat + 90) / $5)
      order by count desc, west, south
      limit 5000
    ) as cells
    $sql$, case when share < 1 then format('tablesample system (%s) repeatable (1)', 100 * share) end,
    plan.conditions) into answer using plan.wanted, plan, share, understood, 360 / 2 ^ (zoom + 2);
  return answer;
end
$$;
comment on function private.map_clusters is
  'Counts by cell, at most of the fullest 5,000; from a sample, which knows no lowest price, where '
  'there are over 20,000 matches.';

create function private.map_points(
  wanted private.search_filters, words tsquery, understood jsonb
) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  english constant boolean := private.in_english();
  newest constant uuid[] := (
    private.find_listings(null, 'newest', wanted, words, null, null, null, null, 501)).ids;
begin
  return json_build_object('truncated', cardinality(newest) > 500, 'points', (
    select coalesce(json_agg(json_build_object(
      'id', shown.property_id,
      'lat', shown.lat,
      'lng', shown.lng,
      'type', shown.type,
      'kind', shown.kind,
      'price', shown.price,
      'priceLabel', private.price_label(shown.type, shown.price, english)
    ) order by shown.published_at desc, shown.property_id desc), '[]')
    from private.search_documents as shown
    where shown.property_id = any (private.without_blocked(newest[:500]))
  ), 'understood', understood);
end
$$;
comment on function private.map_points is 'The newest 500 listings, each at its shown point.';

create function private.list_map_listings(
  bbox jsonb, zoom integer, filters jsonb default '{}', q text default null,
  literal boolean default false
) returns json
  language plpgsql
  stable
  security definer -- row security would keep it from its indexes; listed properties only
  set search_path = ''
as $$
declare
  wanted private.search_filters;
  exact record;
begin
  if not coalesce(zoom between 0 and 20, false) then
    perform private.refuse_field('zoom', 'invalid');
  end if;
  perform private.query_words(q);
  wanted := private.parse_search_filters(
    filters || jsonb_build_object('bbox', coalesce(bbox, 'null')), 'map');
  exact := private.exact_query(null, wanted, q, literal);
  return case when zoom < 15 then private.map_clusters(private.search_plan(
      null, 'newest', exact.wanted, exact.words, null, null, null, null, null),
      zoom, exact.understood)
    else private.map_points(exact.wanted, exact.words, exact.understood) end;
end
$$;
comment on function private.list_map_listings is
  'Facade: what is listed in a box [minLng, minLat, maxLng, maxLat], cut to Kuwait: clusters on a grid of '
  '360/2^(zoom+2) degrees below zoom 15, else points. q is read as by private.search, and only what '
  'fits is shown. 422 bbox_invalid, filter_unknown, range_invalid.';

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
    $sql$, (private.search_conditions(null, wanted)).conditions) into items using wanted;
  return items;
end
$$;
comment on function private.map_area_prices is 'Prices of each area, as of now.';

create function private.list_map_areas(filters jsonb default '{}') returns json
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
comment on function private.list_map_areas is
  'Facade: for each area how many listings there are, their median price and median price per m²; no '
  'median of fewer than 5 prices or those of fewer than 3 accounts. Without filters they may be 5 minutes old. 422 filter_unknown, '
  'range_invalid, bbox_invalid.';

grant execute on function private.list_map_listings, private.list_map_areas to anon, authenticated;
