-- Accounts and Supabase Auth: born and gone with the Auth user, and Auth's hooks.

create function private.add_individual(account_id uuid, full_name text) returns uuid
  language plpgsql
  security definer -- writes closed tables, for Auth's trigger and token hook
  set search_path = ''
as $$
declare
  identity_id uuid;
begin
  insert into public.individual_profiles (account_id, full_name)
  values (add_individual.account_id, add_individual.full_name)
  on conflict do nothing;

  insert into public.identities (account_id, type, status, display_name)
  values (add_individual.account_id, 'individual', 'active', coalesce(full_name, 'مستخدم'))
  on conflict do nothing;

  select identities.id into identity_id from public.identities
  where identities.account_id = add_individual.account_id and type = 'individual';
  return identity_id;
end
$$;
comment on function private.add_individual is
  'The individual profile and identity of an account, made if there is none.';

create function private.on_auth_user_created() returns trigger
  language plpgsql
  security definer -- Auth's role may not write here
  set search_path = ''
as $$
declare
  given_name text := new.raw_user_meta_data ->> 'full_name';
begin
  insert into public.accounts (id, email, phone)
  values (new.id, lower(nullif(new.email, '')), '+' || nullif(new.phone, ''));
  update public.accounts
  set active_identity_id = private.add_individual(
    new.id, case when private.is_name(given_name) then given_name end)
  where accounts.id = new.id;
  return new;
end
$$;
comment on function private.on_auth_user_created is
  'Account, profile and identity in the transaction that makes the user: all of them or none.';

create function private.on_auth_user_changed() returns trigger
  language plpgsql
  security definer -- Auth's role may not write here
  set search_path = ''
as $$
begin
  if new.deleted_at is not null then
    perform private.forget_account(new.id);
    return new;
  end if;
  update public.accounts
  set email = lower(nullif(new.email, '')), phone = '+' || nullif(new.phone, ''),
      email_proven = accounts.email_proven
        and accounts.email is not distinct from lower(nullif(new.email, ''))
  where accounts.id = new.id and accounts.status <> 'deleted';
  return new;
end
$$;
comment on function private.on_auth_user_changed is
  'Keeps email and phone as Auth has them, and nothing of a user that Auth only marks as deleted.';

create function private.bound_user_metadata() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- Not refused: Auth writes here at sign-ins by a provider too, and those must not fail for it.
  if octet_length(new.raw_user_meta_data::text) > 16384 then
    new.raw_user_meta_data := old.raw_user_meta_data;
  end if;
  return new;
end
$$;
comment on function private.bound_user_metadata is
  'What people write about themselves at Auth stays small: Auth reads all of it at every sign-in.';

create function private.on_auth_user_deleted() returns trigger
  language plpgsql
  security definer -- Auth's role may not write here
  set search_path = ''
as $$
begin
  perform private.forget_account(old.id);
  return old;
end
$$;
comment on function private.on_auth_user_deleted is
  'A user deleted at Auth, by whatever way, leaves no personal data here.';

create function private.forget_account(account_id uuid) returns void
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
as $$
begin
  update public.accounts
  set email = null, phone = null, email_proven = false, status = 'deleted', status_reason = null,
      suspended_until = null, delete_at = null, active_identity_id = null
  where accounts.id = forget_account.account_id;
  update public.individual_profiles set full_name = null, avatar_url = null
  where individual_profiles.account_id = forget_account.account_id;
  update public.identities
  set status = 'closed', display_name = 'حساب محذوف', avatar_url = null, status_reason = null
  where identities.account_id = forget_account.account_id;
end
$$;
comment on function private.forget_account is
  'Makes an account anonymous for good. Other areas follow by triggers on the closing of identities.';

-- Tokens and sending: Auth's hooks ---------------------------------------------------------------

create function private.custom_access_token(event jsonb) returns jsonb
  language plpgsql
  security definer -- runs as Auth's role, which may not read accounts
  set search_path = ''
