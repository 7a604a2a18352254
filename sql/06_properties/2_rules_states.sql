-- The usual transitions of a listing. Besides these, a takeover of the account turns listings in review
-- into drafts (5_writes_takeover.sql), and a listing that exceeds the quota is paused.
--   draft -> active, or draft -> pending_review -> active or rejected
--   rejected -> active or pending_review
--   active <-> paused; active -> expired; active, paused, expired -> sold, rented, exchanged
--   expired -> active within 90 days; an active listing can be renewed in its last 7 days
--   any of these -> archived -> draft; any -> deleted
--   An admin suspends a listing and lifts the suspension.

create function private.property_actions()
  returns table (action text, from_statuses text[], only_type text)
  language sql immutable
  rows 10
  set search_path = ''
as $$
  values
    ('publish', '{draft,rejected}'::text[], null),
    ('pause', '{active}', null),
    ('resume', '{paused}', null),
    ('renew', '{active,expired}', null),
    ('archive',
      '{draft,pending_review,active,rejected,paused,sold,rented,exchanged,expired}', null),
    ('restore', '{archived}', null),
    ('mark-sold', '{active,paused,expired}', 'SALE'),
    ('mark-rented', '{active,paused,expired}', 'RENT'),
    ('mark-exchanged', '{active,paused,expired}', 'EXCHANGE'),
    ('confirm-available', '{active}', null)
$$;

create function private.allowed_actions(property public.properties) returns text[]
  language sql stable set search_path = ''
as $$
  select array(
    select actions.action from private.property_actions() as actions
    where property.status = any (actions.from_statuses)
      and coalesce(actions.only_type = property.type, true)
      and (actions.action <> 'renew' or case property.status
        when 'active' then property.expires_at <= now() + interval '7 days'
        else property.expires_at > now() - interval '90 days' end)
  )
$$;

create function private.refuse_action(property public.properties) returns void
  language sql set search_path = ''
as $$
  select private.refuse(409, 'property_state_conflict', jsonb_build_object(
    'from', property.status, 'allowed', private.allowed_actions(property)))
$$;

-- Entering a state has the same effects whether the owner acts, an admin decides or somebody edits
-- the row in Studio. Times that were set explicitly are kept, missing times are filled in, and
-- impossible states are refused.
create function private.require_complete(listing public.properties) returns void
  language plpgsql set search_path = ''
as $$
declare
  missing constant text[] := array_remove(array[
    case when listing.kind is null then 'kind' end,
    case when listing.area_id is null then 'area_id' end,
    case when listing.title_ar is null then 'title_ar' end,
    case when coalesce(listing.land_area_m2, listing.built_area_m2) is null then 'land_area_m2' end,
    case when listing.price is null and listing.type <> 'EXCHANGE' then 'price' end
  ], null);
begin
  if missing <> '{}' then
    perform private.refuse_by_hand(format(
      'A listing that is %s needs %s: fill that in first.', listing.status,
      array_to_string(missing, ', ')));
  end if;
end
$$;

create function private.with_listing_time(
  listing public.properties, before public.properties, previous text
) returns public.properties
  language plpgsql set search_path = ''
as $$
declare
  clock constant timestamptz := private.plan_clock(listing.owner_identity_id);
begin
  if previous = 'paused' and listing.status = 'active' and listing.expires_at = before.expires_at then
    -- Extends expires_at by the length of the pause.
    listing.expires_at := listing.expires_at + greatest(interval '0', clock - before.paused_at);
  elsif listing.expires_at is null
    or previous not in ('active', 'paused') and listing.expires_at = before.expires_at
      -- A listing that was active before its review keeps its remaining time.
      and (previous <> 'pending_review' or listing.expires_at <= clock) then
    listing.confirmed_at := now();
    listing.expires_at := clock + make_interval(
      days => (private.plan_of(listing.owner_identity_id)).listing_days);
  end if;
  listing.published_at := coalesce(listing.published_at, now());
  listing.closed_at := null;
  listing.paused_at := case when listing.status = 'paused' then coalesce(listing.paused_at, now()) end;
  -- When owners publish, the quota was already checked. If somebody else activates a listing and the
  -- quota is full, the listing is paused.
  if before.status <> 'active' and listing.status = 'active'
    and private.identity_id() is distinct from listing.owner_identity_id then
    if not private.try_lock_quota(listing.owner_identity_id) then
      perform private.refuse_by_hand(
        'Another listing of the same owner is being published: save again.');
    elsif not private.has_room(listing.owner_identity_id, before.status = 'pending_review') then
      listing.status := 'paused';
      listing.pause_reason := 'plan';
      listing.paused_at := now();
    end if;
  end if;
  return listing;
