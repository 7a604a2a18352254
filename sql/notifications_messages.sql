-- Messages: told to the other side while it has not read them, and no longer.

create function private.on_message_told() returns trigger
  language plpgsql
  security definer -- tells the other side, whoever wrote
  set search_path = ''
as $$
begin
  perform private.notify(other.account_id, other.identity_id, 'message_new', new.conversation_id,
    jsonb_build_object(
      'from', new.sender_identity_id,
      'name', sender.display_name,
      'type', new.type,
      'preview', left(regexp_replace(new.body, '[[:space:]]+', ' ', 'g'), 140)))
  from public.participants as other
  join public.identities as sender on sender.id = new.sender_identity_id
  where other.conversation_id = new.conversation_id
    and other.identity_id <> new.sender_identity_id
    and not other.muted;
  return null;
end
$$;
comment on function private.on_message_told is
  'A message is told to the other side unless it has muted the conversation.';

create trigger messages_are_told
  after insert on public.messages
  for each row execute function private.on_message_told();

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

revoke execute on all functions in schema private from public;
