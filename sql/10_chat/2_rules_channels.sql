-- Each account receives all its events through one private channel with a random name. Whether it may
-- receive an event is checked when the event is sent. Participants themselves send presence and typing
-- events, to the live channel of the conversation.
-- Realtime checks access only when a client joins a channel. Therefore, when a session ends, the channel
-- of the account is renamed: topic_changed is the last event on the old channel, and only clients with
-- a valid session may join the new one. The live channels are renamed at the same time, and also when an
-- account loses access to them (6_events_lost_access.sql). Clients look up the new names.

create function private.may_hear_conversation(conversation_id uuid, identity_id uuid)
  returns boolean
  language plpgsql stable
  security definer -- reads both participants and the blocks between them
  set search_path = ''
as $$
begin
  return exists (
    select from public.participants
    where participants.conversation_id = may_hear_conversation.conversation_id
      and participants.identity_id = may_hear_conversation.identity_id
      and private.identity_may_act(participants.identity_id)
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

create function private.live_topic_name(
  conversation_id uuid, conversation_key uuid, account_keys uuid[]
) returns text
  language plpgsql immutable set search_path = ''
as $$
begin
  return conversation_id || '.' || left(
    encode(
      sha256(uuid_send(conversation_key) || uuid_send(account_keys[1])
        || uuid_send(account_keys[2])),
      'hex'),
    32);
end
$$;
comment on function private.live_topic_name is
  'Returns the id of the conversation and a hash of three random keys, so that the name changes '
  'whenever a key changes. account_keys must be sorted by the ids of the accounts.';

create function private.live_topic(conversation_id uuid) returns text
  language plpgsql stable
  security definer -- reads secret keys that no client may see
  set search_path = ''
as $$
begin
  return (
    select private.live_topic_name(conversations.id, conversations.live_key,
      array_agg(accounts.live_key order by accounts.id))
    from public.conversations
    join public.participants on participants.conversation_id = conversations.id
    join public.accounts on accounts.id = participants.account_id
    where conversations.id = live_topic.conversation_id
    group by conversations.id
  );
end
$$;

create function private.renew_topic(account_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  old_topic constant uuid := (private.lock_account_exclusively(account_id)).topic;
  new_topic uuid;
begin
  update public.accounts set topic = gen_random_uuid(), live_key = gen_random_uuid()
  where accounts.id = renew_topic.account_id
  returning accounts.topic into new_topic;
  if found then
    perform private.broadcast(old_topic, 'topic_changed',
      jsonb_build_object('old', old_topic, 'new', new_topic));
  end if;
end
$$;

create function private.may_speak(topic text, extension text) returns boolean
  language plpgsql stable
  security definer -- reads names of channels, and participants that the caller may not read
  set search_path = ''
as $$
declare
  -- Names are compared as text, so only one spelling of the id is accepted.
  conversation_id constant uuid := substring(may_speak.topic
    from '^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[.][0-9a-f]{32}$');
begin
  return coalesce(
    may_speak.extension in ('broadcast', 'presence')
      and may_speak.topic = private.live_topic(conversation_id)
      and private.may_hear_conversation(conversation_id, private.identity_id()),
    false);
end
$$;
comment on function private.may_speak is
  'Whether the caller may send to a channel. Only the live channels of conversations of the acting '
  'identity are allowed.';

create function private.may_hear(topic text, extension text) returns boolean
  language plpgsql stable
  security definer -- policies call this function, so no policy may apply inside it
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

grant execute on function private.may_speak, private.may_hear to authenticated;
