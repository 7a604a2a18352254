create function private.lock_own_property(property_id uuid) returns public.properties
  language plpgsql set search_path = ''
as $$
declare
  owner_id uuid := private.lock_identity();
  property public.properties;
begin
  select * into property from public.properties
  where properties.id = lock_own_property.property_id
    and properties.owner_identity_id = owner_id
    and properties.status <> 'deleted'
  for no key update;
  if property.id is null then
    perform private.refuse(404, 'property_not_found');
  end if;
  return property;
end
$$;

create function private.lock_editable_property(property_id uuid) returns public.properties
  language plpgsql set search_path = ''
as $$
declare
  property public.properties := private.lock_own_property(property_id);
begin
  if property.status not in ('draft', 'pending_review', 'active', 'rejected', 'paused', 'expired')
  then
    perform private.refuse_action(property);
  end if;
  return property;
end
$$;
