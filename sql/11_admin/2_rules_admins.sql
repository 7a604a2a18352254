create function private.is_admin() returns boolean
  language plpgsql stable
  security definer -- policies call this function, so its own query must bypass policies
  set search_path = ''
as $$
begin
  return exists (
    select from public.admins where admins.account_id = private.account_id()
  );
end
$$;

create function private.require_admin() returns uuid
  language plpgsql stable set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  if not private.is_admin() then
    perform private.refuse(403, 'admin_only');
  end if;
  return caller_id;
end
$$;
comment on function private.require_admin is
  'Returns the account id of the calling admin. Raises 403 admin_only or an error of '
  'require_account.';

create function private.refuse_admin_target(admin_id uuid, account_id uuid) returns void
  language plpgsql stable
  security definer -- reads who else is an admin
  set search_path = ''
as $$
begin
  if refuse_admin_target.account_id = admin_id then
    perform private.refuse(409, 'admin_self');
  elsif admin_id is not null and exists (
    select from public.admins where admins.account_id = refuse_admin_target.account_id
  ) then
    perform private.refuse(409, 'admin_target');
  end if;
end
$$;
comment on function private.refuse_admin_target is
  'Refuses an action against the admin''s own account or the account of another admin. Called once '
  'the target is locked. For a row of admin_acts, admin_id is null and the target may be an admin, '
  'so that a team can unlock its own members.';

create function private.lock_admins() returns void
  language sql set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('admins', 0))
$$;
comment on function private.lock_admins is
  'Serialises removals: if two admins remove each other, the second call waits and is refused, '
  'because no admin would be left.';

create function private.lock_admins_with(account_id uuid) returns void
  language plpgsql
  security definer -- reads who else is an admin
  set search_path = ''
as $$
begin
  if exists (select from public.admins where admins.account_id = lock_admins_with.account_id) then
    perform private.lock_admins();
  end if;
end
$$;
comment on function private.lock_admins_with is
  'Calls lock_admins if the account belongs to an admin. Called before the state of the account '
  'changes; the order of locks is in 03_accounts/2_rules_locks.sql.';

create function private.admins_in_order() returns setof uuid
  language plpgsql stable
  rows 10
  security definer
  set search_path = ''
as $$
begin
  return query
  select admins.account_id from public.admins
  join public.accounts on accounts.id = admins.account_id
  where private.may_act(accounts);
end
$$;

create function private.require_remaining_admin() returns void
  language plpgsql
  security definer -- a role that removes an admin may not call private functions
  set search_path = ''
as $$
begin
  perform private.lock_admins();
  if not exists (select from private.admins_in_order()) then
    perform private.refuse(409, 'last_admin', '{}',
      'Nobody else is an admin: add a row to admins for another account first.');
  end if;
end
$$;

create function private.on_admin_removed() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.require_remaining_admin();
  return null;
end
$$;
comment on function private.on_admin_removed is 'Refuses to remove the last admin.';

create trigger admins_keep_one
  after delete or update of account_id on public.admins
  for each row execute function private.on_admin_removed();
create trigger admins_are_not_emptied
  after truncate on public.admins
  for each statement execute function private.on_admin_removed();

create function private.on_admin_account_changed() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.status = 'deleted' then
    delete from public.admins where admins.account_id = new.id;
  elsif exists (select from public.admins where admins.account_id = new.id) then
    perform private.require_remaining_admin();
  end if;
  return null;
end
$$;
comment on function private.on_admin_account_changed is
  'Refuses to suspend, ban or schedule for deletion the account of the last admin. An admin whose '
  'account is deleted is removed from admins.';

create trigger accounts_keep_an_admin
  after update of status, suspended_until, delete_at on public.accounts
  for each row when (new.status <> 'active' or new.delete_at is not null)
  execute function private.on_admin_account_changed();

grant execute on function private.is_admin, private.require_admin to authenticated;

do $$
declare
  name text;
begin
  foreach name in array '{accounts,individual_profiles,identities,organisations,properties,duplicates,documents,media,reports,invoices,payments,payment_events,wallet_payouts,audit,admins,notes,item_claims,plans}'::text[] loop
    execute format('grant select on public.%I to administering', name);
    execute format('create policy "administrators see all" on public.%I for select to administering '
      'using ((select private.is_admin()))', name);
  end loop;
end
$$;
grant insert on public.notes to administering;
create policy "administrators write notes" on public.notes for insert to administering
  with check ((select private.is_admin()) and by_id = (select private.account_id()));
grant insert, update, delete on public.item_claims to administering;
create policy "administrators claim for themselves" on public.item_claims for insert to administering
  with check ((select private.is_admin()) and account_id = (select private.account_id()));
create policy "administrators take over what is claimed no longer" on public.item_claims
  for update to administering
  using ((select private.is_admin()) and (
    account_id = (select private.account_id()) or claimed_at <= now() - interval '15 minutes'))
  with check (account_id = (select private.account_id()));
create policy "administrators release their own claims" on public.item_claims for delete to administering
  using ((select private.is_admin()) and account_id = (select private.account_id()));
create policy "administrators use those of their session" on private.passkey_challenges
  to administering
  using ((select private.is_admin()) and session_id = (select private.session_id()));
grant update (name_ar, name_en, price, interval_days, active_listings, listing_days,
  photos_per_listing, featured_credits, on_sale) on public.plans to administering;
create policy "administrators change plans" on public.plans for update to administering
  using ((select private.is_admin()));
grant update (value) on private.settings to administering;
create policy "administrators change settings" on private.settings for update to administering
  using ((select private.is_admin()));
