-- seq and the unread counts are changed only under the row lock of the conversation, so seq has no gaps.

create type private.message_ends as (
  sender_id uuid, sender_account_id uuid, heading text, sender_topic uuid,
  reader_id uuid, reader_account_id uuid, reader_topic uuid,
  refusal text, muted boolean, notifies boolean, pushes boolean, live_topic text,
  reader_unread bigint, sender_unread bigint, conversation_id uuid,
  reader_archived boolean, sender_muted boolean,
  sender_peer_read_seq bigint, reader_peer_read_seq bigint
);
comment on type private.message_ends is
  'Both sides of a new message, read once while the conversation is locked. The unread counts do '
  'not include the message. reader_archived: whether the conversation stays archived for the '
  'reader. refusal: why the sender may not write. heading: the name of the sender and the title of '
  'the listing of the conversation.';

create type private.sent_message as (
  conversation_id uuid, sender_id uuid, client_message_id text, type text, body text,
  media_id uuid, reply_to_seq bigint
);
comment on type private.sent_message is 'A message whose sender and conversation are locked.';

create type private.message_delivery as (
  message public.messages, message_json jsonb, ends private.message_ends
);

-- The planner can inline this function, because it has a standard SQL body and no search_path.
create function private.message_ends(conversation_id uuid, sender_id uuid)
  returns setof private.message_ends
  language sql stable
  rows 1
begin atomic
  select
    sender.id, own.id,
    private.beginning(sender.display_name
      || coalesce(' · ' || private.shown_title(properties, identities.id), ''), 200),
    own.topic,
    identities.id, accounts.id, accounts.topic,
    case
      when identities.status <> 'active' or not private.may_act(accounts)
        or private.are_blocked(own.id, accounts.id) then 'blocked'
      when participants.written > 0 then null
      when account_settings.who_may_write = 'proven' and not private.is_proven(own)
        and not answered.is_so then 'recipient_proven_only'
      when own_side.written >= (
        select rates.max from private.rates where rates.rule = 'messages_unanswered'
      ) and not answered.is_so then 'awaiting_answer'
    end,
    participants.muted,
    private.wants(account_settings, 'messages', 'inApp'),
    private.wants(account_settings, 'messages', 'push'),
    private.live_topic_name(conversations.id, conversations.live_key,
      case when own.id < accounts.id then array[own.live_key, accounts.live_key]
        else array[accounts.live_key, own.live_key] end),
    participants.unread, own_side.unread, conversations.id,
    participants.archived and participants.muted, own_side.muted,
    case when reading.is_shown then own_side.peer_read_seq end,
    case when reading.is_shown then participants.peer_read_seq end
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
  left join public.properties on properties.id = conversations.property_id
  left join public.account_settings on account_settings.account_id = participants.account_id
  left join public.account_settings as own_settings on own_settings.account_id = own.id
  cross join lateral (
    select account_settings.read_receipts is not false and own_settings.read_receipts is not false
  ) as reading (is_shown)
  cross join lateral (
    -- participants.written cannot be used: it does not count messages that are older than that column.
    select exists (
      select from public.messages
      where messages.conversation_id = participants.conversation_id
        and messages.sender_identity_id = participants.identity_id
    )
  ) as answered (is_so)
  where conversations.id = message_ends.conversation_id;
end;

create function private.store_messages(given private.sent_message[])
  returns private.message_delivery[]
  language plpgsql
  security definer -- reads and writes both sides of conversations
  set search_path = ''
  set join_collapse_limit = 1 -- joins in the order of the query, because trying all orders takes 4 ms
  set plan_cache_mode = 'force_generic_plan' -- avoids a new plan for each number of messages
as $$
declare
  deliveries private.message_delivery[];
