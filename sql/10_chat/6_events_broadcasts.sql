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

create function private.deliver_message(
  message public.messages, message_json jsonb, ends private.message_ends
) returns void
  language plpgsql
  security definer -- writes the rows of both participants
  set search_path = ''
as $$
declare
  unread record;
  summary constant jsonb := private.message_summary(message, ends.reader_id);
  notification_id uuid;
begin
  with counted as (
    update public.participants
    set active_at = message.created_at,
      unread = participants.unread + (participants.identity_id = ends.reader_id)::integer
    where participants.conversation_id = message.conversation_id
    returning participants.identity_id, participants.unread
  )
  select
    min(counted.unread) filter (where counted.identity_id = ends.sender_id) as sender,
    min(counted.unread) filter (where counted.identity_id = ends.reader_id) as reader
  into unread from counted;
  if not ends.muted then
    notification_id := private.notify_of_message(message, ends);
  end if;
  -- Both in one statement: each statement costs about as much as what it sends.
  perform realtime.send(
    jsonb_build_object(
      'identityId', sides.identity_id,
      'message', message_json,
      'conversation', jsonb_build_object(
        'id', message.conversation_id,
        'lastMessage', sides.last_message,
        'unread', sides.unread,
        'liveTopic', ends.live_topic)
    ) || sides.notification,
    'new_message', sides.topic::text, true)
  from (values
    (ends.sender_id, ends.sender_topic, summary || '{"mine": true}', unread.sender, jsonb '{}'),
    (ends.reader_id, ends.reader_topic, summary, unread.reader,
      case when notification_id is null then '{}'
        else jsonb_build_object('notificationId', notification_id) end)
  ) as sides (identity_id, topic, last_message, unread, notification);
end
$$;
comment on function private.deliver_message is
  'Counts a message as unread by its reader and sends each participant one event: the message, the '
  'state of the conversation and the notification made of it.';

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
