-- What an owner does to a listing; which act is allowed when is in 2_rules_acts.sql.

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
    owner_id := private.lock_identity();
    perform private.lock_quota(owner_id);
  end if;
  property := private.lock_own_property(property_id);
  if not act = any (private.allowed_acts(property)) then
    perform private.refuse_act(property);
  end if;
  case
    when act = 'publish' then
      property := private.submit_property(property);
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

grant execute on function private.act_on_property to authenticated;
