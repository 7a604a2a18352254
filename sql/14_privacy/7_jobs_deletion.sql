-- Accounts whose 14 days are over are deleted.

create function private.delete_due_account(account_id uuid) returns boolean
  language plpgsql
  set search_path = ''
as $$
declare
  account public.accounts;
begin
  -- Whoever is signing in now holds the user, and cancels the deletion.
  perform from auth.users where users.id = delete_due_account.account_id for update skip locked;
  if not found or not exists (
    select from public.accounts
    where accounts.id = delete_due_account.account_id and accounts.status = 'deletion_requested'
  ) then
    return false;
  end if;
  perform private.lock_auth_user(account_id);
  account := private.lock_account_exclusively(account_id);
  if account.status <> 'deletion_requested' or private.obligations(account_id) <> '{}' then
    return false;
  end if;
  delete from auth.users where users.id = delete_due_account.account_id;
  return found;
end
$$;
comment on function private.delete_due_account is
  'Deletes an account unless its owner has cancelled that.';

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
      and not private.failed_recently('delete_due_account', accounts.id::text)
    order by accounts.delete_at
    limit 100
  ), true)
$$;
comment on function private.delete_due_accounts is
  'Job: deletes users whose 14 days are over; triggers make their accounts anonymous.';

grant execute on function private.delete_due_accounts to backend;
