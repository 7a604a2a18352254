-- What a change in a conversation broadcasts, and to whom.

create function private.broadcast(topic uuid, event text, payload jsonb) returns void
  language plpgsql
  security definer -- clients may not write to these channels
  set search_path = ''
as $$
begin
  perform realtime.send(broadcast.payload, broadcast.event, broadcast.topic::text, true);
end
$$;
comment on function private.broadcast is
  'Sends an event to a private channel, when the transaction commits. Never fails its caller.';

create function private.broadcast_to_account(account_id uuid, event text, payload jsonb)
  returns void
  language plpgsql
  security definer -- reads names of channels, which are secret
  set search_path = ''
as $$
begin
  perform private.broadcast(
    accounts.topic, broadcast_to_account.event, broadcast_to_account.payload)
  from public.accounts
  where accounts.id = broadcast_to_account.account_id and private.may_act(accounts);
end
$$;
comment on function private.broadcast_to_account is
  'Sends an event to the channel of an account that is in order.';

create function private.broadcast_to_participant(
  participant public.participants, event text, payload jsonb
) returns void
  language plpgsql
  security definer -- as broadcast_to_account
  set search_path = ''
as $$
begin
  if private.may_hear_conversation(participant.conversation_id, participant.identity_id) then
    perform private.broadcast_to_account(
      participant.account_id, broadcast_to_participant.event,
      broadcast_to_participant.payload
        || jsonb_build_object('identityId', participant.identity_id));
  end if;
end
$$;
comment on function private.broadcast_to_participant is
  'Sends an event of a conversation to one participant, if that one may hear it now.';

create function private.broadcast_conversation_updated(participant public.participants)
  returns void
  language plpgsql
  security definer -- as broadcast_to_account
  set search_path = ''
as $$
begin
  perform private.broadcast_to_participant(
    participant, 'conversation_updated', private.conversation_updated_json(participant));
end
$$;
comment on function private.broadcast_conversation_updated is
  'Sends one participant what changed in a conversation without a message.';

create function private.broadcast_message(
  message_json jsonb, summary jsonb, ends private.message_ends, notification_id uuid
) returns void
  language plpgsql
  security definer -- as broadcast
  set search_path = ''
as $$
begin
  -- What realtime.send does, of both events in one statement: it costs as much as one.
  insert into realtime.messages (id, topic, event, payload, private, extension)
  select sides.id, sides.topic, 'new_message',
    jsonb_build_object(
      'id', sides.id,
      'identityId', sides.identity_id,
      'message', message_json,
      'conversation', jsonb_build_object(
        'id', message_json -> 'conversationId',
        'lastMessage', sides.last_message,
        'unread', sides.unread,
        'liveTopic', ends.live_topic)
    ) || sides.notification,
    true, 'broadcast'
  from (values
    (gen_random_uuid(), ends.sender_id, ends.sender_topic::text, summary || '{"mine": true}',
      ends.sender_unread, jsonb '{}'),
    (gen_random_uuid(), ends.reader_id, ends.reader_topic::text, summary, ends.reader_unread + 1,
      case when notification_id is null then '{}'
        else jsonb_build_object('notificationId', notification_id) end)
  ) as sides (id, identity_id, topic, last_message, unread, notification);
exception
  -- As there: an event is a hint. Who misses it finds the message in the history.
  when others then
    raise warning 'message % was not broadcast: %', message_json ->> 'id', sqlerrm;
end
$$;
comment on function private.broadcast_message is
  'Sends each participant one event: the message, the state of the conversation after it and the '
  'notification made of it. Never fails its caller.';

create function private.deliver_message(
  message public.messages, message_json jsonb, ends private.message_ends
) returns void
  language plpgsql
  security definer -- writes the rows of both participants
  set search_path = ''
as $$
declare
  notification_id uuid;
begin
  update public.participants
  set active_at = message.created_at,
    unread = participants.unread + (participants.identity_id = ends.reader_id)::integer
  where participants.conversation_id = message.conversation_id;
  if not ends.muted then
    notification_id := private.notify_of_message(message, ends);
  end if;
  perform private.broadcast_message(
    message_json, private.message_summary(message, ends.reader_id), ends, notification_id);
end
$$;
comment on function private.deliver_message is
  'Counts a message as unread by its reader, notifies that one and tells both.';

create function private.broadcast_read() returns trigger
  language plpgsql
  security definer -- broadcasts, whoever reads
  set search_path = ''
as $$
begin
  perform private.broadcast_conversation_updated(new);
  if private.shows_read_receipts(new.account_id) then
    perform private.broadcast_to_participant(other, 'message_read', jsonb_build_object(
      'conversationId', new.conversation_id, 'upToSeq', new.last_read_seq))
    from public.participants as other
    where other.conversation_id = new.conversation_id and other.identity_id <> new.identity_id;
  end if;
  return null;
end
$$;
comment on function private.broadcast_read is
  'Sends the new count to the reader''s other devices, and to the other participant that it was '
  'read, if the reader shows that.';

create trigger participants_broadcast_reads
  after update of last_read_seq on public.participants
  for each row when (new.last_read_seq > old.last_read_seq)
  execute function private.broadcast_read();
