-- When a session or a right ends, channels get other names: see 2_rules_channels.sql.

create function private.on_sessions_ended() returns trigger
  language plpgsql
  security definer -- runs as Auth's role
  set search_path = ''
as $$
declare
  ended_id uuid;
begin
  for ended_id in
    select gone.user_id from gone
    where gone.id::text is distinct from current_setting('private.discarded_session', true)
    group by gone.user_id
    order by gone.user_id
  loop
    perform private.renew_topic(ended_id);
  end loop;
  return null;
end
$$;
comment on function private.on_sessions_ended is
  'What a session that ended could hear goes on under another name, one for all of an account that '
  'end at once. The trigger is in 90_platform.sql.';

create function private.discard_session(session_id uuid) returns void
  language plpgsql
  security definer -- deletes from a table of Auth
  set search_path = ''
as $$
begin
  -- For on_sessions_ended, in this transaction. Auth ends sessions in transactions of its own.
  perform set_config('private.discarded_session', discard_session.session_id::text, true);
  delete from auth.sessions where sessions.id = discard_session.session_id;
  delete from private.news where news.session_id = discard_session.session_id
    and news.told_at is null;
end
$$;
comment on function private.discard_session is
  'Ends a session whose tokens nobody was given, as of a password that was only checked: nobody '
  'heard anything by it, so no name changes, and nobody is told of a sign-in.';

create function private.on_identity_stopped() returns trigger
  language plpgsql
  security definer -- whoever took it away
  set search_path = ''
as $$
begin
  -- No event: what it heard of its conversations is not sent to it any more.
  update public.accounts set live_key = gen_random_uuid() where accounts.id = new.account_id;
  return null;
end
$$;
comment on function private.on_identity_stopped is
  'Those who talked with an identity that was taken away go on under other live names.';

create trigger identities_stop_hearing
  after update of status on public.identities
  for each row when (old.status = 'active' and new.status <> 'active')
  execute function private.on_identity_stopped();

create function private.on_blocked() returns trigger
  language plpgsql
  security definer -- clients have no write grant on conversations
  set search_path = ''
as $$
declare
  newest public.participants;
begin
  -- Under the lock under which messages get their numbers: none goes to who is blocked by then.
  with held as materialized (
    select conversations.id from public.conversations
    where conversations.id in (
      select participants.conversation_id from public.participants
      join public.participants as others on others.conversation_id = participants.conversation_id
      where participants.account_id = new.account_id
        and others.account_id = new.blocked_account_id
    )
    order by conversations.id
    for no key update
  ), renewed as (
    update public.conversations set live_key = gen_random_uuid()
    from held
    where conversations.id = held.id
    returning conversations.id
  )
  select participants.* into newest
  from renewed
  join public.participants on participants.conversation_id = renewed.id
    and participants.account_id = new.account_id
  order by participants.active_at desc
  limit 1;
  if found then
    perform private.tell_updated(newest);
  end if;
  return null;
end
$$;
comment on function private.on_blocked is
  'Gives the live channels of the conversations with somebody who was blocked other names and tells '
  'the one who blocks, with the newest of them.';

create trigger blocked_people_hear_no_more
  after insert on public.blocks
  for each row execute function private.on_blocked();

grant execute on function private.discard_session to backend;
