-- Whoever archives a conversation or blocks somebody has seen the messages, so their notifications are
-- marked as read. Later messages create new notifications as usual.

-- Watches muted, which archiving also sets. A new message updates archived but not muted, so the condition
-- is not evaluated for it.
create trigger participants_read_notifications_when_archived
  after update of muted on public.participants
  for each row when (new.archived and not old.archived)
  execute function private.on_messages_read();

create function private.on_block_seen() returns trigger
  language plpgsql
  security definer -- reads both sides of the conversations
  set search_path = ''
as $$
begin
  update public.notifications set read_at = clock_timestamp()
  where notifications.id in (
    select unread.id from public.notifications as unread
    where unread.account_id = new.account_id
      and unread.kind = 'message_new' and unread.read_at is null
      and unread.entity_id in (
        select participants.conversation_id from public.participants
        join public.participants as others on others.conversation_id = participants.conversation_id
        where participants.account_id = new.account_id
          and others.account_id = new.blocked_account_id
      )
    order by unread.id
    for no key update
  );
  perform private.announce_read_messages(new.account_id, found);
  return null;
end
$$;
comment on function private.on_block_seen is
  'Marks the blocker''s notifications about conversations with the blocked account as read.';

create trigger blocks_settle_notifications
  after insert on public.blocks
  for each row execute function private.on_block_seen();
comment on trigger blocks_settle_notifications on public.blocks is
  'Runs after blocks_renew_live_keys, which locks the conversations.';
