create function private.apply_account_state() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if old.status = 'deleted' then
    perform private.refuse_by_hand('A deleted account does not come back: nothing of it is left.');
  end if;
  if new.status <> 'suspended' then
    new.suspended_until := null;
  end if;
  if new.status not in ('suspended', 'banned') then
    new.status_reason := null;
  end if;
  if new.status = 'deleted' then
    new.delete_at := null;
  end if;
  if new.delete_at is null then
    new.money_at_deletion := null;
  end if;
  return new;
end
$$;
comment on function private.apply_account_state is
  'Clears the columns that do not apply to the new state. A suspended or banned account keeps its '
  'delete_at.';

create trigger accounts_abide_by_their_state
  before update of status, delete_at on public.accounts
  for each row when ((old.status, old.delete_at) is distinct from (new.status, new.delete_at))
  execute function private.apply_account_state();
comment on trigger accounts_abide_by_their_state on public.accounts is
  'Runs before accounts_take_what_follows, which reads delete_at.';
create trigger accounts_are_not_deleted_by_hand
  before update of status on public.accounts
  for each row when (old.status <> 'deleted' and new.status = 'deleted')
  execute function private.refuse_edit(
    'An account is deleted with its sign-in: add a row to admin_acts with act delete_account, or '
    'delete the user under Authentication.');

create function private.apply_identity_state() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if old.status = 'closed' then
    perform private.refuse_by_hand('A closed identity does not come back: nothing of it is left.');
  elsif old.status = 'closing' and new.status not in ('closed', 'expired', old.closes_from) then
    -- Any other status would silently cancel the closing that the owner requested.
    perform private.refuse_by_hand('Its owner closes it: it is hidden until close_at and closed '
      'then. Suspend the account instead: that leaves it.');
  elsif new.type = 'individual' and new.status not in ('active', 'suspended', 'closed') then
    perform private.refuse_by_hand(
      'A person''s own identity has no licence to be seen: it is active or suspended.');
  end if;
  if new.status not in ('rejected', 'suspended')
    and (old.status = 'suspended' or new.status not in ('expired', 'closing')) then
    new.status_reason := null;
  end if;
  if new.status <> 'closing' then
    new.closes_from := null;
    new.close_at := null;
    new.money_at_close := null;
  elsif new.close_at is null then
    perform private.refuse_by_hand(
      'Its owner closes it in the app: status closed ends it at once, and for good.');
  end if;
  if new.status not in ('active', 'expired', 'suspended') then
    new.pending_changes := null; -- an unverified page is edited directly
  end if;
  if new.status = 'closed' then
    new.display_name := 'حساب محذوف';
    new.avatar_url := null;
  end if;
  return new;
end
$$;
comment on function private.apply_identity_state is
  'Refuses an invalid new status, and clears the columns that do not apply to the new status.';

create trigger identities_abide_by_their_state
  before update of status on public.identities
  for each row when (old.status is distinct from new.status)
  execute function private.apply_identity_state();
comment on trigger identities_abide_by_their_state on public.identities is 'May run in any order.';
create trigger identities_of_people_close_with_their_account
  before update of status on public.identities
  for each row when (
    new.type = 'individual' and old.status <> 'closed' and new.status = 'closed'
  )
  execute function private.refuse_edit(
    'A person''s own identity closes with the account: add a row to admin_acts with act '
    'delete_account, or delete the user under Authentication.');

create function private.sync_display_name() returns trigger
  language plpgsql
  security definer -- writes the identity, whichever role changes the name
  set search_path = ''
as $$
begin
  if tg_table_name = 'organisations' then
    update public.identities set display_name = new.name_ar
    where identities.id = new.identity_id and identities.display_name <> new.name_ar;
  else
    update public.identities set display_name = new.full_name
    where identities.account_id = new.account_id and identities.type = 'individual'
      and identities.display_name <> new.full_name;
  end if;
  return null;
end
$$;
comment on function private.sync_display_name is 'Copies a new name to identities.display_name.';

create trigger individual_profiles_show_their_name
  after update of full_name on public.individual_profiles
  for each row when (new.full_name <> coalesce(old.full_name, ''))
  execute function private.sync_display_name();
