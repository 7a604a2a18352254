create function private.check_property(property public.properties, publishing boolean) returns void
  language plpgsql stable set search_path = ''
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

create function private.check_reach(property public.properties, was public.properties) returns void
  language plpgsql stable set search_path = ''
as $$
begin
  -- Only a new pin or area is checked, so that a listing already outside its area can still be edited.
  if (property.area_id, property.lat, property.lng)
    is not distinct from (was.area_id, was.lat, was.lng) then
    return;
  end if;
  if exists (
    select from public.areas
    where areas.id = property.area_id and property.lat is not null and 2 * 6371.0088 * asin(least(1, sqrt(
        sind((property.lat - areas.lat) / 2) ^ 2
        + cosd(property.lat) * cosd(areas.lat) * sind((property.lng - areas.lng) / 2) ^ 2
      ))) > areas.reach_km
  ) then
    perform private.refuse(422, 'location_outside_area', jsonb_build_object(
      'areaId', property.area_id, 'fields', jsonb_build_array(jsonb_build_object(
        'path', 'location', 'code', 'location_outside_area'))));
  end if;
end
$$;
comment on function private.check_reach is
  'Refuses a change by the owner if the pin would be further than reach_km from the centroid of '
  'the area.';

create function private.submit_property(property public.properties) returns public.properties
  language plpgsql stable set search_path = ''
as $$
begin
  perform private.require_proof();
  perform private.check_property(property, true);
  if property.auction_ends_at > now() then
    if property.auction_ends_at > now() + make_interval(
      days => (private.plan_of(property.owner_identity_id)).listing_days) then
      perform private.refuse_field('auction', 'too_big');
    end if;
  end if;
  perform private.check_reachable(property);
  property.status :=
    case when private.setting('review_listings') = 'true' then 'pending_review' else 'active' end;
  return property;
end
$$;
comment on function private.submit_property is
  'Checks whether a listing can be published and sets its status to active, or to pending_review '
  'if listings are reviewed.';

create function private.is_moderated(property public.properties) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return property.status in ('active', 'paused', 'expired')
    and private.setting('review_listings') = 'true';
end
$$;

create function private.moderated_fields(fields jsonb) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_object_agg(given.key, given.value), '{}')
  from jsonb_each(fields) as given
  join private.property_fields() as field on field.name = given.key
  where 'reviewed' = any (field.uses)
$$;

create function private.hidden_fields(property public.properties, fields jsonb) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  grades constant text[] := '{exact,block,area}';
  shown constant text := property.location_precision;
  given constant text := case when fields -> 'location' = 'null' then 'area'
    else fields #>> '{location,precision}' end;
begin
  return coalesce((
    select jsonb_object_agg(emptied.key, emptied.value)
    from jsonb_each(fields - 'location') as emptied where emptied.value = 'null'
  ), '{}') || case
    -- A listing without a pin shows its block and building, just as one with an exact pin does.
    when fields -> 'location' = 'null' and shown = 'exact' then '{"location":null}'
    when array_position(grades, given) > array_position(grades, shown) then
      jsonb_build_object('location', jsonb_build_object(
        'lat', property.lat, 'lng', property.lng, 'precision', given))
    else '{}'
  end;
end
$$;
comment on function private.hidden_fields is
  'Returns the part of a change that needs no approval because it reveals less: cleared fields and '
  'a less precise location.';

create function private.unmoderated_fields(fields jsonb) returns jsonb
  language sql stable set search_path = ''
as $$
  select fields - array(
    select field.name from private.property_fields() as field where 'reviewed' = any (field.uses)
  )
$$;
