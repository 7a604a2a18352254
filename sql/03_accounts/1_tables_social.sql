-- Signing in by Google and Apple: whose account a provider's word opens, and what becomes of those
-- who came before (contract, section 2: email is never proven at registration).

create table private.social_tokens (
  key text primary key,
  expires_at timestamptz not null
);
comment on table private.social_tokens is
  'Id tokens and nonces that were taken: each gives one session. For two minutes while it is tried, '
  'until it expires once it gave one.';
comment on column private.social_tokens.key is
  'Provider and SHA-256 of what the token signs, or of the nonce.';
comment on column private.social_tokens.expires_at is
  'From then on it may be tried again, or nobody would take it anyhow.';
create index social_tokens_expires_idx on private.social_tokens (expires_at);
alter table private.social_tokens enable row level security;
create policy "nobody but functions of their owner" on private.social_tokens using (false);

create table private.apple_tokens (
  account_id uuid not null references public.accounts (id) on delete cascade,
  client_id text not null,
  sealed_token text not null,
  revoke_at timestamptz,
  tries integer not null default 0,
  primary key (account_id, client_id)
);
comment on table private.apple_tokens is
  'Apple''s refresh tokens, kept for one thing: to revoke them when the account is deleted.';
comment on column private.apple_tokens.account_id is 'Whose.';
comment on column private.apple_tokens.client_id is 'The app or site that it was given to.';
comment on column private.apple_tokens.sealed_token is 'AES-GCM, with a key of the functions.';
comment on column private.apple_tokens.revoke_at is 'When it is to be revoked; null is never.';
comment on column private.apple_tokens.tries is 'How often Apple was asked in vain.';
create index apple_tokens_revoke_idx on private.apple_tokens (revoke_at)
  where revoke_at is not null;
alter table private.apple_tokens enable row level security;
create policy "nobody but functions of their owner" on private.apple_tokens using (false);

-- Signing in -------------------------------------------------------------------------------------

create function private.enter_social(
  provider text, subject text, email text, email_verified boolean, keys text[]
) returns jsonb
  language plpgsql
  security definer -- for guests: reads accounts and Auth's identities
  set search_path = ''
as $$
declare
  refused constant jsonb := '{"error":{"code":"social_token_invalid","detail":{}}}';
  holder_id uuid;
  fresh bigint;
begin
  select identities.user_id into holder_id from auth.identities
  where identities.provider = enter_social.provider
    and identities.provider_id = enter_social.subject;
  if holder_id is null then
    select accounts.id into holder_id from public.accounts
    where accounts.email = enter_social.email;
    if email_verified is not true then
      return case when holder_id is not null
        then '{"error":{"code":"email_taken","detail":{}}}' else refused end;
    end if;
  end if;

  -- Of several that bring the same token at once, one gets past here. Should it be lost on its way,
  -- the token is good again: a sign-in takes less than two minutes.
  insert into private.social_tokens as taken (key, expires_at)
  select key, now() + interval '2 minutes' from unnest(keys) as key order by key
  on conflict on constraint social_tokens_pkey do update set expires_at = excluded.expires_at
    where taken.expires_at <= now();
  get diagnostics fresh = row_count;
  if fresh < cardinality(keys) then
    return refused;
  end if;
  return jsonb_build_object(
    'exists', holder_id is not null,
    'hasName', exists (
      select from public.individual_profiles
      where individual_profiles.account_id = holder_id
        and individual_profiles.full_name is not null
    )
  );
end
$$;
comment on function private.enter_social is
  'Takes a verified token, once, and tells whether there is an account for it. {error}: '
  'social_token_invalid for one seen before, and for a new subject without a verified email; '
  'email_taken when an unverified email belongs to an account.';

create function private.finish_social(keys text[], expires_at timestamptz) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  insert into private.social_tokens (key, expires_at)
  select key, finish_social.expires_at from unnest(keys) as key order by key
  on conflict on constraint social_tokens_pkey do update set expires_at = excluded.expires_at
$$;
comment on function private.finish_social is
  'A token that gave a session gives no other, in the transaction that answers with that session.';

