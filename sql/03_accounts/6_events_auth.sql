-- Triggers keep accounts in sync with the users of Supabase Auth (docs/auth.md).

create function private.add_individual(account_id uuid, full_name text) returns uuid
  language plpgsql security definer set search_path = ''
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

create function private.on_auth_user_created() returns trigger
  language plpgsql
  security definer -- Auth's role may not write to our tables
  set search_path = ''
as $$
declare
  given_name text := new.raw_user_meta_data ->> 'full_name';
  terms_version text := substring(new.raw_user_meta_data ->> 'terms_version' from '^[!-~]{1,40}$');
  broken text;
begin
  begin
    insert into public.accounts (id, email, phone, terms_version, terms_accepted_at)
    values (new.id, lower(nullif(new.email, '')), '+' || nullif(new.phone, ''), terms_version,
      case when terms_version is not null then clock_timestamp() end);
  exception
    when check_violation then -- Studio shows the message to an admin
      get stacked diagnostics broken = constraint_name;
      raise exception using errcode = 'PT422', message = case broken
        when 'accounts_unproven_email_stands_alone' then
          'A new account has an email or a phone: the other one is proven before it is added.'
        else
          'An account has an email as people write it, or a Kuwaiti mobile number such as 96550000001.'
        end;
  end;
  update public.accounts
  set active_identity_id = private.add_individual(
    new.id, case when private.is_free_name(given_name, true) then given_name end)
  where accounts.id = new.id;
  return new;
end
$$;
comment on function private.on_auth_user_created is 'Creates account, profile and identity.';

create function private.on_auth_user_signed_in() returns trigger
  language plpgsql
  security definer -- Auth's role may not write to our tables
  set search_path = ''
as $$
begin
  -- The account is locked before its profile, because the token hook will lock the account too.
  perform private.lock_account_exclusively(new.id);
  update public.individual_profiles set last_sign_in_at = coalesce(new.last_sign_in_at, '-infinity')
  where individual_profiles.account_id = new.id;
  return null;
end
$$;
comment on function private.on_auth_user_signed_in is
  'Copies the time of the sign-in, which lists of people are sorted by.';

create function private.bound_user_metadata() returns trigger
  language plpgsql
  security definer -- Auth's role may not read our tables
  set search_path = ''
as $$
begin
  if octet_length(new.raw_user_meta_data::text) > 16384 then
    -- Metadata from a provider arrives with a sign-in, which must not fail because of it.
    if tg_op = 'INSERT' or not private.is_signing_in_by_provider(new.id) then
      raise exception using errcode = 'PT422', message =
        'What somebody keeps about themselves at Auth has 16,384 bytes at most.';
    end if;
    new.raw_user_meta_data := old.raw_user_meta_data;
  end if;
  new.raw_user_meta_data := private.own_metadata(new.raw_user_meta_data, new.email);
  return new;
end
$$;
comment on function private.bound_user_metadata is
  'Limits the size of the user metadata, because Auth reads all of it at every sign-in, and '
  'removes an email that is not the account''s. If metadata from a provider exceeds the limit, the '
  'old metadata is kept.';

create function private.bound_user_agent() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.user_agent := left(new.user_agent, 200);
  return new;
end
$$;
comment on function private.bound_user_agent is
  'Truncates the user agent, which Auth would store in full, to the 200 characters that are shown.';

create function private.on_auth_user_deleted() returns trigger
  language plpgsql
  security definer -- Auth's role may not write to our tables
  set search_path = ''
as $$
begin
  perform private.anonymise_account(old.id);
  return old;
end
$$;
comment on function private.on_auth_user_deleted is
  'Anonymises the account when its Auth user is deleted.';

create function private.check_auth_identity() returns trigger
  language plpgsql
  security definer -- Auth's role may not read our tables
  set search_path = ''
as $$
declare
  account_email constant text := (
    select accounts.email from public.accounts where accounts.id = new.user_id
  );
begin
  if lower(new.identity_data ->> 'email') is distinct from account_email then
    -- Auth links a new provider to a user by the email of any of the user's identities, even an
    -- unverified email.
    new.identity_data := new.identity_data - 'email' - 'email_verified';
  end if;
  if tg_op = 'INSERT' and not exists (
    select from private.announced_sign_ins as announced
    where announced.provider = new.provider and announced.subject = new.provider_id
      and announced.email = account_email and announced.expires_at > clock_timestamp()
  ) then
    perform private.refuse(401, 'social_token_invalid');
  end if;
  return new;
