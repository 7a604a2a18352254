-- What an administrator's access token alone does not do: set an identifier, delete, ban, refund to a
-- source, pay out, write off. The facade passes on the hash of the header X-Proof; the Data API passes
-- none, so that there these are always refused.

create function private.proven_at() returns timestamptz
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
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
comment on function private.proven_at is
  'When the proof of this call was made; null without one that counts in this session now.';

create function private.require_admin_proof() returns void
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if private.proven_at() is null then
    perform private.refuse(403, 'proof_required');
  end if;
end
$$;
comment on function private.require_admin_proof is
  '403 proof_required unless the caller has proven within ten minutes who it is. Asked right after '
  'require_admin.';
