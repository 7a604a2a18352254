-- What an owner can do to a listing, and in which state.
--
--   draft -> active, or pending_review -> active or rejected; a rejected one can be published again
--   active <-> paused; active -> sold, rented, exchanged, expired; expired -> active for 90 days
--   any of these -> archived -> draft; any -> deleted; an admin suspends and lifts the suspension
--
-- An action sets the state only: what a state brings with it is in 2_rules_states.sql.

create function private.property_actions()
  returns table (action text, from_statuses text[], only_type text)
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
comment on function private.property_actions is
  'What an owner can do to a listing, from which states, and for which type only.';

create function private.allowed_actions(property public.properties) returns text[]
  language sql
  stable
  set search_path = ''
as $$
  select array(
    select actions.action from private.property_actions() as actions
    where property.status = any (actions.from_statuses)
      and coalesce(actions.only_type = property.type, true)
      and (actions.action <> 'renew' or property.expires_at > now() - interval '90 days')
  )
$$;
comment on function private.allowed_actions is 'What the owner can do to a listing now.';

create function private.refuse_action(property public.properties) returns void
  language sql
  set search_path = ''
as $$
  select private.refuse(409, 'property_state_conflict', jsonb_build_object(
    'from', property.status, 'allowed', private.allowed_actions(property)))
$$;
comment on function private.refuse_action is
  '409 property_state_conflict, with the state of the listing and what can be done in it.';

create function private.lock_own_property(property_id uuid) returns public.properties
  language plpgsql
  security definer -- locks a row; clients have no write grant
  set search_path = ''
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
comment on function private.lock_own_property is
  'The acting identity''s own listing, locked for a change. 404 property_not_found.';

create function private.lock_editable_property(property_id uuid) returns public.properties
  language plpgsql
  set search_path = ''
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
comment on function private.lock_editable_property is
  'The acting identity''s own listing, locked, in a state in which it may be edited.';
