-- What strategies and filters ask of a listing: as conditions, as terms of the text index, and as a
-- box in space.

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
        'search_documents.type in (''SALE'', ''RENT'') and search_documents.drop_pct is not null '
        'and search_documents.drop_until > now()'
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
      'search_documents.furnished = any (($1).furnished)' end,
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
      'search_documents.request_year <= ($1).request_year_max' end,
    case when wanted.floor_min is not null then 'search_documents.floor_no >= ($1).floor_min' end,
    case when wanted.floor_max is not null then 'search_documents.floor_no <= ($1).floor_max' end,
    case when wanted.plot_position is not null then
      'search_documents.plot_position = any (($1).plot_position)' end,
    case when wanted.block is not null then 'search_documents.block = ($1).block' end
  );
end
$$;
comment on function private.search_conditions is
  'What a strategy (null for any) and filters ask, as SQL on private.search_documents with the '
  'filters as $1. Made of constant pieces: nothing that a caller sent is in it.';

create function private.search_buckets(name text, low numeric, high numeric) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return (
    select '(' || string_agg(private.quote_lexeme(name || ':' || bucket), '|') || ')'
    from generate_series(private.search_bucket(low), private.search_bucket(high)) as bucket
  );
end
$$;
comment on function private.search_buckets is
  'The terms of the buckets between two amounts; null when one of them is missing.';

create function private.search_terms(wanted private.search_filters) returns tsquery
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  -- Codes were found in their vocabularies when the filters were parsed.
  return nullif(concat_ws('&',
    private.quote_lexeme('type:' || wanted.type),
    (select '(' || string_agg(private.quote_lexeme('kind:' || code), '|') || ')'
      from unnest(wanted.kinds) as code),
    private.quote_lexeme('usage:' || wanted.usage),
    (select '(' || string_agg(private.quote_lexeme('governorate:' || code), '|') || ')'
      from unnest(wanted.governorate_ids) as code),
    (select '(' || string_agg(private.quote_lexeme('area:' || code), '|') || ')'
      from unnest(wanted.area_ids) as code),
    (select '(' || string_agg(private.quote_lexeme('furnished:' || code), '|') || ')'
      from unnest(wanted.furnished) as code),
    (select '(' || string_agg(private.quote_lexeme('plot:' || code), '|') || ')'
      from unnest(wanted.plot_position) as code),
    private.quote_lexeme('block:' || wanted.block),
    -- Of a wide range the terms would be most floors that there are.
    case when wanted.floor_max - wanted.floor_min <= 20 then (
      select '(' || string_agg(private.quote_lexeme('floor:' || floor_no), '|') || ')'
      from generate_series(wanted.floor_min::integer, wanted.floor_max) as floor_no) end,
    private.search_buckets('price', wanted.price_min, wanted.price_max),
    private.search_buckets('size', wanted.area_m2_min, wanted.area_m2_max),
    case when wanted.is_direct then '''is:direct''' end,
    case when wanted.verified_only then '''is:verified''' end,
    case when wanted.bedrooms_min > 0 then
      private.quote_lexeme('bedrooms:' || least(wanted.bedrooms_min, 10)) end,
    case when wanted.bathrooms_min > 0 then
      private.quote_lexeme('bathrooms:' || least(wanted.bathrooms_min, 10)) end
  ), '')::tsquery;
end
$$;
comment on function private.search_terms is
  'What filters ask of the terms of a document, for the text index; null for nothing. Never '
  'stricter than private.search_conditions, which decides.';

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
comment on function private.search_center is 'The centre of near.';

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
  -- the corners bound all of them, and a metre more covers rounding.
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
  'A box in space that contains every place that bbox or near asks for, and some more: for the '
  'index.';
