create function private.moderate_duplicate(
  admin_id uuid, duplicate_id uuid, decision text, reason text, version integer
) returns json
  language plpgsql
  security definer -- updates someone else's listing on an admin's behalf
  set search_path = ''
as $$
declare
  duplicate public.duplicates;
  property public.properties;
begin
  -- The listing is locked before the pair, as in all functions that close a pair.
  select properties.* into property from public.properties
  join public.duplicates on duplicates.property_id = properties.id
  where duplicates.id = duplicate_id
  for no key update of properties;
  if property.id is null then
    return null;
  end if;
  select * into duplicate from public.duplicates where duplicates.id = duplicate_id
  for no key update;
  if exists (
    select from public.properties
    join public.identities on identities.id = properties.owner_identity_id
    where properties.id in (duplicate.property_id, duplicate.of_id)
      and identities.account_id = admin_id
  ) then
    perform private.refuse(409, 'admin_self');
  elsif duplicate.state <> 'open' or decision not in ('suspend', 'dismiss') then
    perform private.refuse(409, 'status_transition_invalid', jsonb_build_object(
      'from', duplicate.state, 'allowed', private.duplicate_decisions(duplicate)),
      private.transition_sentence('pair', duplicate.state, private.duplicate_decisions(duplicate)));
  elsif version <> private.review_version(property) then
    perform private.refuse(409, 'version_conflict', '{}',
      'It was changed since: look at it again, its version is another.');
  end if;
  update public.duplicates
  set state = case decision when 'suspend' then 'suspended' else 'dismissed' end
  where duplicates.id = duplicate.id
  returning * into duplicate;
  perform private.audit('duplicate.state', 'duplicate', duplicate.id, reason,
    '{"state":"open"}', jsonb_build_object('state', duplicate.state));
  if decision = 'suspend' then
    perform private.audit('property.suspend', 'property', property.id, reason,
      jsonb_build_object('status', property.status));
    perform private.suspend_property(property.id, reason);
  end if;
  return json_build_object('id', duplicate.id, 'kind', 'duplicate_suspected',
    'status', duplicate.state, 'decisions', '[]'::json);
end
$$;
comment on function private.moderate_duplicate is
  'Executes a decision about a pair of duplicates; suspend suspends the listing that was published '
  'later. Returns null if there is no such pair.';
