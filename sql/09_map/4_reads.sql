-- Only the shown location is used, because boxes and clusters by the true one would reveal it.

create function private.map_share(plan private.search_plan) returns double precision
  language plpgsql stable set search_path = ''
as $$
declare
  -- A sample of this size misses a cell with 0.1 % of the matches once in 20,000 times.
  enough constant integer := 10000;
  probe double precision := 4000 / greatest((
    select pg_class.reltuples from pg_catalog.pg_class
    where pg_class.oid = 'private.search_documents'::regclass), 4000);
  matches integer;
begin
  execute format('select count(*) from (select from %s limit 20001) as matches', private.matches_of(plan))
    into matches using plan.filters, plan;
  if matches <= 20000 then
    return 1;
  end if;
  execute format(
    'select count(*) from private.search_documents tablesample system (%s) repeatable (1) where %s',
    100 * probe, plan.conditions) into matches using plan.filters, plan;
  probe := probe * enough / greatest(matches, 1);
  -- All listings are counted if the sample would be 30 % or more of them.
  return case when probe < 0.3 then probe else 1 end;
end
$$;
comment on function private.map_share is
  'The share of the listings that map_clusters counts: 1 for up to 20,000 matches.';

create function private.map_clusters(
  plan private.search_plan, zoom integer, understood jsonb
) returns json
  language plpgsql stable
  security definer -- reads the documents of all listings
  set search_path = ''
  set extra_float_digits = 1 -- the bounds of a cell must contain its listings
as $$
declare
  share double precision;
  answer json;
begin
  if plan.words is not null then
    plan := private.with_source(plan, null);
    -- For frequent words the planner would otherwise scan all listings and compare each with them.
    perform set_config('enable_seqscan', 'off', true);
  end if;
  share := private.map_share(plan);
  -- Every sample reads the same pages of the table, so that the map does not flicker. The grid
  -- begins at 180° W and 90° S. The maximum of a box is outside, so that of bbox is a step further.
  execute format($sql$
    select json_build_object(
      'clusters', coalesce(json_agg(json_build_object(
        'lat', round(cells.lat::numeric, 6),
        'lng', round(cells.lng::numeric, 6),
        'count', round(cells.count / $3),
        'minPrice', case when $3 = 1 then cells.min_price end,
        'bbox', json_build_array(cells.west, cells.south,
          trunc(cells.east::text::numeric, 6) + 0.000001,
          trunc(cells.north::text::numeric, 6) + 0.000001)
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
      from %s
      group by floor((search_documents.lng + 180) / $5), floor((search_documents.lat + 90) / $5)
      order by count desc, west, south
      limit 5000
    ) as cells
    $sql$, case when share < 1 then format(
      'private.search_documents tablesample system (%s) repeatable (1) where %s',
      100 * share, plan.conditions) else private.matches_of(plan) end
  ) into answer using plan.filters, plan, share, understood, 360 / 2 ^ (zoom + 2);
  perform set_config('enable_seqscan', 'on', true);
  return answer;
end
$$;
comment on function private.map_clusters is
  'Returns at most the 5,000 fullest cells. With more than 20,000 matches it may count a sample; '
  'minPrice is null then.';

create function private.map_points(
  filters private.search_filters, words tsquery, understood jsonb
) returns json
  language plpgsql stable
  security definer -- reads the documents of all listings
  set search_path = ''
as $$
declare
  english constant boolean := private.in_english();
  newest constant uuid[] := (
    private.find_listings(null, 'newest', filters, words, null, null, null, 501)).ids;
begin
  return json_build_object('truncated', cardinality(newest) > 500, 'points', (
    select coalesce(json_agg(json_build_object(
      'id', shown.property_id,
      'lat', shown.lat,
      'lng', shown.lng,
      'count', shown.count,
      'type', shown.type,
      'kind', shown.kind,
      'price', shown.price,
      'priceLabel', private.price_label(shown.type, shown.price, english)
    ) order by shown.published_at desc, shown.property_id desc), '[]')
    from (
      select found.property_id, found.lat, found.lng, found.type, found.kind, found.published_at,
        count(*) over (partition by found.lat, found.lng) as count,
        -- A price of 0 is null among the documents.
        coalesce(found.price, (
          select properties.price from public.properties where properties.id = found.property_id
        )) as price
      from private.search_documents as found
      where found.property_id = any (private.without_blocked(newest[:500]))
    ) as shown
  ), 'understood', understood);
end
$$;

create function private.list_map_listings(
  bbox jsonb, zoom integer, filters jsonb default '{}', q text default null,
  literal boolean default false
) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  parsed private.search_filters;
  exact record;
begin
  if not coalesce(zoom between 0 and 20, false) then
    perform private.refuse_field('zoom', 'invalid');
  end if;
  perform private.query_words(q);
  parsed := private.parse_search_filters(
    filters || jsonb_build_object('bbox', coalesce(bbox, 'null')), 'map');
  exact := private.exact_query(null, 'newest', parsed, q, literal);
  return case when zoom < 15 then private.map_clusters(private.search_plan(
      null, 'newest', exact.filters, exact.words, null, null, null, null),
      zoom, exact.understood)
    else private.map_points(exact.filters, exact.words, exact.understood) end;
end
$$;
comment on function private.list_map_listings is
  'Facade: the listings in a box [minLng, minLat, maxLng, maxLat], cut to Kuwait; below zoom 15 as '
  'clusters on a grid of 360/2^(zoom+2) degrees, else as points. q is read as in private.search.';

create function private.map_area_prices(filters private.search_filters) returns json
  language plpgsql stable
  security definer -- reads the documents of all listings
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
    $sql$, (private.search_conditions(null, filters)).conditions) into items using filters;
  return items;
end
$$;

create function private.list_map_areas(filters jsonb default '{}') returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  parsed private.search_filters := private.parse_search_filters(filters, 'map');
  items json;
begin
  if parsed is null then
    -- If the job is late, the prices are computed below, so they are at most 5 minutes old.
    select area_prices.items into items from private.area_prices
    where area_prices.computed_at > now() - interval '5 minutes';
  end if;
  return json_build_object(
    'items', coalesce(items, private.map_area_prices(parsed)), 'nextCursor', null);
end
$$;
comment on function private.list_map_areas is
  'Facade: for each area the number of listings, median price and median price per m²; no median '
  'for fewer than 5 prices or 3 accounts. Without filters the figures may be 5 minutes old.';

grant execute on function private.list_map_listings, private.list_map_areas to anon, authenticated;
