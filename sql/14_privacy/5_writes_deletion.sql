-- Deletion of an account: asked for, 14 days to take it back by signing in, then anonymous for good.
--
-- Whatever deletes the user of Auth (the job here, an admin, Auth itself) comes to
-- private.forget_account. Each area cleans up after itself by a trigger on accounts.status ->
-- 'deleted' or identities.status -> 'closed'. Records of money stay, and name nobody.

create function private.obligations(account_id uuid) returns text[]
  language plpgsql
  stable
  security definer -- reads what is closed to clients, about the account that asks
  set search_path = ''
as $$
begin
  return array_remove(array[
    case when exists (
      select from public.properties
      join public.identities on identities.id = properties.owner_identity_id
      where identities.account_id = obligations.account_id
        and properties.status in ('active', 'paused', 'pending_review')
        and properties.auction_ends_at > now()
    ) then 'auction' end,
    case when private.has_open_money(account_id) then 'money' end
  ], null);
end
$$;
comment on function private.obligations is
  'What an account has to settle before it can go: auction (one that is announced or runs), money.';

create function private.request_deletion(account_id uuid) returns jsonb
  language plpgsql
  security definer -- clients have no write grant on accounts and sessions
  set search_path = ''
as $$
declare
  owed constant text[] := private.obligations(account_id);
  due timestamptz;
begin
  if owed <> '{}' then
    perform private.refuse(409, 'account_has_obligations',
      jsonb_build_object('obligations', owed));
  end if;
  -- Sessions first, as a refresh locks them: its session, then the account.
  delete from auth.sessions where sessions.user_id = request_deletion.account_id;
  update public.accounts
  set status = 'deletion_requested', status_reason = null, suspended_until = null,
      delete_at = now() + interval '14 days'
  where accounts.id = request_deletion.account_id and private.may_act(accounts)
  returning accounts.delete_at into due;
  return case when due is not null then jsonb_build_object('deleteAt', due) end;
end
$$;
comment on function private.request_deletion is
  'Marks an account for deletion in 14 days and ends its sessions; signing in again takes it back. '
  '409 account_has_obligations, last_admin.';

create function private.take_user(user_id uuid) returns void
  language plpgsql
  security definer -- writes tables of Auth
  set search_path = ''
as $$
begin
  -- As signing in and refreshing lock them; whoever is signing in just now holds the user.
  perform from auth.users where users.id = take_user.user_id for update;
  perform from auth.sessions where sessions.user_id = take_user.user_id
  order by sessions.id for update;
end
$$;
comment on function private.take_user is
  'The user of Auth and its sessions, locked to be deleted: before anything of the account is locked.';

create function private.delete_due_account(account_id uuid) returns boolean
  language plpgsql
  set search_path = ''
as $$
declare
  account public.accounts;
begin
  -- Whoever is signing in just now holds the user, and stays.
  perform from auth.users where users.id = delete_due_account.account_id for update skip locked;
  if not found or not exists (
    select from public.accounts
    where accounts.id = delete_due_account.account_id and accounts.status = 'deletion_requested'
  ) then
    return false;
  end if;
  perform private.take_user(account_id);
  account := private.take_account(account_id);
  if account.status <> 'deletion_requested' or private.obligations(account_id) <> '{}' then
    return false;
  end if;
  delete from auth.users where users.id = delete_due_account.account_id;
  return found;
end
$$;
comment on function private.delete_due_account is 'Deletes an account unless its owner is back.';

create function private.delete_due_accounts() returns bigint
  language sql
  security definer -- deletes users of Auth
  set search_path = ''
as $$
  select private.for_each('delete_due_account', array(
    select accounts.id::text from public.accounts
    where accounts.status = 'deletion_requested' and accounts.delete_at <= now()
      -- A payment that came in meanwhile is settled first.
      and private.obligations(accounts.id) = '{}'
      and not private.rests('delete_due_account', accounts.id::text)
    order by accounts.delete_at
    limit 100
  ), true)
$$;
comment on function private.delete_due_accounts is
  'Job: deletes a user whose 14 days are over; triggers make the account anonymous.';

create function private.forget_traces() returns trigger
  language plpgsql
  security definer -- deletes from closed tables
  set search_path = ''
as $$
begin
  delete from private.codes
  where codes.account_id = new.id or codes.identifier in (old.email, old.phone);
  delete from private.known_addresses where known_addresses.account_id = new.id;
  delete from private.idempotency_keys where idempotency_keys.account_id = new.id;
  return null;
end
$$;
comment on function private.forget_traces is
  'A deleted account leaves no codes, known addresses and kept answers. Counters of rates go by '
  'themselves within a day: they guard the phone and the email, not the account.';

create trigger accounts_leave_no_traces
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.forget_traces();

revoke execute on all functions in schema private from public;
grant execute on function private.request_deletion, private.delete_due_accounts to backend;
