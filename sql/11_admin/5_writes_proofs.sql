-- The facade checks the password or code, with the same rate limits as at sign-in, or verifies the
-- signature of a passkey (functions/api/accounts/passkeys.ts). Then it stores the proof with save_proof.

create function private.may_prove_by_provider(
  account public.accounts, session_id uuid, mail_works boolean
) returns boolean
  language plpgsql stable
  security definer -- reads Auth tables
  set search_path = ''
as $$
begin
  -- If taken_over_at is set, the password was overwritten with one that nobody knows.
  return account.phone is null
    and not (mail_works and private.proven_contact(account, 'email') is not null)
    and (account.taken_over_at is not null or exists (
      select from auth.users
      where users.id = account.id and coalesce(users.encrypted_password, '') = ''
    ))
    and exists (
      select from auth.mfa_amr_claims as method
      where method.session_id = may_prove_by_provider.session_id
        and method.authentication_method = 'oauth'
        and method.created_at > now() - interval '5 minutes'
    )
    -- With a stolen token, nobody can get a second proof from the same sign-in.
    and not exists (
      select from private.session_proofs
      where session_proofs.session_id = may_prove_by_provider.session_id
        and session_proofs.way = 'provider'
    );
end
$$;
comment on function private.may_prove_by_provider is
  'Whether a sign-in with a provider counts as a proof: once per session, within five minutes of '
  'the sign-in, and only if the account has no known password, no phone and no proven email to '
  'which mail can be sent.';

create function private.require_admin_without_passkey() returns void
  language plpgsql stable security definer set search_path = ''
as $$
begin
  if private.has_passkey(private.require_admin()) then
    perform private.refuse(403, 'passkey_required');
  end if;
end
$$;
comment on function private.require_admin_without_passkey is
  'Facade: called before a password or code is checked. 403 admin_only, or passkey_required if the '
  'admin has a passkey.';

create function private.save_proof(
  account_id uuid, session_id uuid, way text, hash text, mail_works boolean,
  passkey_id uuid default null, counter bigint default null
) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  account constant public.accounts := private.lock_session(account_id, session_id);
begin
  if not exists (select from public.admins where admins.account_id = account.id) then
    perform private.refuse(403, 'admin_only');
  elsif way <> 'passkey' and private.has_passkey(account.id) then
    perform private.refuse(403, 'passkey_required');
  elsif way = 'provider'
    and not private.may_prove_by_provider(account, session_id, mail_works) then
    perform private.refuse(401, 'invalid_credentials');
  elsif way = 'passkey' then
    -- The signature counter must be greater than the stored one, which may have increased since the facade
    -- read it. A passkey without a counter always sends 0.
    update private.passkeys
    set counter = save_proof.counter, last_used_at = clock_timestamp()
    where passkeys.id = passkey_id and passkeys.account_id = account.id
      and (passkeys.counter < save_proof.counter
        or passkeys.counter = 0 and save_proof.counter = 0);
    if not found then
      perform private.refuse(401, 'invalid_credentials');
    end if;
  end if;
  -- lock_session has locked the account, so the session cannot end before the proof is committed.
  insert into private.session_proofs (session_id, hash, way)
  values (session_id, decode(hash, 'hex'), way)
  on conflict on constraint session_proofs_pkey do update
  set hash = excluded.hash, way = excluded.way, made_at = excluded.made_at;
end
$$;

grant execute on function private.require_admin_without_passkey to authenticated;
grant execute on function private.save_proof to backend;
