-- The facade creates the challenge. It verifies the response of the passkey before it calls add_passkey or
-- save_proof (functions/api/accounts/passkeys.ts).

create function private.check_passkeys(account_id uuid) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  most constant integer := 5;
  used constant bigint := (
    select count(*) from private.passkeys where passkeys.account_id = check_passkeys.account_id
  );
begin
  if used >= most then
    perform private.refuse(409, 'passkeys_full', jsonb_build_object('limit', most, 'used', used));
  end if;
end
$$;

create function private.begin_passkey(adding boolean, challenge text, rp_id text) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id uuid;
  known json;
begin
  perform private.lock_caller(); -- so that the session does not end before the commit
  admin_id := private.require_admin();
  if adding then
    perform private.require_admin_proof(of_passkeys => true);
    perform private.check_passkeys(admin_id);
  end if;
  known := (
    select json_agg(json_build_object(
      'id', passkeys.credential_id, 'transports', passkeys.transports) order by passkeys.created_at)
    from private.passkeys
    where passkeys.account_id = admin_id and passkeys.rp_id = begin_passkey.rp_id
  );
  if not adding and known is null then
    perform private.refuse(404, 'not_found');
  end if;
  insert into private.passkey_challenges (session_id, adding, challenge)
  values (private.session_id(), begin_passkey.adding, begin_passkey.challenge)
  on conflict on constraint passkey_challenges_pkey do update
  set challenge = excluded.challenge, made_at = excluded.made_at;
  return (
    select json_build_object(
      'accountId', accounts.id,
      'name', coalesce(accounts.email, accounts.phone, accounts.id::text),
      'displayName', coalesce(individual_profiles.full_name, ''),
      'passkeys', coalesce(known, '[]'))
    from public.accounts
    left join public.individual_profiles on individual_profiles.account_id = accounts.id
    where accounts.id = admin_id
  );
end
$$;
comment on function private.begin_passkey is
  'Facade: for admins: stores a challenge (a session has one for adding a passkey and one for a '
  'proof) and returns the caller''s passkeys that work on the host. 403 proof_required, '
  'passkey_required, 404 not_found if a proof is to be made without a passkey, 409 passkeys_full.';

create function private.take_passkey_challenge(adding boolean, credential_id text) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
  taken private.passkey_challenges;
begin
  if adding then
    perform private.require_admin_proof(of_passkeys => true);
  end if;
  delete from private.passkey_challenges
  where passkey_challenges.session_id = private.session_id()
    and passkey_challenges.adding = take_passkey_challenge.adding
  returning * into taken;
  return json_build_object(
    'challenge', case when taken.made_at > clock_timestamp() - interval '5 minutes'
      then taken.challenge end,
    'passkey', (
      select json_build_object(
        'id', passkeys.id, 'publicKey', passkeys.public_key, 'counter', passkeys.counter)
      from private.passkeys
      where passkeys.account_id = admin_id
        and passkeys.credential_id = take_passkey_challenge.credential_id
    )
  );
end
$$;
comment on function private.take_passkey_challenge is
  'Facade: for admins: deletes and returns the challenge of the session, before the signature is '
  'verified, together with the caller''s passkey that has this credential id. Either may be null.';

create function private.add_passkey(
  credential_id text, public_key text, counter bigint, rp_id text,
  transports text[] default null, name text default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id uuid;
  made private.passkeys;
begin
  -- The second of two concurrent calls waits here and then counts the passkey that the first has added.
  perform private.lock_caller_exclusively();
  admin_id := private.require_admin();
  perform private.require_admin_proof(of_passkeys => true);
  perform private.check_passkeys(admin_id);
  insert into private.passkeys
    (account_id, credential_id, public_key, counter, rp_id, transports, name)
  values (admin_id, add_passkey.credential_id, add_passkey.public_key, add_passkey.counter,
    add_passkey.rp_id, add_passkey.transports, add_passkey.name)
  on conflict on constraint passkeys_credential_key do nothing
  returning * into made;
  if made.id is null then
    perform private.refuse_field('attestation', 'invalid');
  end if;
  perform private.audit('passkey.added', 'account', admin_id,
    after => private.passkey_record(made)::jsonb);
  return private.passkey_record(made);
end
$$;
comment on function private.add_passkey is
  'Facade: for admins: adds a passkey. 403 proof_required, passkey_required, 409 passkeys_full, '
  '422 if it is registered already.';

create function private.end_passkey_proofs(account_id uuid, but_session uuid default null)
  returns void
  language sql
  security definer -- reads auth.sessions
  set search_path = ''
as $$
  delete from private.session_proofs
  where session_proofs.way = 'passkey' and session_proofs.session_id in (
    select sessions.id from auth.sessions where sessions.user_id = end_passkey_proofs.account_id
  ) and session_proofs.session_id is distinct from but_session
$$;

create function private.remove_passkey(passkey_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id uuid;
  gone private.passkeys;
begin
  perform private.lock_caller_exclusively();
  admin_id := private.require_admin();
  perform private.require_admin_proof(of_passkeys => true);
  delete from private.passkeys
  where passkeys.account_id = admin_id and passkeys.id = passkey_id
  returning * into gone;
  if gone.id is null then
    perform private.refuse(404, 'not_found');
  end if;
  -- A proof does not store which passkey it was made with, so any proof in the other sessions may have
  -- been made with this one.
  perform private.end_passkey_proofs(admin_id, but_session => private.session_id());
  perform private.audit('passkey.removed', 'account', admin_id,
    before => private.passkey_record(gone)::jsonb);
end
$$;
comment on function private.remove_passkey is
  'Facade: for admins: removes one of the caller''s passkeys, and deletes proofs that were made '
  'with passkeys in the account''s other sessions. 403 proof_required, passkey_required, 404 '
  'not_found.';

create function private.remove_passkeys(account_id uuid, reason text) returns bigint
  language plpgsql
  security definer -- changes someone else's account on an admin's behalf
  set search_path = ''
as $$
declare
  account constant public.accounts := private.lock_account_exclusively(account_id);
  removed bigint;
begin
  delete from private.passkeys where passkeys.account_id = account.id;
  get diagnostics removed = row_count;
  if removed = 0 then
    perform private.refuse_by_hand('It has no passkeys: nothing is there to remove.');
  end if;
  perform private.end_passkey_proofs(account.id);
  perform private.audit('passkey.removed', 'account', account.id, reason,
    jsonb_build_object('passkeys', removed));
  -- The key contains the id of the act: an alarm with the same key would not be raised again, because
  -- nothing settles the earlier one.
  perform private.raise_alarm('passkeys_removed',
    concat_ws(' ', account.id, nullif(current_setting('audit.act', true), '')),
    jsonb_build_object('accountId', account.id, 'passkeys', removed));
  return removed;
end
$$;
comment on function private.remove_passkeys is
  'Removes all passkeys of an account, for a row of admin_acts, and deletes the proofs that were '
  'made with them.';

grant execute on function
  private.begin_passkey, private.take_passkey_challenge, private.add_passkey,
  private.remove_passkey
  to authenticated;
