create function private.claims() returns jsonb
  language sql stable
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
comment on function private.claims is 'The verified claims of the caller''s token; null for a guest.';

create function private.session_id() returns uuid
  language plpgsql stable set search_path = ''
as $$
begin
  return (private.claims() ->> 'session_id')::uuid;
end
$$;

create function private.account_id() returns uuid
  language plpgsql stable
  security definer -- policies call this function, so none may apply inside it
  set search_path = ''
as $$
declare
  claims jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
begin
  return (
    select accounts.id
    from public.accounts
    join auth.sessions on sessions.user_id = accounts.id
    where accounts.id = (claims ->> 'sub')::uuid
      and sessions.id = (claims ->> 'session_id')::uuid
      and private.may_act(accounts)
  );
end
$$;
comment on function private.account_id is
  'The caller''s account; null unless the account may act and the session still exists.';

create function private.identity_id() returns uuid
  language plpgsql stable
  security definer -- policies call this function, so none may apply inside it
  set search_path = ''
as $$
declare
  claims jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  acting_id uuid;
  noted text;
begin
  -- The identity's status is not checked, because check_acting_identity and on_identity_status keep
  -- active_identity_id active. Only is_ignored reads private.acts.
  select accounts.active_identity_id, set_config('private.acts', 't', true) into acting_id, noted
  from public.accounts
  join auth.sessions on sessions.user_id = accounts.id
  where accounts.id = (claims ->> 'sub')::uuid
    and sessions.id = (claims ->> 'session_id')::uuid
    and private.may_act(accounts) and accounts.active_identity_id is not null;
  return acting_id;
end
$$;
comment on function private.identity_id is
  'The acting identity; null if there is none, the account may not act or the session has ended.';

create function private.is_ignored() returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return current_setting('private.acts', true) is distinct from 't'
    and private.account_id() is null;
end
$$;
comment on function private.is_ignored is
  'Whether the token is no longer valid. Call this only after identity_id, which sets private.acts '
  'for a valid token.';

create function private.caller_refusal() returns jsonb
  language plpgsql stable
  security definer -- policies hide an account that may not act
  set search_path = ''
as $$
declare
  claims jsonb := private.claims();
  account public.accounts;
begin
  if claims ->> 'sub' is null then
    return '{"status":401,"code":"token_missing","detail":{}}';
  end if;
  if private.account_id() is not null then
    return null;
  end if;
  select * into account from public.accounts where accounts.id = (claims ->> 'sub')::uuid;
  return coalesce(
    private.lock_refusal(account), '{"status":401,"code":"token_invalid","detail":{}}');
end
$$;
comment on function private.caller_refusal is
  'The error {status, code, detail} for a caller who may not act, otherwise null.';

create function private.maintenance_detail(said jsonb) returns jsonb
  language sql stable
  return jsonb_build_object(
    'retryAfter', 60, 'said', jsonb_build_array(said -> 'ar', said -> 'en'));

create function private.require_open() returns boolean
  language plpgsql stable
  security definer -- reads a setting for any caller
  set search_path = ''
as $$
declare
  said constant jsonb := (
    select settings.value from private.settings
    where settings.name = 'maintenance' and settings.value <> 'null'
  );
begin
  if said is not null then
    if not private.is_admin() then
      perform private.refuse(503, 'maintenance', private.maintenance_detail(said));
    end if;
  end if;
  return true;
end
$$;
comment on function private.require_open is
  'Raises 503 maintenance while the maintenance setting has a text, except for administrators. The '
  'facade calls this before each request of a person; count_action calls it for requests that '
  'bypass the facade.';

create function private.require_account() returns uuid
  language plpgsql stable set search_path = ''
as $$
declare
  account_id uuid := private.account_id();
  refusal jsonb;
begin
  if account_id is null then
    refusal := private.caller_refusal();
    perform private.refuse(
      (refusal ->> 'status')::integer, refusal ->> 'code', refusal -> 'detail');
  end if;
  return account_id;
end
$$;
comment on function private.require_account is
  'Returns the caller''s account, or raises 401 token_missing or token_invalid, or 403 '
  'account_suspended or account_banned.';

create function private.check_expected(identity_id uuid) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  expected_id uuid := nullif(current_setting('facade.expected_identity', true), '');
begin
  if expected_id is not null and expected_id is distinct from identity_id then
    perform private.refuse(409, 'identity_changed');
  end if;
end
$$;

create function private.require_identity() returns uuid
  language plpgsql stable set search_path = ''
as $$
declare
  identity_id uuid := private.identity_id();
begin
  if identity_id is null then
    perform private.require_account();
    perform private.refuse(403, 'identity_not_usable');
  end if;
  -- Most requests have no X-Expect-Identity. For these, the condition saves a function call.
  if current_setting('facade.expected_identity', true) <> '' then
    perform private.check_expected(identity_id);
  end if;
  return identity_id;
end
$$;
comment on function private.require_identity is
  'Returns the acting identity, or raises the errors of require_account, 403 identity_not_usable '
  'or 409 identity_changed.';

create function private.expect_identity(identity_id uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.require_account();
  if expect_identity.identity_id is distinct from private.identity_id() then
    perform private.refuse(409, 'identity_changed');
  end if;
  -- check_expected compares again once the account is locked, so that the identity can no longer
  -- change.
  perform set_config('facade.expected_identity', expect_identity.identity_id::text, true);
end
$$;
comment on function private.expect_identity is 'Checks X-Expect-Identity against the acting identity.';

create function private.require_identity_type(type text) returns uuid
  language plpgsql stable
  security definer -- reads the type of the acting identity
  set search_path = ''
as $$
declare
  identity_id uuid := private.require_identity();
  actual text := (select identities.type from public.identities where identities.id = identity_id);
begin
  if type is null or type not in ('company', 'office') then
    perform private.refuse_value('type', type);
  elsif actual <> require_identity_type.type then
    perform private.refuse(403, 'identity_type_required',
      jsonb_build_object('required', require_identity_type.type, 'actual', actual));
  end if;
  return identity_id;
end
$$;
comment on function private.require_identity_type is
  'Returns the acting identity of this type, or raises the errors of require_identity or 403 '
  'identity_type_required.';

grant execute on function private.is_ignored to authenticated;
grant execute on function private.require_open to anon, authenticated, backend;
grant execute on function
  private.claims, private.session_id, private.account_id, private.identity_id,
  private.caller_refusal, private.require_account, private.check_expected, private.require_identity,
  private.expect_identity
  to anon, authenticated, backend;
