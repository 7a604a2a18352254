-- The life of a listing: which act leads from which state to which.
--
--   draft -> active, or under review pending_review -> active / rejected -> submitted again
--   active <-> paused; active -> sold, rented, exchanged, expired; expired -> active for 90 days
--   any of these -> archived -> draft; any -> deleted; an admin suspends and lifts it
--
-- The acts name the state only: what comes with it is in 06_properties/2_rules_states.sql.

create function private.property_acts()
  returns table (act text, from_statuses text[], only_type text)
  language sql
  immutable
  rows 10
  set search_path = ''
as $$
  values
    ('publish', '{draft,rejected}'::text[], null),
    ('pause', '{active}', null),
    ('resume', '{paused}', null),
    ('renew', '{expired}', null),
    ('archive',
      '{draft,pending_review,active,rejected,paused,sold,rented,exchanged,expired}', null),
    ('restore', '{archived}', null),
    ('mark-sold', '{active}', 'SALE'),
    ('mark-rented', '{active}', 'RENT'),
    ('mark-exchanged', '{active}', 'EXCHANGE'),
    ('confirm-available', '{active}', null)
$$;
comment on function private.property_acts is
  'What an owner can do to a listing, from which states, and for which type only.';

create function private.property_allows(property public.properties) returns text[]
  language sql
  stable
  set search_path = ''
as $$
  select array(
    select acts.act from private.property_acts() as acts
    where property.status = any (acts.from_statuses)
      and coalesce(acts.only_type = property.type, true)
      and (acts.act <> 'renew' or property.expires_at > now() - interval '90 days')
  )
$$;
comment on function private.property_allows is 'What its owner can do to a listing now.';

create function private.refuse_act(property public.properties) returns void
  language sql
  set search_path = ''
as $$
  select private.refuse(409, 'property_state_conflict', jsonb_build_object(
    'from', property.status, 'allowed', private.property_allows(property)))
$$;
comment on function private.refuse_act is
  '409 property_state_conflict: the state it is in, and what can be done in it.';

create function private.own_property(property_id uuid) returns public.properties
  language plpgsql
  security definer -- locks a row; clients have no write grant
  set search_path = ''
as $$
declare
  owner_id uuid := private.hold_identity();
  property public.properties;
begin
  select * into property from public.properties
  where properties.id = own_property.property_id
    and properties.owner_identity_id = owner_id
    and properties.status <> 'deleted'
  for no key update;
  if property.id is null then
    perform private.refuse(404, 'property_not_found');
  end if;
  return property;
end
$$;
comment on function private.own_property is
  'The acting identity''s own listing, locked for a change. 404 property_not_found.';

create function private.editable_property(property_id uuid) returns public.properties
  language plpgsql
  set search_path = ''
as $$
declare
  property public.properties := private.own_property(property_id);
begin
  if property.status not in ('draft', 'pending_review', 'active', 'rejected', 'paused', 'expired')
  then
    perform private.refuse_act(property);
  end if;
  return property;
end
$$;
comment on function private.editable_property is
  'The acting identity''s own listing, locked, in a state in which it may be edited.';

create function private.save_property(property public.properties) returns void
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
begin
  update public.properties
  set type = property.type, status = property.status, status_reason = property.status_reason,
      suspended_from = property.suspended_from, kind = property.kind, usage = property.usage,
      title_ar = property.title_ar, title_en = property.title_en,
      description_ar = property.description_ar, description_en = property.description_en,
      price = property.price, is_negotiable = property.is_negotiable,
      property_income = property.property_income, request_year = property.request_year,
      required_year = property.required_year, wanted_kinds = property.wanted_kinds,
      wanted_area_ids = property.wanted_area_ids, rent_conditions = property.rent_conditions,
      additional_expenses = property.additional_expenses, land_area_m2 = property.land_area_m2,
      built_area_m2 = property.built_area_m2, bedrooms = property.bedrooms,
      bathrooms = property.bathrooms, floor_no = property.floor_no,
      building_year = property.building_year, furnished = property.furnished,
      plot_position = property.plot_position, finishing = property.finishing,
      amenities = property.amenities, document_type = property.document_type,
      is_direct = property.is_direct, governorate_id = property.governorate_id,
      area_id = property.area_id, block = property.block, street = property.street,
      building = property.building, paci_no = property.paci_no, lat = property.lat,
      lng = property.lng, location_precision = property.location_precision,
      allow_call = property.allow_call, allow_whatsapp = property.allow_whatsapp,
      allow_chat = property.allow_chat, version = property.version,
      published_at = property.published_at, confirmed_at = property.confirmed_at,
      expires_at = property.expires_at, paused_at = property.paused_at,
      closed_at = property.closed_at, deleted_at = property.deleted_at,
      pending_changes = property.pending_changes
  where properties.id = property.id;
end
$$;
comment on function private.save_property is
  'Writes what owners and admins may change of a listing.';

create function private.publish_property(property public.properties) returns public.properties
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  perform private.check_property(property, true);
  property.status :=
    case when private.setting('review_listings') = 'true' then 'pending_review' else 'active' end;
  return property;
end
$$;
comment on function private.publish_property is
  'A listing published, or handed in where an admin looks first.';

create function private.act_on_property(property_id uuid, act text) returns json
  language plpgsql
  security definer -- clients have no write grant; works on own listings only
  set search_path = ''
as $$
declare
  makes_active boolean := act in ('publish', 'resume', 'renew');
  owner_id uuid := private.require_identity();
  property public.properties;
begin
  if makes_active then
    perform private.count_publication(owner_id);
    owner_id := private.hold_identity();
    perform private.hold_quota(owner_id);
  end if;
  property := private.own_property(property_id);
  if not act = any (private.property_allows(property)) then
    perform private.refuse_act(property);
  end if;
  case
    when act = 'publish' then
      property := private.publish_property(property);
    when act = 'pause' then
      property.status := 'paused';
    when act in ('resume', 'renew') then
      property.status := 'active';
    when act = 'archive' then
      property.status := 'archived';
    when act = 'restore' then
      property.status := 'draft';
    when act = 'confirm-available' then
      property.confirmed_at := now();
    else -- mark-sold, mark-rented, mark-exchanged
      property.status := substr(act, length('mark-') + 1);
  end case;
  if makes_active then
    perform private.check_quota(property.owner_identity_id);
  end if;
  property.version := property.version + 1;
  perform private.save_property(property);
  return private.property_record(property.id, property.owner_identity_id);
end
$$;
comment on function private.act_on_property is
  'Does one of property_acts to an own listing. 404 property_not_found, 409 '
  'property_state_conflict, 402 quota_exceeded.';

create function private.delete_property(property_id uuid) returns void
  language plpgsql
  security definer -- clients have no write grant; works on own listings only
  set search_path = ''
as $$
declare
  property public.properties := private.own_property(property_id);
begin
  property.status := 'deleted';
  property.version := property.version + 1;
  perform private.save_property(property);
end
$$;
comment on function private.delete_property is
  'Takes an own listing away for good; the row stays for records. 404 property_not_found.';

revoke execute on all functions in schema private from public;
grant execute on function private.act_on_property, private.delete_property to authenticated;
