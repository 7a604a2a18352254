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
  'Whose email or phone it is: what became of a registration whose answer was lost.';

create function private.decoy_email() returns text
  language sql
  immutable
  set search_path = ''
as $$
  select 'decoy@accounts.invalid'
$$;
comment on function private.decoy_email is
  'Of the account that unknown identifiers are tried against at sign-in, so that they take the same '
  'time (functions/_shared/supabase-auth.ts).';

create function private.address_mark(whose text, address_hash text) returns bytea
  language sql
  immutable
  set search_path = ''
as $$
  -- The functions hold the key of the hash; with whose, rows of two owners cannot be laid together.
  select sha256(convert_to(whose || ' ' || address_hash, 'utf8'))
$$;
comment on function private.address_mark is
  'An address as it may be kept: for one account or identifier, from the functions'' keyed hash.';

create function private.is_known_address(account_id uuid, address_hash text) returns boolean
  language sql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
  -- Looked up the same where there is no account, which knows none.
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
  'Whether a sign-in to this account succeeded from there within 90 days.';

grant execute on function private.account_with to backend;
