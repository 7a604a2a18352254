-- Signing in: whose identifier it is, and which addresses an account knows.

create function private.account_with(identifier text) returns uuid
  language sql
  stable
  security definer -- for guests: reads accounts
  set search_path = ''
as $$
  select accounts.id from public.accounts
  where accounts.email = account_with.identifier or accounts.phone = account_with.identifier
$$;
comment on function private.account_with is
  'The account with this email or phone, if any.';

create function private.decoy_email() returns text
  language sql
  immutable
  set search_path = ''
as $$
  select 'decoy@accounts.invalid'
$$;
comment on function private.decoy_email is
  'The account that unknown identifiers are tried against at sign-in, so that they take the same '
  'time (functions/_shared/supabase-auth.ts).';

create function private.address_mark(whose text, address_hash text) returns bytea
  language sql
  immutable
  set search_path = ''
as $$
  -- The functions hold the key of the hash; whose keeps rows of two owners from being matched.
  select sha256(convert_to(whose || ' ' || address_hash, 'utf8'))
$$;
comment on function private.address_mark is
  'An address in the form in which it is kept: bound to one account or identifier, made of the '
  'functions'' keyed hash.';

create function private.is_known_address(account_id uuid, address_hash text) returns boolean
  language sql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
  -- Without an account the same look-up runs and finds nothing, so that it takes the same time.
  select exists (
    select from private.known_addresses
    where known_addresses.account_id = whose.id
      and known_addresses.mark = private.address_mark(whose.id::text, address_hash)
      and known_addresses.known_until > now()
  )
  from (
    select coalesce(
      is_known_address.account_id, '00000000-0000-0000-0000-000000000000'::uuid) as id
  ) as whose
$$;
comment on function private.is_known_address is
  'Whether somebody signed in to this account from this address within 90 days.';

grant execute on function private.account_with to backend;
