-- To interpret a query, phrases of private.reading_words are looked up in it, the longest first, and
-- numbers are combined with their units and bounds. The meanings become filters.

create function private.with_reading(
  reading private.reading, name text, value jsonb, said text
) returns private.reading
  language plpgsql immutable set search_path = ''
as $$
begin
  if value is null then
    return reading;
  elsif reading.filters ? name then
    if reading.filters -> name = value then
      return reading;
    elsif jsonb_typeof(value) <> 'array' or name = 'near' then
      reading.ignored := reading.ignored || said;
      return reading;
    end if;
    value := (reading.filters -> name) || value;
  end if;
  reading.filters := reading.filters || jsonb_build_object(name, value);
  reading.found := reading.found || jsonb_build_object('field', name, 'value', case
    when jsonb_typeof(value) = 'array' then (
      select string_agg(code, ',') from jsonb_array_elements_text(value) as code)
    else value #>> '{}' end, 'text', said);
  return reading;
end
$$;
comment on function private.with_reading is
  'Adds a filter. If the query contains the same filter twice, lists of codes are concatenated; '
  'for any other filter, the second value is ignored.';

create function private.with_names(
  reading private.reading, name text, field text, items private.reading_item[], typed text[]
) returns private.reading
  language plpgsql immutable set search_path = ''
as $$
declare
  item private.reading_item;
  codes text[] := '{}';
  said text;
begin
  foreach item in array items loop
    continue when item.field <> with_names.field;
    codes := codes || array(select code from unnest(item.choices) as code where code <> all (codes));
    said := concat_ws('، ', said, array_to_string(typed[item.first:item.last], ' '));
  end loop;
  return private.with_reading(reading, name, to_jsonb(nullif(codes, '{}')), said);
end
$$;

create function private.with_range(
  reading private.reading, low_name text, high_name text, low numeric, high numeric, said text
) returns private.reading
  language plpgsql immutable set search_path = ''
as $$
begin
  if coalesce(reading.filters -> low_name <> to_jsonb(low), false)
    or coalesce(reading.filters -> high_name <> to_jsonb(high), false) then
    reading.ignored := reading.ignored || said;
    return reading;
  end if;
  reading := private.with_reading(reading, low_name, to_jsonb(low), said);
  return private.with_reading(reading, high_name, to_jsonb(high), said);
end
$$;
comment on function private.with_range is
  'Adds a minimum and a maximum, or ignores both if the query already set a different value for '
  'one of them.';

create function private.price_scale(item private.reading_item, type text) returns integer
  language sql immutable
  return case
    when item.field = 'price' then 1
    when price_scale.type is null then null
    when item.field = 'million' then case price_scale.type when 'SALE' then 1000000 end -- 1.5m
    when price_scale.type = 'RENT' then 1
    when item.field = 'decimal' then null
    -- For sales, people write 350 or 350.000 when they mean 350,000.
    when item.field = 'dotted' or item.number < 1000 then 1000
    when item.number >= 10000 then 1 -- a smaller number such as 1,200 could be in thousands too
  end;
comment on function private.price_scale is
  'Returns the factor that converts an amount to a price of this type of listing, or null if the '
  'amount is not a price.';

create function private.with_types(
  reading private.reading, types private.reading_item[], prices private.reading_item[],
  typed text[], strategy text
) returns private.reading
  language plpgsql immutable set search_path = ''
as $$
declare
  named constant text[] := array(select distinct item.choices[1] from unnest(types) as item);
  type constant text := case when named = '{}' and strategy = 'exchange' then 'EXCHANGE'
    when cardinality(named) = 1 then named[1] end;
  item private.reading_item;
  scale integer;
begin
  foreach item in array types loop
    if type is null then
      reading.ignored := reading.ignored || array_to_string(typed[item.first:item.last], ' ');
    elsif strategy = 'exchange' and type <> 'EXCHANGE' then
      reading.strategy := coalesce(reading.strategy, 'standard');
    elsif strategy in ('standard', 'deal') and type = 'EXCHANGE' then
      reading.strategy := coalesce(reading.strategy, 'exchange');
    elsif strategy is distinct from 'exchange' and not reading.filters ? 'type' then
      reading := private.with_reading(
        reading, 'type', to_jsonb(type), array_to_string(typed[item.first:item.last], ' '));
    end if;
  end loop;
  foreach item in array prices loop
    scale := private.price_scale(item, type);
    if scale is null then
      reading.ignored := reading.ignored || array_to_string(typed[item.first:item.last], ' ');
    else
      reading := private.with_range(reading, 'priceMin', 'priceMax', trim_scale(item.low * scale),
        trim_scale(item.high * scale), array_to_string(typed[item.first:item.last], ' '));
    end if;
  end loop;
  return reading;
end
$$;
comment on function private.with_types is
  'Adds the type, if the query names exactly one, and the prices, whose scale depends on the type.';

create function private.parted(word text, deep boolean default true) returns text[]
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  fields constant text[] := '{type,kind,area,governorate,furnished,plot_position,rooms,bathrooms,floor,'
    'stopword}';
  longest constant integer := least(length(word), 40) - 3; -- of the first word
  cut integer;
  parts text[];
begin
  -- Both words together may be one phrase of private.reading_words.
  select min(strpos(listed.phrase, ' ')) - 1 into cut
  from private.reading_words as listed
  where listed.field = any (fields) and listed.phrase = any (array(
    select left(word, at) || ' ' || regexp_replace(substr(word, at + 1), '^ال', '')
    from generate_series(3, longest) as at));
  if cut is not null then
    return array[left(word, cut), substr(word, cut + 1)];
  end if;
  for cut in
    select distinct length(listed.phrase) from private.reading_words as listed
    where listed.field = any (fields) and listed.phrase = any (array(
      select left(word, at) from generate_series(3, longest) as at))
    order by 1
  loop
    if exists (
      select from private.reading_words as listed where listed.field = any (fields)
        and listed.phrase in (substr(word, cut + 1), regexp_replace(substr(word, cut + 1), '^ب?ال|^ب', ''))
    ) then
      return array[left(word, cut), substr(word, cut + 1)];
    elsif deep then -- the rest is split only once more
      parts := private.parted(substr(word, cut + 1), false);
      if parts is not null then
        return left(word, cut) || parts;
      end if;
    end if;
  end loop;
  return null;
end
$$;
comment on function private.parted is
  'Splits a word into the two or three known words of which it consists, typed without spaces. '
  'Returns null if that is not possible.';

create function private.read_query(q text, strategy text, sort text default null)
  returns private.reading
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  tokens record;
  joined record;
  items private.reading_item[];
  item private.reading_item;
  before private.reading_item;
  reading private.reading;
  named private.reading_item[] := '{}';
  kind private.reading_item;
  types private.reading_item[] := '{}';
  prices private.reading_item[] := '{}';
  kind_at integer; -- the index of the last kind, to which "or" may add another
  said text;
  word text;
  parts text[];
  is_word boolean;
begin
  tokens := private.reading_tokens(q);
  tokens.typed := string_to_array(
    translate(array_to_string(tokens.typed, ' '), 'ƍƌƨƣƕƚ', './/-,'), ' ');
  reading := row('[]', '{}', '{}', '{}', coalesce(tokens.ignored, '{}'), null, null);
  word := array_to_string(tokens.plain, '');
  if word = '' then
    return reading;
  elsif cardinality(tokens.plain) <= 2 and word ~ '^(kw)?[0-9]{5,7}$' then -- a reference number
    reading.words := array['kw' || ltrim(word, 'kw')];
    reading.found := jsonb_build_array(jsonb_build_object('field', 'refNo',
      'value', 'KW-' || ltrim(word, 'kw'), 'text', array_to_string(tokens.typed, ' ')));
    return reading;
  end if;
  items := private.reading_items(tokens.plain);
  for joined in
    select written.first, found.parts
    from (
      select one.phrase, private.parted(one.phrase) as parts
      from unnest(items) as one
      where one.field is null and length(one.phrase) > 5 and not exists (
        select from private.search_vocabulary as known where known.word = one.phrase and known.is_shared
      )
      group by one.phrase order by min(one.first) limit 8
    ) as found
    join unnest(items) as written on written.phrase = found.phrase
    where found.parts is not null
  loop
    parts := joined.parts;
    tokens.plain[joined.first] := private.search_text(array_to_string(parts, ' '));
    tokens.typed[joined.first] := array_to_string(coalesce(regexp_match(tokens.typed[joined.first], (
      select '^(.{' || string_agg(length(part)::text, '})(.{') || '})$' from unnest(parts) as part
    )), parts), ' ');
  end loop;
  if tokens.plain::text like '% %' then
    tokens.plain := (string_to_array(array_to_string(tokens.plain, ' '), ' '))[:30];
    tokens.typed := (string_to_array(array_to_string(tokens.typed, ' '), ' '))[:30];
    items := private.reading_items(tokens.plain);
  end if;
  items := private.reading_negations(private.reading_numbers(items), tokens.plain);
  for index in 1 .. cardinality(items) loop
    item := items[index];
    before := items[index - 1];
    said := array_to_string(tokens.typed[item.first:item.last], ' ');
    is_word := false;
    if item.field = 'kind' then
      is_word := not (kind_at is null or item.choices = kind.choices
        or kind_at = index - 2 and (before.field = 'join' or before.phrase = 'ƕ'));
      if not is_word then
        named := named || item;
        kind := case when kind_at is null then item else kind end;
        kind_at := index;
      end if;
    elsif item.field = 'amenity' and before.field = 'before' then
      is_word := true; -- as in "opposite a garden"
    elsif item.phrase = 'شرق' and items[index + 1].field in ('area', 'governorate')
      and not starts_with(tokens.plain[items[index + 1].first], 'و') then
      null; -- means the east of that place, not the area named شرق
    elsif item.field in (
      'area', 'governorate', 'plot_position', 'amenity', 'not kind', 'not area', 'not governorate'
    ) then
      named := named || item;
    elsif item.field = 'type' then
      types := types || item;
    elsif item.field in ('price', 'bare', 'decimal', 'dotted', 'million') then
      prices := prices || item;
    elsif item.field = 'strategy' and strategy is not null then
      reading.strategy := nullif(item.choices[1], strategy);
    elsif item.field = 'sort' then
      if sort is null and coalesce(reading.sort, item.choices[1]) = item.choices[1] then
        reading.sort := item.choices[1];
      else
        reading.ignored := reading.ignored || said;
      end if;
    elsif item.field in ('furnished', 'direct', 'block') then
      reading := private.with_reading(reading,
        case item.field when 'direct' then 'isDirect' else item.field end,
        case item.field when 'furnished' then to_jsonb(item.choices) when 'direct' then 'true'
          else to_jsonb(item.choices[1]) end, said);
    elsif item.field = 'before' then
      is_word := coalesce(items[index + 1 + (items[index + 1].field = 'stopword')::integer].field
        not in ('landmark', 'area', 'governorate'), true);
    elsif item.field = 'landmark' then
      reading := private.with_reading(reading, 'near', (select to_jsonb(array[lat, lng, 3])
        from private.landmarks where landmarks.id = item.choices[1]), said);
    elsif item.field = 'size' then
      reading := private.with_range(reading, 'areaM2Min', 'areaM2Max', item.low, item.high, said);
    elsif item.field in ('rooms', 'bathrooms') and item.low is not null then
      reading := private.with_reading(reading,
        case item.field when 'rooms' then 'bedroomsMin' else 'bathroomsMin' end,
        to_jsonb(floor(item.low)), said);
    elsif item.field = 'floor' then
      reading := private.with_range(reading, 'floorMin', 'floorMax', item.low, item.high, said);
      named := named || item;
    elsif item.field in ('rooms', 'bathrooms', 'unclear') then
      reading.ignored := reading.ignored || said;
    elsif item.field in ('unit', 'measure') then
      is_word := item.choices <> '{m2}';
    else
      is_word := not coalesce(item.field in ('stopword', 'join', 'mark'), false);
    end if;
    if is_word then
      for n in item.first .. item.last loop
        word := left(translate(tokens.plain[n], 'ƚ', ''), 60);
        if word <> all (reading.words || '{و,and}'::text[]) then
          reading.words := reading.words || word;
          reading.typed := reading.typed || tokens.typed[n];
        end if;
      end loop;
    end if;
  end loop;
  reading := private.with_types(reading, types, prices, tokens.typed, strategy);
  foreach parts slice 1 in array '{{kinds,kind},{kinds,floor},{areaIds,area},{governorateIds,governorate},'
    '{notKinds,not kind},{notAreaIds,not area},{notGovernorateIds,not governorate},'
    '{plotPosition,plot_position},{amenities,amenity}}'::text[] loop
    -- If the query names no kind, دور ارضي (ground floor) also means the kind floor.
    continue when parts[2] = 'floor' and kind_at is not null;
    reading := private.with_names(reading, parts[1], parts[2], named, tokens.typed);
  end loop;
  return reading;
end
$$;
comment on function private.read_query is
  'Interprets the query q. strategy is null for the map. If sort is given, words that name a sort '
  'order are ignored.';
