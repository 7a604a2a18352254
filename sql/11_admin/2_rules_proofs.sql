-- A proof is a secret that an administrator gets by re-authenticating. It is required to set an
-- identifier, delete, ban, refund to the source, pay out, write off, change a plan or setting, export
-- people's data, and add or remove a passkey. Once an administrator has a passkey, only proofs made with
-- a passkey count, because only passkeys resist phishing. Only the facade passes on the hash of X-Proof,
-- so these calls fail in the Data API.

create function private.has_passkey(account_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads other people's passkeys
  set search_path = ''
as $$
begin
  return exists (
    select from private.passkeys where passkeys.account_id = has_passkey.account_id
  );
end
$$;

create function private.proof_refusal(newer_than timestamptz, of_passkeys boolean) returns text
  language plpgsql stable
  security definer -- reads a table that clients cannot access
  set search_path = ''
as $$
declare
  given constant text := nullif(current_setting('facade.proof', true), '');
  found_way text;
begin
  select session_proofs.way into found_way from private.session_proofs
  where session_proofs.session_id = private.session_id()
    and session_proofs.hash = decode(given, 'hex')
    and session_proofs.made_at > greatest(newer_than, clock_timestamp() - interval '10 minutes');
  return case
    when found_way is null then 'proof_required'
    when found_way = 'passkey' then null
    when private.has_passkey(private.account_id())
      or not of_passkeys and private.setting('admin_passkeys') = '"required"'
      then 'passkey_required'
  end;
end
$$;
comment on function private.proof_refusal is
  'Returns why the given proof does not suffice, or null. of_passkeys: the proof is for adding or '
  'removing a passkey. An admin without passkeys can add the first one with a password or code, '
  'even if the setting admin_passkeys requires passkeys.';

create function private.require_admin_proof(
  newer_than timestamptz default '-infinity', of_passkeys boolean default false
) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  refusal constant text := private.proof_refusal(newer_than, of_passkeys);
begin
  if refusal is not null then
    perform private.refuse(403, refusal);
  end if;
end
$$;
comment on function private.require_admin_proof is
  'Raises 403 proof_required or passkey_required without a valid proof. Called right after '
  'require_admin.';
