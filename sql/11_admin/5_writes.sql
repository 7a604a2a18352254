-- What admins do to people: lock, release, delete; verify, refuse and suspend identities.
--
-- Each act is written to the audit trail before it changes anything. Whose rights are taken away is
-- signed out at once, whether the API or somebody in Studio did it.

create function private.end_sessions() returns trigger
  language plpgsql
  security definer -- deletes from a table of Auth, for whoever locked the account
  set search_path = ''
as $$
begin
  delete from auth.sessions where sessions.user_id = new.id;
  return null;
end
$$;
comment on function private.end_sessions is
  'An account that is locked, deleted or to be deleted is signed out on every device.';

create trigger accounts_end_sessions
  after update of status, suspended_until on public.accounts
  for each row when (
    (old.status, old.suspended_until) is distinct from (new.status, new.suspended_until)
    and (not private.may_act(new) or new.status = 'deletion_requested')
  )
  execute function private.end_sessions();

create function private.tidy_reason(reason text) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  given constant text := private.tidy(reason);
begin
  if (char_length(given) between 2 and 500 and private.is_clean(given)) is not true then
    perform private.refuse_fields('[{"path":"reason","code":"invalid"}]');
  end if;
  return given;
end
$$;
comment on function private.tidy_reason is
  'Why an admin does something, on one line: 2 to 500 characters, else 422.';

create function private.set_user_status(
  user_id uuid, status text, reason text, until timestamptz
) returns json
  language plpgsql
  security definer -- writes an account of another, for an admin
  set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
  why constant text := private.tidy_reason(reason);
  account public.accounts;
begin
  if status is null or status not in ('active', 'suspended', 'banned') then
    perform private.refuse_fields('[{"path":"status","code":"invalid"}]');
  elsif until is not null and (status <> 'suspended' or until <= now() or not isfinite(until)) then
    perform private.refuse_fields('[{"path":"until","code":"invalid"}]');
  end if;
  if status <> 'active' and user_id <> admin_id then
    -- Sessions first, as a refresh locks them: its session, then the account. They end with the new
    -- status, when all that follows is locked.
    perform from auth.sessions where sessions.user_id = set_user_status.user_id
    order by sessions.id for update;
  end if;
  account := private.take_account(user_id);
  if account.id is null or private.is_nobody(account) then
    perform private.refuse(404, 'user_not_found');
  elsif account.id = admin_id then
    perform private.refuse(409, 'admin_self');
  elsif account.status = 'deleted' then
    perform private.refuse(409, 'status_transition_invalid',
      '{"from":"deleted","allowed":[]}');
  end if;

  perform private.audit('account.status', 'account', account.id, why,
    jsonb_build_object('status', account.status, 'suspended_until', account.suspended_until),
    jsonb_build_object('status', set_user_status.status, 'suspended_until', until));
  update public.accounts
  set status = set_user_status.status,
      status_reason = case when set_user_status.status <> 'active' then why end,
      suspended_until = until, delete_at = null
  where accounts.id = account.id;
  return (select records.record from private.user_records(array[account.id]) as records);
end
$$;
comment on function private.set_user_status is 'Locks or releases an account; see the one of api.';

create function api.set_user_status(
  user_id uuid, status text, reason text, until timestamptz default null
) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.set_user_status(user_id, status, reason, until);
end
$$;
comment on function api.set_user_status is
  'For admins: suspends an account, for good or until a time, bans it, or makes it active again. Its '
  'sessions end at once. 403 admin_only, 404 user_not_found, 409 admin_self, last_admin, '
  'status_transition_invalid for a deleted one.';

create function private.delete_user(user_id uuid, reason text) returns void
  language plpgsql
  security definer -- deletes a user of Auth, for an admin
  set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
  why constant text := private.tidy_reason(reason);
  account public.accounts;
begin
  if user_id <> admin_id then
    perform private.take_user(user_id);
  end if;
  account := private.take_account(user_id);
  if account.id is null or private.is_nobody(account) then
    perform private.refuse(404, 'user_not_found');
  elsif account.id = admin_id then
    perform private.refuse(409, 'admin_self');
  elsif account.status = 'deleted' then
    return;
  end if;
  perform private.audit('account.deleted', 'account', account.id, why,
    jsonb_build_object('status', account.status), '{"status":"deleted"}');
  delete from auth.users where users.id = account.id;
end
$$;
comment on function private.delete_user is 'Deletes an account; see api.delete_user.';

create function api.delete_user(user_id uuid, reason text) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.delete_user(user_id, reason);
end
$$;
comment on function api.delete_user is
  'For admins: makes an account anonymous for good; records of money stay. Doing it again changes '
  'nothing. 403 admin_only, 404 user_not_found, 409 admin_self, last_admin.';

-- Identities -------------------------------------------------------------------------------------

create function private.identity_decisions(identity public.identities) returns text[]
  language sql
  immutable
  set search_path = ''
as $$
  select case
    when identity.status = 'active' then '{suspended}'
    when identity.status = 'suspended' then '{active}'
    when identity.type = 'individual' then '{}'
    when identity.status = 'pending_verification' then '{active,rejected}'
    when identity.status = 'expired' then '{active}'
    else '{}'
  end::text[]
$$;
comment on function private.identity_decisions is
  'The states to which an admin can bring an identity from the one that it is in.';

create function private.set_identity_status(identity_id uuid, status text, reason text)
  returns json
  language plpgsql
  security definer -- writes an identity of another, for an admin
  set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
  why constant text := private.tidy_reason(reason);
  identity public.identities;
begin
  if status is null or status not in ('active', 'rejected', 'suspended') then
    perform private.refuse_fields('[{"path":"status","code":"invalid"}]');
  end if;
  perform private.take_account(identities.account_id) from public.identities
  where identities.id = set_identity_status.identity_id;
  select identities.* into identity from public.identities
  join public.accounts on accounts.id = identities.account_id
  where identities.id = set_identity_status.identity_id and not private.is_nobody(accounts);
  if identity.id is null then
    perform private.refuse(404, 'identity_not_found');
  elsif identity.account_id = admin_id then
    perform private.refuse(409, 'admin_self');
  elsif status <> identity.status and not status = any (private.identity_decisions(identity)) then
    perform private.refuse(409, 'status_transition_invalid', jsonb_build_object(
      'from', identity.status, 'allowed', private.identity_decisions(identity)));
  end if;

  perform private.audit('identity.status', 'identity', identity.id, why,
    jsonb_build_object('status', identity.status),
    jsonb_build_object('status', set_identity_status.status));
  update public.identities
  set status = set_identity_status.status,
      status_reason = case when set_identity_status.status <> 'active' then why end
  where identities.id = identity.id
  returning * into identity;
  return private.identity_record(identity);
end
$$;
comment on function private.set_identity_status is 'Decides about an identity; see the one of api.';

create function api.set_identity_status(identity_id uuid, status text, reason text) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.set_identity_status(identity_id, status, reason);
end
$$;
comment on function api.set_identity_status is
  'For admins: verifies, rejects, suspends an identity or takes that back. 403 admin_only, 404 '
  'identity_not_found, 409 admin_self, status_transition_invalid, 422 licence_expired.';

revoke execute on all functions in schema private, api from public;
grant execute on function
  private.set_user_status, private.delete_user, private.set_identity_status
  to authenticated;
grant execute on function api.set_user_status, api.delete_user, api.set_identity_status
  to authenticated;
