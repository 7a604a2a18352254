create function private.delete_favorites() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.favorites where favorites.identity_id = new.id;
  return null;
end
$$;
comment on function private.delete_favorites is
  'Deletes the favorites of an identity when it is closed.';

create trigger identities_forget_their_favorites
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.delete_favorites();

create function private.count_savings_of(identity_id uuid) returns void
  language sql
  security definer -- updates favorites and counters, regardless of who changes the identity
  set search_path = ''
as $$
  with changed as (
    update public.favorites set counted = saver.counts
    from (
      select identities.status = 'active' and private.may_act(accounts) as counts
      from public.identities
      join public.accounts on accounts.id = identities.account_id
      where identities.id = count_savings_of.identity_id
    ) as saver
    where favorites.identity_id = count_savings_of.identity_id and favorites.counted <> saver.counts
    returning favorites.property_id, case when favorites.counted then 1 else -1 end as change
  )
  -- private.lock_dependents has already locked the counters in order.
  update private.property_counters set favorites = property_counters.favorites + changed.change
  from changed
  where property_counters.property_id = changed.property_id
$$;

create function private.on_saver_account() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.count_savings_of(identities.id)
  from public.identities where identities.account_id = new.id;
  return null;
end
$$;
comment on function private.on_saver_account is
  'Stops counting the favorites of an account while it may not act.';

create trigger accounts_count_their_favorites
  after update of status, suspended_until, delete_at on public.accounts
  for each row when (
    (old.status, old.suspended_until, old.delete_at is null)
      is distinct from (new.status, new.suspended_until, new.delete_at is null)
  )
  execute function private.on_saver_account();

create function private.on_saver_identity() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.count_savings_of(new.id);
  return null;
end
$$;
comment on function private.on_saver_identity is
  'Stops counting the favorites of an identity while it is not active.';

create trigger identities_count_their_favorites
  after update of status on public.identities
  for each row when (old.status is distinct from new.status)
  execute function private.on_saver_identity();
