-- To avoid deadlocks, all transactions take locks in the same order. The account comes first. A
-- write on behalf of an identity first takes a shared lock on the account, then checks that the
-- account may act. A change of the state of an account or identity locks the account exclusively, so
-- that the second of two such changes waits before it holds any other lock. Opening a conversation
-- also takes a shared lock on the other account, because a deletion selects the rows to lock more
-- than once and must not find new rows the second time. This is the full order (rows of the same
-- kind are locked in the order of their ids):
--
--   1. auth.users, auth.sessions             Sign-ins and refreshes begin with these. With refresh
--                                            tokens of version 1, Auth locks the session first, so
--                                            requests that Auth answers with 500 or 409 are retried.
--   2. accounts, then their own rows         identities, profiles, settings, uploads
--   3. advisory locks                        admins, licence, topup, subscribe, plan, quota, unused
--                                            pictures, a device, conversations opened, blocks,
--                                            registrations at an address
--   4. invoices, payments, refunds, wallet_payouts, wallets
--   5. reports
--   6. conversations, then their participants and messages
--   7. properties, then property_counters, then property_days
--   8. reviews, then review_totals
--   9. organisations                         the pages, with their counters
--   -  advisory lock                       the number of a refund's document
--  10. notification_events, notifications, devices, push_outbox
--  11. advisory locks                        unread counts; chat histories, taken late so that readers
--                                            hardly wait. Hiding a picture everywhere locks one
--                                            conversation after another and retries after deadlocks.
--  12. locks of deferred triggers            feed_places, then the advisory lock of feed snapshots
--
-- Four kinds of locks come before all of these:
--
--   - the advisory lock for an administrator's act, which is retried within its transaction after a
--     deadlock (11_admin/2_rules_acts.sql)
--   - the advisory lock for administrators' requests that have a daily limit
--     (11_admin/2_rules_ceilings.sql)
--   - the advisory lock for the phone or email of a code (the rows of codes come after the account)
--   - the rates of the acting account (01_base/2_rules_rates.sql)
--
-- The rate of a listing (price_changes) is counted while the listing is locked. The rates of pushes
-- are counted while the devices are locked: first the reader's rate for strangers (pushes_strangers),
-- then the rate of the two accounts. A batch of messages locks the rows of pushes_strangers for all
-- readers before its first push. Any two rates are always counted in the same order.
--
-- Rows are locked "for no key update", because "for update" would block foreign keys that refer to
-- them. Columns of referenced keys never change, so foreign key checks never wait. A job changes one
-- account per transaction, or skips locked rows. If a transaction deadlocks nevertheless, it is
-- retried as a whole (functions/_shared/database/pools.ts).

create function private.lock_own_account() returns void
  language plpgsql
  security definer -- locks the account even if it is suspended
  set search_path = ''
as $$
begin
  -- The caller's rights are checked afterwards, on the locked row.
  perform from public.accounts where accounts.id = (private.claims() ->> 'sub')::uuid for share;
end
$$;

create function private.lock_caller() returns uuid
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_own_account();
  return private.require_account();
end
$$;
comment on function private.lock_caller is
  'Like require_account, but with a shared lock on the account; for writes to the account itself.';

create function private.lock_identity() returns uuid
  language plpgsql
  security definer -- reads Auth's sessions, and locks the account even if it is suspended
  set search_path = ''
as $$
declare
  claims jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  acting_id uuid;
begin
  -- The status of the identity need not be checked: active_identity_id is null if it is no longer
  -- active.
  select accounts.active_identity_id into acting_id
  from public.accounts
  join auth.sessions on sessions.user_id = accounts.id
  where accounts.id = (claims ->> 'sub')::uuid
    and sessions.id = (claims ->> 'session_id')::uuid
    and private.may_act(accounts)
  for share of accounts skip locked;
  if acting_id is null then
    -- The account is being changed or may not act, so this waits for the lock and checks again.
    perform private.lock_own_account();
    return private.require_identity();
  end if;
  if current_setting('facade.expected_identity', true) <> '' then
    perform private.check_expected(acting_id);
  end if;
  return acting_id;
end
$$;
comment on function private.lock_identity is
  'Like require_identity, but with a shared lock on the account; for writes on behalf of the '
  'identity.';

create function private.lock_owner(identity_id uuid) returns void
  language plpgsql
  security definer -- locks another account
  set search_path = ''
as $$
begin
  perform from public.accounts
  where accounts.id = (
    select identities.account_id from public.identities
    where identities.id = lock_owner.identity_id
  )
  for share;
end
$$;
comment on function private.lock_owner is 'Takes a shared lock on the account of an identity.';

create function private.lock_account_exclusively(account_id uuid) returns public.accounts
  language plpgsql
  security definer -- locks other people's accounts for jobs, triggers and administrators
  set search_path = ''
as $$
declare
  account public.accounts;
begin
  select * into account from public.accounts
  where accounts.id = lock_account_exclusively.account_id
  for no key update;
  return account;
end
$$;
comment on function private.lock_account_exclusively is
  'Locks the account and returns it, or null if it does not exist.';

create function private.lock_sessions(account_id uuid) returns void
  language plpgsql
  security definer -- locks rows of Auth
  set search_path = ''
as $$
begin
  -- Without "order by", rows are locked in the order of the scan, as in Auth's deletes. In an index
  -- scan, an updated row keeps its place.
  perform from auth.sessions where sessions.user_id = lock_sessions.account_id for update;
end
$$;
comment on function private.lock_sessions is
  'Locks the sessions of an account. Called before the account is locked, which is also the order '
  'of a token refresh.';

create function private.lock_user(account_id uuid) returns void
  language plpgsql
  security definer -- locks rows of Auth
  set search_path = ''
as $$
begin
  perform from auth.users where users.id = lock_user.account_id for update;
  perform private.lock_sessions(account_id);
end
$$;
comment on function private.lock_user is 'Locks an Auth user, then its sessions, as sign-ins do.';

create function private.lock_auth_user(user_id uuid) returns void
  language plpgsql
  security definer -- locks rows of Auth
  set search_path = ''
as $$
declare
  began constant timestamptz := clock_timestamp();
begin
  -- A sign-in or password change locks the user first, but a refresh locks the session first. To
  -- avoid deadlocks with either, this releases the user and retries for as long as a session is
  -- locked.
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
  'Locks an Auth user and its sessions. A deletion calls this before it takes any other lock.';

create function private.lock_caller_exclusively() returns uuid
  language plpgsql
  security definer -- locks the account even if it is suspended
  set search_path = ''
as $$
begin
  perform private.lock_account_exclusively((private.claims() ->> 'sub')::uuid);
  return private.require_account();
end
$$;
comment on function private.lock_caller_exclusively is
  'Like lock_caller, but with an exclusive lock.';

grant execute on function
  private.lock_own_account, private.lock_caller, private.lock_identity,
  private.lock_caller_exclusively
  to authenticated;
