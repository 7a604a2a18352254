-- The picture of a hidden message is deleted permanently, because anyone who has its URL could see it.

create function private.find_message(message_id uuid) returns public.messages
  language sql stable set search_path = ''
as $$
  select messages from public.messages where messages.id = find_message.message_id
$$;
comment on function private.find_message is
  'For actions of admins only. All other code also filters messages by conversation, so that the '
  'table could be partitioned by it.';

create function private.set_message_hidden(message public.messages, hidden boolean)
  returns boolean
  language plpgsql
  security definer -- changes messages of other people on behalf of an admin
  set search_path = ''
as $$
declare
  moment timestamptz;
begin
  perform from public.conversations where conversations.id = message.conversation_id
  for no key update;
  if not exists (
    select from public.messages
    where messages.conversation_id = message.conversation_id and messages.id = message.id
      and case when set_message_hidden.hidden then messages.hidden_at is null
        else messages.hidden_at > now() - interval '180 days' end
  ) then
    return false;
  end if;
  select max(private.next_change(participants.changed_at)) into moment
  from public.participants where participants.conversation_id = message.conversation_id;
  update public.participants
  set changed_at = moment,
    unread = participants.unread + case
      when participants.identity_id = message.sender_identity_id
        or participants.last_read_seq >= message.seq then 0
      when set_message_hidden.hidden then -1 else 1 end
  where participants.conversation_id = message.conversation_id;
  update public.messages
  set hidden_at = case when set_message_hidden.hidden then now() end, changed_at = moment
  where messages.conversation_id = message.conversation_id and messages.id = message.id;
  return true;
end
$$;
comment on function private.set_message_hidden is
  'Hides a message or shows it again. This counts as a change of the conversation for both sides '
  'and changes the unread count of a side that has not read the message. Returns false if nothing '
  'changes, or if the message was hidden over 180 days ago.';

create function private.hide_message(message public.messages) returns void
  language plpgsql
  security definer -- changes messages of other people on behalf of an admin
  set search_path = ''
as $$
begin
  if not private.set_message_hidden(message, true) then
    return;
  end if;
  perform private.discard_media(array[message.media_id]);
  perform private.broadcast_to_participant(participants, 'message_hidden', jsonb_build_object(
    'conversationId', message.conversation_id, 'id', message.id, 'seq', message.seq))
  from public.participants where participants.conversation_id = message.conversation_id;
  perform private.announce_message_change(message);
end
$$;

create function private.show_message(message public.messages) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  if private.set_message_hidden(message, false) then
    perform private.announce_message_change(message);
  end if;
end
$$;

create function private.announce_message_change(message public.messages) returns void
  language plpgsql
  security definer -- broadcasts to both sides
  set search_path = ''
as $$
begin
  perform private.broadcast_conversation_updated(participants)
  from public.participants where participants.conversation_id = message.conversation_id;
  perform private.announce_messages(array[message.conversation_id]);
end
$$;

create function private.purge_hidden_words() returns bigint
  language plpgsql security definer set search_path = ''
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
