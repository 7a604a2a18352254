-- All events of an account go through one private channel with a random name. Whether the account
-- may receive an event is checked when it is sent. Participants send presence and typing
-- themselves, to the live channel of the conversation.
-- Realtime checks access only when a client joins. So when a session ends, the account's channel is
-- renamed: topic_changed is the last event on the old one, and only remaining clients may join the
-- new one. Live channels are renamed then and also when a right to them ends
-- (6_events_lost_access.sql); clients look up their new names.

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
  'The conversation''s id and a hash of three random keys, so that the name changes when a key '
  'changes. account_keys are sorted by the ids of their accounts.';

create function private.live_topic(conversation_id uuid) returns text
  language plpgsql stable
  security definer -- reads secret keys, which no client sees
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
  security definer -- reads names of channels and participants, which the caller may not read
  set search_path = ''
as $$
declare
  -- Only one spelling of the id is accepted, because names are compared as text.
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
  'Whether the caller may send: only to live channels of the acting identity''s conversations.';

create function private.may_hear(topic text, extension text) returns boolean
  language plpgsql stable
  security definer -- policies call it, so no policy may apply to it
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
