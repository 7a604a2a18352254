-- The schemas of the facade make the same checks. These rules also apply to callers of the Data API.
-- Functions and triggers that name the columns of fields are generated from private.property_fields
-- when sql/ is loaded, because PL/pgSQL caches plans only for static statements.

create function private.property_fields()
  returns table (
    name text, form text, vocabulary text, minimum numeric, maximum numeric, uses text[]
  )
  language plpgsql stable
  rows 40
  set search_path = ''
as $$
begin
  return query
  values
    ('type', 'type', null, null::numeric, null::numeric, '{card,searched}'::text[]),
    ('kind', 'code', 'kind', null, null, '{card,by_hand,searched}'),
    ('usage', 'code', 'usage', null, null, '{card,by_hand,searched}'),
    ('titleAr', 'line', null, 5, 120, '{reviewed,card,by_hand,searched}'),
    ('titleEn', 'line', null, 5, 120, '{reviewed,card,by_hand,searched}'),
    ('descriptionAr', 'text', null, 1, 4000, '{by_hand,searched}'),
    ('descriptionEn', 'text', null, 1, 4000, '{by_hand,searched}'),
    ('price', 'number', null, 0, 99999999999.999, '{reviewed,card,by_hand,searched}'),
    ('isNegotiable', 'boolean, false', null, null, null, '{card,by_hand}'),
    ('propertyIncome', 'number', null, 0, 99999999999.999, '{by_hand}'),
    ('requestYear', 'integer', null, 1950, private.this_year(), '{card,searched}'),
    ('requiredYear', 'integer', null, 1950, private.this_year(), '{card}'),
    ('rentConditions', 'conditions', 'rent_condition', null, 20, '{}'),
    ('additionalExpenses', 'expenses', 'expense', null, 20, '{}'),
    ('landAreaM2', 'number', null, 1, 10000000, '{card,by_hand}'),
    ('builtAreaM2', 'number', null, 1, 10000000, '{card,by_hand}'),
    ('bedrooms', 'integer', null, 0, 100, '{card,by_hand,searched}'),
    ('bathrooms', 'integer', null, 0, 100, '{card,by_hand,searched}'),
    ('floorNo', 'integer', null, -10, 200, '{by_hand,searched}'),
    ('buildingYear', 'integer', null, 1900, private.this_year() + 5, '{by_hand}'),
    ('furnished', 'code', 'furnished', null, null, '{card,by_hand,searched}'),
    ('plotPosition', 'code', 'plot_position', null, null, '{by_hand,searched}'),
    ('finishing', 'code', 'finishing', null, null, '{by_hand}'),
    ('amenities', 'codes', 'amenity', null, 20, '{by_hand,searched}'),
    ('documentType', 'code', 'document_type', null, null, '{by_hand}'),
    ('isDirect', 'boolean, false', null, null, null, '{card,by_hand,searched}'),
    ('governorateId', 'code', 'governorate', null, null, '{reviewed,card,by_hand,searched}'),
    ('areaId', 'code', 'area', null, null, '{reviewed,card,by_hand,searched}'),
    ('block', 'name', null, 1, 30, '{reviewed,card,by_hand,searched}'),
    ('street', 'name', null, 1, 120, '{reviewed,by_hand}'),
    ('building', 'name', null, 1, 60, '{reviewed,by_hand}'),
    ('paciNo', 'paci', null, null, 8, '{reviewed,by_hand}'),
    ('location', 'location', 'location_precision', null, null, '{reviewed,card,by_hand}'),
    ('allowCall', 'boolean, true', null, null, null, '{by_hand}'),
    ('allowWhatsapp', 'boolean, true', null, null, null, '{by_hand}'),
    ('allowChat', 'boolean, true', null, null, null, '{by_hand}'),
    ('wantedKinds', 'codes', 'kind', null, 20, '{}'),
    ('wantedAreaIds', 'codes', 'area', null, 20, '{}');
end
$$;
comment on function private.property_fields is
  'Lists the fields of a listing in the order of the record. Values of uses: reviewed (if listings '
  'are reviewed, an admin has to approve changes), card (the card contains it), by_hand (an admin '
  'may edit it in Studio), searched (search filters or indexes use it).';

create function private.column_of(field text) returns text
  language sql immutable
  return lower(regexp_replace(field, '([A-Z])', '_\1', 'g'));
comment on function private.column_of is
  'Converts the name of a field to that of its column, such as titleAr to title_ar.';

create function private.property_columns(use text default null) returns text[]
  language sql stable set search_path = ''
as $$
  select array_agg(columns.name order by field.ordinality, columns.index)
  from private.property_fields() with ordinality as field
  cross join lateral unnest(
    case field.form when 'location' then array['lat', 'lng', 'location_precision']
      else array[private.column_of(field.name)] end
  ) with ordinality as columns (name, index)
  where property_columns.use is null or property_columns.use = any (field.uses)
