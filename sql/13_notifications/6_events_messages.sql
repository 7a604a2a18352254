create function private.delivery_texts(message public.messages, ends private.message_ends)
  returns private.notification_text
  language sql stable
  return private.message_texts(ends.heading, message, ends.reader_unread + 1);

create function private.count_up_messages(deliveries private.message_delivery[]) returns uuid[]
  language plpgsql set search_path = ''
as $$
declare
  counted_ids uuid[];
begin
  with counted as (
    update public.notifications
    set title_ar = (sent.texts).title_ar, title_en = (sent.texts).title_en,
        body_ar = (sent.texts).body_ar, body_en = (sent.texts).body_en,
        from_identity_id = (sent.ends).sender_id,
        quoted_seq = (sent.message).seq,
        times = notifications.times + 1,
        created_at = greatest(notifications.created_at, clock_timestamp())
    from (
      select delivery.*, private.delivery_texts(delivery.message, delivery.ends) as texts
      from unnest(deliveries) with ordinality as delivery (message, message_json, ends, nth)
      offset 0 -- stops the planner from making the texts again for each column
    ) as sent
    where (sent.ends).notifies and not (sent.ends).muted
      and notifications.account_id = (sent.ends).reader_account_id
      and notifications.kind = 'message_new'
      and notifications.entity_id = (sent.message).conversation_id
      and notifications.identity_id = (sent.ends).reader_id
      and notifications.read_at is null and notifications.collapses
    returning sent.nth, notifications.id
  )
  select array_agg(counted.id order by series.nth) into counted_ids
  from generate_subscripts(deliveries, 1) as series (nth)
  left join counted on counted.nth = series.nth;
  if exists (
    select from unnest(deliveries) as delivery
    join public.devices on devices.account_id = (delivery.ends).reader_account_id
    where (delivery.ends).pushes
  ) then
    if array_position(counted_ids, null) is not null then
      -- To avoid deadlocks, locks the rates of all readers in one order, including those of readers whose
      -- notifications are created and pushed later.
      perform private.hold_hits('pushes_strangers', array(
        select (delivery.ends).reader_account_id::text
        from unnest(deliveries) as delivery
        join private.rates on rates.rule = 'pushes_strangers' and rates.max < 1000000
        where (delivery.ends).pushes and not (delivery.ends).muted
          and private.is_stranger((delivery.ends).sender_account_id,
            (delivery.ends).reader_account_id, rates.seconds)
        group by (delivery.ends).reader_account_id
        order by (delivery.ends).reader_account_id
      ));
    end if;
    -- With the alias notifications instead of made, the argument would be resolved as the column
    -- account_settings.notifications.
    perform private.queue_push(made, 'messages', false, accounts.language, chosen,
      (delivery.ends).sender_account_id)
    from unnest(deliveries) with ordinality as delivery (message, message_json, ends, nth)
    join public.notifications as made on made.id = counted_ids[delivery.nth]
    join public.accounts on accounts.id = made.account_id
    left join public.account_settings as chosen on chosen.account_id = accounts.id
    where (delivery.ends).pushes
    order by made.account_id; -- the order in which the readers' rates are locked
  end if;
  return counted_ids;
end
$$;
comment on function private.count_up_messages is
  'Adds messages to the unread notifications about their conversations. Returns the ids of these '
  'notifications in the order of the messages; null for a message that has no such notification.';

create function private.message_details(delivery private.message_delivery) returns jsonb
  language sql stable
  return jsonb_build_object(
    'by', (delivery.ends).sender_account_id, 'from', (delivery.ends).sender_id,
    'seq', (delivery.message).seq);

create function private.notify_of_messages(deliveries private.message_delivery[]) returns uuid[]
  language plpgsql set search_path = ''
as $$
declare
  sent record;
  ids uuid[];
begin
  begin
    -- Usually there is an unread notification already, and all checks were made when it was created.
    ids := private.count_up_messages(deliveries);
  exception
    when others then
      sent := (deliveries[1]).ends;
      if cardinality(deliveries) = 1 and not sent.muted then
        -- An immediate retry would run into the same lock and delay the transactions that wait for this
        -- one.
        perform private.set_notification_aside(
          sqlstate, sqlerrm, sent.reader_account_id, sent.reader_id, 'message_new',
          ((deliveries[1]).message).conversation_id, private.message_details(deliveries[1]));
        return array[null::uuid];
      end if;
      if sqlstate not in ('40P01', '40001', '55P03') then -- as in set_notification_aside
        perform private.raise_alarm('notification_failed', 'messages ' || sqlstate,
          jsonb_build_object('messages', cardinality(deliveries),
            'message', private.cause_of(sqlstate, sqlerrm)));
      end if;
      -- One failed notification must not stop the others, so each is created separately.
      ids := array_fill(null::uuid, array[cardinality(deliveries)]);
  end;
  if array_position(ids, null) is null then
    return ids;
  end if;
  for sent in
    select delivery.*
    from unnest(deliveries) with ordinality as delivery (message, message_json, ends, nth)
    where ids[delivery.nth] is null and not (delivery.ends).muted
    order by (delivery.ends).reader_account_id, delivery.nth
  loop
    ids[sent.nth] := private.make_notification(
      (sent.ends).reader_account_id, (sent.ends).reader_id, 'message_new',
      (sent.message).conversation_id, private.message_details(deliveries[sent.nth]),
      broadcast => false, texts => private.delivery_texts(sent.message, sent.ends));
  end loop;
  return ids;
