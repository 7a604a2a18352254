create function private.broadcast(topic uuid, event text, payload jsonb) returns void
  language plpgsql
  security definer -- clients may not send to these channels
  set search_path = ''
as $$
begin
  perform realtime.send(broadcast.payload, broadcast.event, broadcast.topic::text, true);
end
$$;
comment on function private.broadcast is
  'Sends an event when the transaction commits. If sending fails, no error is raised.';

create function private.broadcast_to_account(account_id uuid, event text, payload jsonb)
  returns void
  language plpgsql
  security definer -- reads the secret names of channels
  set search_path = ''
as $$
begin
  perform private.broadcast(
    accounts.topic, broadcast_to_account.event, broadcast_to_account.payload)
  from public.accounts
  where accounts.id = broadcast_to_account.account_id and private.may_act(accounts);
end
$$;

create function private.broadcast_to_participant(
  participant public.participants, event text, payload jsonb
) returns void
  language plpgsql
  security definer -- broadcasts to either side
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

create function private.broadcast_conversation_updated(participant public.participants)
  returns void
  language plpgsql
  security definer -- broadcasts to either side
  set search_path = ''
as $$
begin
  perform private.broadcast_to_participant(
    participant, 'conversation_updated', private.conversation_updated_json(participant));
end
$$;

create function private.broadcast_messages(
  deliveries private.message_delivery[], notification_ids uuid[]
) returns void
  language plpgsql
  security definer -- writes a table of Realtime
  set search_path = ''
as $$
begin
  -- Inserting several events at once costs little more than one call of realtime.send. The role postgres
  -- may insert into this table of Realtime.
  insert into realtime.messages (id, topic, event, payload, private, extension)
  select sides.id, sides.topic, 'new_message',
    jsonb_build_object(
      'id', sides.id,
      'identityId', sides.identity_id,
      'message', delivery.message_json,
      'conversation', jsonb_build_object(
        'id', (delivery.message).conversation_id,
        'lastMessage', delivery.summary || sides.whose || case
          when (delivery.message).type = 'text' then '{}'
          else jsonb_build_object(
            'preview', private.message_preview(delivery.message, sides.account_id)) end,
        'unread', sides.unread,
        'muted', sides.muted,
        'archived', sides.archived,
        'peerReadSeq', sides.peer_read_seq,
        'changedAt', (delivery.message).created_at,
        'liveTopic', (delivery.ends).live_topic)
    ) || sides.notification,
    true, 'broadcast'
  from (
    select delivery.*,
      private.message_summary(delivery.message, (delivery.ends).sender_id) as summary
    from unnest(deliveries) with ordinality as delivery (message, message_json, ends, nth)
    offset 0 -- so that the summary is built once for both sides
  ) as delivery
  cross join lateral (values
    (gen_random_uuid(), (delivery.ends).sender_id, (delivery.ends).sender_account_id,
      (delivery.ends).sender_topic::text,
      (delivery.ends).sender_unread, (delivery.ends).sender_muted, false,
      (delivery.ends).sender_peer_read_seq, jsonb '{"mine": true}', jsonb '{}'),
    (gen_random_uuid(), (delivery.ends).reader_id, (delivery.ends).reader_account_id,
      (delivery.ends).reader_topic::text,
      (delivery.ends).reader_unread + 1, (delivery.ends).muted, (delivery.ends).reader_archived,
      (delivery.ends).reader_peer_read_seq, jsonb '{"mine": false}',
      jsonb_strip_nulls(jsonb_build_object('notificationId', notification_ids[delivery.nth])))
  ) as sides (id, identity_id, account_id, topic, unread, muted, archived, peer_read_seq, whose,
    notification);
exception
  -- An event is only a hint: a client that misses it finds the message in the history.
  when check_violation then null; -- no partition exists: nobody has joined for three days
  when others then
    perform private.raise_alarm('broadcast_failed', 'messages ' || sqlstate, jsonb_build_object(
      'messages', cardinality(deliveries), 'message', private.cause_of(sqlstate, sqlerrm)));
end
$$;

create function private.deliver_messages(deliveries private.message_delivery[]) returns void
  language plpgsql
  security definer -- writes the rows of both participants
  set search_path = ''
as $$
begin
  update public.participants
  set active_at = (delivery.message).created_at,
    changed_at = (delivery.message).created_at,
    archived = participants.identity_id = (delivery.ends).reader_id
      and (delivery.ends).reader_archived,
    unlisted = false,
    unread = participants.unread
      + (participants.identity_id = (delivery.ends).reader_id)::integer,
    written = participants.written
      + (participants.identity_id = (delivery.ends).sender_id)::integer
  from unnest(deliveries) as delivery
  where participants.conversation_id = (delivery.message).conversation_id;
  perform private.broadcast_messages(deliveries, private.notify_of_messages(deliveries));
  perform private.announce_messages(array(
    select (delivery.message).conversation_id from unnest(deliveries) as delivery));
end
$$;

create function private.on_read() returns trigger
  language plpgsql
  security definer -- writes the row of the other side
  set search_path = ''
as $$
declare
  other public.participants;
begin
  perform private.broadcast_conversation_updated(new);
  update public.participants
  set peer_read_seq = new.last_read_seq,
    changed_at = private.next_change(participants.changed_at)
  where participants.conversation_id = new.conversation_id
    and participants.identity_id <> new.identity_id
    and private.shows_read_receipts(new.account_id)
    and private.shows_read_receipts(participants.account_id)
    and not private.are_blocked(new.account_id, participants.account_id)
  returning * into other;
  if found then
    perform private.broadcast_to_participant(other, 'message_read',
      private.conversation_updated_json(other)
        || jsonb_build_object('upToSeq', new.last_read_seq));
  end if;
  return null;
end
$$;
comment on function private.on_read is
  'Sends the unread count to the devices of the reader, and a read receipt to the other side '
  'unless one side hides read receipts or has blocked the other.';

create trigger participants_broadcast_reads
  after update of last_read_seq on public.participants
  for each row when (new.last_read_seq > old.last_read_seq)
  execute function private.on_read();
