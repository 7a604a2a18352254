-- Filters of searches and of the map: how they are read, and what they ask of a listing.

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
  furnished text,
  is_direct boolean,
  verified_only boolean,
  posted_since timestamptz,
  bbox double precision[],
  near double precision[],
  company_id uuid,
  request_year_min smallint,
  request_year_max smallint
);
comment on type private.search_filters is
  'Filters as they were read; bbox is minLng, minLat, maxLng, maxLat, and near is lat, lng, km.';

-- Reading ----------------------------------------------------------------------------------------

create function private.are_codes(words text, codes jsonb) returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return not exists (
    select from jsonb_array_elements(codes) as item
    where jsonb_typeof(item) <> 'string' or not case words
      when 'area' then exists (select from public.areas where areas.id = item #>> '{}')
      when 'governorate' then
        exists (select from public.governorates where governorates.id = item #>> '{}')
      else exists (
        select from public.vocabularies
        where vocabularies.vocabulary = words and vocabularies.code = item #>> '{}'
      )
    end
  );
end
$$;
comment on function private.are_codes is 'Whether all of these are codes of that vocabulary.';

create function private.read_bbox(value jsonb, out clean jsonb, out problem text)
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
  -- Inverted boxes stay inverted when cut, and boxes beside Kuwait become it.
  if min_lng <= max_lng and min_lat <= max_lat then
    clean := jsonb_build_array(min_lng, min_lat, max_lng, max_lat);
    problem := null;
  end if;
end
$$;
comment on function private.read_bbox is
  'A box cut to Kuwait. bbox_invalid: inverted, no numbers, or nothing of it in Kuwait.';

create function private.read_near(value jsonb, out clean jsonb, out problem text)
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
comment on function private.read_near is 'A place and how many km around it, 50 at most.';

create function private.read_time(value jsonb, out clean jsonb, out problem text)
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
comment on function private.read_time is
  'A moment in ISO 8601, or a day in Kuwait from its beginning.';

create function private.read_search_filter(
  name text, value jsonb, out clean jsonb, out problem text
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  read record;
begin
  clean := value;
  case
    when name = 'type' then
      problem := case when value not in ('"SALE"', '"RENT"', '"EXCHANGE"') then 'invalid' end;
      return;
    when name in ('usage', 'furnished') then
      problem := case
        when not private.are_codes(name, jsonb_build_array(value)) then 'invalid' end;
      return;
    when name in ('kinds', 'governorateIds', 'areaIds') then
      -- An empty list asks for nothing in particular.
      clean := nullif(value, '[]');
      problem := case
        when jsonb_typeof(value) <> 'array' then 'invalid'
        when jsonb_array_length(value) > 200 then 'too_big'
        when not private.are_codes(
          case name when 'kinds' then 'kind' when 'areaIds' then 'area' else 'governorate' end,
          value) then 'invalid'
      end;
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
      read := private.read_number('number', value, 0, 99999999999.999);
    when name in ('areaM2Min', 'areaM2Max') then
      read := private.read_number('number', value, 0, 10000000);
    when name in ('bedroomsMin', 'bathroomsMin') then
      read := private.read_number('whole', value, 0, 100);
    when name in ('requestYearMin', 'requestYearMax') then
      read := private.read_number('whole', value, 1950, 2100);
    when name = 'postedSince' then
      read := private.read_time(value);
    when name = 'bbox' then
      read := private.read_bbox(value);
    when name = 'near' then
      read := private.read_near(value);
    else
      problem := 'filter_unknown';
      return;
  end case;
  clean := read.clean;
  problem := read.problem;
end
$$;
comment on function private.read_search_filter is
  'A filter in its one form, or the code of what is wrong with it.';

create function private.read_search_filters(filters jsonb, strategy text default null)
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
    perform private.refuse(422, 'validation_failed', '{"fields":[{"path":"","code":"invalid"}]}');
  end if;
  for given in
    select name, read.clean, case
      when strategy <> 'company' and name = 'companyId'
        or strategy <> 'exchange' and name in ('requestYearMin', 'requestYearMax')
      then 'filter_unknown' else read.problem end as problem
    from jsonb_each(filters) as filter (name, value)
    cross join lateral private.read_search_filter(name, value) as read
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
      ('requestYearMin', answer.request_year_min > answer.request_year_max)
    ) as rule (path, broken)
    where broken
  ));
  return answer;
end
$$;
comment on function private.read_search_filters is
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

-- Asking -----------------------------------------------------------------------------------------

