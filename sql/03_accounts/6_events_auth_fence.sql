-- What changes at Auth only as the facade has said before: a password, so that every guess at the present
-- one is counted, and email and phone, so that whoever holds a token cannot move the account.
--
-- These fences are for Auth itself (its session user). SQL passes, and notifies.

create function private.announce_password(
  account_id uuid, session_id uuid default null, identifier text default null
) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  insert into private.announced_passwords (account_id, session_id, identifier)
  values (announce_password.account_id, announce_password.session_id, announce_password.identifier)
$$;
comment on function private.announce_password is
  'A new password comes at Auth: in the name of this session, or by a code that was sent to this phone '
  'or email.';

create function private.account_bits(account_id uuid) returns bigint
  language sql
  immutable
  return ('x' || left(replace(account_id::text, '-', ''), 16))::bit(64)::bigint
    & 9223372036854775807;
comment on function private.account_bits is 'As much of an id as a sequence can hold.';

create function private.refuse_password(account_id uuid) returns void
  language plpgsql
  security definer -- sets a closed sequence
  set search_path = ''
as $$
begin
  -- Auth rolls back what is refused. What remains of it: a line in the log of Postgres, and the value of
  -- a sequence, which report_refused_password reads; of several within a minute, the last.
  raise log 'a new password at Auth was refused: account %', account_id;
  if account_id is distinct from private.account_with(private.decoy_email()) then
    perform setval('private.refused_password', private.account_bits(account_id));
  end if;
  raise exception using errcode = 'PT409', message =
    'A password is changed by POST /auth/password/change or /auth/password/reset.';
end
$$;
comment on function private.refuse_password is
  '409, so that the account and the admins hear of it; not of the decoy, at which a job tries the doors.';

-- In plpgsql: planned into a query, the cast of a plain hash would be tried before it is asked for.
create function private.hash_key(hash text) returns text
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if pg_input_is_valid(hash, 'jsonb') then
    return hash::jsonb ->> 'key_id';
  end if;
  return null;
end
$$;
comment on function private.hash_key is
  'The key under which Auth keeps a hash encrypted; null for a plain one.';

create function private.is_same_password(account_id uuid, old_hash text, new_hash text)
  returns boolean
  language plpgsql
  stable
  security definer -- reads a closed table, for Auth's role
  set search_path = ''
as $$
begin
  -- At a sign-in Auth encrypts the hash again where the project has a new key
  -- (supabase/auth, internal/api/token.go), and never for another reason. That writes the hash alone. What is
  -- announced before the password is looked at proves nothing, and so a change never passes by it.
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
comment on function private.is_same_password is
  'Whether Auth writes the hash of the same password under another key, in a sign-in that the facade has '
  'announced, and does not change the password.';

create function private.check_password_at_auth() returns trigger
  language plpgsql
  security definer -- Auth's role may not read here
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
    -- Who is marked as deleted has no password any more.
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
    -- What the account did before will be paused (finish_reset), after its sessions have ended.
    perform private.lock_sessions(account.id);
    perform private.lock_dependents(account.id, array(
      select identities.id from public.identities where identities.account_id = account.id
    ), false);
  end if;
  return new;
end
$$;
comment on function private.check_password_at_auth is
  'Refuses a new password that nobody has announced, or by a code to what is no longer the account''s. '
  'With an argument Auth has said by its other columns that it changes the password.';

create function private.take_announced_password(account_id uuid)
  returns private.announced_passwords
  language plpgsql
  security definer -- reads Auth's sessions and writes a closed table
  set search_path = ''
as $$
declare
  taken private.announced_passwords;
begin
  -- Auth has ended all sessions but that of the caller by now, and after a reset all.
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
  'The announcement of a new password, by the sessions that are left at the commit; null: none.';

create function private.report_refused_password() returns bigint
  language plpgsql
  security definer -- reads a closed sequence and notifies the account
  set search_path = ''
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
  'Job: notifies the account, and the admins, of a password that was refused at Auth.';

grant execute on function private.announce_password, private.report_refused_password to backend;
