-- Signing in: whose identifier it is, and which addresses an account knows.

create function private.account_with(identifier text) returns uuid
  language plpgsql
  stable
  security definer -- for guests: reads accounts
  set search_path = ''
as $$
begin
  return (
    select accounts.id from public.accounts
    where accounts.email = account_with.identifier or accounts.phone = account_with.identifier
  );
end
$$;
comment on function private.account_with is
  'The account with this email or phone, if any.';

create function private.decoy_email() returns text
  language sql
  immutable
  return 'decoy@accounts.invalid';
comment on function private.decoy_email is
  'The account that unknown identifiers are tried against at sign-in, so that they take the same '
  'time (functions/_shared/supabase-auth.ts).';

create function private.address_mark(whose text, address_hash text) returns bytea
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  -- The functions hold the key of the hash; whose keeps rows of two owners from being matched.
  return sha256(convert_to(whose || ' ' || address_hash, 'utf8'));
end
$$;
comment on function private.address_mark is
  'An address in the form in which it is kept: bound to one account or identifier, made of the '
  'functions'' keyed hash.';

create function private.is_known_address(account_id uuid, address_hash text) returns boolean
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  -- Without an account the same look-up runs and finds nothing, so that it takes the same time.
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
comment on function private.is_known_address is
  'Whether somebody signed in to this account from this address within 90 days.';

grant execute on function private.account_with to backend;
