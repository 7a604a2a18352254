-- Only shown locations are used: boxes and clusters of the true locations would reveal these.

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
  -- If the sample would be 30 % of the listings or more, all are counted.
  return case when probe < 0.3 then probe else 1 end;
end
$$;
comment on function private.map_share is
  'Returns the share of the listings that private.map_clusters counts. It is 1 for up to 20,000 '
  'matches.';

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
    -- Otherwise, the planner would scan all listings if the words are frequent, and compare each row.
    perform set_config('enable_seqscan', 'off', true);
  end if;
  share := private.map_share(plan);
  -- Every sample reads the same pages of the table, so that the map does not flicker. The grid begins at
  -- 180° W and 90° S. A box excludes its maximum, so bbox extends 0.000001 degrees beyond the last
  -- listing.
  execute format($sql$
    select json_build_object(
      'clusters', coalesce(json_agg(json_build_object(
        'lat', round(cells.lat::numeric, 6),
        'lng', round(cells.lng::numeric, 6),
        'count', round(cells.count / $3),
        'minPrice', cells.min_price,
        'sale', json_build_object('minPrice', cells.sale),
        'rent', json_build_object('minPrice', cells.rent),
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
        min(search_documents.price) filter (
          where $3 = 1 and ($1).type is not null) as min_price,
        min(search_documents.price) filter (
          where $3 = 1 and search_documents.type = 'SALE') as sale,
        min(search_documents.price) filter (
          where $3 = 1 and search_documents.type = 'RENT') as rent,
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
  'Returns at most 5,000 cells, those with the most listings. For more than 20,000 matches, it may '
  'count only a sample; the minimum prices are then null.';

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
        -- search_documents stores a price of 0 as null.
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
  'Facade: returns the listings in a box [minLng, minLat, maxLng, maxLat], clipped to Kuwait. '
  'Below zoom 15 they are clustered on a grid of 360/2^(zoom+2) degrees; from zoom 15 they are '
  'points. q is interpreted as in private.search.';

create function private.area_figures(filters private.search_filters, by_kind boolean)
  returns table (
    area_id text, type text, kind text, listings bigint, median_price numeric,
    median_price_per_m2 numeric
  )
  language plpgsql stable
  security definer -- reads the documents of all listings
  set search_path = ''
as $$
begin
  return query execute format($sql$
    select figures.area_id, figures.type, figures.kind, figures.listings,
      case when figures.is_shown then round(figures.median::numeric, 3) end,
      case when figures.is_shown then round(figures.median_m2::numeric, 3) end
    from (
      select
        search_documents.area_id,
        search_documents.type,
        %s as kind,
        count(*) as listings,
        count(search_documents.price) >= 5 and count(distinct identities.account_id)
          filter (where search_documents.price is not null) >= 3 as is_shown,
        percentile_cont(0.5) within group (order by search_documents.price::float8) as median,
        percentile_cont(0.5) within group (
          order by search_documents.price::float8 / search_documents.area_m2::float8) as median_m2
      from private.search_documents
      join public.identities on identities.id = search_documents.owner_identity_id
      where %s
      group by 1, 2, 3
    ) as figures
    $sql$, case when by_kind then 'search_documents.kind' else 'null::text' end,
    (private.search_conditions(null, filters)).conditions) using filters;
end
$$;
comment on function private.area_figures is
  'Returns the number of listings and the median prices for each area, type and, if by_kind is '
  'true, kind. A median is null if it would be based on fewer than 5 prices or 3 accounts.';

create function private.map_area_prices(filters private.search_filters) returns json
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select json_agg(json_build_object(
      'areaId', priced.id,
      'governorateId', priced.governorate_id,
      'nameAr', priced.name_ar,
      'nameEn', priced.name_en,
      'lat', priced.lat,
      'lng', priced.lng,
      'count', priced.listings,
      'medianPrice', priced.price,
      'medianPricePerM2', priced.price_per_m2,
      'sale', json_build_object(
        'medianPrice', priced.sale, 'medianPricePerM2', priced.sale_per_m2),
      'rent', json_build_object(
        'medianPrice', priced.rent, 'medianPricePerM2', priced.rent_per_m2)
    ) order by priced.position)
    from (
      select
        areas.*,
        coalesce(sum(figures.listings), 0) as listings,
        max(figures.median_price) filter (where figures.type = filters.type) as price,
        max(figures.median_price_per_m2) filter (where figures.type = filters.type) as price_per_m2,
        max(figures.median_price) filter (where figures.type = 'SALE') as sale,
        max(figures.median_price_per_m2) filter (where figures.type = 'SALE') as sale_per_m2,
        max(figures.median_price) filter (where figures.type = 'RENT') as rent,
        max(figures.median_price_per_m2) filter (where figures.type = 'RENT') as rent_per_m2
      from public.areas
      left join private.area_figures(filters, false) as figures on figures.area_id = areas.id
      group by areas.id
    ) as priced
  );
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
    -- If the job is late, the prices are computed below, so they are never older than 5 minutes.
    select area_prices.items into items from private.area_prices
    where area_prices.computed_at > now() - interval '5 minutes';
  end if;
  return json_build_object(
    'items', coalesce(items, private.map_area_prices(parsed)), 'nextCursor', null);
end
$$;
comment on function private.list_map_areas is
  'Facade: returns the number of listings, the median price and the median price per m² of each '
  'area. A median is null if it would be based on fewer than 5 prices or 3 accounts. Without '
  'filters, the figures may be up to 5 minutes old.';

create function private.list_area_price_history(area_id text, type text, kind text) returns json
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.refuse_fields((
    select coalesce(jsonb_agg(private.field_problem(given.path,
      case when given.code is null then 'required' else 'invalid' end)), '[]')
    from (values
      ('areaId', 'area', area_id), ('type', 'listing_type', type), ('kind', 'kind', kind)
    ) as given (path, vocabulary, code)
    where not private.is_code(given.vocabulary, to_jsonb(given.code))
  ));
  return json_build_object('items', (
    select coalesce(json_agg(json_build_object(
      'month', to_char(history.month, 'YYYY-MM'),
      'count', history.listings,
      'medianPrice', history.median_price,
      'medianPricePerM2', history.median_price_per_m2
    ) order by history.month desc), '[]')
    from private.area_price_history as history
    where history.area_id = list_area_price_history.area_id
      and history.type = list_area_price_history.type
      and history.kind = list_area_price_history.kind
  ), 'nextCursor', null);
end
$$;
comment on function private.list_area_price_history is
  'Facade: returns, for each month, the number and the median prices of listings of a type and '
  'kind in an area, the newest month first.';

grant execute on function private.list_map_listings, private.list_map_areas,
  private.list_area_price_history to anon, authenticated;
