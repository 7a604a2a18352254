create function private.decide_account(
  admin_id uuid, user_id uuid, status text, reason text, until timestamptz
) returns void
  language plpgsql
  security definer -- changes someone else's account on an admin's behalf
  set search_path = ''
as $$
declare
  why constant text := private.tidy_reason(reason);
  account public.accounts;
begin
  if status is null or status not in ('active', 'suspended', 'banned') then
    perform private.refuse_value('status', status);
  elsif until is not null and (status <> 'suspended' or until <= now() or not isfinite(until)) then
    perform private.refuse_field('until', 'invalid', by_hand =>
      'until lies in the future; empty is for good.');
  end if;
  if status <> 'active' and user_id is distinct from admin_id then
    -- The status change deletes the sessions, so they are locked here, before the account.
    perform private.lock_sessions(user_id);
  end if;
  account := private.lock_account_exclusively(user_id);
  if account.id is null or private.is_decoy(account) then
    perform private.refuse(404, 'user_not_found');
  end if;
  perform private.refuse_admin_target(admin_id, account.id);
  if account.status = 'deleted' then
    perform private.refuse(409, 'status_transition_invalid',
      '{"from":"deleted","allowed":[]}',
      'A deleted account does not come back: nothing of it is left.');
  end if;

  perform private.audit('account.status', 'account', account.id, why,
    jsonb_build_object('status', account.status, 'suspended_until', account.suspended_until),
    jsonb_build_object('status', decide_account.status, 'suspended_until', until));
  update public.accounts
  set status = decide_account.status,
      status_reason = case when decide_account.status <> 'active' then why end,
      suspended_until = until
  where accounts.id = account.id;
end
$$;
comment on function private.decide_account is
  'Suspends, bans or activates an account. admin_id is null for a row of admin_acts.';

