-- Signing in with Google and Apple (contract, section 2). 6_events_auth.sql handles accounts that
-- another person had registered.

create function private.begin_social_sign_in(
  provider text, subject text, email text, email_verified boolean, keys text[]
) returns jsonb
  language plpgsql
  security definer -- reads accounts and auth.identities for guests
  set search_path = ''
as $$
declare
  announcement_id uuid;
  refused constant jsonb := '{"error":{"code":"social_token_invalid","detail":{}}}';
  holder_id uuid;
  fresh bigint;
begin
  select identities.user_id into holder_id from auth.identities
  where identities.provider = begin_social_sign_in.provider
    and identities.provider_id = begin_social_sign_in.subject;
  if holder_id is null then
    select accounts.id into holder_id from public.accounts
    where accounts.email = begin_social_sign_in.email;
    if email_verified is not true then
      return case when holder_id is not null
        then '{"error":{"code":"email_taken","detail":{}}}' else refused end;
    end if;
  end if;

  -- Of several concurrent calls only one succeeds. If its sign-in fails, the token can be used
  -- again after two minutes, which is longer than any sign-in takes.
  insert into private.social_tokens as taken (key, expires_at)
  select key, now() + interval '2 minutes' from unnest(keys) as key order by key
  on conflict on constraint social_tokens_pkey do update set expires_at = excluded.expires_at
    where taken.expires_at <= now();
  get diagnostics fresh = row_count;
  if fresh < cardinality(keys) then
    return refused;
  end if;
  insert into private.announced_sign_ins (provider, subject, email)
  values (begin_social_sign_in.provider, begin_social_sign_in.subject, begin_social_sign_in.email)
  returning id into announcement_id;
  return jsonb_build_object(
    'announcementId', announcement_id,
    'exists', holder_id is not null,
    'hasName', exists (
      select from public.individual_profiles
      where individual_profiles.account_id = holder_id
        and individual_profiles.full_name is not null
    )
  );
end
$$;
comment on function private.begin_social_sign_in is
  'Refuses a token that is used again (social_token_invalid) and a new subject without a verified '
  'email (email_taken if an account has it).';

create function private.finish_social_sign_in(keys text[], expires_at timestamptz) returns void
  language sql
  security definer
  set search_path = ''
as $$
  insert into private.social_tokens (key, expires_at)
  select key, finish_social_sign_in.expires_at from unnest(keys) as key order by key
  on conflict on constraint social_tokens_pkey do update set expires_at = excluded.expires_at
$$;
comment on function private.finish_social_sign_in is
  'Marks a token as used until it expires, in the transaction that returns the session.';

create function private.release_social_tokens(keys text[], announcement_id uuid) returns void
  language sql
  security definer
  set search_path = ''
as $$
  delete from private.announced_sign_ins
  where announced_sign_ins.id = release_social_tokens.announcement_id;
  delete from private.social_tokens where social_tokens.key = any (keys)
$$;
comment on function private.release_social_tokens is 'Makes a token usable again after a failure.';

create function private.store_apple_token(account_id uuid, client_id text, sealed_token text)
  returns void
  language sql
  security definer
  set search_path = ''
as $$
  insert into private.apple_tokens (account_id, client_id, sealed_token)
  values (store_apple_token.account_id, store_apple_token.client_id, store_apple_token.sealed_token)
  on conflict on constraint apple_tokens_pkey do update
  set sealed_token = excluded.sealed_token, revoke_at = null, tries = 0
$$;

grant execute on function
  private.begin_social_sign_in, private.finish_social_sign_in, private.release_social_tokens,
  private.store_apple_token
  to backend;