begin
  with ready as materialized (
    select sent.*, ends,
      case when sent.type = 'property'
        then private.require_visible_property(sent.body::uuid, sent.sender_id) end as property,
      case when sent.media_id is not null
        then private.use_picture(sent.media_id, sent.sender_id, 'message') end as picture
    from unnest(given) as sent
    cross join lateral private.message_ends(sent.conversation_id, sent.sender_id) as ends
    where ends.refusal is null and not exists (
      select from public.messages
      where messages.conversation_id = sent.conversation_id
        and messages.sender_identity_id = sent.sender_id
        and messages.client_message_id = sent.client_message_id
    )
  ), numbered as (
    update public.conversations set last_seq = conversations.last_seq + 1
    from ready where conversations.id = ready.conversation_id
    returning conversations.id, conversations.last_seq
  ), stored as (
    insert into public.messages (conversation_id, sender_identity_id, seq, client_message_id, type,
      body, media_id, reply_to_seq)
    select ready.conversation_id, ready.sender_id, numbered.last_seq, ready.client_message_id,
      ready.type, ready.body, ready.media_id, ready.reply_to_seq
    from ready join numbered on numbered.id = ready.conversation_id
    returning messages
  )
  select array_agg(
    row(stored.messages, private.message_json(stored.messages), ready.ends)
      ::private.message_delivery)
  into deliveries
  from stored join ready on ready.conversation_id = (stored.messages).conversation_id;
  return deliveries;
end
$$;
comment on function private.store_messages is
  'Stores messages of different conversations. Skips those that are already stored or not allowed.';

create function private.refuse_message(sent private.sent_message) returns void
  language plpgsql
  security definer -- reads both sides of the conversation
  set search_path = ''
as $$
declare
  refusal constant text :=
    (private.message_ends(sent.conversation_id, sent.sender_id)).refusal;
begin
  if refusal is null then
    raise serialization_failure using message = 'what kept the message from being written is gone';
  end if;
  perform private.refuse(case refusal when 'awaiting_answer' then 409 else 403 end, refusal);
end
$$;
comment on function private.refuse_message is
  'Raises the error for which the message was not stored. If the reason no longer exists, raises '
  '40001, so that the call is retried.';

create function private.write_message(
  caller_id uuid, conversation_id uuid, client_message_id text, type text, body text,
  media_id uuid, reply_to_id uuid
) returns json
  language plpgsql set search_path = ''
as $$
declare
  sent private.sent_message;
  deliveries private.message_delivery[];
  stored public.messages;
begin
  -- With this lock, the writers of a conversation wait for each other.
  perform from public.conversations
  join public.participants on participants.conversation_id = conversations.id
  where conversations.id = write_message.conversation_id and participants.identity_id = caller_id
  for no key update of conversations;
  if not found then
    perform private.refuse(404, 'conversation_not_found');
  elsif (write_message.client_message_id ~ '^[\u0021-\u007e]+$'
    and char_length(write_message.client_message_id) <= 64) is not true then
    perform private.refuse_field('clientMessageId',
      coalesce(private.length_problem(client_message_id, 1, 64), 'invalid'), fewest => 1, most => 64);
  elsif (write_message.type = 'image') is distinct from (write_message.media_id is not null) then
    perform private.refuse_value('mediaId', media_id::text);
  end if;
  sent := row(conversation_id, caller_id, client_message_id, type,
    private.clean_message_body(type, body), media_id, null);
  if media_id is not null and not exists (
    select from public.media where media.id = write_message.media_id
  ) then
    perform private.refuse(404, 'not_found');
  end if;
  if reply_to_id is not null then
    select messages.seq into sent.reply_to_seq from public.messages
    where messages.id = reply_to_id and messages.conversation_id = sent.conversation_id;
    if sent.reply_to_seq is null then
      perform private.refuse_field('replyToId', 'invalid');
    end if;
  end if;

  deliveries := private.store_messages(array[sent]);
  if deliveries is not null then
    perform private.deliver_messages(deliveries);
    return json_build_object('created', true, 'message', (deliveries[1]).message_json);
  end if;
  select * into stored from public.messages
  where messages.conversation_id = sent.conversation_id
    and messages.sender_identity_id = caller_id
    and messages.client_message_id = sent.client_message_id;
  if stored.id is null then
    perform private.refuse_message(sent);
  elsif (stored.type, stored.body, stored.reply_to_seq)
    is distinct from (sent.type, sent.body, sent.reply_to_seq)
    or not private.is_same_picture(stored.media_id, sent.media_id) then
    perform private.refuse(422, 'idempotency_mismatch');
  end if;
  return json_build_object('created', false, 'message', private.message_json(stored));
