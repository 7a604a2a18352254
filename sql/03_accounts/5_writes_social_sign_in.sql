-- Signing in by Google and Apple: whose account a provider's token opens (contract, section 2). What
-- becomes of an account that somebody else had registered: 6_events_auth.sql.

create function private.begin_social_sign_in(
  provider text, subject text, email text, email_verified boolean, keys text[]
) returns jsonb
  language plpgsql
  security definer -- for guests: reads accounts and Auth's identities
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

  -- Of several calls with the same token at once, one gets past here. Should it die on its way, the
  -- token can be used again after two minutes, longer than any sign-in takes.
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
  'Uses a verified token, once, announces the sign-in to Auth''s triggers and hook, and returns '
  'whether there is an account for it. {error}: '
  'social_token_invalid for one seen before, and for a new subject without a verified email; '
  'email_taken when an unverified email belongs to an account.';

create function private.finish_social_sign_in(keys text[], expires_at timestamptz) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  insert into private.social_tokens (key, expires_at)
  select key, finish_social_sign_in.expires_at from unnest(keys) as key order by key
  on conflict on constraint social_tokens_pkey do update set expires_at = excluded.expires_at
$$;
comment on function private.finish_social_sign_in is
  'A token that gave a session gives no other; called in the transaction that returns the session.';

create function private.release_social_tokens(keys text[], announcement_id uuid) returns void
  language sql
  security definer -- writes closed tables
  set search_path = ''
as $$
  delete from private.announced_sign_ins
  where announced_sign_ins.id = release_social_tokens.announcement_id;
  delete from private.social_tokens where social_tokens.key = any (keys)
$$;
comment on function private.release_social_tokens is
  'A token that gave no session may be used again, and its sign-in is announced no more.';

create function private.keep_apple_token(account_id uuid, client_id text, sealed_token text)
  returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  insert into private.apple_tokens (account_id, client_id, sealed_token)
  values (keep_apple_token.account_id, keep_apple_token.client_id, keep_apple_token.sealed_token)
  on conflict on constraint apple_tokens_pkey do update
  set sealed_token = excluded.sealed_token, revoke_at = null, tries = 0
$$;
comment on function private.keep_apple_token is 'Keeps the newest refresh token of an account.';

grant execute on function
  private.begin_social_sign_in, private.finish_social_sign_in, private.release_social_tokens,
  private.keep_apple_token
  to backend;
