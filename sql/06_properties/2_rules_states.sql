-- What comes with the state of a listing, whoever writes it: an owner's act, an admin's decision, or
-- somebody in Studio who changes nothing but the status. Who says when something happened is
-- believed; what nobody said is filled in here, and what cannot be is refused with a sentence.

create function private.enter_property_state() returns trigger
  language plpgsql
  security definer -- reads plans and listings of whoever owns it
  set search_path = ''
as $$
declare
  born constant boolean := tg_op = 'INSERT';
  was text; -- before any suspension
  missing text[];
begin
  if not born then
    was := case old.status when 'suspended' then old.suspended_from else old.status end;
    if old.status = 'deleted' then
      perform private.refuse_by_hand('A deleted listing does not come back: its pictures are gone.');
    end if;
    if new.status not in ('rejected', 'suspended') then
      new.status_reason := null;
    end if;
  end if;

  if new.status in ('pending_review', 'active', 'paused', 'sold', 'rented', 'exchanged', 'expired')
  then
    missing := array_remove(array[
      case when new.kind is null then 'kind' end,
      case when new.area_id is null then 'area_id' end,
      case when new.title_ar is null then 'title_ar' end,
      case when coalesce(new.land_area_m2, new.built_area_m2) is null then 'land_area_m2' end,
      case when new.price is null and new.type <> 'EXCHANGE' then 'price' end
    ], null);
    if missing <> '{}' then
      perform private.refuse_by_hand(format(
        'A listing that is %s needs %s: fill that in first.', new.status,
        array_to_string(missing, ', ')));
    end if;
  end if;

  case
    when new.status in ('active', 'paused') then
      if was = 'paused' and new.status = 'active' and new.expires_at = old.expires_at then
        new.expires_at := new.expires_at + (now() - old.paused_at); -- its time stood still
      elsif new.expires_at is null
        or was not in ('active', 'paused') and new.expires_at = old.expires_at then
        new.confirmed_at := now();
        new.expires_at := now() + make_interval(
          days => (private.plan_of(new.owner_identity_id)).listing_days);
      end if;
      new.published_at := coalesce(new.published_at, now());
      new.closed_at := null;
      new.paused_at := case when new.status = 'paused' then coalesce(new.paused_at, now()) end;
      -- The owner was counted, and refused, before; for anybody else there is room or it waits.
      if not born and new.status = 'active' and old.status <> 'active'
        and private.identity_id() is distinct from new.owner_identity_id then
        if not private.try_lock_quota(new.owner_identity_id) then
          perform private.refuse_by_hand(
            'Somebody publishes for the same owner at this moment: save again.');
        elsif not private.has_room(new.owner_identity_id, old.status = 'pending_review') then
          new.status := 'paused';
          new.paused_at := now();
        end if;
      end if;
    when new.status in ('sold', 'rented', 'exchanged') then
      if not born and new.status is distinct from (case new.type
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
        -- Nobody sees it any more, so nothing has to wait.
        new := private.with_fields(new, new.pending_changes);
        new.pending_changes := null;
      end if;
    when new.status = 'draft' then
      new.closed_at := null;
      new.paused_at := null;
      new.expires_at := null;
    when new.status = 'suspended' then
      new.suspended_from := coalesce(new.suspended_from, was, 'draft');
    when new.status = 'deleted' then
      new.deleted_at := coalesce(new.deleted_at, now());
      new.pending_changes := null;
    else null; -- pending_review and rejected bring nothing
  end case;
  if new.status <> 'suspended' then
    new.suspended_from := null;
  end if;
  return new;
end
$$;
comment on function private.enter_property_state is
  'Fills in what comes with the state that a listing enters, or says why it cannot enter it.';

-- Their names come first in the alphabet, and so do they: others ask for the state.
create trigger properties_abide_by_their_state_at_birth
  before insert on public.properties
  for each row execute function private.enter_property_state();
create trigger properties_abide_by_their_state
  before update of status on public.properties
  for each row when (old.status is distinct from new.status)
  execute function private.enter_property_state();

-- What only triggers and functions may write.
-- Before the triggers that would put it right without a word.
create trigger properties_are_edited_where_it_counts
  before update of owner_identity_id, listed, owner_type, owner_verified, owner_active,
    auction_starts_at, auction_ends_at
  on public.properties
  for each row when (
    (old.owner_identity_id, old.listed, old.owner_type, old.owner_verified, old.owner_active,
      old.auction_starts_at, old.auction_ends_at)
    is distinct from
    (new.owner_identity_id, new.listed, new.owner_type, new.owner_verified, new.owner_active,
      new.auction_starts_at, new.auction_ends_at)
  )
  execute function private.refuse_edit(
    'Who owns a listing never changes, and what it carries of the owner, its auction and its state '
    'is kept by triggers: change status here, or the row of the owner or the auction.');
create trigger properties_keep_their_type
  before update of type on public.properties
  for each row when (old.published_at is not null and old.type <> new.type)
  execute function private.refuse_edit(
    'The type of a listing stays once it was published: people have saved and answered it as such.');
create trigger properties_changes_are_decided
  before update of pending_changes on public.properties
  for each row when (
    old.status = new.status and old.pending_changes is not null
    and old.pending_changes is distinct from new.pending_changes
  )
  execute function private.refuse_edit(
    'Changes that wait are decided at POST /admin/moderation/:id/decide, or in the SQL editor by '
    'select private.decide_property(id, true or false, reason): the owner is told, pictures follow.');
