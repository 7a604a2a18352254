-- What a change in a conversation broadcasts, and to whom.

create function private.tell(topic uuid, event text, payload jsonb) returns void
  language plpgsql
  security definer -- clients have no way to write to a topic of ours
  set search_path = ''
as $$
begin
  perform realtime.send(tell.payload, tell.event, tell.topic::text, true);
end
$$;
comment on function private.tell is
  'Sends an event to a private channel, when the transaction commits. Never fails its caller.';

create function private.tell_account(account_id uuid, event text, payload jsonb) returns void
  language plpgsql
  security definer -- reads names that are nobody else's to know
  set search_path = ''
as $$
begin
  perform private.tell(accounts.topic, tell_account.event, tell_account.payload)
  from public.accounts
  where accounts.id = tell_account.account_id and private.may_act(accounts);
end
$$;
comment on function private.tell_account is
  'Sends an event to the channel of an account that is in order.';

create function private.tell_side(side public.participants, event text, payload jsonb)
  returns void
  language plpgsql
  security definer -- as tell_account
  set search_path = ''
as $$
begin
  if private.hears(side.conversation_id, side.identity_id) then
    perform private.tell_account(side.account_id, tell_side.event,
      tell_side.payload || jsonb_build_object('identityId', side.identity_id));
  end if;
end
$$;
comment on function private.tell_side is
  'Sends an event of a conversation to one side of it, if that may hear it now.';

create function private.tell_updated(side public.participants) returns void
  language plpgsql
  security definer -- as tell_account
  set search_path = ''
as $$
begin
  perform private.tell_side(side, 'conversation_updated', private.conversation_update(side));
end
$$;
comment on function private.tell_updated is
  'Tells one side what changed in a conversation without a message.';

create function private.deliver_message() returns trigger
  language plpgsql
  security definer -- counts for the other and sends events
  set search_path = ''
as $$
declare
  message jsonb := private.message_json(new);
  live_topic text := private.live_topic(new.conversation_id);
  side public.participants;
  event jsonb;
begin
  for side in
    update public.participants
    set active_at = new.created_at,
      unread = participants.unread + (participants.identity_id <> new.sender_identity_id)::integer
    where participants.conversation_id = new.conversation_id
    returning participants.*
  loop
    event := jsonb_build_object(
      'message', message,
      'conversation', jsonb_build_object('id', new.conversation_id) || private.conversation_news(
        side, private.message_summary(new, side.identity_id), live_topic));
    if side.identity_id <> new.sender_identity_id and not side.muted then
      event := event || private.notice_of_message(new, side);
    end if;
    perform private.tell_side(side, 'new_message', event);
  end loop;
  return null;
end
$$;
comment on function private.deliver_message is
  'Counts a message for the other and tells both sides, each with one event: message, the state of '
  'the conversation and what was noted of it in the list of notifications.';

create trigger messages_are_delivered
  after insert on public.messages
  for each row execute function private.deliver_message();

create function private.tell_read() returns trigger
  language plpgsql
  security definer -- sends events
  set search_path = ''
as $$
begin
  perform private.tell_updated(new);
  if private.shows_read_receipts(new.account_id) then
    perform private.tell_side(other, 'message_read', jsonb_build_object(
      'conversationId', new.conversation_id, 'upToSeq', new.last_read_seq))
    from public.participants as other
    where other.conversation_id = new.conversation_id and other.identity_id <> new.identity_id;
  end if;
  return null;
end
$$;
comment on function private.tell_read is
  'The reader''s other phones hear the new count, the other side that it was read, if the reader '
  'lets it.';

create trigger participants_tell_what_they_read
  after update of last_read_seq on public.participants
  for each row when (new.last_read_seq > old.last_read_seq)
  execute function private.tell_read();
