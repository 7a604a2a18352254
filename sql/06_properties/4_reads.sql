-- Reading a listing: who may see which.

create function private.may_see(property public.properties, viewer_identity_id uuid)
  returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if property.listed then
    return true;
  elsif property.owner_identity_id = viewer_identity_id then
    return property.status <> 'deleted';
  end if;
  return property.status in ('sold', 'rented', 'exchanged')
    and property.closed_at > now() - interval '30 days'
    and property.owner_active;
end
$$;
comment on function private.may_see is
  'Whether a listing shows itself to this identity (null for a guest): what is listed to '
  'everybody, what was closed within 30 days to whoever has the link, the rest to its owner.';

create function private.seen_property(property_id uuid, viewer_identity_id uuid)
  returns public.properties
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  property public.properties;
begin
  select * into property from public.properties where properties.id = seen_property.property_id;
  if property.id is null or not private.may_see(property, viewer_identity_id) then
    perform private.refuse(404, 'property_not_found');
  end if;
  return property;
end
$$;
comment on function private.seen_property is
  'A listing that may be seen, or 404 property_not_found.';

create function private.get_property(property_id uuid) returns json
  language plpgsql
  security definer -- reads listings of others that anybody may see, counts the view
  set search_path = ''
as $$
declare
  viewer_id uuid := private.identity_id();
  property public.properties := private.seen_property(property_id, viewer_id);
begin
  if property.owner_identity_id <> viewer_id then
    perform private.count_view(property.id, viewer_id);
  end if;
  return private.property_record(property.id, viewer_id);
end
$$;
comment on function private.get_property is 'A listing that the caller may see.';

create function api.get_property(property_id uuid) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.get_property(property_id);
end
$$;
comment on function api.get_property is
  'A listing; its owner sees it in any state. 404 property_not_found for all that is not to '
  'be seen.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.get_property to anon, authenticated;
grant execute on function api.get_property to anon, authenticated;