create function private.set_user_status(
  user_id uuid, status text, reason text, until timestamptz default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
begin
  if status = 'banned' then
    perform private.require_admin_proof();
  end if;
  perform private.lock_ceilings(admin_id);
  perform private.decide_account(admin_id, user_id, status, reason, until);
  return (select records.record from private.user_records(array[user_id]) as records);
end
$$;
comment on function private.set_user_status is
  'Api: For admins: suspends (without an end or until a time), bans or activates an account. '
  'Suspending and banning end its sessions. A ban requires a proof, which only the facade passes '
  'on. 403 admin_only, proof_required, 404 user_not_found, 409 admin_self, admin_target, '
  'status_transition_invalid if the account is deleted.';

create function private.end_account(admin_id uuid, user_id uuid, reason text) returns void
  language plpgsql
  security definer -- deletes an Auth user, for an admin
  set search_path = ''
as $$
declare
  why constant text := private.tidy_reason(reason);
  account public.accounts;
begin
  if user_id is distinct from admin_id then
    perform private.lock_auth_user(user_id);
  end if;
  account := private.lock_account_exclusively(user_id);
  if account.id is null or private.is_decoy(account) then
    perform private.refuse(404, 'user_not_found');
  end if;
  perform private.refuse_admin_target(admin_id, account.id);
  if account.status = 'deleted' then
    return;
  end if;
  perform private.audit('account.deleted', 'account', account.id, why,
    jsonb_build_object('status', account.status), '{"status":"deleted"}');
  delete from auth.users where users.id = account.id;
end
$$;
comment on function private.end_account is
  'Deletes the Auth user of an account. admin_id is null for a row of admin_acts.';

create function private.begin_payout(admin_id uuid, user_id uuid, reason text) returns json
  language plpgsql
  security definer -- moves money of someone else's account, for an admin
  set search_path = ''
as $$
declare
  why constant text := private.tidy_reason(reason);
  account public.accounts;
begin
  account := private.lock_account_exclusively(user_id);
  if account.id is null or private.is_decoy(account) then
    perform private.refuse(404, 'user_not_found');
  end if;
  perform private.refuse_admin_target(admin_id, account.id);
  if account.status <> 'banned' then
    perform private.refuse(409, 'status_transition_invalid',
      jsonb_build_object('from', account.status, 'allowed', '[]'::jsonb),
      'Only the money of a banned account is paid out this way: ban it first, or refund an invoice.');
  end if;
  perform private.audit('account.payout', 'account', account.id, why, null,
    jsonb_build_object('amount', private.available_money(account.id)));
  perform private.empty_banned_wallets(account);
  return json_build_object('items', (
    select coalesce(json_agg(json_build_object(
      'id', wallet_payouts.id, 'amount', wallet_payouts.amount, 'state', wallet_payouts.state,
      'notBefore', wallet_payouts.not_before
    ) order by wallet_payouts.created_at, wallet_payouts.id), '[]')
    from public.wallet_payouts
    where wallet_payouts.account_id = account.id and wallet_payouts.state in ('at_provider', 'open')
  ));
end
$$;
comment on function private.begin_payout is
  'Pays out the wallets of a banned account. admin_id is null for a row of admin_acts.';

create function private.open_payout(user_id uuid, reason text) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
begin
  perform private.require_admin_proof();
  perform private.lock_ceilings(admin_id);
  return private.begin_payout(admin_id, user_id, reason);
end
$$;
comment on function private.open_payout is
  'Facade: for admins: returns the money of a banned account to the payments that it came from. '
  'What cannot be returned waits for a bank transfer. Can be repeated.';

create function private.delete_user(user_id uuid, reason text) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
begin
  perform private.require_admin_proof();
  perform private.lock_ceilings(admin_id);
  perform private.end_account(admin_id, user_id, reason);
end
$$;
comment on function private.delete_user is
  'Facade: for admins: deletes an account, and removes the name from financial records. Can be '
  'repeated.';

create function private.set_contact(
  admin_id uuid, user_id uuid, value text, remove_other boolean, reason text
) returns void
  language plpgsql
  security definer -- changes someone else's account and Auth tables on an admin's behalf
  set search_path = ''
as $$
declare
  why constant text := private.tidy_reason(reason);
  kind constant text := case when value like '+%' then 'phone' else 'email' end;
  account public.accounts;
begin
  if octet_length(value) > 254 then
    perform private.refuse_field('value', 'too_long', most => 254, by_hand =>
      'value has 254 characters at most, as an email.');
  end if;
  if user_id is distinct from admin_id then
    perform private.lock_user(user_id);
  end if;
  account := private.lock_account_exclusively(user_id);
  if account.id is null or private.is_decoy(account) then
    perform private.refuse(404, 'user_not_found');
  end if;
  perform private.refuse_admin_target(admin_id, account.id);
  if account.status = 'deleted' then
    perform private.refuse(409, 'status_transition_invalid',
      '{"from":"deleted","allowed":[]}',
      'A deleted account does not come back: nothing of it is left.');
  elsif (private.contact_holder(account.id, value)).is_taken then
    perform private.refuse_field(kind, kind || '_taken', 409,
      'Another account has it, proven: nobody can have it besides.');
  end if;
  perform private.audit('account.identifier', 'account', account.id, why, null,
    jsonb_build_object('kind', kind, 'removeOther', remove_other));
  if remove_other then
    delete from auth.identities
    where identities.user_id = account.id and identities.provider not in ('email', 'phone');
    perform private.write_contact(account.id, null, 'set', private.other_kind(kind), null);
  end if;
  perform private.write_contact(account.id, null, 'set', kind, value);
  perform private.overwrite_password(account.id);
  update public.accounts set taken_over_at = clock_timestamp() where accounts.id = account.id;
end
$$;
comment on function private.set_contact is
  'Sets a proven phone or email and revokes all earlier access. remove_other also removes the '
  'other contact and the providers.';

create function private.set_user_identifier(
  user_id uuid, value text, reason text, remove_other boolean default false
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
begin
  perform private.require_admin_proof();
  perform private.lock_ceilings(admin_id);
  perform private.set_contact(admin_id, user_id, value, remove_other, reason);
  return (select records.record from private.user_records(array[user_id]) as records);
end
$$;
comment on function private.set_user_identifier is
  'Facade: for admins: sets an account''s proven phone or email, and revokes all earlier access.';

grant execute on function
  private.set_user_status, private.open_payout, private.delete_user, private.set_user_identifier
  to authenticated;
