-- What one field of a listing may hold, whatever the others say. The facade checks the same with
-- its schemas; whoever calls past it meets these.

-- plpgsql keeps its plans for the session, where functions in SQL are planned again at every call.
create function private.property_fields()
  returns table (
    name text, form text, words text, low numeric, high numeric, reviewed boolean
  )
  language plpgsql
  stable
  rows 40
  set search_path = ''
as $$
begin
  return query
  values
    ('type', 'type', null, null::numeric, null::numeric, false),
    ('kind', 'word', 'kind', null, null, false),
    ('usage', 'word', 'usage', null, null, false),
    ('titleAr', 'line', null, 5, 120, true),
    ('titleEn', 'line', null, 5, 120, true),
    ('descriptionAr', 'text', null, 1, 4000, false),
    ('descriptionEn', 'text', null, 1, 4000, false),
    ('price', 'number', null, 0, 99999999999.999, true),
    ('isNegotiable', 'no', null, null, null, false),
    ('propertyIncome', 'number', null, 0, 99999999999.999, false),
    ('requestYear', 'whole', null, 1950, private.this_year(), false),
    ('requiredYear', 'whole', null, 1950, private.this_year(), false),
    ('rentConditions', 'conditions', 'rent_condition', null, 20, false),
    ('additionalExpenses', 'expenses', 'expense', null, 20, false),
    ('landAreaM2', 'number', null, 1, 10000000, false),
    ('builtAreaM2', 'number', null, 1, 10000000, false),
    ('bedrooms', 'whole', null, 0, 100, false),
    ('bathrooms', 'whole', null, 0, 100, false),
    ('floorNo', 'whole', null, -10, 200, false),
    ('buildingYear', 'whole', null, 1900, private.this_year() + 5, false),
    ('furnished', 'word', 'furnished', null, null, false),
    ('plotPosition', 'word', 'plot_position', null, null, false),
    ('finishing', 'word', 'finishing', null, null, false),
    ('amenities', 'words', 'amenity', null, 20, false),
    ('documentType', 'word', 'document_type', null, null, false),
    ('isDirect', 'no', null, null, null, false),
    ('governorateId', 'word', 'governorate', null, null, true),
    ('areaId', 'word', 'area', null, null, true),
    ('block', 'line', null, 1, 30, true),
    ('street', 'line', null, 1, 120, true),
    ('building', 'line', null, 1, 60, true),
    ('paciNo', 'paci', null, null, null, true),
    ('location', 'location', 'location_precision', null, null, true),
    ('allowCall', 'yes', null, null, null, false),
    ('allowWhatsapp', 'yes', null, null, null, false),
    ('allowChat', 'yes', null, null, null, false),
    ('wantedKinds', 'words', 'kind', null, 20, false),
    ('wantedAreaIds', 'words', 'area', null, 20, false);
end
$$;
comment on function private.property_fields is
  'The fields that an owner writes: form, vocabulary, bounds, and whether a change waits for '
  'review.';

create function private.this_year() returns integer
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return extract(year from now() at time zone 'Asia/Kuwait')::integer;
end
$$;
comment on function private.this_year is 'The year in Kuwait.';

create function private.is_code(words text, code text) returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return case words
    when 'area' then exists (select from public.areas where areas.id = code)
    when 'governorate' then exists (select from public.governorates where governorates.id = code)
    else private.is_word(words, code)
  end;
end
$$;
comment on function private.is_code is
  'Whether a code is of that vocabulary, an area or a governorate.';

create function private.tidy_text(value text) returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
begin
  return nullif(regexp_replace(
    replace(normalize(value, nfkc), E'\r\n', E'\n'), '^[[:space:]]+|[[:space:]]+$', '', 'g'), '');
end
$$;
comment on function private.tidy_text is
  'Text of several lines in one form: NFKC, no white space outside; null when nothing is left.';

-- Forms ------------------------------------------------------------------------------------------

