-- Realtime: who hears what.
--
-- Everything that an account hears goes out through one private channel whose name is random, and
-- whether a side hears is decided when an event is sent. Beside it each conversation has a live
-- channel for presence and typing, where the participants themselves send.
--
-- Realtime asks whether somebody may hear a channel when they join it, and not again for as long as
-- their token lives. So whenever a session or a right ends, the name of the account's channel
-- changes: topic_changed is the last event on the old one, and only those who remain may join the
-- new one. The names of live channels change by themselves then, since they are made of what
-- changed; whoever is on an old one finds the new one by looking.

create function private.tell(topic uuid, event text, payload jsonb) returns void
  language plpgsql
  security definer -- clients have no way to write to a topic of ours
  set search_path = ''
as $$
begin
  perform realtime.send(tell.payload, tell.event, tell.topic::text, true);
end
$$;
comment on function private.tell is
  'Sends an event to a private channel, when the transaction commits. Never fails its caller.';

create function private.tell_account(account_id uuid, event text, payload jsonb) returns void
  language plpgsql
  security definer -- reads names that are nobody else's to know
  set search_path = ''
as $$
begin
  perform private.tell(accounts.topic, tell_account.event, tell_account.payload)
  from public.accounts
  where accounts.id = tell_account.account_id and private.may_act(accounts);
end
$$;
comment on function private.tell_account is
  'Sends an event to the channel of an account that is in order.';

create function private.tell_side(side public.participants, event text, payload jsonb)
  returns void
  language plpgsql
  security definer -- as tell_account
  set search_path = ''
as $$
begin
  if private.hears(side.conversation_id, side.identity_id) then
    perform private.tell_account(side.account_id, tell_side.event,
      tell_side.payload || jsonb_build_object('identityId', side.identity_id));
  end if;
end
$$;
comment on function private.tell_side is
  'Sends an event of a conversation to one side of it, if that may hear it now.';

create function private.tell_updated(side public.participants) returns void
  language plpgsql
  security definer -- as tell_account
  set search_path = ''
as $$
begin
  perform private.tell_side(side, 'conversation_updated', private.conversation_update(side));
end
$$;
comment on function private.tell_updated is
  'Tells one side what changed in a conversation without a message.';

create function private.hears(conversation_id uuid, identity_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- reads both participants and the blocks between them
  set search_path = ''
as $$
begin
  return exists (
    select from public.participants
    where participants.conversation_id = hears.conversation_id
      and participants.identity_id = hears.identity_id
      and private.is_in_order(participants.identity_id)
      and not exists (
        select from public.participants as others
        join public.blocks on blocks.account_id = others.account_id
          and blocks.blocked_account_id = participants.account_id
        where others.conversation_id = participants.conversation_id
          and others.identity_id <> participants.identity_id
      )
  );
end
$$;
comment on function private.hears is
  'Whether an identity may hear a conversation now: it takes part, is in order, is not blocked.';

-- Names ------------------------------------------------------------------------------------------

create function private.live_topic(conversation_id uuid) returns text
  language plpgsql
  stable
  security definer -- reads what nobody is shown
  set search_path = ''
as $$
begin
  return (
    select conversations.id || '.' || left(
      encode(
        sha256(uuid_send(conversations.live_key)
          || string_agg(uuid_send(accounts.live_key), '' order by accounts.id)),
        'hex'),
      32)
    from public.conversations
    join public.participants on participants.conversation_id = conversations.id
    join public.accounts on accounts.id = participants.account_id
    where conversations.id = live_topic.conversation_id
    group by conversations.id
  );
end
$$;
comment on function private.live_topic is
  'Name of the channel of presence and typing of a conversation: its id, so that it can be found, '
  'and a hash of three random values, so that it is another one when one of these is.';

create function private.renew_topic(account_id uuid) returns void
  language plpgsql
  security definer -- clients have no write grant on accounts
  set search_path = ''
as $$
declare
  old_topic constant uuid := (private.take_account(account_id)).topic;
  new_topic uuid;
begin
  update public.accounts set topic = gen_random_uuid(), live_key = gen_random_uuid()
  where accounts.id = renew_topic.account_id
  returning accounts.topic into new_topic;
  if found then
    perform private.tell(old_topic, 'topic_changed',
      jsonb_build_object('old', old_topic, 'new', new_topic));
  end if;
end
$$;
comment on function private.renew_topic is
  'Gives the channel of an account a new name and says so on the old one; the live channels of its '
  'conversations have new names with it.';

create function private.may_speak(topic text, extension text) returns boolean
  language plpgsql
  stable
  security definer -- the caller may see neither names nor participants before this is decided
  set search_path = ''
as $$
declare
  -- One spelling only: a name is compared as it stands.
  conversation_id constant uuid := substring(may_speak.topic
    from '^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[.][0-9a-f]{32}$');
begin
  return coalesce(
    may_speak.extension in ('broadcast', 'presence')
      and may_speak.topic = private.live_topic(conversation_id)
      and private.hears(conversation_id, private.identity_id()),
    false);
end
$$;
comment on function private.may_speak is
  'Whether the caller may send to a channel: only to the live one of a conversation in which they '
  'take part as the acting identity.';

create function private.may_hear(topic text, extension text) returns boolean
  language plpgsql
  stable
  security definer -- as may_speak
  set search_path = ''
as $$
begin
  return exists (
    select from public.accounts
    where accounts.id = private.account_id() and accounts.topic::text = may_hear.topic
      and may_hear.extension = 'broadcast'
  ) or private.may_speak(may_hear.topic, may_hear.extension);
end
$$;
comment on function private.may_hear is
  'Whether the caller may hear a channel: their account''s own, or one where they may speak.';

-- What ends a right ------------------------------------------------------------------------------

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

revoke execute on all functions in schema private, api from public;
grant execute on function private.may_hear, private.may_speak to authenticated;
grant execute on function private.discard_session to backend;
