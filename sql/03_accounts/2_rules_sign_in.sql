create function private.account_with(identifier text) returns uuid
  language plpgsql stable
  security definer -- reads accounts for guests
  set search_path = ''
as $$
begin
  return (
    select accounts.id from public.accounts
    where accounts.email = account_with.identifier or accounts.phone = account_with.identifier
  );
end
$$;

create function private.decoy_email() returns text
  language sql immutable
  return 'decoy@accounts.invalid';
comment on function private.decoy_email is
  'A sign-in with an unknown identifier is tried against this account, so that it takes as long as '
  'any other sign-in.';

create function private.address_mark(whose text, address_hash text) returns bytea
  language plpgsql immutable set search_path = ''
as $$
begin
  -- Only the edge functions have the key that address_hash is computed with. Each account has a
  -- different mark for the same address.
  return sha256(convert_to(whose || ' ' || address_hash, 'utf8'));
end
$$;

create function private.is_known_address(account_id uuid, address_hash text) returns boolean
  language plpgsql stable security definer set search_path = ''
as $$
declare
  -- Without an account, the same query runs and finds nothing, so that the response takes as long.
  whose uuid := coalesce(account_id, '00000000-0000-0000-0000-000000000000');
begin
  return exists (
    select from private.known_addresses
    where known_addresses.account_id = whose
      and known_addresses.mark = private.address_mark(whose::text, address_hash)
      and known_addresses.known_until > now()
  );
end
$$;

grant execute on function private.account_with to backend;
