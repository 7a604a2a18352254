-- The filters of searches and of the map: how they are parsed. What they ask is in
-- 2_rules_matching.sql.

create type private.search_filters as (
  type text,
  kinds text[],
  usage text,
  governorate_ids text[],
  area_ids text[],
  price_min numeric,
  price_max numeric,
  area_m2_min numeric,
  area_m2_max numeric,
  bedrooms_min smallint,
  bathrooms_min smallint,
  furnished text[],
  is_direct boolean,
  verified_only boolean,
  posted_since timestamptz,
  bbox double precision[],
  near double precision[],
  company_id uuid,
  request_year_min smallint,
  request_year_max smallint,
  floor_min smallint,
  floor_max smallint,
  plot_position text[],
  block text
);
comment on type private.search_filters is
  'Filters as they were parsed; bbox is minLng, minLat, maxLng, maxLat, and near is lat, lng, km.';

create function private.are_codes(vocabulary text, codes jsonb) returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return not exists (
    select from jsonb_array_elements(codes) as item
    where jsonb_typeof(item) <> 'string' or not case vocabulary
      when 'area' then exists (select from public.areas where areas.id = item #>> '{}')
      when 'governorate' then
        exists (select from public.governorates where governorates.id = item #>> '{}')
      else exists (
        select from public.vocabularies
        where vocabularies.vocabulary = are_codes.vocabulary and vocabularies.code = item #>> '{}'
      )
    end
  );
end
$$;
comment on function private.are_codes is 'Whether all of these are codes of the vocabulary.';

create function private.parse_bbox(value jsonb, out clean jsonb, out problem text)
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  min_lng numeric;
  min_lat numeric;
  max_lng numeric;
  max_lat numeric;
begin
  problem := 'bbox_invalid';
  if jsonb_typeof(value) <> 'array' or jsonb_array_length(value) <> 4
    or value @? '$[*] ? (@.type() <> "number")' then
    return;
  end if;
  min_lng := greatest((value -> 0)::numeric, 46.50);
  min_lat := greatest((value -> 1)::numeric, 28.45);
  max_lng := least((value -> 2)::numeric, 48.80);
  max_lat := least((value -> 3)::numeric, 30.15);
  -- Inverted boxes stay inverted when cut, and boxes outside Kuwait become inverted.
  if min_lng <= max_lng and min_lat <= max_lat then
    clean := jsonb_build_array(min_lng, min_lat, max_lng, max_lat);
    problem := null;
  end if;
end
$$;
comment on function private.parse_bbox is
  'A box cut to Kuwait. bbox_invalid: inverted, not numbers, or outside Kuwait.';

create function private.parse_near(value jsonb, out clean jsonb, out problem text)
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  problem := 'invalid';
  if jsonb_typeof(value) <> 'object' or not value ?& array['lat', 'lng', 'km']
    or value - array['lat', 'lng', 'km'] <> '{}' or value @? '$.* ? (@.type() <> "number")' then
    return;
  end if;
  if (value -> 'lat')::numeric between -90 and 90 and (value -> 'lng')::numeric between -180 and 180
    and (value -> 'km')::numeric > 0 and (value -> 'km')::numeric <= 50 then
    clean := jsonb_build_array(value -> 'lat', value -> 'lng', value -> 'km');
    problem := null;
  end if;
end
$$;
comment on function private.parse_near is 'A place and a radius of at most 50 km.';

create function private.parse_time(value jsonb, out clean jsonb, out problem text)
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  time text := value #>> '{}';
begin
  if time ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' then
    time := time || ' 00:00 Asia/Kuwait';
  elsif time !~ ('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?'
    || '(Z|[+-][0-9]{2}:[0-9]{2})$') then
    time := null;
  end if;
  if jsonb_typeof(value) = 'string' and pg_input_is_valid(time, 'timestamptz') then
    clean := to_jsonb(time);
  else
    problem := 'invalid';
  end if;
end
$$;
comment on function private.parse_time is
  'A moment in ISO 8601, or the beginning of a day in Kuwait.';

create function private.parse_search_filter(
  name text, value jsonb, out clean jsonb, out problem text
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  parsed record;
begin
  clean := value;
  case
    when name = 'type' then
      problem := case when value not in ('"SALE"', '"RENT"', '"EXCHANGE"') then 'invalid' end;
      return;
    when name = 'usage' then
      problem := case
        when not private.are_codes(name, jsonb_build_array(value)) then 'invalid' end;
      return;
    when name in ('kinds', 'governorateIds', 'areaIds', 'furnished', 'plotPosition') then
      if name = 'furnished' and jsonb_typeof(value) = 'string' then
        value := jsonb_build_array(value);
      end if;
      problem := case
        when jsonb_typeof(value) <> 'array' then 'invalid'
        when jsonb_array_length(value) > 200 then 'too_big'
        when not private.are_codes(
          case name when 'kinds' then 'kind' when 'areaIds' then 'area'
            when 'governorateIds' then 'governorate' when 'plotPosition' then 'plot_position'
            else name end,
          value) then 'invalid'
      end;
      -- An empty list does not filter, and a code that is named twice counts once.
      clean := case when problem is null then (
        select jsonb_agg(once.code order by once.place)
        from (
          select given.code, min(given.place) as place
          from jsonb_array_elements(value) with ordinality as given (code, place)
          group by given.code
        ) as once
      ) end;
      return;
    when name in ('isDirect', 'verifiedOnly') then
      problem := case when jsonb_typeof(value) <> 'boolean' then 'invalid' end;
      return;
    when name = 'companyId' then
      problem := case
        when jsonb_typeof(value) <> 'string' or not pg_input_is_valid(value #>> '{}', 'uuid')
        then 'invalid' end;
      return;
    when name in ('priceMin', 'priceMax') then
      parsed := private.parse_number('number', value, 0, 99999999999.999);
    when name in ('areaM2Min', 'areaM2Max') then
      parsed := private.parse_number('number', value, 0, 10000000);
    when name in ('bedroomsMin', 'bathroomsMin') then
      parsed := private.parse_number('integer', value, 0, 100);
    when name in ('floorMin', 'floorMax') then
      parsed := private.parse_number('integer', value, -10, 200);
    when name = 'block' then
      clean := to_jsonb(private.search_block(value #>> '{}'));
      problem := case
        when jsonb_typeof(value) <> 'string' or clean is null then 'invalid'
        when char_length(value #>> '{}') > 30 then 'too_big'
      end;
      return;
    when name in ('requestYearMin', 'requestYearMax') then
      parsed := private.parse_number('integer', value, 1950, 2100);
    when name = 'postedSince' then
      parsed := private.parse_time(value);
    when name = 'bbox' then
      parsed := private.parse_bbox(value);
    when name = 'near' then
      parsed := private.parse_near(value);
    else
      problem := 'filter_unknown';
      return;
  end case;
  clean := parsed.clean;
  problem := parsed.problem;
end
$$;
comment on function private.parse_search_filter is
  'The value of a filter in its one form, or the code of what is wrong with it.';

create function private.parse_search_filters(filters jsonb, strategy text default null)
  returns private.search_filters
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  given record;
  problems jsonb := '[]';
  clean jsonb := '{}';
  answer private.search_filters;
begin
  if jsonb_typeof(filters) is distinct from 'object' then
    perform private.refuse_field('', 'invalid');
  end if;
  for given in
    select name, parsed.clean, case
      when strategy <> 'company' and name = 'companyId'
        or strategy <> 'exchange' and name in ('requestYearMin', 'requestYearMax')
      then 'filter_unknown' else parsed.problem end as problem
    from jsonb_each(filters) as filter (name, value)
    cross join lateral private.parse_search_filter(name, value) as parsed
  loop
    if given.problem is not null then
      problems := problems || jsonb_build_object('path', given.name, 'code', given.problem);
    else
      -- areaM2Min is area_m2_min.
      clean := clean || jsonb_build_object(
        lower(regexp_replace(given.name, '([A-Z])', '_\1', 'g')), given.clean);
    end if;
  end loop;
  perform private.refuse_search(problems);

  answer := jsonb_populate_record(null::private.search_filters, clean);
  perform private.refuse_search((
    select jsonb_agg(jsonb_build_object('path', path, 'code', 'range_invalid'))
    from (values
      ('priceMin', answer.price_min > answer.price_max),
      ('areaM2Min', answer.area_m2_min > answer.area_m2_max),
      ('requestYearMin', answer.request_year_min > answer.request_year_max),
      ('floorMin', answer.floor_min > answer.floor_max)
    ) as rule (path, broken)
    where broken
  ));
  return answer;
end
$$;
comment on function private.parse_search_filters is
  'The filters of a search or of the map (strategy null). 422 filter_unknown, range_invalid, '
  'bbox_invalid or validation_failed.';

create function private.refuse_search(problems jsonb) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  if jsonb_array_length(problems) > 0 then
    perform private.refuse(422, case
      when problems @> '[{"code":"filter_unknown"}]' then 'filter_unknown'
      when problems @> '[{"code":"bbox_invalid"}]' then 'bbox_invalid'
      when problems @> '[{"code":"range_invalid"}]' then 'range_invalid'
      else 'validation_failed'
    end, jsonb_build_object('fields', problems));
  end if;
end
$$;
comment on function private.refuse_search is
  '422 with what is wrong with each filter; a code of the table wins over validation_failed.';