as $$
declare
  account public.accounts;
begin
  -- Weaker than for update, which rows of new sessions that refer to the account would hold up.
  select * into account from public.accounts
  where accounts.id = (event ->> 'user_id')::uuid
  for no key update;

  if account.status is null or account.status = 'deleted' then
    return '{"error":{"http_code":401,"message":"token_invalid"}}';
  elsif account.status = 'banned' then
    return '{"error":{"http_code":403,"message":"account_banned"}}';
  elsif account.status = 'suspended' and not private.may_act(account) then
    return jsonb_build_object('error', jsonb_build_object('http_code', 403, 'message',
      concat_ws(': ', 'account_suspended', account.status_reason)));
  elsif event ->> 'authentication_method' = 'password'
    and account.taken_over_at > clock_timestamp() - interval '15 seconds' then
    -- The password was compared before it was overwritten (03_accounts/1_tables_social.sql), by whoever knew the old one.
    return '{"error":{"http_code":401,"message":"invalid_credentials"}}';
  end if;

  -- Signing in takes back a requested deletion and ends a suspension that is over, and gives an
  -- account whose acting identity was taken away its individual one.
  if account.status <> 'active' or account.active_identity_id is null then
    update public.accounts
    set status = 'active', status_reason = null, suspended_until = null, delete_at = null,
        active_identity_id = coalesce(
          account.active_identity_id, private.usable_individual(account.id))
    where accounts.id = account.id;
  end if;
  -- Metadata is what people write about themselves at Auth: nobody reads it here, and a token that
  -- carries much of it is longer than what a request may bring.
  return jsonb_build_object('claims', (event -> 'claims') - 'user_metadata' - 'app_metadata');
end
$$;
comment on function private.custom_access_token is
  'Auth asks it at every issue and refresh of a token: none for suspended, banned, deleted accounts, '
  'and no metadata in the others.';

create function private.usable_individual(account_id uuid) returns uuid
  language plpgsql
  security definer -- repairs closed tables, for the token hook
  set search_path = ''
as $$
declare
  individual uuid := private.add_individual(account_id, null);
begin
  -- Its caller has the account: an admin who suspends it now waits, and then takes it away again.
  perform from public.identities
  where identities.id = individual and identities.status = 'active';
  return case when found then individual end;
end
$$;
comment on function private.usable_individual is
  'The individual identity, made if it is missing; null while an admin has suspended it.';

create function private.end_suspension(account_id uuid) returns boolean
  language plpgsql
  set search_path = ''
as $$
begin
  perform from public.accounts
  where accounts.id = end_suspension.account_id
  for no key update skip locked;
  if not found then
    return false;
  end if;
  update public.accounts
  set status = 'active', status_reason = null, suspended_until = null
  where accounts.id = end_suspension.account_id
    and accounts.status = 'suspended' and accounts.suspended_until < now();
  return found;
end
$$;
comment on function private.end_suspension is 'Lets an account act again whose suspension is over.';

create function private.end_suspensions() returns bigint
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  select private.for_each('end_suspension', array(
    select accounts.id::text from public.accounts
    where accounts.status = 'suspended' and accounts.suspended_until < now()
      and not private.rests('end_suspension', accounts.id::text)
    order by accounts.suspended_until
    limit 100
  ), true)
$$;
comment on function private.end_suspensions is
  'Job: suspensions whose time is over end, and with them the hiding of listings.';

create function private.refuse_sending(event jsonb) returns jsonb
  language sql
  immutable
  set search_path = ''
as $$
  select '{"error":{"http_code":403,"message":"sending is off: codes come from the application"}}'::jsonb
$$;
comment on function private.refuse_sending is
  'Auth''s send-SMS and send-email hooks: Auth itself never sends anything.';

grant execute on function private.custom_access_token, private.refuse_sending
  to supabase_auth_admin;
grant execute on function private.end_suspensions to backend;
