-- Messages: told to the other side while it has not read them, and no longer.

create function private.notice_of_message(message public.messages, reader public.participants)
  returns jsonb
  language plpgsql
  security definer -- tells the other side, whoever wrote
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
    alone => false);
begin
  return case when notification_id is null then '{}'
    else jsonb_build_object('notificationId', notification_id) end;
end
$$;
comment on function private.notice_of_message is
  'Notes a message in the list of who should read it; gives what its event says of that.';

create function private.on_messages_read() returns trigger
  language plpgsql
  security definer -- marks what belongs to the reader
  set search_path = ''
as $$
begin
  -- One that is being counted up in this moment stands for a newer message: it stays.
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
  'Whoever has read a conversation need not be told of its messages: not in the list, not by push.';

-- Of last_read_seq, which changes with it: a new message, which changes unread alone, is not asked.
create trigger participants_have_heard
  after update of last_read_seq on public.participants
  for each row when (new.unread = 0 and old.unread > 0)
  execute function private.on_messages_read();
