-- The states of a listing: what its owner can do in which, and what a state brings with it.
--
--   draft -> active, or pending_review -> active or rejected; a rejected one can be published again
--   active <-> paused; active -> sold, rented, exchanged, expired; expired -> active for 90 days
--   any of these -> archived -> draft; any -> deleted; an admin suspends and lifts the suspension

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

-- What a state brings with it, whoever sets it: an owner's act, an admin's decision, or somebody in
-- Studio who changes the status alone. A time that was given is kept, one that was not is filled in
-- here, and what is impossible is refused with a sentence.
create function private.require_complete(listing public.properties) returns void
  language plpgsql
  set search_path = ''
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
comment on function private.require_complete is
  'Refuses what somebody wrote by hand if a listing lacks what its state needs.';

create function private.with_listing_time(
  listing public.properties, before public.properties, previous text
) returns public.properties
  language plpgsql
  set search_path = ''
as $$
begin
  if previous = 'paused' and listing.status = 'active' and listing.expires_at = before.expires_at then
    -- The time while it was paused comes back.
    listing.expires_at := listing.expires_at + (now() - before.paused_at);
  elsif listing.expires_at is null
    or previous not in ('active', 'paused') and listing.expires_at = before.expires_at then
    listing.confirmed_at := now();
    listing.expires_at := now() + make_interval(
      days => (private.plan_of(listing.owner_identity_id)).listing_days);
  end if;
  listing.published_at := coalesce(listing.published_at, now());
  listing.closed_at := null;
  listing.paused_at := case when listing.status = 'paused' then coalesce(listing.paused_at, now()) end;
  -- An owner's quota was checked before; for anybody else a listing without room is paused.
  if before.status <> 'active' and listing.status = 'active'
    and private.identity_id() is distinct from listing.owner_identity_id then
    if not private.try_lock_quota(listing.owner_identity_id) then
      perform private.refuse_by_hand(
        'Another listing of the same owner is being published: save again.');
    elsif not private.has_room(listing.owner_identity_id, before.status = 'pending_review') then
      listing.status := 'paused';
      listing.paused_at := now();
    end if;
  end if;
  return listing;
end
$$;
comment on function private.with_listing_time is
  'A listing that becomes active or paused, with the times of it, and paused if its owner has no room; '
  'before is null for a new one, and previous the state before any suspension.';

create function private.enter_property_state() returns trigger
  language plpgsql
  security definer -- reads the owner's plan and listings
  set search_path = ''
as $$
declare
  inserting constant boolean := tg_op = 'INSERT';
  previous text; -- the state before any suspension
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
  end if;

  if new.status <> 'paused' then
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
        -- Nobody sees it any more, so its changes need no approval.
        new := private.apply_fields(new, new.pending_changes);
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
    else null; -- pending_review and rejected bring nothing with them
  end case;
  if new.status <> 'suspended' then
    new.suspended_from := null;
  end if;
  return new;
end
$$;
comment on function private.enter_property_state is
  'Fills in what belongs to the state that a listing enters, or says why it cannot enter it.';

create trigger properties_abide_by_their_state_on_insert
  before insert on public.properties
  for each row execute function private.enter_property_state();
comment on trigger properties_abide_by_their_state_on_insert on public.properties is
  'Before properties_start, by its name: whether a listing is shown follows from its state.';
create trigger properties_abide_by_their_state
  before update of status on public.properties
  for each row when (old.status is distinct from new.status)
  execute function private.enter_property_state();
comment on trigger properties_abide_by_their_state on public.properties is
  'Before properties_are_listed, by its name: whether a listing is shown follows from its state.';

