create function private.act_on_property(property_id uuid, action text) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  makes_active boolean := action in ('publish', 'resume', 'renew');
  owner_id uuid;
  property public.properties;
begin
  if makes_active then
    perform private.require_terms();
  end if;
  owner_id := private.require_identity();
  if makes_active then
    perform private.count_publication(owner_id, action = 'publish' and exists (
      select from public.properties
      where properties.id = act_on_property.property_id
        and properties.owner_identity_id = owner_id and properties.published_at is null
    ));
    owner_id := private.lock_identity();
    perform private.lock_quota(owner_id);
  else
    perform private.count_action('listing_edits');
    if action = 'restore' then
      perform private.lock_quota(private.lock_identity());
    end if;
  end if;
  property := private.lock_own_property(property_id);
  if (action = any (private.allowed_actions(property))) is not true then
    perform private.refuse_action(property);
  end if;
  case
    when action = 'publish' then
      property := private.submit_property(property);
    when action = 'pause' then
      property.status := 'paused';
    when action in ('resume', 'renew') then
      perform private.check_reachable(property);
      if property.status = 'active' then
        makes_active := false; -- already listed and counted
        property.confirmed_at := now();
        property.expires_at := greatest(
          property.expires_at, private.plan_clock(property.owner_identity_id)) + make_interval(
          days => (private.plan_of(property.owner_identity_id)).listing_days);
      end if;
      property.status := 'active';
    when action = 'archive' then
      property.status := 'archived';
    when action = 'restore' then
      if property.published_at is not null then
        perform private.check_drafts(property.owner_identity_id);
      end if;
      property.status := 'draft';
    when action = 'confirm-available' then
      property.confirmed_at := now();
    else -- mark-sold, mark-rented, mark-exchanged
      property.status := substr(action, length('mark-') + 1);
  end case;
  if makes_active then
    perform private.check_quota(property.owner_identity_id);
    property := private.publish_or_review(property);
  end if;
  property.version := property.version + 1;
  perform private.save_property(property);
  return private.property_record(property.id, property.owner_identity_id);
end
$$;
comment on function private.act_on_property is
  'Api: Performs an action on a listing of the acting identity: publish, pause, resume, renew, '
  'archive, restore, mark-sold, mark-rented, mark-exchanged, confirm-available. 403 '
  'terms_not_accepted, account_unproven; 404 property_not_found, 409 property_state_conflict, '
  'duplicate_listing, drafts_full, 422 price_required, contact_missing, 402 quota_exceeded.';

grant execute on function private.act_on_property to authenticated;