create function private.search_conditions(strategy text, wanted private.search_filters)
  returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return concat_ws(' and ',
    case strategy
      when 'standard' then
        'search_documents.type in (''SALE'', ''RENT'') and '
        '(search_documents.auction_ends_at > now()) is not true'
      when 'exchange' then 'search_documents.type = ''EXCHANGE'''
      when 'auction' then 'search_documents.auction_ends_at > now()'
      when 'deal' then
        'search_documents.type in (''SALE'', ''RENT'') and search_documents.drop_pct >= 5 and '
        'search_documents.drop_until > now()'
      when 'company' then
        'search_documents.owner_type = ''company'' and search_documents.owner_verified'
      else 'true'
    end,
    case when wanted.type is not null then 'search_documents.type = ($1).type' end,
    case when wanted.kinds is not null then 'search_documents.kind = any (($1).kinds)' end,
    case when wanted.usage is not null then 'search_documents.usage = ($1).usage' end,
    case when wanted.governorate_ids is not null then
      'search_documents.governorate_id = any (($1).governorate_ids)' end,
    case when wanted.area_ids is not null then
      'search_documents.area_id = any (($1).area_ids)' end,
    case when wanted.price_min is not null then 'search_documents.price >= ($1).price_min' end,
    case when wanted.price_max is not null then 'search_documents.price <= ($1).price_max' end,
    case when wanted.area_m2_min is not null then
      'search_documents.area_m2 >= ($1).area_m2_min' end,
    case when wanted.area_m2_max is not null then
      'search_documents.area_m2 <= ($1).area_m2_max' end,
    case when wanted.bedrooms_min is not null then
      'search_documents.bedrooms >= ($1).bedrooms_min' end,
    case when wanted.bathrooms_min is not null then
      'search_documents.bathrooms >= ($1).bathrooms_min' end,
    case when wanted.furnished is not null then
      'search_documents.furnished = ($1).furnished' end,
    case when wanted.is_direct is not null then
      'search_documents.is_direct = ($1).is_direct' end,
    case when wanted.verified_only then 'search_documents.owner_verified' end,
    case when wanted.posted_since is not null then
      'search_documents.published_at >= ($1).posted_since' end,
    case when wanted.bbox is not null then
      'search_documents.lng between (($1).bbox)[1] and (($1).bbox)[3] and '
      'search_documents.lat between (($1).bbox)[2] and (($1).bbox)[4]' end,
    case when wanted.near is not null then
      '(search_documents.place operator(extensions.<->) private.search_center($1)) '
      '<= 12742.0176 * sin((($1).near)[3] / 12742.0176)' end,
    case when wanted.company_id is not null then
      'search_documents.owner_identity_id = ($1).company_id' end,
    case when wanted.request_year_min is not null then
      'search_documents.request_year >= ($1).request_year_min' end,
    case when wanted.request_year_max is not null then
      'search_documents.request_year <= ($1).request_year_max' end
  );
end
$$;
comment on function private.search_conditions is
  'What a strategy (null for any) and filters ask, as SQL on private.search_documents with the '
  'filters as $1. Constant pieces only: nothing that a caller sent is in it.';

create function private.search_buckets(name text, low numeric, high numeric) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return (
    select '(' || string_agg(quote_literal(name || ':' || bucket), '|') || ')'
    from generate_series(private.search_bucket(low), private.search_bucket(high)) as bucket
  );
end
$$;
comment on function private.search_buckets is
  'The terms of the amounts between two; null when one of them is open.';

create function private.search_terms(wanted private.search_filters) returns tsquery
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  -- Codes were found in their vocabularies when the filters were read.
  return nullif(concat_ws('&',
    quote_literal('type:' || wanted.type),
    (select '(' || string_agg(quote_literal('kind:' || code), '|') || ')'
      from unnest(wanted.kinds) as code),
    quote_literal('usage:' || wanted.usage),
    (select '(' || string_agg(quote_literal('governorate:' || code), '|') || ')'
      from unnest(wanted.governorate_ids) as code),
    (select '(' || string_agg(quote_literal('area:' || code), '|') || ')'
      from unnest(wanted.area_ids) as code),
    quote_literal('furnished:' || wanted.furnished),
    private.search_buckets('price', wanted.price_min, wanted.price_max),
    private.search_buckets('size', wanted.area_m2_min, wanted.area_m2_max),
    case when wanted.is_direct then '''is:direct''' end,
    case when wanted.verified_only then '''is:verified''' end,
    case when wanted.bedrooms_min > 0 then
      quote_literal('bedrooms:' || least(wanted.bedrooms_min, 10)) end,
    case when wanted.bathrooms_min > 0 then
      quote_literal('bathrooms:' || least(wanted.bathrooms_min, 10)) end
  ), '')::tsquery;
end
$$;
comment on function private.search_terms is
  'What filters ask of the terms of a document, for the index of words; null when nothing. Never '
  'more than private.search_conditions asks, which decides.';

create function private.search_center(wanted private.search_filters) returns extensions.cube
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
begin
  return private.earth_point(wanted.near[1], wanted.near[2]);
end
$$;
comment on function private.search_center is 'The place that near is about.';

create function private.search_box(wanted private.search_filters) returns extensions.cube
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  if wanted.near is not null then
    return extensions.cube_enlarge(private.search_center(wanted), wanted.near[3], 3);
  elsif wanted.bbox is null then
    return null;
  end if;
  -- Around Kuwait x falls with lat and lng, y falls with lat and grows with lng, z grows with lat:
  -- the corners bound all of them, and a metre more takes care of rounding.
  return extensions.cube_enlarge(extensions.cube_union(
    extensions.cube_union(
      private.earth_point(wanted.bbox[2], wanted.bbox[1]),
      private.earth_point(wanted.bbox[2], wanted.bbox[3])
    ),
    extensions.cube_union(
      private.earth_point(wanted.bbox[4], wanted.bbox[1]),
      private.earth_point(wanted.bbox[4], wanted.bbox[3])
    )
  ), 0.001, 3);
end
$$;
comment on function private.search_box is
  'A box in space with every place in it that bbox or near asks for, and some more: for indexes.';

revoke execute on all functions in schema private from public;
