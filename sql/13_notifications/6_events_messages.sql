-- Notifications of messages: for the other participant, as long as the messages are unread.

create function private.count_up_message(
  message public.messages, ends private.message_ends, preview text
) returns uuid
  language plpgsql
  set search_path = ''
as $$
declare
  counted public.notifications;
begin
  update public.notifications
  set title_ar = ends.sender_name, title_en = ends.sender_name,
      body_ar = private.message_body_ar(message.type, preview, notifications.times + 1),
      body_en = private.message_body_en(message.type, preview, notifications.times + 1),
      from_identity_id = ends.sender_id,
      times = notifications.times + 1,
      created_at = greatest(notifications.created_at, clock_timestamp())
  where notifications.account_id = ends.reader_account_id and notifications.kind = 'message_new'
    and notifications.entity_id = message.conversation_id
    and notifications.identity_id = ends.reader_id
    and notifications.read_at is null and private.collapses(notifications.kind)
  returning * into counted;
  if counted.id is not null and ends.pushes then
    perform private.queue_push(counted, 'messages', true, accounts.language, account_settings)
    from public.accounts
    left join public.account_settings on account_settings.account_id = accounts.id
    where accounts.id = ends.reader_account_id;
  end if;
  return counted.id;
end
$$;
comment on function private.count_up_message is
  'Counts a message into the unread notification of its conversation, and pushes that; gives its '
  'id, null when there is none.';

create function private.message_facts(
  message public.messages, ends private.message_ends, preview text
) returns jsonb
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return jsonb_build_object('from', ends.sender_id, 'name', ends.sender_name,
    'type', message.type, 'preview', preview);
end
$$;
comment on function private.message_facts is 'What the texts of a message''s notification need.';

create function private.notify_of_message(message public.messages, ends private.message_ends)
  returns uuid
  language plpgsql
  security definer -- notifies the other participant, whoever wrote
  set search_path = ''
as $$
declare
  preview constant text := left(regexp_replace(message.body, '[[:space:]]+', ' ', 'g'), 140);
  counted_id uuid;
begin
  -- Most messages are not the first that is unread: all that is asked for a new notification was
  -- asked for theirs.
  if ends.notifies then
    counted_id := private.count_up_message(message, ends, preview);
    if counted_id is not null then
      return counted_id;
    end if;
  end if;
  return private.notify(ends.reader_account_id, ends.reader_id, 'message_new',
    message.conversation_id, private.message_facts(message, ends, preview), broadcast => false);
exception
  when others then
    perform private.set_notification_aside(
      sqlstate, sqlerrm, ends.reader_account_id, ends.reader_id, 'message_new',
      message.conversation_id, private.message_facts(message, ends, preview));
    return null;
end
$$;
comment on function private.notify_of_message is
  'Notifies the reader of a message; gives the id in the list, null for none.';

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
