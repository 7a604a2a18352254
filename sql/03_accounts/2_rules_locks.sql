-- Locks, and the one order in which they are taken, so that no two transactions wait for each other.
--
-- The account comes first. Whoever writes for one of its identities locks it shared, before anything
-- else, and checks after that whether it may: what is suspended or closed by then is refused.
-- Whoever changes what an account or an identity may do locks it exclusively. So of what people do
-- and what is done to them, one waits before it has locked anything that the other could need. Whoever
-- opens a conversation locks the other account shared as well: a deletion looks more than once for what
-- it has to lock, and must not find more the second time. What belongs to others too is locked after
-- the accounts, in this order, several of a kind by their ids:
--
--   1. auth.users, auth.sessions             where signing in and refreshing start; with refresh
--                                            tokens of version 1 Auth locks the session first, so
--                                            what it answers with 500 or 409 is asked once more
--   2. accounts, then what only they change: identities, profiles, settings, uploads
--   3. advisory locks                        admins, licence, topup, subscribe, plan, quota, a
--                                            favorite, a device, conversations opened, blocks, who
--                                            registers at an address
--   4. invoices, payments, refunds, wallet_payouts, wallets
--   5. reports
--   6. conversations, then their participants and messages
--   7. properties, then property_counters
--   8. reviews, then review_totals
--   9. organisations                         the pages, with their counters
--  10. notification_events, notifications, devices, push_outbox
--  11. the histories of conversations       last of all but 12, so that readers wait for a moment
--  12. what triggers take at the commit     an account's last place in the feed, then its snapshot
--
-- An act of an admin by a row (11_admin/2_rules_acts.sql) takes its advisory lock before all of these, and
-- is repeated in its own transaction; so does what counts for a ceiling by a route
-- (11_admin/2_rules_ceilings.sql). What is about codes (of one phone or email) takes theirs before all of
-- these, too, and the rows of codes after the account.
-- A rate is counted before all of these (01_base/2_rules_rates.sql), by the account that does it; one
-- of a listing (price_changes) by whoever holds the lock of that listing, pushes from one account to
-- another with the devices that they go to, by the account that gets them. Of strangers together
-- (pushes_strangers, then pushes_waiting and its push) the rows are those of the reader: a batch of
-- messages takes all of them before its first push. What counts in two rates counts in one order
-- wherever it does.
--
-- Rows are locked "for no key update" before a change: "for update" would block foreign keys that
-- refer to them. No column that changes is part of a key that can be referred to (the unique indexes
-- on email and phone are partial for that reason), so a foreign key never waits.
--
-- A job changes one account in a transaction, or skips what is locked: its next run comes soon. If
-- two transactions still deadlock, Postgres undoes one, and it is tried once more as a whole
-- (functions/_shared/db.ts).

-- Shared: for whoever writes for an account or identity ------------------------------------------

create function private.lock_own_account() returns void
  language plpgsql
  security definer -- clients have no grant to lock rows
  set search_path = ''
as $$
begin
  -- Whether the caller may act is checked afterwards, on the locked row.
  perform from public.accounts where accounts.id = (private.claims() ->> 'sub')::uuid for share;
end
$$;
comment on function private.lock_own_account is
  'Until the transaction ends nobody changes what the calling account may do, or as whom it acts.';

create function private.lock_caller() returns uuid
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.lock_own_account();
  return private.require_account();
end
$$;
comment on function private.lock_caller is
  'As require_account, with the account locked: for writes of an account, whichever identity acts.';

create function private.lock_identity() returns uuid
  language plpgsql
  security definer -- clients have no grant to lock rows
  set search_path = ''
as $$
declare
  claims jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  acting_id uuid;
begin
  -- As identity_id, in the statement that locks. Should the account have changed since that began,
  -- Postgres looks at it again; whoever ends an identity takes it from its account as well.
  select accounts.active_identity_id into acting_id
  from public.accounts
  join auth.sessions on sessions.user_id = accounts.id
  where accounts.id = (claims ->> 'sub')::uuid
    and sessions.id = (claims ->> 'session_id')::uuid
    and private.may_act(accounts)
  for share of accounts skip locked;
  if acting_id is null then
    -- Somebody is changing the account: what it may do is asked when that is done. Or it may not act.
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
  'As require_identity, with the account locked: first in whatever writes for the acting identity.';

