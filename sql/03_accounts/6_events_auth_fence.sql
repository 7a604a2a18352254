-- What changes at Auth only as the facade has said before: a password, so that every guess at the present
-- one is counted, and email and phone, so that whoever holds a token cannot move the account.
--
-- These fences are for Auth itself (its session user). SQL passes, and notifies.

create function private.announce_password(account_id uuid, session_id uuid default null)
  returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  insert into private.announced_passwords (account_id, session_id)
  values (announce_password.account_id, announce_password.session_id)
$$;
comment on function private.announce_password is
  'A new password comes at Auth: in the name of this session, or by a code where there is none.';

create function private.account_bits(account_id uuid) returns bigint
  language sql
  immutable
  set search_path = ''
as $$
  select ('x' || left(replace(account_id::text, '-', ''), 16))::bit(64)::bigint
    & 9223372036854775807
$$;
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
  perform setval('private.refused_password', private.account_bits(account_id));
  raise exception using errcode = 'PT409', message =
    'A password is changed by POST /auth/password/change or /auth/password/reset.';
end
$$;
comment on function private.refuse_password is
  '409, so that the account and the admins hear of it.';

create function private.check_password_at_auth() returns trigger
  language plpgsql
  security definer -- Auth's role may not read here
  set search_path = ''
as $$
begin
  if session_user = 'supabase_auth_admin' and not exists (
    select from private.announced_passwords as announced
    where announced.account_id = new.id and announced.expires_at > clock_timestamp()
  ) then
    perform private.refuse_password(new.id);
  end if;
  return new;
end
$$;
comment on function private.check_password_at_auth is
  'Refuses a new password that nobody has announced. Auth writes it with the columns of its codes; '
  'the hash of the same password it writes alone.';

create function private.take_announced_password(account_id uuid) returns boolean
  language plpgsql
  security definer -- reads Auth's sessions and writes a closed table
  set search_path = ''
as $$
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
  );
  return found;
end
$$;
comment on function private.take_announced_password is
  'Whether a new password is one that was announced, by the sessions that are left at the commit.';

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

create function private.check_contact_at_auth() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if session_user = 'supabase_auth_admin' and new.deleted_at is null
    and (new.email, new.phone) is distinct from (old.email, old.phone) then
    raise exception using errcode = 'PT409', message =
      'Email and phone are not changed at Auth: nobody has proven the new one.';
  end if;
  return new;
end
$$;
comment on function private.check_contact_at_auth is
  'Refuses another email or phone at Auth: no route changes them yet.';

grant execute on function private.announce_password, private.report_refused_password to backend;
