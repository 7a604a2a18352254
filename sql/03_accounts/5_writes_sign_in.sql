-- A sign-in is counted as failed before it is tried, so that all concurrent attempts are counted.

create function private.begin_sign_in(identifier text, address text, address_hash text)
  returns jsonb
  language plpgsql
  security definer -- reads accounts for guests, and counts attempts
  set search_path = ''
as $$
declare
  account constant uuid := private.account_with(identifier);
  is_known constant boolean := private.is_known_address(account, address_hash);
  pair constant text := address || ' ' || identifier;
  counted record;
  wait integer;
begin
  if is_known then
    -- From a known address, only the attempts for this account count, because other people at the
    -- address could use up the limit of the address.
    counted := private.count_hits('{login_identifier}', array[pair]);
  else
    counted := private.count_hits(
      '{login_address,login_identifier,login_unknown_all}', array[address, pair, identifier]);
  end if;
  if counted.refused = 'login_unknown_all' then
    -- Unknown addresses have used up their shared limit. The owner may be at one of them, so each of
    -- them also has a small limit of its own.
    wait := counted.reset;
    counted := private.count_hits(
      '{login_address,login_identifier,login_unknown}', array[address, pair, pair]);
    if counted.refused = 'login_unknown' then
      counted.reset := least(counted.reset, wait);
    end if;
  end if;
  if counted.refused is not null then
    return jsonb_build_object('error', jsonb_build_object(
      'code', 'rate_limited', 'detail', jsonb_build_object('retryAfter', counted.reset)));
  end if;

  if account is not null then
    insert into private.announced_sign_ins (provider, subject) values ('password', account::text);
  end if;
  return jsonb_build_object(
    'exists', account is not null,
    'attempts', (
      select coalesce(jsonb_agg(latest.sealed_password), '[]')
      from (
        select registrations.sealed_password from private.registrations
        where registrations.phone = identifier
          and registrations.sealed_password is not null
          and registrations.created_at > now() - (private.code_limits()).attempt_life
        order by registrations.created_at desc
        limit 10
      ) as latest),
    'hits', counted.hits,
    'hasDecoy', private.account_with(private.decoy_email()) is not null);
end
$$;
comment on function private.begin_sign_in is
  'Counts a sign-in as failed until its hits are removed, and announces it to the triggers on '
  'Auth''s tables.';

create function private.return_sign_in(identifier text, address text, hits jsonb) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  -- Only a limited number of counts is undone, so that slowing Auth down does not allow unlimited
  -- attempts.
  if (private.count_hits('{login_returned,login_returned_address}',
      array[address || ' ' || identifier, address])).refused is null then
    perform private.uncount_hits(hits);
  end if;
end
$$;
comment on function private.return_sign_in is
  'Undoes the count of a sign-in for which Auth did not compare the password.';

create function private.note_session(session_id uuid, address text, user_agent text default null)
  returns void
  language plpgsql
  security definer -- writes a table closed to clients, and reads auth.sessions
  set search_path = ''
as $$
declare
  client_address constant inet := case when pg_input_is_valid(address, 'inet') then address end;
begin
  update private.session_clients
  set address = client_address, user_agent = note_session.user_agent, refreshed_at = (
    select sessions.refreshed_at from auth.sessions where sessions.id = note_session.session_id
  )
  where session_clients.session_id = note_session.session_id;
  if not found then
    -- The lock ensures that no row is added for a session that is being ended.
    insert into private.session_clients (session_id, address, user_agent, refreshed_at)
    select sessions.id, client_address, note_session.user_agent, sessions.refreshed_at
    from auth.sessions where sessions.id = note_session.session_id
    for key share
    on conflict do nothing;
  end if;
end
$$;

create function private.finish_sign_in(
  account_id uuid, session_id uuid, address text, address_hash text, user_agent text default null,
  hits jsonb default null
) returns jsonb
  language plpgsql
  security definer -- writes tables closed to clients
  set search_path = ''
as $$
declare
  counted record;
  origin constant jsonb := jsonb_build_object('address', address, 'userAgent', user_agent);
begin
  perform private.uncount_hits(hits);
  counted := private.count_hit('sign_ins', account_id::text);
  if counted.hit is null then
    return jsonb_build_object('error', jsonb_build_object(
      'code', 'rate_limited', 'detail', jsonb_build_object('retryAfter', counted.reset)));
  end if;
  perform private.note_session(session_id, address, user_agent);
  -- The lock ensures that no row is added for an account that is being deleted.
  insert into private.known_addresses (account_id, mark, known_until)
  select accounts.id, private.address_mark(accounts.id::text, address_hash),
    now() + interval '90 days'
  from public.accounts
  where accounts.id = finish_sign_in.account_id and accounts.status <> 'deleted'
  for share
  on conflict on constraint known_addresses_pkey do update set known_until = excluded.known_until;
  -- No notification is sent for the first sign-in of an account. Its event only stores address and
  -- client.
  update private.notification_events set details = origin
  where notification_events.session_id = finish_sign_in.session_id
    and notification_events.notified_at is not null;
  delete from private.notification_events as event
  using private.notification_events as first
  where event.session_id = finish_sign_in.session_id and event.notified_at is null
    and first.account_id = finish_sign_in.account_id and first.kind = 'security_login'
    and first.notified_at > clock_timestamp() - interval '15 minutes' and first.details = origin;
  return null;
end
$$;
comment on function private.finish_sign_in is
  'Finishes a sign-in of any kind. If the first sign-in of the account was less than 15 minutes '
  'ago, from the same address and client, this is assumed to be the same person, and no '
  'notification is sent.';

create function private.end_session(session_id uuid) returns void
  language plpgsql
  security definer -- deletes from auth.sessions
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  perform private.require_open();
  -- The session is locked before the account, as in a sign-out or refresh.
  perform from auth.sessions
  where sessions.id = end_session.session_id and sessions.user_id = caller_id for update;
  perform private.lock_caller_exclusively();
  delete from auth.sessions using private.session_clients
  where sessions.id = end_session.session_id and sessions.user_id = caller_id
    and session_clients.session_id = sessions.id;
  if not found then
    perform private.refuse(404, 'session_not_found');
  end if;
end
$$;
comment on function private.end_session is
  'Api: Signs out a session of the caller; its tokens are refused at once. 404 session_not_found.';

grant execute on function
  private.begin_sign_in, private.return_sign_in, private.note_session, private.finish_sign_in
  to backend;
grant execute on function private.end_session to authenticated;
