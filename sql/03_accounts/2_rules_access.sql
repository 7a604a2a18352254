-- A standard SQL body ("return …") is parsed when the function is created, so the function needs no
-- search_path and can be inlined.
create function private.is_locked(account public.accounts) returns boolean
  language sql stable parallel safe
  return (
    (is_locked.account).status = 'active'
    or (is_locked.account).status = 'suspended' and (is_locked.account).suspended_until < now()
  ) is not true;
comment on function private.is_locked is
  'Whether an account is suspended, banned, deleted or missing. No other function decides this.';

create function private.may_act(account public.accounts) returns boolean
  language sql stable parallel safe
  return (not private.is_locked(may_act.account) and (may_act.account).delete_at is null) is true;
comment on function private.may_act is
  'Whether an account may act and is visible to others. No other function decides this.';

create function private.lock_refusal(account public.accounts) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  deletion constant jsonb := jsonb_strip_nulls(jsonb_build_object('deleteAt', account.delete_at));
begin
  -- If there is no account, account.status is null.
  if not private.is_locked(account) or (account.status in ('suspended', 'banned')) is not true then
    return null;
  elsif account.status = 'banned' then
    return jsonb_build_object('status', 403, 'code', 'account_banned', 'detail', deletion);
  end if;
  return jsonb_build_object('status', 403, 'code', 'account_suspended', 'detail',
    jsonb_build_object('reason', coalesce(account.status_reason, ''),
                       'until', account.suspended_until) || deletion);
end
$$;
comment on function private.lock_refusal is
  'The error for a suspended or banned account, otherwise null.';

-- Triggers call both functions with the rights of whichever role changes an account.
grant execute on function private.is_locked, private.may_act
  to anon, authenticated, service_role, backend, supabase_auth_admin;

