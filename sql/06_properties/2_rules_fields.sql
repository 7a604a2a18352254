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

create function private.read_property(fields jsonb) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  answer jsonb;
  problems jsonb;
begin
  if jsonb_typeof(fields) is distinct from 'object' then
    perform private.refuse_fields('[{"path":"","code":"invalid"}]');
  end if;
  select
    coalesce(jsonb_object_agg(given.key, read.clean), '{}'),
    coalesce(
      jsonb_agg(jsonb_build_object('path', given.key, 'code', read.problem) order by given.key)
        filter (where read.problem is not null),
      '[]')
  into answer, problems
  from jsonb_each(fields) as given
  left join private.property_fields() as field on field.name = given.key
  cross join lateral
    private.read_field(field.form, field.words, given.value, field.low, field.high) as read;
  perform private.refuse_fields(problems);
  return answer;
end
$$;
comment on function private.read_property is
  'The fields of a listing as sent, in their one form. 422 with everything that is wrong.';

create function private.with_fields(property public.properties, fields jsonb)
  returns public.properties
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  place jsonb := fields -> 'location';
  answer public.properties;
begin
  answer := jsonb_populate_record(property, (
    -- titleAr is title_ar, landAreaM2 is land_area_m2.
    select coalesce(jsonb_object_agg(
      lower(regexp_replace(field.key, '([A-Z])', '_\1', 'g')), field.value), '{}')
    from jsonb_each(fields - 'location') as field
  ));
  if fields ? 'location' then
    answer.lat := place -> 'lat';
    answer.lng := place -> 'lng';
    answer.location_precision := place ->> 'precision';
  end if;
  -- An area names its governorate.
  if answer.area_id is not null and (
    answer.governorate_id is null or fields ? 'areaId' and not fields ? 'governorateId'
  ) then
    select areas.governorate_id into answer.governorate_id from public.areas
    where areas.id = answer.area_id;
  end if;
  return answer;
end
$$;
comment on function private.with_fields is 'A listing with these fields, read before, put in.';
