-- Events for everybody who saved a listing are only stored here. A job notifies these people later, so
-- that the owner does not wait for 10,000 notifications.

create function private.queue_listing_event() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  before numeric;
begin
  if not exists (select from public.favorites where favorites.property_id = new.id) then
    return null;
  end if;
  if new.status = old.status then
    before := private.price_fell_from(new);
    if before is not null then
      insert into private.notification_events (kind, property_id, details)
      values ('favorite_price_drop', new.id, jsonb_build_object('before', before));
    end if;
  elsif new.status = 'active' then
    delete from private.notification_events
    where notification_events.property_id = new.id
      and notification_events.kind = 'favorite_unavailable'
      and notification_events.notified_at is null and notification_events.last_identity_id is null;
    if not found then -- if the event was still there, nobody had been notified that the listing was sold
      insert into private.notification_events (kind, property_id, details)
      values ('favorite_unavailable', new.id, '{"status":"active"}');
    end if;
  else
    insert into private.notification_events (kind, property_id)
    values ('favorite_unavailable', new.id);
  end if;
  return null;
end
$$;
comment on function private.queue_listing_event is
  'Stores one event for everybody who saved the listing: its price fell, it became unavailable, or '
  'it is offered again after it was sold, rented or exchanged.';

create trigger properties_queue_listing_events
  after update of price, status on public.properties
  for each row when (
    old.status = 'active' and new.status = 'active' and old.price is distinct from new.price
    or old.status = 'active' and new.status <> 'active'
      and old.owner_identity_id = new.owner_identity_id
    or old.status in ('paused', 'expired') and new.status in ('sold', 'rented', 'exchanged')
    or old.was_closed and new.status = 'active'
  )
  execute function private.queue_listing_event();
comment on trigger properties_queue_listing_events on public.properties is
  'Runs after properties_price_is_recorded, because it reads the row that this trigger writes.';

create function private.on_listing_decided() returns trigger
  language plpgsql
  security definer -- notifies the owner, for any role that decides
  set search_path = ''
as $$
begin
  perform private.notify_listing_owner(new,
    case
      when new.status = 'suspended' then 'listing_suspended'
      when old.status = 'suspended' then 'listing_restored'
      when new.status = 'expired' then 'listing_expired'
      when new.status = 'active' then 'listing_approved'
      else 'listing_rejected' end,
    jsonb_build_object('reason', new.status_reason, 'status', new.status) || case
      when new.status = 'expired' then jsonb_build_object('at', clock_timestamp()) else '{}' end);
  return null;
end
$$;
comment on function private.on_listing_decided is
  'Notifies the owner of an admin''s decision about a listing, of a reason that was added later, '
  'or of the listing''s expiry.';

create trigger properties_notify_of_decisions
  after update of status, status_reason on public.properties
  for each row when (
    old.status = 'pending_review' and new.status in ('active', 'rejected')
    or old.status = 'active' and new.status = 'expired'
    or old.status <> 'suspended' and new.status = 'suspended'
    or old.status = 'suspended' and new.status not in ('suspended', 'deleted')
    or new.status = old.status and new.status in ('rejected', 'suspended')
      and new.status_reason <> coalesce(old.status_reason, '')
  )
  execute function private.on_listing_decided();

create function private.on_lead() returns trigger
  language plpgsql
  security definer -- notifies the owner of the listing
  set search_path = ''
as $$
begin
  perform private.notify_listing_owner(properties, 'lead_new', jsonb_build_object(
    'by', identities.account_id, 'way', new.kind))
  from public.properties, public.identities
  where properties.id = new.property_id and identities.id = new.identity_id;
  return null;
end
$$;
comment on function private.on_lead is
  'Notifies the owner of a request for contact. A chat is left out, because its first message '
  'already notifies the owner.';

create trigger leads_notify_owners
  after insert on public.leads
  for each row when (new.kind <> 'chat')
  execute function private.on_lead();

create function private.on_ban_lifted() returns trigger
  language plpgsql
  security definer -- reads listings, for any role that lifts the ban
  set search_path = ''
as $$
begin
  perform private.notify(new.id, hidden.owner_identity_id, 'listings_hidden', null,
    jsonb_build_object('reason', 'plan', 'count', hidden.count))
  from (
    select properties.owner_identity_id, count(*)
    from public.identities
    join public.properties on properties.owner_identity_id = identities.id
    where identities.account_id = new.id and properties.status = 'paused'
      and properties.pause_reason = 'plan'
    group by properties.owner_identity_id
  ) as hidden;
  return null;
end
$$;
comment on function private.on_ban_lifted is
  'When a ban is lifted, notifies the account of listings that were hidden because its plan ended. '
  'While an account is banned, it is not notified.';

create trigger accounts_are_told_what_is_hidden
  after update of status on public.accounts
  for each row when (old.status = 'banned' and new.status in ('active', 'suspended'))
  execute function private.on_ban_lifted();
