-- Locks the rows that depend on an account or identity, in the order of 2_rules_locks.sql, before
-- triggers write to them.
create function private.lock_dependents(account_id uuid, identity_ids uuid[], goes boolean)
  returns void
  language plpgsql
  security definer -- locks rows of other accounts
  set search_path = ''
as $$
begin
  perform private.lock_account_exclusively(account_id);
  perform private.lock_admins_with(account_id);
  if goes then
    perform from public.reports
    where reports.account_id = lock_dependents.account_id
      or reports.reported_identity_id = any (identity_ids)
    order by reports.id for no key update;
  end if;
  -- Sending a message locks the conversation too, so that no message reaches an account that may not
  -- act.
  perform from public.conversations
  where conversations.id in (
    select participants.conversation_id from public.participants
    where participants.identity_id = any (identity_ids)
  )
  order by conversations.id for no key update;
  perform from public.properties
  where properties.owner_identity_id = any (identity_ids)
  order by properties.id for no key update;
  perform from private.property_counters
  where property_counters.property_id in (
    select favorites.property_id from public.favorites
    where favorites.identity_id = any (identity_ids)
  )
  order by property_counters.property_id for no key update;
  perform from public.reviews
  where reviews.id in (
    select written.id from public.reviews as written
    where written.author_identity_id = any (identity_ids)
    union all
    select got.id from public.reviews as got
    where goes and got.subject_identity_id = any (identity_ids)
  )
  order by reviews.id for no key update;
  perform from private.review_totals
  where review_totals.identity_id in (
    select reviews.subject_identity_id from public.reviews
    where reviews.author_identity_id = any (identity_ids)
  )
  order by review_totals.identity_id for no key update;
  perform from public.organisations
  where organisations.identity_id in (
    select unnest(identity_ids)
    union all
    select reviews.subject_identity_id from public.reviews
    where reviews.author_identity_id = any (identity_ids)
  )
  order by organisations.identity_id for no key update;
  if goes then
    perform from public.notifications
    where notifications.id in (
      select received.id from public.notifications as received
      where received.account_id = lock_dependents.account_id
      union all
      select caused.id from public.notifications as caused
      where caused.from_identity_id = any (identity_ids)
    )
    order by notifications.id for no key update;
    perform private.lock_devices(array[account_id], identity_ids);
  end if;
end
$$;
comment on function private.lock_dependents is
  'Locks the account and all rows that depend on it. goes is true if the account is being deleted '
  'or the identity closed.';

create function private.before_state_change() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if tg_table_name = 'accounts' then
    perform private.lock_dependents(new.id, array(
      select identities.id from public.identities where identities.account_id = new.id
    ), new.status = 'deleted');
  else
    perform private.lock_dependents(new.account_id, array[new.id], new.status = 'closed');
  end if;
  return new;
end
$$;
comment on function private.before_state_change is
  'Locks the rows that triggers will change as a result of the new state.';

create trigger accounts_take_what_follows
  before update of status, suspended_until, delete_at, phone, email_proven on public.accounts
  for each row when (
    (old.status, old.suspended_until, old.delete_at is null)
      is distinct from (new.status, new.suspended_until, new.delete_at is null)
    and (old.status in ('suspended', 'banned')
      or private.may_act(old) is distinct from private.may_act(new)
      or new.status = 'deleted')
    or private.is_proven(old) <> private.is_proven(new) -- its reviews start or stop counting
  )
  execute function private.before_state_change();
comment on trigger accounts_take_what_follows on public.accounts is
  'Runs after accounts_abide_by_their_state, which sets delete_at.';
create trigger identities_take_what_follows
  before update of status on public.identities
  for each row when (old.status is distinct from new.status)
  execute function private.before_state_change();