$$;

create function private.property_selection(
  source text, first_field text, last_field text, use text default null
) returns text
  language sql stable set search_path = ''
as $$
  select string_agg(
    format('%s.%I as %I', source, private.column_of(field.name), field.name), E',\n          '
    order by field.ordinality)
  from private.property_fields() with ordinality as field
  where field.ordinality between (
      select first.ordinality from private.property_fields() with ordinality as first
      where first.name = first_field
    ) and (
      select last.ordinality from private.property_fields() with ordinality as last
      where last.name = last_field
    )
    and (property_selection.use is null or property_selection.use = any (field.uses))
$$;
comment on function private.property_selection is
  'Returns a select list of the fields from first_field to last_field, or of only those that have '
  'the given use.';

create function private.this_year() returns integer
  language plpgsql stable set search_path = ''
as $$
begin
  return extract(year from now() at time zone 'Asia/Kuwait')::integer;
end
$$;

create function private.parse_field(
  form text, vocabulary text, value jsonb, minimum numeric, maximum numeric,
  out clean jsonb, out problem text
)
  language plpgsql stable set search_path = ''
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
    -- Null clears a field. A field that cannot be null gets its default.
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
      else private.text_problem(value #>> '{}', maximum::integer) end;
    if problem is null then
      clean := to_jsonb(private.typed(value #>> '{}', maximum::integer, ''));
      problem := case when (clean #>> '{}' ~ '^[0-9]{8}$') is not true then 'invalid' end;
    end if;
  else
    if form in ('line', 'name', 'text') then
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
  'Returns the normalised value, or an error code if the value is invalid.';

create function private.parse_property_fields(fields jsonb) returns jsonb
  language plpgsql stable set search_path = ''
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
      jsonb_agg(
        private.field_problem(left(given.key, 100), parsed.problem, field.minimum, field.maximum)
        order by given.key)
        filter (where parsed.problem is not null),
      '[]')
  into answer, problems
  from jsonb_each(fields) as given
  left join private.property_fields() as field on field.name = given.key
  cross join lateral
    private.parse_field(
      field.form, field.vocabulary, private.or_null(jsonb_strip_nulls(given.value)), field.minimum,
      field.maximum)
    as parsed
  -- Null clears any field except the type. A null type, or a null inside a value, counts as absent.
  where given.value <> 'null' or field.form <> 'type';
  perform private.refuse_fields(problems);
  return answer;
end
$$;

create function private.check_new_titles(fields jsonb, before public.properties) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  old_titles constant jsonb := to_jsonb(array[before.title_ar, before.title_en,
    before.pending_changes ->> 'titleAr', before.pending_changes ->> 'titleEn']);
begin
  perform private.refuse_fields(coalesce(
    jsonb_agg(jsonb_build_object('path', given.key, 'code', 'invalid') order by given.key), '[]'))
  from jsonb_each_text(fields) as given
  where case when given.key in ('titleAr', 'titleEn') then
    not private.is_written(private.normal_form(given.value, 'nfkc', 120, given.key))
    and not old_titles ? given.value end;
end
$$;

create function private.apply_fields(property public.properties, fields jsonb)
  returns public.properties
  language plpgsql stable set search_path = ''
as $$
declare
  location jsonb := fields -> 'location';
  answer public.properties;
begin
  answer := jsonb_populate_record(property, (
    select coalesce(jsonb_object_agg(private.column_of(field.key), field.value), '{}')
    from jsonb_each(fields - 'location') as field
  ));
  if fields ? 'location' then
    answer.lat := location -> 'lat';
    answer.lng := location -> 'lng';
    answer.location_precision := location ->> 'precision';
  end if;
  -- The governorate is derived from the area.
  if answer.area_id is not null and (
    answer.governorate_id is null or fields ? 'areaId' and not fields ? 'governorateId'
  ) then
    select areas.governorate_id into answer.governorate_id from public.areas
    where areas.id = answer.area_id;
  end if;
  return answer;
end
$$;

-- Administrators may add codes only to the vocabularies of fields, of report reasons and of decision
-- reasons. For all others, functions know each code.
do $$
begin
  execute format(
    'create trigger vocabularies_of_functions_are_theirs before insert on public.vocabularies '
    'for each row when (new.vocabulary not in (%s)) execute function private.refuse_edit(%L)',
    (
      select string_agg(quote_literal(open.vocabulary), ', ' order by open.vocabulary)
      from (
        select field.vocabulary from private.property_fields() as field
        where field.form in ('code', 'codes', 'conditions', 'expenses')
          and field.vocabulary not in ('area', 'governorate')
        union values ('report_reason'), ('decision_reason')
      ) as open
    ),
    'Functions know the codes of this vocabulary one by one: no other means anything.');
end
$$;
