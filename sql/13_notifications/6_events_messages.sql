-- Notifications of messages: for the other participant, as long as the messages are unread.

create function private.notify_of_message(message public.messages, reader public.participants)
  returns jsonb
  language plpgsql
  security definer -- notifies the other participant, whoever wrote
  set search_path = ''
as $$
declare
  notification_id uuid := private.notify(
    reader.account_id, reader.identity_id, 'message_new', message.conversation_id,
    jsonb_build_object(
      'from', message.sender_identity_id,
      'name', (
        select identities.display_name from public.identities
        where identities.id = message.sender_identity_id
      ),
      'type', message.type,
      'preview', left(regexp_replace(message.body, '[[:space:]]+', ' ', 'g'), 140)),
    broadcast => false);
begin
  return case when notification_id is null then '{}'
    else jsonb_build_object('notificationId', notification_id) end;
end
$$;
comment on function private.notify_of_message is
  'Notifies a participant of a message; gives what the event new_message says of it.';

create function private.on_messages_read() returns trigger
  language plpgsql
  security definer -- marks what belongs to the reader
  set search_path = ''
as $$
begin
  -- One that is being counted up at this moment stands for a newer message: it stays.
  update public.notifications set read_at = clock_timestamp()
  where notifications.id in (
    select unread.id from public.notifications as unread
    where unread.account_id = new.account_id
      and unread.kind = 'message_new' and unread.entity_id = new.conversation_id
      and unread.identity_id = new.identity_id and unread.read_at is null
    for no key update skip locked
  );
  return null;
end
$$;
comment on function private.on_messages_read is
  'Whoever has read a conversation needs no notification of its messages, in the list or by push.';

-- Of last_read_seq, so that a new message, which changes unread alone, does not evaluate it.
create trigger participants_read_notifications
  after update of last_read_seq on public.participants
  for each row when (new.unread = 0 and old.unread > 0)
  execute function private.on_messages_read();
