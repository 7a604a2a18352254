-- Chat: writing and reading messages.
--
-- Unread counts change under the lock under which messages get their numbers, so they are always
-- the number of the other's messages after the last one read.

create function private.write_message(
  caller_id uuid, conversation_id uuid, client_message_id text, type text, body text,
  media_id uuid, reply_to_id uuid
) returns json
  language plpgsql
  set search_path = ''
as $$
declare
  account_id uuid;
  clean text;
  answered_seq bigint;
  other record;
  stored public.messages;
begin
  -- From here on writers of this conversation take turns.
  select participants.account_id into account_id
  from public.conversations
  join public.participants on participants.conversation_id = conversations.id
  where conversations.id = write_message.conversation_id and participants.identity_id = caller_id
  for no key update of conversations;
  if account_id is null then
    perform private.refuse(404, 'conversation_not_found');
  elsif (write_message.client_message_id ~ '^[\u0021-\u007e]{1,64}$') is not true then
    perform private.refuse_field('clientMessageId', 'invalid');
  elsif (write_message.type = 'image') is distinct from (write_message.media_id is not null) then
    perform private.refuse_field('mediaId', 'invalid');
  end if;
  clean := private.clean_message_body(write_message.type, write_message.body);
  if reply_to_id is not null then
    select messages.seq into answered_seq from public.messages
    where messages.id = write_message.reply_to_id
      and messages.conversation_id = write_message.conversation_id;
    if answered_seq is null then
      perform private.refuse_field('replyToId', 'invalid');
    end if;
  end if;

  select participants.identity_id, participants.account_id, messages as kept into strict other
  from public.participants
  left join public.messages on messages.conversation_id = participants.conversation_id
    and messages.sender_identity_id = caller_id
    and messages.client_message_id = write_message.client_message_id
  where participants.conversation_id = write_message.conversation_id
    and participants.identity_id <> caller_id;
  stored := other.kept;
  if stored.id is not null then
    if (stored.type, stored.body, stored.media_id, stored.reply_to_seq)
      is distinct from (write_message.type, clean, write_message.media_id, answered_seq) then
      perform private.refuse(422, 'idempotency_mismatch');
    end if;
    return json_build_object('created', false, 'message', private.message_json(stored));
  end if;

  if private.are_blocked(account_id, other.account_id)
    or not private.identity_may_act(other.identity_id) then
    perform private.refuse(403, 'blocked');
  end if;
  if write_message.type = 'property' then
    perform private.require_visible_property(clean::uuid, caller_id);
  end if;
  if write_message.media_id is not null then
    perform private.use_picture(write_message.media_id, caller_id, 'message');
  end if;
  insert into public.messages
    (conversation_id, sender_identity_id, client_message_id, type, body, media_id, reply_to_seq)
  values (write_message.conversation_id, caller_id, write_message.client_message_id,
    write_message.type, clean, write_message.media_id, answered_seq)
  returning * into stored;
  return json_build_object('created', true, 'message', private.message_json(stored));
end
$$;
comment on function private.write_message is
  'Writes a message of the acting identity, which the caller has locked; gives {created, message}.';

create function private.send_message(
  conversation_id uuid, client_message_id text, type text, body text, media_id uuid,
  reply_to_id uuid
) returns json
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
declare
  hit timestamptz := private.count_action('messages');
  sent json := private.write_message(private.lock_identity(), conversation_id, client_message_id,
    type, body, media_id, reply_to_id);
begin
  -- Whoever repeats a request because the answer was lost has written nothing more.
  if sent ->> 'created' = 'false' then
    perform private.uncount_action('messages', hit);
  end if;
  return sent;
end
$$;
comment on function private.send_message is 'See api.send_message.';

create function api.send_message(
  conversation_id uuid, client_message_id text, type text, body text default null,
  media_id uuid default null, reply_to_id uuid default null
) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.send_message(
    conversation_id, client_message_id, type, body, media_id, reply_to_id);
end
$$;
comment on function api.send_message is
  'Stores a message and gives {created, message}. The same clientMessageId of the same sender '
  'gives the stored one again. Body: a text of at most 4,000 characters; of an image a caption or '
  'nothing beside mediaId; of a location "lat,lng"; of a property its id. 404 '
  'conversation_not_found; 403 blocked, also when the other participant may no longer act; 422 '
  'message_empty, message_too_long, idempotency_mismatch.';

create function private.read_conversation(conversation_id uuid, up_to_seq bigint) returns json
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
declare
  participant public.participants := private.require_participant(
    read_conversation.conversation_id, private.require_identity());
  newest bigint;
  read_to bigint;
  still_unread bigint;
begin
  -- The lock under which messages get their numbers: none comes between reading and counting.
  select conversations.last_seq into newest from public.conversations
  where conversations.id = participant.conversation_id
  for no key update;
  select greatest(participants.last_read_seq, least(coalesce(up_to_seq, newest), newest))
  into read_to from public.participants
  where participants.conversation_id = participant.conversation_id
    and participants.identity_id = participant.identity_id;
  select count(*) into still_unread from public.messages
  where messages.conversation_id = participant.conversation_id and messages.seq > read_to
    and messages.sender_identity_id <> participant.identity_id;
  update public.participants set last_read_seq = read_to, unread = still_unread
  where participants.conversation_id = participant.conversation_id
    and participants.identity_id = participant.identity_id
    and participants.last_read_seq < read_to;
  return json_build_object('unread', still_unread);
end
$$;
comment on function private.read_conversation is 'See api.read_conversation.';

create function api.read_conversation(conversation_id uuid, up_to_seq bigint default null)
  returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.read_conversation(conversation_id, up_to_seq);
end
$$;
comment on function api.read_conversation is
  'Marks everything up to a message, or all, as read; never moves back. Gives {unread}. '
  '404 conversation_not_found.';

grant execute on function private.send_message, private.read_conversation to authenticated;
grant execute on function api.send_message, api.read_conversation to authenticated;