end
$$;
comment on function private.write_message is
  'Writes a message as the acting identity. The caller must have locked the identity.';

create function private.count_message() returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  -- Rates must be counted in the same order as in count_texts, which locks the same rows.
  in_minute constant timestamptz := private.count_action('messages');
  -- The headers of the response show the rate per minute, not the rate per day.
  rate constant text := coalesce(current_setting('private.rate', true), '');
  in_day constant timestamptz := private.count_action('messages_day');
begin
  perform set_config('private.rate', rate, true);
  return jsonb_build_object('messages', in_minute, 'messages_day', in_day);
end
$$;

create function private.uncount_message(hits jsonb) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.uncount_action(hit.key, (hit.value #>> '{}')::timestamptz)
  from jsonb_each(hits) as hit;
end
$$;

create function private.send_message(
  conversation_id uuid, client_message_id text, type text, body text, media_id uuid,
  reply_to_id uuid
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  hits jsonb;
  sent json;
begin
  perform private.require_terms();
  hits := private.count_message();
  sent := private.write_message(private.lock_identity(), conversation_id, client_message_id, type,
    body, media_id, reply_to_id);
  -- A retry after a lost response writes nothing, so it is not counted.
  if sent ->> 'created' = 'false' then
    perform private.uncount_message(hits);
  end if;
  return sent;
end
$$;

create function api.send_message(
  conversation_id uuid, client_message_id text, type text, body text default null,
  media_id uuid default null, reply_to_id uuid default null
) returns json
  language plpgsql set search_path = ''
as $$
begin
  return private.send_message(
    conversation_id, client_message_id, type, body, media_id, reply_to_id);
end
$$;
comment on function api.send_message is
  'Stores a message and returns {created, message}. A repeated clientMessageId returns the stored '
  'message. body is a text of at most 4,000 characters; for an image, an optional caption, with a '
  'mediaId that no other message uses (the facade copies a picture that is already used); for a '
  'location, "lat,lng"; for a property, its id. 404 conversation_not_found, property_not_found; '
  '403 terms_not_accepted, recipient_proven_only, blocked (also if the other participant may no '
  'longer act); 409 awaiting_answer after 5 messages to a person who has never answered; 422 '
  'message_empty, message_too_long, idempotency_mismatch.';

create function private.next_change(changed_at timestamptz) returns timestamptz
  language plpgsql set search_path = ''
as $$
begin
  return greatest(clock_timestamp(), next_change.changed_at + interval '1 microsecond');
end
$$;
comment on function private.next_change is
  'Returns the current time, but a later time than that of the last change, so that clients can '
  'tell which state is newer.';

create function private.read_conversation(conversation_id uuid, up_to_seq bigint) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  participant public.participants := private.require_participant(
    read_conversation.conversation_id, private.require_identity());
  newest bigint;
  read_to bigint;
  still_unread bigint;
begin
  -- With this lock, no message can arrive between reading and counting.
  select conversations.last_seq into newest from public.conversations
  where conversations.id = participant.conversation_id
  for no key update;
  select greatest(participants.last_read_seq, least(coalesce(up_to_seq, newest), newest))
  into read_to from public.participants
  where participants.conversation_id = participant.conversation_id
    and participants.identity_id = participant.identity_id;
  select count(*) into still_unread from public.messages
  where messages.conversation_id = participant.conversation_id and messages.seq > read_to
    and messages.sender_identity_id <> participant.identity_id and messages.hidden_at is null;
  update public.participants set last_read_seq = read_to, unread = still_unread,
    changed_at = private.next_change(participants.changed_at)
  where participants.conversation_id = participant.conversation_id
    and participants.identity_id = participant.identity_id
    and participants.last_read_seq < read_to;
  return json_build_object('unread', still_unread);
end
$$;

create function api.read_conversation(conversation_id uuid, up_to_seq bigint default null)
  returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('reads');
  return private.read_conversation(conversation_id, up_to_seq);
end
$$;
comment on function api.read_conversation is
  'Marks all messages, or those up to a seq, as read. Returns {unread}. 404 '
  'conversation_not_found.';

grant execute on function private.send_message, private.read_conversation to authenticated;
grant execute on function api.send_message, api.read_conversation to authenticated;
