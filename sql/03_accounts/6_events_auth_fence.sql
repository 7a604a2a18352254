-- Auth may change a password, email or phone only after the facade has announced the change, so that
-- every guess at the current password is counted, and a stolen token is not enough to take over the
-- account. SQL may change all three without an announcement; the owner is notified of a new password
-- (docs/auth.md).

create function private.announce_password(
  account_id uuid, session_id uuid default null, identifier text default null
) returns void
  language sql security definer set search_path = ''
as $$
  insert into private.announced_passwords (account_id, session_id, identifier)
  values (announce_password.account_id, announce_password.session_id, announce_password.identifier)
$$;
comment on function private.announce_password is
  'Announces that a password is about to be set, either in this session or with a code sent to '
  'this contact.';

create function private.account_bits(account_id uuid) returns bigint
  language sql immutable
  return ('x' || left(replace(account_id::text, '-', ''), 16))::bit(64)::bigint
    & 9223372036854775807;

create function private.refuse_password(account_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  -- Auth rolls its transaction back, but this line stays in Postgres's log, and the sequence keeps
  -- the account for report_refused_password. If several passwords are refused before that job runs,
  -- it reports only the last one.
  raise log 'a new password at Auth was refused: account %', account_id;
  if account_id is distinct from private.account_with(private.decoy_email()) then
    perform setval('private.refused_password', private.account_bits(account_id));
  end if;
  raise exception using errcode = 'PT409', message =
    'A password is changed by POST /auth/password/change or /auth/password/reset.';
end
$$;
comment on function private.refuse_password is
  'Raises 409. A job reports the refusal, except for the decoy account, with which these triggers '
  'are tested.';

-- Written in plpgsql, because a query that inlines an SQL function might evaluate the cast before
-- the check.
create function private.hash_key(hash text) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  if pg_input_is_valid(hash, 'jsonb') then
    return hash::jsonb ->> 'key_id';
  end if;
  return null;
end
$$;
comment on function private.hash_key is
  'The id of the key that Auth encrypted the hash with; null if the hash is not encrypted.';

create function private.is_same_password(account_id uuid, old_hash text, new_hash text)
  returns boolean
  language plpgsql stable security definer set search_path = ''
as $$
begin
  -- At a sign-in, Auth re-encrypts the hash if the project has a new key (supabase/auth,
  -- internal/api/token.go), and writes only the hash. A sign-in is announced before the password is
  -- checked, so the announcement proves nothing and must never allow the password itself to change.
  return account_id::text is distinct from current_setting('private.password_of', true)
    and private.hash_key(new_hash) is not null
    and private.hash_key(new_hash) is distinct from private.hash_key(old_hash)
    and exists (
      select from private.announced_sign_ins as announced
      where announced.provider = 'password' and announced.subject = account_id::text
        and announced.expires_at > clock_timestamp()
    );
end
$$;

create function private.check_password_at_auth() returns trigger
  language plpgsql
  security definer -- Auth's role may not read our tables
  set search_path = ''
as $$
declare
  account public.accounts;
  announced private.announced_passwords;
begin
  if tg_nargs > 0 then
    perform set_config('private.password_of', new.id::text, true);
  end if;
  if session_user <> 'supabase_auth_admin'
    or private.is_same_password(new.id, old.encrypted_password, new.encrypted_password)
    -- A soft-deleted user has no password.
    or new.deleted_at is not null and new.encrypted_password is null
  then
    return new;
  end if;
  select * into account from public.accounts where accounts.id = new.id;
  select passwords.* into announced from private.announced_passwords as passwords
  where passwords.account_id = new.id and passwords.expires_at > clock_timestamp()
  order by passwords.identifier is null or passwords.identifier in (account.phone, account.email) desc
  limit 1;
  if announced.id is null then
    perform private.refuse_password(new.id);
  elsif announced.identifier not in (coalesce(account.phone, ''), coalesce(account.email, '')) then
    raise exception using errcode = 'PT409', message =
      'The code was sent to a phone or email that the account has no more.';
  elsif announced.identifier = account.email and not account.email_proven then
    -- Locked now, because finish_reset will pause older listings after Auth has ended the sessions.
    perform private.lock_sessions(account.id);
    perform private.lock_dependents(account.id, array(
      select identities.id from public.identities where identities.account_id = account.id
    ), false);
  end if;
  return new;
end
$$;
comment on function private.check_password_at_auth is
  'Refuses a password that was not announced, or whose code was sent to a contact that the account '
  'no longer has. The trigger with an argument fires only if the password itself changes.';

create function private.take_announced_password(account_id uuid)
  returns private.announced_passwords
  language plpgsql
  security definer -- reads auth.sessions, and writes a table closed to clients
  set search_path = ''
as $$
declare
  taken private.announced_passwords;
begin
  -- Auth has already ended all sessions but the caller's or, after a reset, all sessions.
  delete from private.announced_passwords
  where announced_passwords.id = (
    select announced.id from private.announced_passwords as announced
    where announced.account_id = take_announced_password.account_id and case
      when announced.session_id is null then not exists (
        select from auth.sessions
        where sessions.user_id = take_announced_password.account_id and sessions.created_at < now()
      )
      else exists (select from auth.sessions where sessions.id = announced.session_id)
    end
    order by announced.expires_at desc
    limit 1
    for update skip locked
  )
  returning * into taken;
  return taken;
end
$$;
comment on function private.take_announced_password is
  'Deletes and returns the announcement of the password change that Auth has just made, or null. '
  'Which announcement it was depends on the sessions that Auth has kept. Called at the commit.';

create function private.report_refused_password() returns bigint
  language plpgsql security definer set search_path = ''
as $$
declare
  refused record;
  account_id uuid;
begin
  select * into refused from private.refused_password;
  if not refused.is_called then
    return 0;
  end if;
  perform setval('private.refused_password', 0, false);
  select accounts.id into account_id from public.accounts
  where private.account_bits(accounts.id) = refused.last_value;
  perform private.raise_alarm('password_refused_at_auth', coalesce(account_id::text, '')),
    private.notify(account_id, null, 'security_password', null, '{"refused":true}')
  where account_id is not null;
  return 1;
end
$$;
comment on function private.report_refused_password is
  'Job: notifies the account and the admins that a new password was refused at Auth.';

create function private.refuse_redirect() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  -- Auth lets anyone begin any number of these sign-ins, and stores a row for each of them for a
  -- day.
  raise exception using errcode = 'PT403', message =
    'Nobody signs in by a redirect: a token of Google or Apple is sent to POST /auth/google or '
    '/auth/apple.';
end
$$;
comment on function private.refuse_redirect is
  'Refuses a sign-in by redirect when it begins. The token hook would refuse it at the end.';

grant execute on function private.announce_password, private.report_refused_password to backend;
