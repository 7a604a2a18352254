create function private.lock_to_decide(property_id uuid, seen integer) returns public.properties
  language plpgsql
  security definer -- locks someone else's listing
  set search_path = ''
as $$
declare
  property public.properties;
begin
  perform private.lock_quota_of_listing(property_id);
  select * into property from public.properties
  where properties.id = lock_to_decide.property_id and properties.status <> 'deleted'
  for no key update;
  if property.id is null then
    perform private.refuse(404, 'property_not_found', '{}', 'There is no such listing.');
  elsif seen <> private.review_version(property) then
    perform private.refuse(409, 'version_conflict', '{}',
      'It was changed since: look at it again, its version is another.');
  end if;
  return property;
end
$$;
comment on function private.lock_to_decide is
  'Locks a listing. seen is the version that the admin saw. Raises 409 version_conflict if the '
  'listing has changed since.';

create function private.decide_property(
  property_id uuid, approved boolean, reason text default null, seen integer default null
) returns void
  language plpgsql
  security definer -- updates someone else's listing
  set search_path = ''
as $$
declare
  property public.properties := private.lock_to_decide(property_id, seen);
begin
  if property.status = 'pending_review' then
    if approved then
      property.status := 'active';
    else
      property.status := 'rejected';
      property.status_reason := reason;
    end if;
  elsif property.pending_changes is not null then
    perform private.decide_pictures(property, approved);
    if approved then
      property := private.apply_fields(property, property.pending_changes);
      perform private.check_property(property, true);
    end if;
    property.pending_changes := null;
    property.status_reason := case when not approved then reason end;
    perform private.notify_listing_owner(property,
      case when approved then 'listing_approved' else 'listing_rejected' end,
      jsonb_build_object('change', true, 'reason', property.status_reason));
  else
    perform private.refuse(409, 'status_transition_invalid', '{}',
      'Neither this listing nor a change of it waits for a decision.');
  end if;
  property.version := property.version + 1;
  perform private.save_property(property);
end
$$;

create function private.suspend_property(property_id uuid, reason text) returns void
  language plpgsql
  security definer -- updates someone else's listing
  set search_path = ''
as $$
begin
  update public.properties
  set status = 'suspended', status_reason = suspend_property.reason,
      version = properties.version + 1
  where properties.id = suspend_property.property_id
    and properties.status not in ('suspended', 'deleted');
  if not found then
    perform private.refuse(409, 'status_transition_invalid');
  end if;
end
$$;

create function private.lift_suspension(property_id uuid) returns void
  language plpgsql
  security definer -- updates someone else's listing
  set search_path = ''
as $$
begin
  perform private.lock_quota_of_listing(property_id);
  update public.properties
  set status = properties.suspended_from, version = properties.version + 1
  where properties.id = lift_suspension.property_id and properties.status = 'suspended';
  if not found then
    perform private.refuse(409, 'status_transition_invalid');
  end if;
end
$$;
comment on function private.lift_suspension is
  'Restores the status from before the suspension. If the quota is used up, the listing is paused '
  'instead.';
