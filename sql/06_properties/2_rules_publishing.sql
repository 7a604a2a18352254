-- What the fields of a listing ask of one another, and what publishing asks of them.

create function private.refuse_fields(problems jsonb) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  special text := (
    select problem ->> 'code' from jsonb_array_elements(problems) as problem
    where problem ->> 'code' in ('price_required', 'area_invalid', 'field_not_for_type')
    limit 1
  );
begin
  if jsonb_array_length(problems) > 0 then
    perform private.refuse(
      422, coalesce(special, 'validation_failed'), jsonb_build_object('fields', problems));
  end if;
end
$$;
comment on function private.refuse_fields is
  '422 with what is wrong with each field; a code of the table wins over validation_failed.';

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

create function private.check_property(property public.properties, publishing boolean) returns void
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  perform private.refuse_fields((
    select coalesce(jsonb_agg(jsonb_build_object('path', path, 'code', code)), '[]')
    from (values
      ('rentConditions', 'field_not_for_type',
        property.type <> 'RENT' and property.rent_conditions <> '[]'),
      ('additionalExpenses', 'field_not_for_type',
        property.type <> 'RENT' and property.additional_expenses <> '[]'),
      ('requestYear', 'field_not_for_type',
        property.type <> 'EXCHANGE' and property.request_year is not null),
      ('requiredYear', 'field_not_for_type',
        property.type <> 'EXCHANGE' and property.required_year is not null),
      ('wantedKinds', 'field_not_for_type',
        property.type <> 'EXCHANGE' and property.wanted_kinds <> '{}'),
      ('wantedAreaIds', 'field_not_for_type',
        property.type <> 'EXCHANGE' and property.wanted_area_ids <> '{}'),
      ('auction', 'field_not_for_type',
        property.type <> 'SALE' and property.auction_ends_at is not null),
      ('isDirect', 'invalid', property.is_direct and property.owner_type <> 'individual'),
      ('areaId', 'area_invalid', property.area_id is not null and not exists (
        select from public.areas
        where areas.id = property.area_id and areas.governorate_id = property.governorate_id
      )),
      ('price', 'price_required',
        publishing and property.type <> 'EXCHANGE' and property.price is null),
      ('kind', 'required', publishing and property.kind is null),
      ('areaId', 'required', publishing and property.area_id is null),
      ('titleAr', 'required', publishing and property.title_ar is null),
      ('landAreaM2', 'required',
        publishing and coalesce(property.land_area_m2, property.built_area_m2) is null),
      ('descriptionAr', 'required', publishing and property.type = 'EXCHANGE'
        and coalesce(property.description_ar, property.description_en) is null
        and property.wanted_kinds = '{}' and property.wanted_area_ids = '{}')
    ) as rule (path, code, broken)
    where broken
  ));
end
$$;
comment on function private.check_property is
  'What fields ask of one another, and what publishing asks of them. 422 price_required, '
  'field_not_for_type, area_invalid or validation_failed.';

revoke execute on all functions in schema private from public;
