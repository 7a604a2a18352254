-- A listing repeats another one of the same type, kind and area if size and price differ by at most
-- 2 %, they share a picture or have similar titles, and no other field shows that they are different
-- units.

create function private.is_close(one numeric, other numeric) returns boolean
  language sql immutable
  return abs(one - other) <= 0.02 * greatest(one, other);

create function private.differs(one text, other text) returns boolean
  language sql immutable
  return coalesce(one is distinct from other
    and private.search_text(one) <> private.search_text(other), false);
comment on function private.differs is 'Whether both texts are given and differ.';

create function private.repeats(
  one public.properties, other public.properties, same_picture boolean
) returns boolean
  language plpgsql immutable
  security definer -- the role acting cannot use the schema of the extension
  set search_path = ''
as $$
begin
  return coalesce(
    (one.type, one.kind, one.area_id) = (other.type, other.kind, other.area_id)
    -- The generated column area_m2 is not yet set in a row that is about to be saved.
    and private.is_close(coalesce(one.land_area_m2, one.built_area_m2),
      coalesce(other.land_area_m2, other.built_area_m2))
    and coalesce(private.is_close(one.price, other.price),
      num_nonnulls(one.price, other.price) = 0)
    and (one.paci_no = other.paci_no) is not false
    and (one.floor_no = other.floor_no) is not false
    and (one.bedrooms = other.bedrooms) is not false
    and not private.differs(one.block, other.block)
    and not private.differs(one.street, other.street)
    and not private.differs(one.building, other.building)
    and (same_picture or extensions.similarity(
      private.search_text(one.title_ar), private.search_text(other.title_ar)) >= 0.8::real),
    false);
end
$$;

create function private.picture_hashes(property_id uuid) returns text[]
  language plpgsql stable
  security definer -- reads pictures of other people's listings
  set search_path = ''
as $$
begin
  return array(
    select media.sha256 from public.media where media.property_id = picture_hashes.property_id
  );
end
$$;

create function private.refuse_repeat(property public.properties) returns void
  language plpgsql set search_path = ''
as $$
declare
  pictures constant text[] := private.picture_hashes(property.id);
  repeated_id uuid;
begin
  if private.setting('find_duplicates') <> '"on"' then
    return;
  end if;
  select properties.id into repeated_id from public.properties
  where properties.owner_identity_id = property.owner_identity_id
    and properties.id <> property.id
    and properties.status in ('active', 'pending_review')
    and properties.type = property.type and properties.kind = property.kind
    and properties.area_id = property.area_id
    and coalesce(properties.price, -1) between coalesce(property.price * 0.98, -1)
      and coalesce(property.price / 0.98, -1)
    and private.repeats(properties, property, pictures && private.picture_hashes(properties.id))
  order by properties.created_at, properties.id
  limit 1;
  if repeated_id is not null then
    perform private.refuse(409, 'duplicate_listing',
      jsonb_build_object('propertyId', repeated_id));
  end if;
end
$$;
comment on function private.refuse_repeat is
  'Refuses to publish a listing that repeats another listing of its identity. The caller must hold '
  'the lock on the quota of the identity.';

create function private.compared_fields(property public.properties) returns jsonb
  language sql stable
  return jsonb_build_object(
    'type', property.type, 'kind', property.kind, 'area_id', property.area_id,
    'land_area_m2', property.land_area_m2, 'built_area_m2', property.built_area_m2,
    'price', property.price, 'title_ar', property.title_ar, 'block', property.block,
    'street', property.street, 'building', property.building, 'paci_no', property.paci_no,
    'floor_no', property.floor_no, 'bedrooms', property.bedrooms);

create function private.repeats_suspended(property public.properties) returns boolean
  language plpgsql
  security definer -- reads suspended listings of all identities of the account, and writes pairs
  set search_path = ''
as $$
declare
  own_pictures constant text[] := private.picture_hashes(property.id);
begin
  insert into public.duplicates (property_id, of_id, state)
  select property.id, suspensions.property_id, 'in_review'
  from public.identities
  join private.suspensions on suspensions.account_id = identities.account_id
  where identities.id = property.owner_identity_id
    and suspensions.property_id <> property.id
    and (suspensions.ended_at > now() - interval '180 days') is not false
    and private.repeats(
      jsonb_populate_record(null::public.properties, suspensions.listing), property,
      suspensions.pictures && own_pictures)
  on conflict (least(property_id, of_id), greatest(property_id, of_id)) do update
  set state = 'in_review', property_id = excluded.property_id, of_id = excluded.of_id
  where duplicates.state not in ('dismissed', 'suspended');
  return found;
end
$$;
comment on function private.repeats_suspended is
  'Whether the listing repeats a listing of the same account that is suspended, or was suspended '
  'in the last 180 days. Pairs that an admin already decided on are ignored. The pair is stored, '
  'and dismissed when the listing is approved.';

create function private.publish_or_review(property public.properties) returns public.properties
  language plpgsql set search_path = ''
as $$
begin
  perform private.refuse_repeat(property);
  if private.repeats_suspended(property) then
    property.status := 'pending_review';
  end if;
  return property;
end
$$;
comment on function private.publish_or_review is
  'Refuses a listing that is about to become active and repeats another listing of its identity. '
  'Sends it to review if it repeats a listing that is or was suspended.';
