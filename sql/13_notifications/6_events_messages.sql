create function private.message_excerpt(message public.messages) returns text
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if message.type = 'property' then
    return (
      select private.shown_title(properties, null) from public.properties
      where properties.id = message.body::uuid
    );
  end if;
  return private.beginning(regexp_replace(message.body, '[[:space:]]+', ' ', 'g'), 140);
end
$$;

create function private.count_up_messages(deliveries private.message_delivery[]) returns uuid[]
  language plpgsql
  set search_path = ''
as $$
declare
  counted_ids uuid[];
begin
  with counted as (
    update public.notifications
    set title_ar = (sent.ends).heading, title_en = (sent.ends).heading,
        body_ar = private.message_body_ar(
          (sent.message).type, sent.excerpt, notifications.times + 1),
        body_en = private.message_body_en(
          (sent.message).type, sent.excerpt, notifications.times + 1),
        from_identity_id = (sent.ends).sender_id,
        times = notifications.times + 1,
        created_at = greatest(notifications.created_at, clock_timestamp())
    from (
      select delivery.*, private.message_excerpt(delivery.message) as excerpt
      from unnest(deliveries) with ordinality as delivery (message, message_json, ends, nth)
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
      -- This locks the rates of all readers in one order; new notifications are pushed later.
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
    -- The alias is not notifications, as account_settings.notifications would take precedence.
    perform private.queue_push(made, 'messages', false, accounts.language, chosen,
      (delivery.ends).sender_account_id)
    from unnest(deliveries) with ordinality as delivery (message, message_json, ends, nth)
    join public.notifications as made on made.id = counted_ids[delivery.nth]
    join public.accounts on accounts.id = made.account_id
    left join public.account_settings as chosen on chosen.account_id = accounts.id
    where (delivery.ends).pushes
    order by made.account_id; -- sorted, because the readers' rates are counted in that order
  end if;
  return counted_ids;
end
$$;
comment on function private.count_up_messages is
  'Counts messages into the unread notifications about their conversations. Returns the ids of '
  'these in the order of the messages, null where there is none.';

create function private.message_details(delivery private.message_delivery) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return jsonb_build_object(
    'by', (delivery.ends).sender_account_id,
    'from', (delivery.ends).sender_id, 'name', (delivery.ends).heading,
    'type', (delivery.message).type, 'preview', private.message_excerpt(delivery.message));
end
$$;

create function private.notify_of_messages(deliveries private.message_delivery[]) returns uuid[]
  language plpgsql
  set search_path = ''
as $$
declare
  sent record;
  ids uuid[];
begin
  begin
    -- Usually an unread notification exists, for which everything was checked when it was made.
    ids := private.count_up_messages(deliveries);
  exception
    when others then
      sent := (deliveries[1]).ends;
      if cardinality(deliveries) = 1 and not sent.muted then
        -- An immediate retry would meet the same lock and delay those waiting for this transaction.
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
      -- One failed notification must not stop the others, so each is made by itself.
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
      broadcast => false);
  end loop;
  return ids;
end
$$;

create function private.on_messages_read() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  -- A locked notification is being updated for a newer message, so it stays unread.
  update public.notifications set read_at = clock_timestamp()
  where notifications.id in (
    select unread.id from public.notifications as unread
    where unread.account_id = new.account_id
      and unread.kind = 'message_new' and unread.entity_id = new.conversation_id
      and unread.identity_id = new.identity_id and unread.read_at is null
    for no key update skip locked
  );
  if found then
    perform private.announce_unread(new.account_id);
  end if;
  return null;
end
$$;
comment on function private.on_messages_read is
  'Marks the notifications of a conversation that was read or archived as read.';

-- The trigger does not watch unread, so a new message does not evaluate its condition.
create trigger participants_read_notifications
  after update of last_read_seq on public.participants
  for each row when (new.unread = 0 and old.unread > 0)
  execute function private.on_messages_read();

create function private.count_down_messages(
  hidden public.messages, reader public.participants
) returns uuid
  language plpgsql
  set search_path = ''
as $$
declare
  made public.notifications;
  unread bigint;
  later bigint;
  latest public.messages;
begin
  select * into made from public.notifications
  where notifications.account_id = reader.account_id and notifications.kind = 'message_new'
    and notifications.entity_id = hidden.conversation_id
    and notifications.identity_id = reader.identity_id and notifications.read_at is null
  for no key update;
  if made.id is null then
    return null;
  end if;
  select count(*), count(*) filter (where messages.seq > hidden.seq) into unread, later
  from public.messages
  where messages.conversation_id = hidden.conversation_id
    and messages.sender_identity_id = hidden.sender_identity_id
    and messages.seq > reader.last_read_seq and messages.hidden_at is null;
  -- It counts the last messages, and it may count fewer than are unread.
  made.times := least(made.times - (later < made.times)::integer, unread);
  if made.times = 0 then
    perform private.lock_devices(array[made.account_id]); -- before the pushes, which are deleted too
    delete from public.notifications where notifications.id = made.id;
    perform private.announce_unread(made.account_id);
    return made.id;
  end if;
  select * into latest from public.messages
  where messages.conversation_id = hidden.conversation_id
    and messages.sender_identity_id = hidden.sender_identity_id and messages.hidden_at is null
  order by messages.seq desc
  limit 1;
  made.body_ar := private.message_body_ar(latest.type, private.message_excerpt(latest), made.times);
  made.body_en := private.message_body_en(latest.type, private.message_excerpt(latest), made.times);
  update public.notifications
  set times = made.times, body_ar = made.body_ar, body_en = made.body_en
  where notifications.id = made.id;
  update private.push_outbox
  set body = case accounts.language when 'en' then made.body_en else made.body_ar end
  from public.accounts
  where accounts.id = made.account_id and push_outbox.notification_id = made.id;
  return made.id;
end
$$;
comment on function private.count_down_messages is
  'Takes a hidden message out of the unread notification about its conversation, which then quotes '
  'the last message that is shown, or is deleted if there is none. Returns its id.';

create function private.on_message_hidden() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  -- Of a listing the title may no longer be shown, but it was when it was quoted.
  excerpt constant text := case new.type
    when 'property' then (
      select properties.title_ar from public.properties where properties.id = new.body::uuid
    )
    else private.message_excerpt(new) end;
  reader public.participants;
  made_again uuid;
begin
  select * into reader from public.participants
  where participants.conversation_id = new.conversation_id
    and participants.identity_id <> new.sender_identity_id;
  if new.seq > reader.last_read_seq then
    made_again := private.count_down_messages(new, reader);
  end if;
  if new.type not in ('text', 'property') then
    return null;
  end if;
  -- Other notifications may quote it too, but each quotes only its last message.
  update public.notifications
  set body_ar = private.message_body_ar('text', 'رسالة محجوبة', notifications.times),
      body_en = private.message_body_en('text', 'Hidden message', notifications.times)
  where notifications.account_id = reader.account_id and notifications.kind = 'message_new'
    and notifications.entity_id = new.conversation_id
    and notifications.identity_id = reader.identity_id
    and notifications.id is distinct from made_again
    and notifications.body_ar
      = private.message_body_ar(new.type, excerpt, notifications.times);
  delete from private.push_outbox
  where push_outbox.account_id = reader.account_id
    and push_outbox.from_identity_id = new.sender_identity_id
    and push_outbox.category = 'messages'
    and push_outbox.notification_id is distinct from made_again
    and right(push_outbox.body, char_length(excerpt)) = excerpt;
  delete from private.deferred_notifications
  where deferred_notifications.entity_id = new.conversation_id
    and deferred_notifications.details ->> 'preview' = excerpt;
  return null;
end
$$;
comment on function private.on_message_hidden is
  'Takes the message out of the counts of notifications and pushes, and removes its quotes.';

create trigger messages_are_quoted_no_more
  after update of hidden_at on public.messages
  for each row when (old.hidden_at is null and new.hidden_at is not null)
  execute function private.on_message_hidden();

create function private.on_conversation_muted() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  -- A push that is already being sent still arrives.
  delete from private.push_outbox where push_outbox.id in (
    select waiting.id from private.push_outbox as waiting
    where waiting.account_id = new.account_id
      and waiting.collapse_key = 'message_new:' || new.conversation_id
    for update skip locked
  );
  return null;
end
$$;
comment on function private.on_conversation_muted is 'Drops the conversation''s waiting pushes.';

create trigger participants_muted_are_not_pushed
  after update of muted on public.participants
  for each row when (new.muted and not old.muted)
  execute function private.on_conversation_muted();