end
$$;
comment on function private.check_auth_identity is
  'Lets Auth link a provider only to the account whose email was announced for this sign-in, '
  'otherwise raises 401 social_token_invalid. Removes an email of the provider that is not the '
  'account''s.';

create function private.try_provider_door(account_id uuid) returns boolean
  language plpgsql
  security definer -- writes to auth.identities, and undoes it
  set search_path = ''
as $$
begin
  insert into auth.identities
    (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
  values (gen_random_uuid()::text, account_id, '{"sub":"nobody"}', 'google', now(), now(), now());
  raise exception using errcode = 'ZZ002';
exception
  when sqlstate 'ZZ002' then return true;
  when sqlstate 'PT401' then return false;
end
$$;
comment on function private.try_provider_door is
  'Whether a provider could be linked without an announcement, which must not be possible.';
grant execute on function private.try_provider_door to backend;

create function private.overwrite_password(account_id uuid) returns void
  language sql
  security definer -- writes to auth.users
  set search_path = ''
as $$
  -- The new password is random. Without a hash, Auth would respond faster.
  update auth.users
  set encrypted_password = extensions.crypt(
    encode(extensions.gen_random_bytes(32), 'hex'), extensions.gen_salt('bf', 10))
  where users.id = overwrite_password.account_id
$$;

create function private.on_auth_identity_linked() returns trigger
  language plpgsql
  security definer -- Auth's role may not write to our tables
  set search_path = ''
as $$
declare
  account public.accounts;
  proves boolean := coalesce(new.identity_data ->> 'email_verified' = 'true', false);
begin
  select * into account from public.accounts where accounts.id = new.user_id;
  if not proves or account.email_proven
    or account.email is distinct from lower(new.identity_data ->> 'email') then
    return null;
  end if;
  -- Anybody may have registered this email before, so all earlier access ends. The user is locked
  -- first, then the sessions, then the account, as in a sign-in.
  perform private.overwrite_password(account.id);
  perform private.lock_sessions(account.id);
  perform private.lock_dependents(account.id, array(
    select identities.id from public.identities where identities.account_id = account.id
  ), false);
  delete from auth.sessions where sessions.user_id = account.id; -- deletes their devices too
  delete from auth.one_time_tokens where one_time_tokens.user_id = account.id;
  delete from private.codes
  where codes.account_id = account.id or codes.identifier = account.email;
  delete from private.known_addresses where known_addresses.account_id = account.id;
  delete from private.contact_changes where contact_changes.account_id = account.id;
  delete from auth.identities
  where identities.user_id = account.id and identities.id <> new.id
    and identities.provider not in ('email', 'phone');
  update public.accounts set email_proven = true, taken_over_at = clock_timestamp()
  where accounts.id = account.id;
  -- A concurrent sign-in that locked the account first may have added another session.
  delete from auth.sessions where sessions.user_id = account.id;
  perform private.suspend_unproven_past(account.id);
  perform private.notify(account.id, null, 'security_password', null,
    jsonb_build_object('taken', true, 'provider', new.provider));
  return null;
end
$$;
comment on function private.on_auth_identity_linked is
  'When the email of an account is first proven by a provider, ends all earlier access, pauses '
  'older listings and notifies the owner.';

create function private.notify_of_new_provider() returns trigger
  language plpgsql
  security definer -- Auth's role may not execute notify
  set search_path = ''
as $$
begin
  -- Auth updates the user later in this transaction, so the user is locked before the account, as in
  -- a sign-in. A lock "for update" would wait for an identity that is being linked to the same user.
  perform from auth.users where users.id = new.user_id for no key update;
  -- A user who has never signed in has just registered with this provider and is not notified.
  perform private.notify(users.id, null, 'security_provider', null, jsonb_build_object(
    'provider', new.provider, 'at', clock_timestamp()))
  from auth.users where users.id = new.user_id and users.last_sign_in_at is not null;
  return null;
end
$$;
comment on function private.notify_of_new_provider is
  'Notifies the account that a provider was linked.';

create function private.on_refresh_token_revoked() returns trigger
  language plpgsql
  security definer -- ends sessions, for Auth's role
  set search_path = ''
as $$
begin
  delete from auth.sessions
  where sessions.id = new.session_id and sessions.refresh_token_hmac_key is null
    and not exists (
      select from auth.refresh_tokens
      where refresh_tokens.session_id = new.session_id and not refresh_tokens.revoked
    );
  return null;
end
$$;
comment on function private.on_refresh_token_revoked is
  'Ends a session, at the commit, if all its refresh tokens (version 1) are revoked.';
