-- Auth's hooks: who gets a token, and that Auth itself sends nothing.

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
  elsif private.is_locked(account) then
    return jsonb_build_object('error', jsonb_build_object('http_code', 403, 'message', concat_ws(' ',
      private.lock_refusal(account) ->> 'code', private.lock_refusal(account) -> 'detail')));
  elsif event ->> 'authentication_method' = 'oauth' then
    if not private.take_announced_sign_in(account.id) then
      return '{"error":{"http_code":401,"message":"social_token_invalid"}}';
    end if;
  elsif event ->> 'authentication_method' not in ('password', 'token_refresh') then
    -- Codes, links and whatever else Auth learns to do: none of it is a way in here.
    return '{"error":{"http_code":401,"message":"token_invalid"}}';
  elsif event ->> 'authentication_method' = 'password'
    and account.taken_over_at > clock_timestamp() - interval '15 seconds' then
    -- The password was compared just before a takeover replaced it (6_events_auth.sql).
    return '{"error":{"http_code":401,"message":"invalid_credentials"}}';
  end if;

  -- Signing in takes back a requested deletion and ends a suspension that is over, and gives an
  -- account whose acting identity was taken away its individual one.
  if account.status <> 'active' or account.delete_at is not null
    or account.active_identity_id is null then
    update public.accounts
    set status = 'active', status_reason = null, suspended_until = null, delete_at = null,
        active_identity_id = coalesce(
          account.active_identity_id, private.usable_individual(account.id))
    where accounts.id = account.id;
  end if;
  -- Nobody reads metadata here, and a token that carries much of it would be too long for a request.
  return jsonb_build_object('claims', (event -> 'claims') - 'user_metadata' - 'app_metadata');
end
$$;
comment on function private.custom_access_token is
  'Auth calls it at every issue and refresh of a token: none for suspended, banned and deleted '
  'accounts, none but by password, refresh and an announced provider, and no metadata in any.';

create function private.take_announced_sign_in(account_id uuid) returns boolean
  language plpgsql
  security definer -- reads Auth's identities and writes a closed table, for the token hook
  set search_path = ''
as $$
begin
  -- One for each of several at once; it comes back if Auth undoes the sign-in.
  delete from private.announced_sign_ins
  where announced_sign_ins.id = (
    select announced.id
    from auth.identities
    join private.announced_sign_ins as announced
      on announced.subject = identities.provider_id and announced.provider = identities.provider
    where identities.user_id = take_announced_sign_in.account_id
      and announced.expires_at > clock_timestamp()
    limit 1
    for update of announced skip locked
  );
  return found;
end
$$;
comment on function private.take_announced_sign_in is
  'Whether the facade has announced a sign-in by a provider that is linked to the account; each '
  'serves once.';

create function private.usable_individual(account_id uuid) returns uuid
  language plpgsql
  security definer -- repairs closed tables, for the token hook
  set search_path = ''
as $$
declare
  individual uuid := private.add_individual(account_id, null);
begin
  -- The caller has locked the account: an admin who suspends the identity now waits.
  perform from public.identities
  where identities.id = individual and identities.status = 'active';
  return case when found then individual end;
end
$$;
comment on function private.usable_individual is
  'The individual identity, made if it is missing; null while an admin has suspended it.';

create function private.refuse_sending(event jsonb) returns jsonb
  language sql
  stable
  return jsonb_build_object('error', jsonb_build_object(
    'http_code', 403, 'message',
    'Auth sends nothing: the person asks for a code in the app, where a password is forgotten.'));
comment on function private.refuse_sending is
  'Auth''s send-SMS and send-email hooks: Auth itself never sends anything.';

grant execute on function private.custom_access_token, private.refuse_sending
  to supabase_auth_admin;
