-- Deletion of an account: requested, cancelled by signing in within 14 days, then anonymous for
-- good.
--
-- Whatever deletes the user of Auth (the job here, an admin, Auth itself) comes to
-- private.anonymise_account. Each area cleans up after itself by a trigger on accounts.status ->
-- 'deleted' or identities.status -> 'closed'. Records of money stay, without names.

create function private.obligations(account_id uuid, money text) returns text[]
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
    case when private.has_obligations(account_id, money) then 'money' end
  ], null);
end
$$;
comment on function private.obligations is
  'What an account has to settle before it is deleted: auction (announced or running), money. money says '
  'what is to become of what lies in its wallets: refund, give_up, or null.';

create function private.lock_auth_user(user_id uuid) returns void
  language plpgsql
  security definer -- writes tables of Auth
  set search_path = ''
as $$
declare
  began constant timestamptz := clock_timestamp();
begin
  -- Whoever signs in or changes a password locks the user first, whoever refreshes the session. So
  -- this waits for the user only: while a session is locked, it lets go of the user and looks again.
  loop
    begin
      perform from auth.users where users.id = lock_auth_user.user_id for update;
      perform from auth.sessions where sessions.user_id = lock_auth_user.user_id for update nowait;
      return;
    exception when lock_not_available then
      if clock_timestamp() > began + interval '5 seconds' then
        raise;
      end if;
    end;
    perform pg_sleep(0.02); -- seconds
  end loop;
end
$$;
comment on function private.lock_auth_user is
  'Locks the user of Auth and its sessions for deletion: before anything of the account is locked.';