create function private.release_social(keys text[]) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  delete from private.social_tokens where social_tokens.key = any (keys)
$$;
comment on function private.release_social is
  'A token that gave no session may be brought again.';

create function private.sweep_social_tokens() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.sweep('private.social_tokens', 'expires_at', '0')
$$;
comment on function private.sweep_social_tokens is 'Job: forgets tokens that have expired.';

create function private.on_auth_identity_linked() returns trigger
  language plpgsql
  security definer -- Auth's role may not write here
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
  -- Anybody may have registered this email. Now its owner is here: what opened the account until
  -- now opens it no more. The user first, then sessions, then the account: as signing in and
  -- refreshing lock them. A hash of random bytes and not null, which Auth would answer sooner.
  update auth.users
  set encrypted_password = extensions.crypt(
    encode(extensions.gen_random_bytes(32), 'hex'), extensions.gen_salt('bf', 10))
  where users.id = account.id;
  delete from auth.sessions where sessions.user_id = account.id; -- and their devices
  delete from auth.one_time_tokens where one_time_tokens.user_id = account.id;
  delete from private.codes
  where codes.account_id = account.id or codes.identifier = account.email;
  delete from private.known_addresses where known_addresses.account_id = account.id;
  update public.accounts set email_proven = true, taken_over_at = clock_timestamp()
  where accounts.id = account.id;
  -- And whoever was signing in when we came and had the account before us.
  delete from auth.sessions where sessions.user_id = account.id;
  return null;
end
$$;
comment on function private.on_auth_identity_linked is
  'The first provider sign-in with a verified email proves it: the old password, sessions, devices, '
  'codes and known addresses go, in the transaction that links the provider.';

-- Apple ------------------------------------------------------------------------------------------

create function private.keep_apple_token(account_id uuid, client_id text, sealed_token text)
  returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  insert into private.apple_tokens (account_id, client_id, sealed_token)
  values (keep_apple_token.account_id, keep_apple_token.client_id, keep_apple_token.sealed_token)
  on conflict on constraint apple_tokens_pkey do update
  set sealed_token = excluded.sealed_token
$$;
comment on function private.keep_apple_token is 'Keeps the newest refresh token of an account.';

create function private.on_account_deleted_for_apple() returns trigger
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  update private.apple_tokens set revoke_at = now() where apple_tokens.account_id = new.id;
  return null;
end
$$;
comment on function private.on_account_deleted_for_apple is
  'A deleted account''s tokens at Apple are to be revoked.';

create trigger accounts_revoke_apple
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.on_account_deleted_for_apple();

create function private.take_apple_revocations() returns jsonb
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  with due as (
    select apple_tokens.account_id, apple_tokens.client_id from private.apple_tokens
    where apple_tokens.revoke_at <= now()
    order by apple_tokens.revoke_at
    limit 20
    for update skip locked
  ), taken as (
    -- Whoever took them and was never heard of again: others try later and later, for days.
    update private.apple_tokens
    set tries = apple_tokens.tries + 1,
        revoke_at = now() + least(power(2, apple_tokens.tries), 1440) * interval '1 minute'
    from due
    where apple_tokens.account_id = due.account_id and apple_tokens.client_id = due.client_id
    returning apple_tokens.account_id, apple_tokens.client_id, apple_tokens.sealed_token
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'accountId', taken.account_id, 'clientId', taken.client_id, 'sealed', taken.sealed_token
  )), '[]')
  from taken
$$;
comment on function private.take_apple_revocations is 'Tokens to revoke now, each to one worker.';

create function private.finish_apple_revocation(account_id uuid, client_id text) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  delete from private.apple_tokens
  where apple_tokens.account_id = finish_apple_revocation.account_id
    and apple_tokens.client_id = finish_apple_revocation.client_id
    and apple_tokens.revoke_at is not null
$$;
comment on function private.finish_apple_revocation is 'Revoked: nothing is left to keep.';

grant execute on function
  private.enter_social, private.finish_social, private.release_social, private.sweep_social_tokens,
  private.keep_apple_token, private.take_apple_revocations, private.finish_apple_revocation
  to backend;
