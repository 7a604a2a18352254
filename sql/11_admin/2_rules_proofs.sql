-- An administrator needs a proof to set an identifier, delete, ban, refund to the source, pay out (of
-- a banned account, too) or write off. Only the facade passes on the hash of X-Proof, so these calls
-- fail in the Data API.

create function private.proven_at() returns timestamptz
  language plpgsql stable security definer set search_path = ''
as $$
declare
  given constant text := nullif(current_setting('facade.proof', true), '');
begin
  return (
    select session_proofs.made_at from private.session_proofs
    where session_proofs.session_id = private.session_id()
      and session_proofs.hash = decode(given, 'hex')
      and session_proofs.made_at > clock_timestamp() - interval '10 minutes'
  );
end
$$;
comment on function private.proven_at is 'When the given proof was made; null if it is not valid.';

create function private.require_admin_proof() returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if private.proven_at() is null then
    perform private.refuse(403, 'proof_required');
  end if;
end
$$;
comment on function private.require_admin_proof is
  'Raises 403 proof_required without a valid proof. Called right after require_admin.';
