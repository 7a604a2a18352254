-- Auth's hooks decide who gets a token and stop Auth from sending anything (docs/auth.md).

create function private.custom_access_token(event jsonb) returns jsonb
  language plpgsql
  security definer -- Auth's role calls it and may not read accounts
  set search_path = ''
as $$
declare
  account public.accounts;
  maintenance constant jsonb := private.setting('maintenance');
  wait integer;
begin
  -- "for update" would wait for transactions that insert rows with foreign keys to the account.
  select * into account from public.accounts
  where accounts.id = (event ->> 'user_id')::uuid
  for no key update;

  if account.status is null or account.status = 'deleted' then
    return '{"error":{"http_code":401,"message":"token_invalid"}}';
  elsif private.is_locked(account) then
    return jsonb_build_object('error', jsonb_build_object('http_code', 403, 'message', concat_ws(' ',
      private.lock_refusal(account) ->> 'code', private.lock_refusal(account) -> 'detail')));
  elsif maintenance <> 'null' and event ->> 'authentication_method' in ('password', 'oauth')
    and not exists (select from public.admins where admins.account_id = account.id)
    and account.email is distinct from private.decoy_email() then
    -- Refused here, because get_me would refuse the caller only after a requested deletion had been
    -- cancelled.
    return jsonb_build_object('error', jsonb_build_object('http_code', 403, 'message',
      'maintenance ' || private.maintenance_detail(maintenance)::text));
  elsif event ->> 'authentication_method' = 'oauth' then
    if not private.take_announced_sign_in(account.id) then
      return '{"error":{"http_code":401,"message":"social_token_invalid"}}';
    end if;
  elsif event ->> 'authentication_method' not in ('password', 'token_refresh') then
    -- Sign-ins with codes or links are refused, as is any method that Auth may add later.
    return '{"error":{"http_code":401,"message":"token_invalid"}}';
  elsif event ->> 'authentication_method' = 'password'
    and account.taken_over_at > clock_timestamp() - interval '15 seconds' then
    -- Auth may have compared the old password before a provider sign-in overwrote it
    -- (6_events_auth.sql).
    return '{"error":{"http_code":401,"message":"invalid_credentials"}}';
  elsif event ->> 'authentication_method' = 'token_refresh' then
    wait := private.refresh_wait((event #>> '{claims,session_id}')::uuid);
    if wait is not null then
      return jsonb_build_object('error', jsonb_build_object('http_code', 429, 'message',
        'rate_limited ' || jsonb_build_object('retryAfter', wait)::text));
    end if;
  end if;

  -- A new token cancels a requested deletion, ends a suspension whose time is over, and sets the
  -- acting identity if there is none.
  if account.status <> 'active' or account.delete_at is not null
    or account.active_identity_id is null then
    update public.accounts
    set status = 'active', status_reason = null, suspended_until = null, delete_at = null,
        active_identity_id = coalesce(
          account.active_identity_id, private.usable_individual(account.id))
    where accounts.id = account.id;
  end if;
  -- Nothing reads the metadata in tokens, and a lot of metadata would make a token too long for a
  -- request.
  return jsonb_build_object('claims', (event -> 'claims') - 'user_metadata' - 'app_metadata'
    || case when account.delete_at is null then '{}' else '{"deletion_cancelled":true}' end::jsonb);
end
$$;
comment on function private.custom_access_token is
  'Auth''s hook for access tokens, called before each token is issued. It allows sign-ins with a '
  'password or an announced provider, and refreshes. If it cancels a requested deletion, the token '
  'has the claim deletion_cancelled.';

create function private.refresh_wait(session_id uuid) returns integer
  language sql stable security definer set search_path = ''
as $$
  -- Auth has already written the next refresh token, and removes it if this refuses.
  select ceil(extract(epoch from min(refresh_tokens.created_at)
    + make_interval(secs => rates.seconds) - clock_timestamp()))::integer
  from private.rates
  join auth.refresh_tokens
    on refresh_tokens.session_id = refresh_wait.session_id
    and refresh_tokens.created_at > clock_timestamp() - make_interval(secs => rates.seconds)
  where rates.rule = 'refreshes' and rates.max < 1000000
  group by rates.max, rates.seconds
  having count(*) > rates.max
$$;
comment on function private.refresh_wait is
  'How many seconds a session must wait until its next refresh, or null. The limit is checked by '
  'counting the session''s refresh tokens (version 1).';

create function private.take_announced_sign_in(account_id uuid) returns boolean
  language plpgsql
  security definer -- reads auth.identities, for the token hook
  set search_path = ''
as $$
begin
  -- Each of several concurrent sign-ins deletes one row. If Auth rolls a sign-in back, its row is
  -- restored.
  delete from private.announced_sign_ins
  where announced_sign_ins.id = (
    select announced.id
    from auth.identities
    join private.announced_sign_ins as announced
      on announced.subject = identities.provider_id and announced.provider = identities.provider
    where identities.user_id = take_announced_sign_in.account_id
      and announced.expires_at > clock_timestamp()
      -- The hook has locked the account, so no session can end until Auth commits.
      and (announced.topic is null or announced.topic = (
        select accounts.topic from public.accounts
        where accounts.id = take_announced_sign_in.account_id
      ))
    limit 1
    for update of announced skip locked
  );
  return found;
end
$$;

create function private.is_signing_in_by_provider(account_id uuid) returns boolean
  language sql stable
  security definer -- reads auth.identities and a table closed to clients
  set search_path = ''
as $$
  select exists (
    select from auth.identities
    join private.announced_sign_ins as announced
      on announced.subject = identities.provider_id and announced.provider = identities.provider
    where identities.user_id = is_signing_in_by_provider.account_id
      and announced.expires_at > clock_timestamp()
  )
$$;

create function private.usable_individual(account_id uuid) returns uuid
  language plpgsql security definer set search_path = ''
as $$
declare
  individual uuid := private.add_individual(account_id, null);
begin
  -- The caller has locked the account, so a concurrent suspension of the identity waits.
  perform from public.identities
  where identities.id = individual and identities.status = 'active';
  return case when found then individual end;
end
$$;
comment on function private.usable_individual is
  'The individual identity of the account, which is added if it is missing; null if it is '
  'suspended.';

create function private.refuse_sending(event jsonb) returns jsonb
  language sql stable
  return jsonb_build_object('error', jsonb_build_object(
    'http_code', 403, 'message',
    'Auth sends nothing: the person asks for a code in the app, where a password is forgotten.'));
comment on function private.refuse_sending is
  'Auth''s hook for sending SMS and email. It always refuses.';

grant execute on function private.custom_access_token, private.refuse_sending
  to supabase_auth_admin;