create function private.lock_owner(identity_id uuid) returns void
  language plpgsql
  security definer -- locks somebody else's account
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
comment on function private.lock_owner is
  'As lock_own_account, of the account behind an identity: for what happens to it without its '
  'doing, as a payment that comes in.';

-- Exclusive: for whoever changes what an account or identity may do --------------------------------

create function private.lock_account_exclusively(account_id uuid) returns public.accounts
  language plpgsql
  security definer -- locks a row; its callers have checked whose
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
  'An account, locked for a change of it or of what one of its identities may do; null if there is '
  'none.';

create function private.lock_sessions(account_id uuid) returns void
  language plpgsql
  security definer -- locks rows of Auth; its callers have checked whose
  set search_path = ''
as $$
begin
  -- As they lie: so they are found by whoever deletes them without an order, as Auth does.
  perform from auth.sessions where sessions.user_id = lock_sessions.account_id
  order by sessions.ctid for update;
end
$$;
comment on function private.lock_sessions is
  'The sessions of an account, locked as a refresh locks them: before the account of whoever is '
  'signed out.';

create function private.lock_user(account_id uuid) returns void
  language plpgsql
  security definer -- locks rows of Auth; its callers have checked whose
  set search_path = ''
as $$
begin
  perform from auth.users where users.id = lock_user.account_id for update;
  perform private.lock_sessions(account_id);
end
$$;
comment on function private.lock_user is
  'A user of Auth with its sessions, locked as signing in locks them.';

create function private.lock_caller_exclusively() returns uuid
  language plpgsql
  security definer -- clients have no grant to lock rows
  set search_path = ''
as $$
begin
  perform private.lock_account_exclusively((private.claims() ->> 'sub')::uuid);
  return private.require_account();
end
$$;
comment on function private.lock_caller_exclusively is
  'As require_account, with the account locked exclusively: for what changes the account itself.';

-- Whatever changes a state, also by SQL or in Studio, changes all that depends on it. That is locked
-- at once and in order, before the first trigger writes any of it.
create function private.lock_dependents(account_id uuid, identity_ids uuid[], goes boolean)
  returns void
  language plpgsql
  security definer -- locks rows of whoever's state changes, and of those who know them
  set search_path = ''
as $$
begin
  perform private.lock_account_exclusively(account_id);
  perform private.lock_admins_with(account_id);
  if goes then
    perform from public.reports where reports.account_id = lock_dependents.account_id
    order by reports.id for no key update;
  end if;
  -- Not written, but locked by whoever sends a message: none reaches somebody who may no longer act.
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
  where goes and property_counters.property_id in (
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
  'Locks all that a change of state will write, in the order at the head of this file; goes is for '
  'the final state, which also removes what depends on it.';

create function private.before_state_change() returns trigger
  language plpgsql
  security definer -- as lock_dependents
  set search_path = ''
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
  'Before an account or an identity changes its state: locks all that depends on it.';

create trigger accounts_take_what_follows
  before update of status, suspended_until, delete_at on public.accounts
  for each row when (
    (old.status, old.suspended_until, old.stays_hidden)
      is distinct from (new.status, new.suspended_until, new.stays_hidden)
    -- Requesting deletion, and taking that back, hides and shows nothing.
    and (old.status = 'suspended' or private.may_act(old) is distinct from private.may_act(new)
      or new.status = 'deleted')
  )
  execute function private.before_state_change();
comment on trigger accounts_take_what_follows on public.accounts is
  'After accounts_abide_by_their_state, which sets what this asks for (stays_hidden).';
create trigger identities_take_what_follows
  before update of status on public.identities
  for each row when (old.status is distinct from new.status)
  execute function private.before_state_change();

grant execute on function
  private.lock_own_account, private.lock_caller, private.lock_identity,
  private.lock_caller_exclusively
  to authenticated;