end
$$;
comment on function private.with_listing_time is
  'Sets the times of an active or paused listing, and pauses a listing that exceeds the quota. '
  'before is null for a new listing. previous is the old state or, after a suspension, the state '
  'before it.';

create function private.enter_property_state() returns trigger
  language plpgsql
  security definer -- reads the owner's plan and listings
  set search_path = ''
as $$
declare
  inserting constant boolean := tg_op = 'INSERT';
  previous text; -- the old state or, after a suspension, the state before it
begin
  if not inserting then
    previous := case old.status when 'suspended' then old.suspended_from else old.status end;
    if old.status = 'deleted' then
      perform private.refuse_by_hand(
        'A deleted listing does not come back: its pictures are gone.');
    end if;
    if new.status not in ('rejected', 'suspended') then
      new.status_reason := null;
    end if;
    -- For a paused listing, the end of the pause will add the time of the suspension too. If an
    -- administrator stopped the owner meanwhile, that time is added when the owner may act again.
    if old.status = 'suspended' and new.status in ('active', 'paused', 'expired')
      and old.paused_at is null and new.expires_at = old.expires_at then
      new.expires_at := new.expires_at + greatest(interval '0',
        private.plan_clock(new.owner_identity_id) - old.suspended_at);
    end if;
  end if;
  new.was_closed := new.status in ('sold', 'rented', 'exchanged')
    or new.was_closed and new.status <> 'active';
  new.suspended_at := case new.status when 'suspended' then coalesce(new.suspended_at, now()) end;

  if new.status not in ('paused', 'suspended') then
    new.pause_reason := null;
  end if;

  if new.status in ('pending_review', 'active', 'paused', 'sold', 'rented', 'exchanged', 'expired')
  then
    perform private.require_complete(new);
  end if;

  case
    when new.status in ('active', 'paused') then
      new := private.with_listing_time(new, old, previous);
    when new.status in ('sold', 'rented', 'exchanged') then
      if not inserting and new.status is distinct from (case new.type
        when 'SALE' then 'sold' when 'RENT' then 'rented' else 'exchanged' end) then
        perform private.refuse_by_hand(
          'A listing for SALE is sold, one for RENT rented, one for EXCHANGE exchanged.');
      end if;
      new.published_at := coalesce(new.published_at, now());
      new.closed_at := coalesce(new.closed_at, now());
      new.pending_changes := null;
    when new.status = 'expired' then
      new.published_at := coalesce(new.published_at, now());
      new.expires_at := least(new.expires_at, now());
    when new.status = 'archived' then
      if new.pending_changes is not null then
        -- The listing is no longer visible, so its pending changes need no approval.
        new := private.apply_fields(new, new.pending_changes);
        if new.pending_changes ? 'titleAr' then
          new.expires_at := null; -- tells private.shown_title that other people never saw this title
        end if;
        new.pending_changes := null;
      end if;
    when new.status = 'draft' then
      new.closed_at := null;
      new.paused_at := null;
      new.expires_at := null;
    when new.status = 'suspended' then
      new.suspended_from := coalesce(new.suspended_from, previous, 'draft');
    when new.status = 'deleted' then
      new.deleted_at := coalesce(new.deleted_at, now());
      new.pending_changes := null;
    else null; -- pending_review and rejected have no further effects
  end case;
  if new.status not in ('suspended', 'deleted') then
    new.suspended_from := null;
  end if;
  return new;
end
$$;
comment on function private.enter_property_state is
  'Applies the effects of a new state, or refuses an impossible one with a message.';

create trigger properties_abide_by_their_state_on_insert
  before insert on public.properties
  for each row execute function private.enter_property_state();
comment on trigger properties_abide_by_their_state_on_insert on public.properties is
  'Runs before properties_start, which derives from the status whether the listing is listed.';
create trigger properties_abide_by_their_state
  before update of status on public.properties
  for each row when (old.status is distinct from new.status)
  execute function private.enter_property_state();
comment on trigger properties_abide_by_their_state on public.properties is
  'Runs before properties_are_listed, which derives from the status whether the listing is listed.';

