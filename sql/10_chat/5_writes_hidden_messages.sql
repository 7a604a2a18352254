-- A message that an admin hides: for both sides nothing is left of it but its place. Its words stay
-- for admins for 180 days, and as long it can be shown again; its picture is removed for good, since
-- whoever has the address of a file sees it.

create function private.find_message(message_id uuid) returns public.messages
  language sql
  stable
  set search_path = ''
as $$
  select messages from public.messages where messages.id = find_message.message_id
$$;
comment on function private.find_message is
  'A message by its id alone, as an admin names one; nothing else looks for one without its '
  'conversation, by which they can be partitioned.';

create function private.hide_message(message public.messages) returns void
  language plpgsql
  security definer -- writes a message of others, for an admin
  set search_path = ''
as $$
begin
  perform from public.conversations where conversations.id = message.conversation_id
  for no key update;
  update public.messages set hidden_at = now()
  where messages.conversation_id = message.conversation_id and messages.id = message.id
    and messages.hidden_at is null;
  if not found then
    return;
  end if;
  perform private.discard_media(array[message.media_id]);
  perform private.broadcast_to_participant(participants, 'message_hidden', jsonb_build_object(
    'conversationId', message.conversation_id, 'id', message.id, 'seq', message.seq))
  from public.participants where participants.conversation_id = message.conversation_id;
  perform private.announce_messages(array[message.conversation_id]);
end
$$;
comment on function private.hide_message is
  'Hides a message from both sides and tells them; nothing, if it is hidden already.';

create function private.show_message(message public.messages) returns void
  language plpgsql
  security definer -- writes a message of others, for an admin
  set search_path = ''
as $$
begin
  update public.messages set hidden_at = null
  where messages.conversation_id = message.conversation_id and messages.id = message.id
    and messages.hidden_at > now() - interval '180 days';
end
$$;
comment on function private.show_message is
  'Shows the words of a hidden message again; its picture does not come back.';

create function private.purge_hidden_words() returns bigint
  language plpgsql
  security definer -- writes messages of others, for a job
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
  'Job: deletes what messages said that were hidden 180 days ago.';

grant execute on function private.purge_hidden_words to backend;
