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

create function private.tell_account(account_id uuid, event text, payload jsonb) returns void
  language plpgsql
  security definer -- finds the topic of another's account
  set search_path = ''
as $$
begin
  perform private.tell(accounts.topic, tell_account.event, tell_account.payload)
  from public.accounts where accounts.id = tell_account.account_id;
end
$$;
comment on function private.tell_account is
  'Sends an event to everybody who is signed in to an account: conversation_updated, notification, '
  'error.';

create function private.renew_account_topic(account_id uuid) returns void
  language plpgsql
  security definer -- clients have no write grant on accounts
  set search_path = ''
as $$
declare
  old_topic uuid;
  new_topic uuid := gen_random_uuid();
begin
  select accounts.topic into old_topic from public.accounts
  where accounts.id = renew_account_topic.account_id
  for no key update;
  if not found then
    return;
  end if;
  update public.accounts set topic = new_topic
  where accounts.id = renew_account_topic.account_id;
  perform private.tell(old_topic, 'topic_changed',
    jsonb_build_object('old', old_topic, 'new', new_topic));
end
$$;
comment on function private.renew_account_topic is
  'Gives the channel of an account a new name and says so on the old one.';

create function private.renew_conversation_topics(conversation_ids uuid[]) returns void
  language plpgsql
  security definer -- clients have no write grant on conversations
  set search_path = ''
as $$
declare
  before public.conversations;
  after public.conversations;
begin
  -- Under the lock under which messages get their numbers: none goes out on a name that is over.
  for before in
    select * from public.conversations
    where conversations.id = any (conversation_ids)
    order by conversations.id
    for no key update
  loop
    update public.conversations set topic = gen_random_uuid(), live_topic = gen_random_uuid()
    where conversations.id = before.id
    returning * into after;
    perform private.tell(before.topic, 'topic_changed',
      jsonb_build_object('old', before.topic, 'new', after.topic));
    perform private.tell(before.live_topic, 'topic_changed',
      jsonb_build_object('old', before.live_topic, 'new', after.live_topic));
  end loop;
end
$$;
comment on function private.renew_conversation_topics is
  'Gives the channels of conversations new names and says so on the old ones.';

create function private.hears(conversation_id uuid, identity_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- reads both participants and the blocks between them
  set search_path = ''
as $$
begin
  return exists (
    select from public.participants
    join public.identities on identities.id = participants.identity_id
    join public.accounts on accounts.id = participants.account_id
    where participants.conversation_id = hears.conversation_id
      and participants.identity_id = hears.identity_id
      and identities.status = 'active'
      and accounts.status in ('active', 'deletion_requested')
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

create function private.may_hear(topic text, extension text) returns boolean
  language plpgsql
  stable
  security definer -- the caller may see neither topics nor participants before this is decided
  set search_path = ''
as $$
declare
  -- One spelling only: a name is compared as it stands.
  name uuid := case when may_hear.topic ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    then may_hear.topic::uuid end;
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
  name uuid := case when may_speak.topic ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    then may_speak.topic::uuid end;
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
    perform private.renew_account_topic(ended);
    perform private.renew_conversation_topics(array(
      select participants.conversation_id from public.participants
      where participants.account_id = ended
    ));
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
declare
  gone uuid[];
begin
  if tg_table_name = 'identities' then
    gone := array(select participants.conversation_id from public.participants
      where participants.identity_id = new.id);
  elsif tg_table_name = 'blocks' then
    gone := array(select participants.conversation_id from public.participants
      join public.participants as others on others.conversation_id = participants.conversation_id
      where participants.account_id = new.account_id
        and others.account_id = new.blocked_account_id);
  else
    perform private.renew_account_topic(new.id);
    gone := array(select participants.conversation_id from public.participants
      where participants.account_id = new.id);
  end if;
  perform private.renew_conversation_topics(gone);
  return null;
end
$$;
comment on function private.on_rights_taken is
  'What an account, an identity or somebody who was blocked could hear goes on under other names.';

create trigger accounts_are_heard_no_more
  after update of status on public.accounts
  for each row when (
    old.status in ('active', 'deletion_requested')
    and new.status not in ('active', 'deletion_requested')
  )
  execute function private.on_rights_taken();
create trigger identities_are_heard_no_more
  after update of status on public.identities
  for each row when (old.status = 'active' and new.status <> 'active')
  execute function private.on_rights_taken();
create trigger blocked_people_hear_no_more
  after insert on public.blocks
  for each row execute function private.on_rights_taken();

revoke execute on all functions in schema private, api from public;
grant execute on function private.may_hear, private.may_speak to authenticated;