create function private.identity_may_act(identity_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads the state of someone else's account
  set search_path = ''
as $$
begin
  return exists (
    select from public.identities
    join public.accounts on accounts.id = identities.account_id
    where identities.id = identity_may_act.identity_id and identities.status = 'active'
      and private.may_act(accounts)
  );
end
$$;

create function private.is_in_order(identity_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads the state of someone else's account
  set search_path = ''
as $$
begin
  return exists (
    select from public.identities
    join public.accounts on accounts.id = identities.account_id
    where identities.id = is_in_order.identity_id and identities.status = 'active'
      and identities.stopped_at is null
      and private.may_act(accounts)
  );
end
$$;
comment on function private.is_in_order is
  'Whether jobs may act for an identity: the identity may act, and its plan and listings are not '
  'paused.';

create function private.individual_of(account_id uuid) returns uuid
  language sql stable
  security definer -- reads other people's identities
  set search_path = ''
as $$
  select identities.id from public.identities
  where identities.account_id = individual_of.account_id and identities.type = 'individual'
$$;

create function private.on_identity_status() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  update public.accounts set active_identity_id = null
  where accounts.id = new.account_id and accounts.active_identity_id = new.id;
  return null;
end
$$;
comment on function private.on_identity_status is
  'When an identity is no longer active, makes its account stop acting as it on all devices.';

create trigger identities_stop_acting
  after update of status on public.identities
  for each row when (new.status <> 'active')
  execute function private.on_identity_status();

create function private.is_stopped(account public.accounts, identity_status text) returns boolean
  language sql stable
  return coalesce(
    is_stopped.identity_status = 'suspended'
    or (is_stopped.account).status = 'banned'
    or (is_stopped.account).status = 'suspended'
      and ((is_stopped.account).suspended_until < now()) is not true,
    false);
comment on function private.is_stopped is
  'Whether an identity may not act because of a decision by an administrator, and not because of '
  'its owner or an expired licence.';

create function private.stop_identity() returns trigger
  language plpgsql
  security definer -- reads the account, whichever role changes the identity
  set search_path = ''
as $$
declare
  account public.accounts;
begin
  select * into account from public.accounts where accounts.id = new.account_id;
  new.stopped_at :=
    case when private.is_stopped(account, new.status) then coalesce(old.stopped_at, now()) end;
  return new;
end
$$;
comment on function private.stop_identity is
  'Sets stopped_at when an administrator stops an identity, and clears it when the identity is no '
  'longer stopped.';

create trigger identities_tell_since_when
  before update of status on public.identities
  for each row when (old.status <> new.status)
  execute function private.stop_identity();
comment on trigger identities_tell_since_when on public.identities is
  'Runs after identities_take_what_follows, which locks the account.';

create function private.stop_identities() returns trigger
  language plpgsql
  security definer -- writes the account's identities, whichever role changes the account
  set search_path = ''
as $$
begin
  update public.identities
  set stopped_at = case when identities.stopped_at is null then now() end
  where identities.account_id = new.id
    and (identities.stopped_at is not null) <> private.is_stopped(new, identities.status);
  return null;
end
$$;
comment on function private.stop_identities is
  'Sets or clears stopped_at of an account''s identities when the account is suspended, banned or '
  'restored.';

create trigger accounts_are_stopped
  after update of status, suspended_until on public.accounts
  for each row when (
    (old.status, old.suspended_until) is distinct from (new.status, new.suspended_until)
    and new.status <> 'deleted' -- its identities are closed next
  )
  execute function private.stop_identities();

create function private.check_acting_identity() returns trigger
  language plpgsql
  security definer -- reads identities, whichever role changes the account
  set search_path = ''
as $$
begin
  -- There is no race: the account is locked here, and every change of an identity's status locks the
  -- account first.
  perform from public.identities
  where identities.id = new.active_identity_id and identities.status <> 'active';
  if found then
    perform private.refuse_by_hand('An account acts as an identity that is active, or as none.');
  end if;
  return new;
end
$$;
comment on function private.check_acting_identity is
  'Refuses an identity that is not active, so that active_identity_id can be used without checking '
  'the status of the identity.';

create trigger accounts_act_as_an_active_identity
  before insert or update of active_identity_id on public.accounts
  for each row when (new.active_identity_id is not null)
  execute function private.check_acting_identity();

create function private.require_terms() returns void
  language plpgsql stable security definer set search_path = ''
as $$
declare
  -- Called here, because the planner would also evaluate a call inside the condition, to estimate
  -- its result.
  caller_id constant uuid := private.require_account();
  required record;
begin
  select terms.version, terms.url into required
  from private.terms() as terms where terms.required_from <= now();
  if found and not exists (
    select from public.accounts
    where accounts.id = caller_id and accounts.terms_version = required.version
  ) then
    perform private.refuse(403, 'terms_not_accepted', to_jsonb(required));
  end if;
end
$$;
comment on function private.require_terms is
  'Called by functions that publish something or write to others. Raises 403 terms_not_accepted or '
  'the errors of require_account.';

create function private.is_proven(account public.accounts) returns boolean
  language sql immutable
  return (is_proven.account).phone is not null or (is_proven.account).email_proven;

create function private.can_be_proven() returns boolean
  language sql stable set search_path = ''
as $$
  select settings.value = 'true' from private.settings where settings.name = 'codes_are_sent'
$$;

create function private.set_codes_are_sent(are_sent boolean) returns bigint
  language sql
  security definer -- writes a setting
  set search_path = ''
as $$
  with updated as (
    update private.settings set value = to_jsonb(are_sent)
    where settings.name = 'codes_are_sent' and settings.value <> to_jsonb(are_sent)
    returning 1
  )
  select count(*) from updated
$$;

create function private.require_proof() returns void
  language plpgsql stable
  security definer -- reads the caller's account, a rate and a setting
  set search_path = ''
as $$
begin
  if exists (
    select from public.accounts
    where accounts.id = private.account_id() and accounts.proof_first
      and not private.is_proven(accounts)
  ) and exists (
    select from private.rates where rates.rule = 'proof_first' and rates.max < 1000000
  ) and private.can_be_proven() then
    perform private.refuse(403, 'account_unproven');
  end if;
end
$$;
comment on function private.require_proof is
  'Raises 403 account_unproven for an unproven account with proof_first, if codes can be sent.';

grant execute on function private.set_codes_are_sent to backend;

create function private.outdated_terms(version text) returns jsonb
  language plpgsql stable
  security definer -- reads a setting
  set search_path = ''
as $$
declare
  present constant text := (select terms.version from private.terms() as terms);
begin
  return case when version is distinct from present
    then jsonb_strip_nulls(jsonb_build_object('version', present)) end;
end
$$;
comment on function private.outdated_terms is
  'The detail of 409 terms_outdated if version is not the current one, otherwise null.';

grant execute on function private.require_terms to authenticated;
grant execute on function private.outdated_terms to backend;
