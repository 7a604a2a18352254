-- Realtime: who hears what.
--
-- Events go out through private channels whose names are random. Realtime asks whether somebody may
-- hear a channel when they join it, and not again for as long as their token lives. So whenever a
-- right ends, the names change: topic_changed is the last event on the old name, and only those who
-- remain may join the new one. That is the epoch of a topic.

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

create function private.renew_conversation_topics(conversation_ids uuid[]) returns void
  language plpgsql
  security definer -- clients have no write grant on conversations
  set search_path = ''
as $$
declare
  changed record;
  -- Old ones are hardly open anywhere: whoever has one open reads its name in the list.
  told uuid[] := array(
    select participants.conversation_id from public.participants
    where participants.conversation_id = any (conversation_ids)
    group by participants.conversation_id
    order by max(participants.active_at) desc
    limit 200
  );
begin
  -- Under the lock under which messages get their numbers: none goes out on a name that is over.
  for changed in
    with held as materialized (
      select conversations.id, conversations.topic, conversations.live_topic
      from public.conversations
      where conversations.id = any (conversation_ids)
      order by conversations.id
      for no key update
    )
    update public.conversations set topic = gen_random_uuid(), live_topic = gen_random_uuid()
    from held
    where conversations.id = held.id
    returning held.id, held.topic, held.live_topic, conversations.topic as new_topic,
      conversations.live_topic as new_live_topic
  loop
    continue when not changed.id = any (told);
    perform private.tell(changed.topic, 'topic_changed',
      jsonb_build_object('old', changed.topic, 'new', changed.new_topic));
    perform private.tell(changed.live_topic, 'topic_changed',
      jsonb_build_object('old', changed.live_topic, 'new', changed.new_live_topic));
  end loop;
end
$$;
comment on function private.renew_conversation_topics is
  'Gives the channels of conversations new names and says so on the old ones, of the 200 newest.';

create function private.was_renewed(account_id uuid) returns boolean
  language plpgsql
  set search_path = ''
as $$
begin
  return strpos(
    coalesce(current_setting('chat.renewed', true), ''), was_renewed.account_id::text) > 0;
end
$$;
comment on function private.was_renewed is
  'Whether the channels of an account got new names in this transaction already.';

create function private.renew_account_topics(account_id uuid) returns void
  language plpgsql
  security definer -- clients have no write grant on accounts and conversations
  set search_path = ''
as $$
declare
  old_topic uuid;
  new_topic uuid := gen_random_uuid();
begin
  -- Once in a transaction, whatever it ends: those who hear of a name that is over already when they
  -- hear of it would find nobody there.
  if private.was_renewed(account_id) then
    return;
  end if;
  perform set_config('chat.renewed',
    concat_ws(' ', current_setting('chat.renewed', true), account_id), true);
  select accounts.topic into old_topic from public.accounts
  where accounts.id = renew_account_topics.account_id
  for no key update;
  if not found then
    return;
  end if;
  update public.accounts set topic = new_topic
  where accounts.id = renew_account_topics.account_id;
  perform private.tell(old_topic, 'topic_changed',
    jsonb_build_object('old', old_topic, 'new', new_topic));
  perform private.renew_conversation_topics(array(
    select participants.conversation_id from public.participants
    where participants.account_id = renew_account_topics.account_id
  ));
end
$$;
comment on function private.renew_account_topics is
  'Gives the channels of an account and of all its conversations new names and says so on the old '
  'ones.';

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

create function private.topic_name(topic text) returns uuid
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  -- One spelling only: a name is compared as it stands.
  return case when topic_name.topic ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    then topic_name.topic::uuid end;
end
$$;
comment on function private.topic_name is 'The name of a channel as we give them, or null.';

create function private.may_hear(topic text, extension text) returns boolean
  language plpgsql
  stable
  security definer -- the caller may see neither topics nor participants before this is decided
  set search_path = ''
as $$
declare
  name uuid := private.topic_name(may_hear.topic);
begin
  return exists (
    select from public.accounts
    where accounts.topic = name and accounts.id = private.account_id()
      and may_hear.extension = 'broadcast'
  ) or exists (
    select from public.conversations
    where (
        conversations.topic = name and may_hear.extension = 'broadcast'
        or conversations.live_topic = name and may_hear.extension in ('broadcast', 'presence')
      )
      and private.hears(conversations.id, private.identity_id())
  );
end
$$;
comment on function private.may_hear is
  'Whether the caller may hear a channel: their account''s own, or one of a conversation in which '
  'they take part as the acting identity.';

create function private.may_speak(topic text, extension text) returns boolean
  language plpgsql
  stable
  security definer -- as may_hear
  set search_path = ''
as $$
declare
  name uuid := private.topic_name(may_speak.topic);
begin
  return exists (
    select from public.conversations
    where conversations.live_topic = name and may_speak.extension in ('broadcast', 'presence')
      and private.hears(conversations.id, private.identity_id())
  );
end
$$;
comment on function private.may_speak is
  'Whether the caller may send to a channel: only to the live one of a conversation, where presence '
  'and typing are.';

-- What ends a right ------------------------------------------------------------------------------

create function private.on_sessions_ended() returns trigger
  language plpgsql
  security definer -- runs as Auth's role
  set search_path = ''
as $$
declare
  ended uuid;
begin
  for ended in select distinct user_id from gone order by user_id loop
    perform private.renew_account_topics(ended);
  end loop;
  return null;
end
$$;
comment on function private.on_sessions_ended is
  'What a session that ended could hear goes on under other names.';

create function private.on_rights_taken() returns trigger
  language plpgsql
  security definer -- whoever took them away
  set search_path = ''
as $$
begin
  if tg_table_name = 'accounts' then
    perform private.renew_account_topics(new.id);
  elsif tg_table_name = 'blocks' then
    perform private.renew_conversation_topics(array(
      select participants.conversation_id from public.participants
      join public.participants as others on others.conversation_id = participants.conversation_id
      where participants.account_id = new.account_id
        and others.account_id = new.blocked_account_id
    ));
  elsif not private.was_renewed(new.account_id) then
    perform private.renew_conversation_topics(array(
      select participants.conversation_id from public.participants
      where participants.identity_id = new.id
    ));
  end if;
  return null;
end
$$;
comment on function private.on_rights_taken is
  'What an account, an identity or somebody who was blocked could hear goes on under other names.';

create trigger accounts_are_heard_no_more
  after update of status, suspended_until on public.accounts
  for each row when (private.may_act(old) and not private.may_act(new))
  execute function private.on_rights_taken();
-- By its name it comes after identities_stop_acting: accounts are locked before conversations, as
-- whoever sends a message does.
create trigger identities_stop_hearing
  after update of status on public.identities
  for each row when (old.status = 'active' and new.status <> 'active')
  execute function private.on_rights_taken();
create trigger blocked_people_hear_no_more
  after insert on public.blocks
  for each row execute function private.on_rights_taken();

revoke execute on all functions in schema private, api from public;
grant execute on function private.may_hear, private.may_speak to authenticated;