create function private.read_text(
  form text, value jsonb, low numeric, high numeric, out clean jsonb, out problem text
)
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  read text := case form when 'line' then private.tidy(value #>> '{}')
    else private.tidy_text(value #>> '{}') end;
  -- Joiners and direction marks belong to many scripts, but they are nothing to read.
  seen text := regexp_replace(read, '[\u061C\u200B-\u200F\u2060-\u2064]', '', 'g');
begin
  clean := to_jsonb(read);
  problem := case
    when jsonb_typeof(value) <> 'string' then 'invalid'
    when read is null or char_length(seen) < low then 'too_small'
    when char_length(read) > high then 'too_big'
    when not private.is_clean(read) then 'invalid'
    when form = 'line' and read ~ '[\u2028-\u202E\u2066-\u2069\uFEFF]' then 'invalid'
  end;
end
$$;
comment on function private.read_text is
  'A text in its one form. A line has nothing in it that turns or hides the rest of the page.';

create function private.read_number(
  form text, value jsonb, low numeric, high numeric, out clean jsonb, out problem text
)
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  read numeric;
begin
  if jsonb_typeof(value) <> 'number' then
    problem := 'invalid';
    return;
  end if;
  read := value;
  clean := to_jsonb(trim_scale(read));
  problem := case
    when read < low then 'too_small'
    when read > high then 'too_big'
    when read <> round(read, case form when 'whole' then 0 else 3 end) then 'invalid'
  end;
end
$$;
comment on function private.read_number is
  'A number, whole or with three decimals at most; nothing is rounded.';

create function private.read_words(words text, value jsonb, high numeric) returns text
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(value) <> 'array' then 'invalid'
    when jsonb_array_length(value) > high then 'too_big'
    when exists (
      select from jsonb_array_elements(value) as item
      where jsonb_typeof(item) <> 'string' or not private.is_code(words, item #>> '{}')
    ) then 'invalid'
    when jsonb_array_length(value) > (
      select count(distinct item) from jsonb_array_elements(value) as item
    ) then 'invalid'
  end;
end
$$;
comment on function private.read_words is
  'What is wrong with a list of codes: each once, all known.';

create function private.read_location(value jsonb, out clean jsonb, out problem text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  problem := 'invalid';
  if jsonb_typeof(value) <> 'object' or value - array['lat', 'lng', 'precision'] <> '{}'
    or jsonb_typeof(value -> 'lat') is distinct from 'number'
    or jsonb_typeof(value -> 'lng') is distinct from 'number'
    or not (value -> 'lat')::numeric between 28.45 and 30.15
    or not (value -> 'lng')::numeric between 46.50 and 48.80 then
    return;
  end if;
  -- Who does not say how exactly the place may be shown has it shown less exactly.
  clean := '{"precision":"block"}' || value;
  if private.is_word('location_precision', clean ->> 'precision') then
    problem := null;
  end if;
end
$$;
comment on function private.read_location is
  'A point within Kuwait and how exactly it may be shown.';

create function private.read_terms(
  form text, words text, value jsonb, high numeric, out clean jsonb, out problem text
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  label text := case form when 'conditions' then 'textAr' else 'labelAr' end;
  term jsonb;
  read jsonb;
  said record;
  sum record;
begin
  problem := case
    when jsonb_typeof(value) <> 'array' then 'invalid'
    when jsonb_array_length(value) > high then 'too_big'
  end;
  clean := '[]';
  for term in select item from jsonb_array_elements(value) as item where problem is null loop
    problem := 'invalid';
    exit when jsonb_typeof(term) <> 'object'
      or jsonb_typeof(term -> 'code') is distinct from 'string'
      or not private.is_word(words, term ->> 'code');
    read := jsonb_build_object('code', term -> 'code');

    -- Without words of its own a term reads as in the vocabulary; "other" says nothing alone.
    if coalesce(term -> label, 'null') = 'null' and term ->> 'code' <> 'other' then
      select to_jsonb(vocabularies.text_ar) as clean, null as problem into said
      from public.vocabularies
      where vocabularies.vocabulary = words and vocabularies.code = term ->> 'code';
    else
      said := private.read_text('line', coalesce(term -> label, 'null'), 1, 300);
    end if;
    exit when said.problem is not null;
    read := read || jsonb_build_object(label, said.clean);

    if form = 'expenses' then
      sum := private.read_number('number', coalesce(term -> 'amount', 'null'), 0, 99999999999.999);
      exit when sum.problem is not null
        or not coalesce(private.is_word('period', term ->> 'period'), false);
      read := read || jsonb_build_object('amount', sum.clean, 'period', term -> 'period');
    end if;
    exit when term - array(select jsonb_object_keys(read)) <> '{}';
    clean := clean || jsonb_build_array(read);
    problem := null;
  end loop;
end
$$;
comment on function private.read_terms is
  'The conditions of a rent, or what comes on top of it: a code, the words for it, and for '
  'expenses an amount and its period.';

create function private.read_field(
  form text, words text, value jsonb, low numeric, high numeric, out clean jsonb, out problem text
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  read record;
begin
  clean := value;
  if form is null then
    problem := 'unknown';
  elsif form = 'type' then
    problem := case when value not in ('"SALE"', '"RENT"', '"EXCHANGE"') then 'invalid' end;
  elsif value = 'null' then
    -- Null clears: what is never without a value goes back to the one it began with.
    clean := case
      when form in ('words', 'conditions', 'expenses') then '[]'
      when form = 'yes' then 'true'
      when form = 'no' then 'false'
      else value
    end;
  elsif form in ('yes', 'no') then
    problem := case when jsonb_typeof(value) <> 'boolean' then 'invalid' end;
  elsif form = 'word' then
    problem := case
      when jsonb_typeof(value) <> 'string' then 'invalid'
      when not private.is_code(words, value #>> '{}') then
        case words when 'area' then 'area_invalid' else 'invalid' end
    end;
  elsif form = 'words' then
    problem := private.read_words(words, value, high);
  elsif form = 'paci' then
    clean := to_jsonb(private.ascii_digits(private.tidy(value #>> '{}')));
    problem := case
      when jsonb_typeof(value) <> 'string' or clean is null or clean #>> '{}' !~ '^[0-9]{8}$'
      then 'invalid'
    end;
  else
    if form in ('line', 'text') then
      read := private.read_text(form, value, low, high);
    elsif form in ('number', 'whole') then
      read := private.read_number(form, value, low, high);
    elsif form = 'location' then
      read := private.read_location(value);
    else
      read := private.read_terms(form, words, value, high);
    end if;
    clean := read.clean;
    problem := read.problem;
  end if;
end
$$;
comment on function private.read_field is
  'A field in its one form, or the code of what is wrong with it.';

revoke execute on all functions in schema private from public;