end
$$;

create function private.on_messages_read() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.unread > 0 and not new.archived then
    perform private.renew_message_notification(new);
    return null;
  end if;
  -- A locked notification is being updated for a newer message. It is skipped and stays unread.
  update public.notifications set read_at = clock_timestamp()
  where notifications.id in (
    select unread.id from public.notifications as unread
    where unread.account_id = new.account_id
      and unread.kind = 'message_new' and unread.entity_id = new.conversation_id
      and unread.identity_id = new.identity_id and unread.read_at is null
    for no key update skip locked
  );
  perform private.announce_read_messages(new.account_id, found);
  return null;
end
$$;
comment on function private.on_messages_read is
  'Marks the notification of a conversation that was read or archived as read. If only some of the '
  'messages were read, updates the notification instead.';

-- The column unread is not in the list, so that the condition is not evaluated for each new message.
create trigger participants_read_notifications
  after update of last_read_seq on public.participants
  for each row when (new.unread < old.unread)
  execute function private.on_messages_read();

create function private.renew_message_notification(reader public.participants) returns void
  language plpgsql
  security definer -- reads both sides of the conversation
  set search_path = ''
as $$
declare
  renewed public.notifications;
  said record;
begin
  select * into renewed from public.notifications
  where notifications.account_id = reader.account_id and notifications.kind = 'message_new'
    and notifications.entity_id = reader.conversation_id
    and notifications.identity_id = reader.identity_id and notifications.read_at is null
  for no key update;
  if renewed.id is null then
    perform private.announce_read_messages(reader.account_id, false);
    return;
  end if;
  said := private.unread_messages(reader.conversation_id, reader.identity_id);
  if said.last_seq is null then
    -- Before the rows of push_outbox, to which the delete cascades.
    perform private.lock_devices(array[reader.account_id]);
    delete from public.notifications where notifications.id = renewed.id;
    perform private.announce_unread(reader.account_id);
  else
    update public.notifications
    set title_ar = (said.texts).title_ar, body_ar = (said.texts).body_ar,
        title_en = (said.texts).title_en, body_en = (said.texts).body_en,
        quoted_seq = said.last_seq
    where notifications.id = renewed.id;
  end if;
end
$$;
comment on function private.renew_message_notification is
  'Updates the unread notification of a conversation to show what is still unread, or deletes it '
  'if nothing is.';

create function private.on_message_hidden() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  reader public.participants;
begin
  select * into reader from public.participants
  where participants.conversation_id = new.conversation_id
    and participants.identity_id <> new.sender_identity_id;
  if new.seq > reader.last_read_seq then
    perform private.renew_message_notification(reader);
  end if;
  if new.hidden_at is not null then
    update public.notifications set body_ar = 'رسالة محجوبة', body_en = 'Hidden message'
    where notifications.account_id = reader.account_id and notifications.kind = 'message_new'
      and notifications.entity_id = new.conversation_id
      and notifications.identity_id = reader.identity_id
      and notifications.quoted_seq = new.seq;
  end if;
  return null;
end
$$;
comment on function private.on_message_hidden is
  'Updates the unread notification when a message is hidden or shown again. Also removes the text '
  'of a hidden message from every notification that quotes it.';

create trigger messages_are_quoted_no_more
  after update of hidden_at on public.messages
  for each row when ((old.hidden_at is null) <> (new.hidden_at is null))
  execute function private.on_message_hidden();

create function private.on_conversation_muted() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- A push that is already being sent still arrives.
  delete from private.push_outbox where push_outbox.id in (
    select waiting.id from private.push_outbox as waiting
    where waiting.account_id = new.account_id
      and waiting.collapse_key = 'message_new:' || new.conversation_id
    for update skip locked
  );
  perform private.announce_read_messages(new.account_id, false);
  return null;
end
$$;
comment on function private.on_conversation_muted is
  'Deletes the pushes about the conversation that wait to be sent.';

create trigger participants_muted_are_not_pushed
  after update of muted on public.participants
  for each row when (new.muted and not old.muted)
  execute function private.on_conversation_muted();
