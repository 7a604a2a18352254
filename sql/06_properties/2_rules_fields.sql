-- The fields that an owner writes, and what each may hold whatever the others say. The facade
-- checks the same with its schemas; these rules also bind callers of the Data API.

create function private.property_fields()
  returns table (
    name text, form text, vocabulary text, minimum numeric, maximum numeric, moderated boolean
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
    ('kind', 'code', 'kind', null, null, false),
    ('usage', 'code', 'usage', null, null, false),
    ('titleAr', 'line', null, 5, 120, true),
    ('titleEn', 'line', null, 5, 120, true),
    ('descriptionAr', 'text', null, 1, 4000, false),
    ('descriptionEn', 'text', null, 1, 4000, false),
    ('price', 'number', null, 0, 99999999999.999, true),
    ('isNegotiable', 'boolean, false', null, null, null, false),
    ('propertyIncome', 'number', null, 0, 99999999999.999, false),
    ('requestYear', 'integer', null, 1950, private.this_year(), false),
    ('requiredYear', 'integer', null, 1950, private.this_year(), false),
    ('rentConditions', 'conditions', 'rent_condition', null, 20, false),
    ('additionalExpenses', 'expenses', 'expense', null, 20, false),
    ('landAreaM2', 'number', null, 1, 10000000, false),
    ('builtAreaM2', 'number', null, 1, 10000000, false),
    ('bedrooms', 'integer', null, 0, 100, false),
    ('bathrooms', 'integer', null, 0, 100, false),
    ('floorNo', 'integer', null, -10, 200, false),
    ('buildingYear', 'integer', null, 1900, private.this_year() + 5, false),
    ('furnished', 'code', 'furnished', null, null, false),
    ('plotPosition', 'code', 'plot_position', null, null, false),
    ('finishing', 'code', 'finishing', null, null, false),
    ('amenities', 'codes', 'amenity', null, 20, false),
    ('documentType', 'code', 'document_type', null, null, false),
    ('isDirect', 'boolean, false', null, null, null, false),
    ('governorateId', 'code', 'governorate', null, null, true),
    ('areaId', 'code', 'area', null, null, true),
    ('block', 'line', null, 1, 30, true),
    ('street', 'line', null, 1, 120, true),
    ('building', 'line', null, 1, 60, true),
    ('paciNo', 'paci', null, null, null, true),
    ('location', 'location', 'location_precision', null, null, true),
    ('allowCall', 'boolean, true', null, null, null, false),
    ('allowWhatsapp', 'boolean, true', null, null, null, false),
    ('allowChat', 'boolean, true', null, null, null, false),
    ('wantedKinds', 'codes', 'kind', null, 20, false),
    ('wantedAreaIds', 'codes', 'area', null, 20, false);
end
$$;
comment on function private.property_fields is
  'The fields that an owner writes: form, vocabulary, bounds, and whether an admin has to approve '
  'a change where listings are reviewed.';

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

create function private.parse_field(
  form text, vocabulary text, value jsonb, minimum numeric, maximum numeric,
  out clean jsonb, out problem text
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  parsed record;
begin
  clean := value;
  if form is null then
    problem := 'unknown';
  elsif form = 'type' then
    problem := case when value not in ('"SALE"', '"RENT"', '"EXCHANGE"') then 'invalid' end;
  elsif value = 'null' then
    -- Null clears: what always has a value goes back to its default.
    clean := case
      when form in ('codes', 'conditions', 'expenses') then '[]'
      when form = 'boolean, true' then 'true'
      when form = 'boolean, false' then 'false'
      else value
    end;
  elsif form in ('boolean, true', 'boolean, false') then
    problem := case when jsonb_typeof(value) <> 'boolean' then 'invalid' end;
  elsif form = 'code' then
    problem := case
      when jsonb_typeof(value) <> 'string' then 'invalid'
      when not private.is_code(vocabulary, value) then
        case vocabulary when 'area' then 'area_invalid' else 'invalid' end
    end;
  elsif form in ('number', 'integer') then
    problem := private.number_problem(form, value, minimum, maximum);
    clean := case when problem is null then to_jsonb(trim_scale(value::numeric)) end;
  elsif form = 'codes' then
    problem := private.check_codes(vocabulary, value, maximum);
  elsif form = 'paci' then
    problem := case when jsonb_typeof(value) <> 'string' then 'invalid'
      else private.text_problem(value #>> '{}', 8) end;
    if problem is null then
      clean := to_jsonb(private.ascii_digits(private.tidy(value #>> '{}', 8, '')));
      problem := case when (clean #>> '{}' ~ '^[0-9]{8}$') is not true then 'invalid' end;
    end if;
  else
    if form in ('line', 'text') then
      parsed := private.parse_text(form, value, minimum, maximum);
    elsif form = 'location' then
      parsed := private.parse_location(value);
    else
      parsed := private.parse_terms(form, vocabulary, value, maximum);
    end if;
    clean := parsed.clean;
    problem := parsed.problem;
  end if;
end
$$;
comment on function private.parse_field is
  'The value of a field in its one form, or the code of what is wrong with it.';

create function private.parse_property_fields(fields jsonb) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  answer jsonb;
  problems jsonb;
begin
  if jsonb_typeof(fields) is distinct from 'object' then
    perform private.refuse_field('', 'invalid');
  end if;
  select
    coalesce(jsonb_object_agg(given.key, parsed.clean), '{}'),
    coalesce(
      jsonb_agg(jsonb_build_object('path', left(given.key, 100), 'code', parsed.problem)
        order by given.key)
        filter (where parsed.problem is not null),
      '[]')
  into answer, problems
  from jsonb_each(fields) as given
  left join private.property_fields() as field on field.name = given.key
  cross join lateral
    private.parse_field(
      field.form, field.vocabulary, given.value, field.minimum, field.maximum) as parsed;
  perform private.refuse_fields(problems);
  return answer;
end
$$;
comment on function private.parse_property_fields is
  'The fields of a listing as sent, each in its one form. 422 with everything that is wrong.';

create function private.check_new_titles(fields jsonb, before public.properties) returns void
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  old_titles constant jsonb := to_jsonb(array[before.title_ar, before.title_en,
    before.pending_changes ->> 'titleAr', before.pending_changes ->> 'titleEn']);
begin
  perform private.refuse_fields(coalesce(
    jsonb_agg(jsonb_build_object('path', given.key, 'code', 'invalid') order by given.key), '[]'))
  from jsonb_each_text(fields) as given
  where given.key in ('titleAr', 'titleEn') and not private.is_written(given.value)
    and not old_titles ? given.value;
end
$$;
comment on function private.check_new_titles is
  '422 validation_failed for a title without a letter, or with a heap of marks on one; one that stood '
  'before may stay.';

create function private.apply_fields(property public.properties, fields jsonb)
  returns public.properties
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  location jsonb := fields -> 'location';
  answer public.properties;
begin
  answer := jsonb_populate_record(property, (
    -- titleAr is title_ar, landAreaM2 is land_area_m2.
    select coalesce(jsonb_object_agg(
      lower(regexp_replace(field.key, '([A-Z])', '_\1', 'g')), field.value), '{}')
    from jsonb_each(fields - 'location') as field
  ));
  if fields ? 'location' then
    answer.lat := location -> 'lat';
    answer.lng := location -> 'lng';
    answer.location_precision := location ->> 'precision';
  end if;
  -- An area implies its governorate.
  if answer.area_id is not null and (
    answer.governorate_id is null or fields ? 'areaId' and not fields ? 'governorateId'
  ) then
    select areas.governorate_id into answer.governorate_id from public.areas
    where areas.id = answer.area_id;
  end if;
  return answer;
end
$$;
comment on function private.apply_fields is
  'A listing with these fields, as parse_property_fields gives them, put in.';
