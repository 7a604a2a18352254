-- The picture of a hidden message is deleted for good, because anyone with its URL could see it.

create function private.find_message(message_id uuid) returns public.messages
  language sql
  stable
  set search_path = ''
as $$
  select messages from public.messages where messages.id = find_message.message_id
$$;
comment on function private.find_message is
  'For acts of admins only. All other code names the conversation too, so that messages can be '
  'partitioned by it.';

create function private.count_as_unread(message public.messages, change integer)
  returns public.participants
  language plpgsql
  security definer -- writes the reader's row on an admin's behalf
  set search_path = ''
as $$
declare
  reader public.participants;
begin
  update public.participants
  set unread = participants.unread + change,
    changed_at = private.next_change(participants.changed_at)
  where participants.conversation_id = message.conversation_id
    and participants.identity_id <> message.sender_identity_id
    and participants.last_read_seq < message.seq
  returning * into reader;
  return reader;
end
$$;
comment on function private.count_as_unread is
  'Changes the unread count of the side that has not read the message, and returns it. The caller '
  'has locked the conversation.';

create function private.hide_message(message public.messages) returns void
  language plpgsql
  security definer -- changes other people's messages on an admin's behalf
  set search_path = ''
as $$
declare
  reader public.participants;
begin
  perform from public.conversations where conversations.id = message.conversation_id
  for no key update;
  if not exists (
    select from public.messages
    where messages.conversation_id = message.conversation_id and messages.id = message.id
      and messages.hidden_at is null
  ) then
    return;
  end if;
  reader := private.count_as_unread(message, -1);
  update public.messages set hidden_at = now()
  where messages.conversation_id = message.conversation_id and messages.id = message.id;
  perform private.discard_media(array[message.media_id]);
  perform private.broadcast_to_participant(participants, 'message_hidden', jsonb_build_object(
    'conversationId', message.conversation_id, 'id', message.id, 'seq', message.seq))
  from public.participants where participants.conversation_id = message.conversation_id;
  if reader.conversation_id is not null then
    perform private.broadcast_conversation_updated(reader);
  end if;
  perform private.announce_messages(array[message.conversation_id]);
end
$$;

create function private.show_message(message public.messages) returns void
  language plpgsql
  security definer -- changes other people's messages on an admin's behalf
  set search_path = ''
as $$
declare
  reader public.participants;
begin
  perform from public.conversations where conversations.id = message.conversation_id
  for no key update;
  if not exists (
    select from public.messages
    where messages.conversation_id = message.conversation_id and messages.id = message.id
      and messages.hidden_at > now() - interval '180 days'
  ) then
    return;
  end if;
  reader := private.count_as_unread(message, 1);
  update public.messages set hidden_at = null
  where messages.conversation_id = message.conversation_id and messages.id = message.id;
  if reader.conversation_id is not null then
    perform private.broadcast_conversation_updated(reader);
  end if;
end
$$;

create function private.purge_hidden_words() returns bigint
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  purged bigint;
begin
  update public.messages set body = ''
  where (messages.conversation_id, messages.id) in (
    select hidden.conversation_id, hidden.id from public.messages as hidden
    where hidden.hidden_at <= now() - interval '180 days' and hidden.body <> ''
    limit 1000
    for no key update skip locked
  );
  get diagnostics purged = row_count;
  return purged;
end
$$;
comment on function private.purge_hidden_words is
  'Job: erases the texts of messages that have been hidden for 180 days.';

grant execute on function private.purge_hidden_words to backend;
