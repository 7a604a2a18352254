-- Chat: writing and reading messages.
--
-- Numbers are given under the lock of the conversation's row, so they have no gaps and everybody
-- sees one order. Unread counts change under the same lock, so they are always the number of the
-- other's messages after the last one read.

-- What a message needs to know of both participants, asked once under the lock of its conversation:
-- until it is committed neither is blocked or ceases to act.
create type private.message_ends as (
  sender_id uuid, sender_account_id uuid, sender_name text, sender_topic uuid,
  reader_id uuid, reader_account_id uuid, reader_topic uuid,
  may_be_written_to boolean, muted boolean, notifies boolean, pushes boolean, live_topic text,
  reader_unread bigint, sender_unread bigint, conversation_id uuid
);
comment on type private.message_ends is
  'The sender and the reader of a message that is being written: names, channels, what they have '
  'not read before it, and whether and how the reader is notified.';

create type private.message_delivery as (
  message public.messages, message_json jsonb, ends private.message_ends
);
comment on type private.message_delivery is
  'A message that was stored, as answers and events show it, and between whom it is.';

-- A body of the SQL standard without a search_path is planned as a part of what asks it.
create function private.message_ends(conversation_id uuid, sender_id uuid)
  returns setof private.message_ends
  language sql
  stable
  rows 1
begin atomic
  select
    sender.id, own.id, sender.display_name, own.topic,
    identities.id, accounts.id, accounts.topic,
    identities.status = 'active' and private.may_act(accounts)
      and not private.are_blocked(own.id, accounts.id),
    participants.muted,
    private.wants(account_settings, 'messages', 'inApp'),
    private.wants(account_settings, 'messages', 'push'),
    private.live_topic_name(conversations.id, conversations.live_key,
      case when own.id < accounts.id then array[own.live_key, accounts.live_key]
        else array[accounts.live_key, own.live_key] end),
    participants.unread, own_side.unread, conversations.id
  from public.conversations
  join public.participants as own_side
    on own_side.conversation_id = conversations.id
    and own_side.identity_id = message_ends.sender_id
  join public.identities as sender on sender.id = own_side.identity_id
  join public.accounts as own on own.id = own_side.account_id
  join public.participants
    on participants.conversation_id = conversations.id
    and participants.identity_id <> message_ends.sender_id
  join public.identities on identities.id = participants.identity_id
  join public.accounts on accounts.id = participants.account_id
  left join public.account_settings on account_settings.account_id = participants.account_id
  where conversations.id = message_ends.conversation_id;
end;
comment on function private.message_ends is
  'Both participants, for a message of one of them. may_be_written_to is false when one has '
  'blocked the other or the reader may no longer act.';

create function private.store_message(
  caller_id uuid, conversation_id uuid, client_message_id text, type text, body text,
  media_id uuid, reply_to_id uuid, out created boolean, out delivery private.message_delivery
)
  language plpgsql
  set search_path = ''
as $$
declare
  numbered record;
  clean text;
  answered_seq bigint;
  ends private.message_ends;
  kept public.messages;
  stored public.messages;
begin
  -- From here on writers of this conversation take turns. A refusal takes the number back.
  update public.conversations set last_seq = conversations.last_seq + 1
  from public.participants
  where conversations.id = store_message.conversation_id
    and participants.conversation_id = conversations.id and participants.identity_id = caller_id
  returning conversations.id, conversations.last_seq into numbered;
  if numbered.id is null then
    perform private.refuse(404, 'conversation_not_found');
  elsif (store_message.client_message_id ~ '^[\u0021-\u007e]+$'
    and char_length(store_message.client_message_id) <= 64) is not true then
    perform private.refuse_field('clientMessageId', 'invalid');
  elsif (store_message.type = 'image') is distinct from (store_message.media_id is not null) then
    perform private.refuse_field('mediaId', 'invalid');
  end if;
  clean := private.clean_message_body(store_message.type, store_message.body);
  if reply_to_id is not null then
    select messages.seq into answered_seq from public.messages
    where messages.id = store_message.reply_to_id
      and messages.conversation_id = store_message.conversation_id;
    if answered_seq is null then
      perform private.refuse_field('replyToId', 'invalid');
    end if;
  end if;

  select * into kept from public.messages
  where messages.conversation_id = numbered.id and messages.sender_identity_id = caller_id
    and messages.client_message_id = store_message.client_message_id;
  if kept.id is not null then
    if (kept.type, kept.body, kept.media_id, kept.reply_to_seq)
      is distinct from (store_message.type, clean, store_message.media_id, answered_seq) then
      perform private.refuse(422, 'idempotency_mismatch');
    end if;
    update public.conversations set last_seq = numbered.last_seq - 1
    where conversations.id = numbered.id;
    created := false;
    delivery.message_json := private.message_json(kept);
    return;
  end if;

  select * into strict ends from private.message_ends(numbered.id, caller_id);
  if not ends.may_be_written_to then
    perform private.refuse(403, 'blocked');
  end if;
  if store_message.type = 'property' then
    perform private.require_visible_property(clean::uuid, caller_id);
  end if;
  if store_message.media_id is not null then
    perform private.use_picture(store_message.media_id, caller_id, 'message');
  end if;
  insert into public.messages (conversation_id, sender_identity_id, seq, client_message_id, type,
    body, media_id, reply_to_seq)
  values (numbered.id, caller_id, numbered.last_seq, store_message.client_message_id,
    store_message.type, clean, store_message.media_id, answered_seq)
  returning * into stored;
  created := true;
  delivery := (stored, private.message_json(stored), ends);
end
$$;
comment on function private.store_message is
  'Stores a message of the acting identity, which the caller has locked, and leaves it to be '
  'delivered. One that was stored before is not created.';

create function private.write_message(
  caller_id uuid, conversation_id uuid, client_message_id text, type text, body text,
  media_id uuid, reply_to_id uuid
) returns json
  language plpgsql
  set search_path = ''
as $$
declare
  written record;
begin
  written := private.store_message(
    caller_id, conversation_id, client_message_id, type, body, media_id, reply_to_id);
  if written.created then
    perform private.deliver_messages(array[written.delivery]);
  end if;
  return json_build_object(
    'created', written.created, 'message', (written.delivery).message_json);
end
$$;
comment on function private.write_message is
  'Stores and delivers a message of the acting identity, which the caller has locked; gives '
  '{created, message}.';

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
  perform private.count_action('reads');
  return private.read_conversation(conversation_id, up_to_seq);
end
$$;
comment on function api.read_conversation is
  'Marks everything up to a message, or all, as read; never moves back. Gives {unread}. '
  '404 conversation_not_found.';

grant execute on function private.send_message, private.read_conversation to authenticated;
grant execute on function api.send_message, api.read_conversation to authenticated;
