-- Signing in with Google and Apple (contract, section 2). 6_events_auth.sql handles accounts that
-- somebody else had registered with the person's email.

create function private.repeat_social_sign_in(
  keys text[], client text, account_id uuid,
  out topic uuid, out was_new_account boolean, out is_pending boolean
)
  language plpgsql set search_path = ''
as $$
begin
  -- The response got lost, or the person tapped twice. The row locks let only one of several
  -- concurrent calls through.
  with repeated as (
    update private.social_tokens set is_repeated = true
    from public.accounts
    where social_tokens.key = any (keys)
      and social_tokens.client = repeat_social_sign_in.client
      and social_tokens.used_at > clock_timestamp() - interval '60 seconds'
      and not social_tokens.is_repeated
      and accounts.id = repeat_social_sign_in.account_id and accounts.topic = social_tokens.topic
      and not exists (
        select from private.sessions_left where sessions_left.account_id = accounts.id
      )
    returning social_tokens.key, social_tokens.topic, social_tokens.was_new_account
  )
  select repeated.topic, repeated.was_new_account into topic, was_new_account
  from repeated where repeated.key = keys[1]
    and (select count(*) from repeated) = cardinality(keys);
  is_pending := topic is null and exists (
    select from private.social_tokens
    where social_tokens.key = any (keys) and social_tokens.used_at is null
      and social_tokens.client = repeat_social_sign_in.client
      and social_tokens.expires_at > now()
  );
end
$$;
comment on function private.repeat_social_sign_in is
  'Lets the client that used a token use it once more within 60 seconds, unless a session of the '
  'account has ended since then.';

create function private.begin_social_sign_in(
  provider text, subject text, email text, email_verified boolean, banned_hash text, keys text[],
  client text
) returns jsonb
  language plpgsql
  security definer -- reads accounts and auth.identities for guests
  set search_path = ''
as $$
declare
  announcement_id uuid;
  refused constant jsonb := '{"error":{"code":"social_token_invalid","detail":{}}}';
  used constant jsonb := jsonb_build_object('error', jsonb_build_object(
    'code', 'social_token_used', 'detail', jsonb_build_object('provider', initcap(provider))));
  holder_id uuid;
  fresh bigint;
  old_topic uuid;
  was_new_account boolean;
  is_pending boolean;
begin
  select identities.user_id into holder_id from auth.identities
  where identities.provider = begin_social_sign_in.provider
    and identities.provider_id = begin_social_sign_in.subject;
  if holder_id is null then
    select accounts.id into holder_id from public.accounts
    where accounts.email = begin_social_sign_in.email;
    if holder_id is null and private.is_banned_contact(email, banned_hash)
      or holder_id is not null and email_verified is not true then
      return '{"error":{"code":"email_taken","detail":{}}}';
    elsif email_verified is not true then
      return refused;
    end if;
  end if;

  -- Of several concurrent calls only one succeeds. If its sign-in fails, the token can be used
  -- again after two minutes, which is longer than any sign-in takes.
  insert into private.social_tokens as taken (key, expires_at, client)
  select key, now() + interval '2 minutes', begin_social_sign_in.client
  from unnest(keys) as key order by key
  on conflict on constraint social_tokens_pkey do update set
    expires_at = excluded.expires_at, client = excluded.client, used_at = null,
    is_repeated = false, was_new_account = null, topic = null
    where taken.expires_at <= now();
  get diagnostics fresh = row_count;
  if fresh = 0 then
    select * into old_topic, was_new_account, is_pending
    from private.repeat_social_sign_in(keys, client, holder_id);
    if old_topic is null then
      return used || jsonb_build_object('isPending', is_pending);
    end if;
  elsif fresh < cardinality(keys) then
    return used;
  end if;
  insert into private.announced_sign_ins (provider, subject, email, topic)
  values (begin_social_sign_in.provider, begin_social_sign_in.subject, begin_social_sign_in.email,
    old_topic)
  returning id into announcement_id;
  return jsonb_build_object(
    'announcementId', announcement_id,
    'wasNewAccount', was_new_account,
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
  'Announces a sign-in. Refuses a used token with social_token_used, unless it may be repeated. If '
  'no account is linked to the subject, refuses with email_taken if the email is banned, or '
  'unverified and already used by an account, and with social_token_invalid if it is otherwise '
  'unverified.';

create function private.link_announced_sign_in(announcement_id uuid) returns void
  language sql
  security definer -- writes to an Auth table; the facade has verified the values
  set search_path = ''
as $$
  -- This fires the same triggers as when Auth links a provider.
  insert into auth.identities
    (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
  select announced.subject, accounts.id, jsonb_build_object(
      'sub', announced.subject, 'email', announced.email, 'email_verified', true),
    announced.provider, now(), now(), now()
  from private.announced_sign_ins as announced
  join public.accounts on accounts.email = announced.email
  where announced.id = link_announced_sign_in.announcement_id
    and not exists (
      select from auth.identities
      where identities.provider = announced.provider
        and identities.provider_id = announced.subject
    )
  on conflict do nothing
$$;
comment on function private.link_announced_sign_in is
  'Links a provider''s user to the account with the same verified email. Used if Auth would not '
  'find the account, because the provider spells the domain of the email in Unicode.';

create function private.finish_social_sign_in(
  keys text[], remembered_until timestamptz, account_id uuid, is_new_account boolean
) returns void
  language sql security definer set search_path = ''
as $$
  insert into private.social_tokens (key, expires_at, used_at, was_new_account, topic)
  select key, remembered_until, clock_timestamp(), is_new_account, accounts.topic
  from unnest(keys) as key, public.accounts
  where accounts.id = finish_social_sign_in.account_id
  order by key
  on conflict on constraint social_tokens_pkey do update set
    expires_at = excluded.expires_at, used_at = excluded.used_at,
    was_new_account = excluded.was_new_account, topic = excluded.topic
$$;
comment on function private.finish_social_sign_in is
  'Marks a token as used, in the same transaction that returns the session.';

create function private.release_social_tokens(keys text[], announcement_id uuid) returns void
  language sql security definer set search_path = ''
as $$
  delete from private.announced_sign_ins
  where announced_sign_ins.id = release_social_tokens.announcement_id;
  delete from private.social_tokens
  where social_tokens.key = any (keys)
$$;
comment on function private.release_social_tokens is 'Makes a token usable again after a failure.';

create function private.store_apple_token(account_id uuid, client_id text, sealed_token text)
  returns void
  language sql security definer set search_path = ''
as $$
  insert into private.apple_tokens (account_id, client_id, sealed_token)
  values (store_apple_token.account_id, store_apple_token.client_id, store_apple_token.sealed_token)
  on conflict on constraint apple_tokens_pkey do update
  set sealed_token = excluded.sealed_token, revoke_at = null, tries = 0
$$;

grant execute on function
  private.begin_social_sign_in, private.link_announced_sign_in, private.finish_social_sign_in,
  private.release_social_tokens, private.store_apple_token
  to backend;
