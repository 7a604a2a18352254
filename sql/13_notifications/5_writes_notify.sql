create function private.notification_draft(
  account_id uuid, identity_id uuid, kind private.notification_kinds, entity_id uuid, details jsonb,
  times bigint, texts private.notification_text
) returns public.notifications
  language plpgsql stable set search_path = ''
as $$
declare
  draft public.notifications;
begin
  texts := coalesce(texts, private.texts_of_kind(kind.kind, details, times));
  draft.created_at := coalesce((details ->> 'at')::timestamptz, clock_timestamp());
  draft.account_id := notification_draft.account_id;
  draft.identity_id := notification_draft.identity_id;
  draft.kind := kind.kind;
  draft.collapses := kind.collapses;
  draft.entity_id := notification_draft.entity_id;
  draft.from_identity_id := details ->> 'from';
  draft.quoted_seq := details ->> 'seq';
  draft.title_ar := private.beginning(texts.title_ar, 200);
  draft.body_ar := private.beginning(texts.body_ar, 600);
  draft.title_en := private.beginning(texts.title_en, 200);
  draft.body_en := private.beginning(texts.body_en, 600);
  draft.route := coalesce(
    case kind.kind when 'system' then details ->> 'route' end, kind.route);
  return draft;
end
$$;
comment on function private.notification_draft is
  'Builds the row of a notification without storing it. times is the number of events.';

create function private.store_notification(
  draft public.notifications, unread_id uuid, times bigint
) returns public.notifications
  language plpgsql set search_path = ''
as $$
declare
  stored public.notifications;
begin
  if unread_id is not null then
    update public.notifications
    set title_ar = draft.title_ar, body_ar = draft.body_ar, title_en = draft.title_en,
        body_en = draft.body_en, from_identity_id = draft.from_identity_id,
        quoted_seq = draft.quoted_seq, times = notifications.times + 1,
        created_at = greatest(notifications.created_at, draft.created_at)
    where notifications.id = unread_id and notifications.times = store_notification.times
      and notifications.read_at is null
    returning * into stored;
  else
    insert into public.notifications (account_id, identity_id, kind, collapses, entity_id,
      from_identity_id, title_ar, body_ar, title_en, body_en, route, quoted_seq, created_at)
    values (draft.account_id, draft.identity_id, draft.kind, draft.collapses, draft.entity_id,
      draft.from_identity_id, draft.title_ar, draft.body_ar, draft.title_en, draft.body_en,
      draft.route, draft.quoted_seq, draft.created_at)
    on conflict do nothing
    returning * into stored;
  end if;
  return stored;
end
$$;
comment on function private.store_notification is
  'Stores a draft, or merges it into the unread notification unread_id. Returns null if a '
  'concurrent transaction has written that notification.';

create function private.set_notification_aside(
  state text, message text, account_id uuid, identity_id uuid, kind text, entity_id uuid,
  details jsonb
) returns void
  language plpgsql set search_path = ''
as $$
begin
  if state in ('40P01', '40001', '55P03') then -- deadlock, serialization, lock not available
    insert into private.deferred_notifications (account_id, identity_id, kind, entity_id, details)
    values (set_notification_aside.account_id, set_notification_aside.identity_id,
      set_notification_aside.kind, set_notification_aside.entity_id, set_notification_aside.details);
  else
    perform private.raise_alarm('notification_failed', kind || ' ' || state, jsonb_build_object(
      'accountId', account_id, 'entityId', entity_id,
      'message', private.cause_of(state, message)));
  end if;
end
$$;
comment on function private.set_notification_aside is
  'Handles a notification that could not be stored. After a lock conflict, a job retries it later; '
  'any other error raises an alarm.';

create function private.make_notification(
  account_id uuid, identity_id uuid, kind text, entity_id uuid, details jsonb default '{}',
  broadcast boolean default true, texts private.notification_text default null
) returns uuid
  language plpgsql
  security definer -- notifies any account, for any role that causes a notification
  set search_path = ''
as $$
declare
  author_id constant uuid := details ->> 'by';
  known record;
  made public.notifications;
begin
  if author_id is not null and private.are_blocked(author_id, make_notification.account_id) then
    return null;
  elsif details ? 'at' then
    -- Only jobs pass details.at. They have not locked the account, so another transaction may be
    -- deleting it.
    perform from public.accounts where accounts.id = make_notification.account_id for share nowait;
  end if;
  loop
    -- Messages are frequent, so everything is read in one query and written in one statement.
    select kinds as kind, accounts.language, accounts.status, accounts.delete_at,
      account_settings as chosen,
      unread.id as unread_id, coalesce(unread.times, 0) as times
    into strict known
    from private.notification_kinds as kinds
    left join public.accounts on accounts.id = make_notification.account_id
    left join public.account_settings on account_settings.account_id = accounts.id
    left join public.notifications as unread on kinds.collapses
      and unread.account_id = accounts.id and unread.kind = make_notification.kind
      and unread.entity_id = make_notification.entity_id
      and unread.identity_id is not distinct from make_notification.identity_id
      and unread.read_at is null and unread.collapses
    where kinds.kind = make_notification.kind;
    if coalesce(known.status, 'deleted') in ('banned', 'deleted')
      -- An account that is about to be deleted is only notified of the deletion, money and security.
      or known.delete_at is not null and (known.kind).category <> 'billing'
        and kind !~ '^(security|deletion)_|^system$' then
      return null;
    end if;

    made := private.notification_draft(
      make_notification.account_id, make_notification.identity_id, known.kind,
      make_notification.entity_id, details, known.times + 1, texts);
    exit when not (known.kind).always_listed
      and not private.wants(known.chosen, (known.kind).category, 'inApp');

    made := private.store_notification(made, known.unread_id, known.times);
    -- If a concurrent transaction has written the notification first, try again.
    continue when made.id is null;
    if broadcast then
      perform private.broadcast_to_account(make_notification.account_id, 'notification',
        jsonb_build_object(
          'identityId', made.identity_id,
          'notification', private.notification_record(made),
          'unread', private.count_unread(make_notification.account_id)));
    end if;
    exit;
  end loop;
  if private.wants(known.chosen, (known.kind).category, 'push') then
    perform private.queue_push(made, (known.kind).category, (known.kind).at_once, known.language,
      known.chosen, author_id, details);
  end if;
  return made.id;
exception
  when others then
    perform private.set_notification_aside(
      sqlstate, sqlerrm, make_notification.account_id, make_notification.identity_id,
      make_notification.kind, make_notification.entity_id, make_notification.details);
    return null;
end
$$;
comment on function private.make_notification is
  'Creates a notification and its pushes. Returns the notification''s id, or null if none was '
  'stored. texts is passed for messages, and if one event notifies many accounts.';

create function private.is_stranger(author_id uuid, account_id uuid, seconds integer) returns boolean
  language plpgsql stable
  security definer -- reads the conversations of both sides
  set search_path = ''
as $$
begin
  return exists (
    select from public.accounts where accounts.id = author_id and not private.is_proven(accounts)
  ) and not exists (
    select from public.participants
    join public.participants as others on others.conversation_id = participants.conversation_id
      and others.account_id = is_stranger.account_id
    where participants.account_id = author_id
      and (
        others.written > 0
        or exists (
          -- The other side has written nothing, so the author wrote the first message.
          select from public.messages
          where messages.conversation_id = participants.conversation_id and messages.seq = 1
            and messages.created_at < clock_timestamp() - make_interval(secs => seconds)
        )
      )
  );
end
$$;
comment on function private.is_stranger is
  'Whether an author has proven neither phone nor email, never got a reply from the account, and '
  'wrote to it for the first time within the given seconds.';

create function private.awaits_reading(reader public.participants) returns boolean
  language plpgsql stable
  security definer -- reads the other side, settings and notifications
  set search_path = ''
as $$
begin
  return reader.unread > 0 and not reader.archived and not reader.muted
    and exists (
      select from public.identities
      where identities.id = reader.identity_id and identities.status = 'active'
    )
    and not exists (
      select from public.participants as others
      where others.conversation_id = reader.conversation_id
        and others.identity_id <> reader.identity_id
        and private.are_blocked(reader.account_id, others.account_id)
    )
    and (
      exists (
        select from public.account_settings as chosen
        where chosen.account_id = reader.account_id
          and not private.wants(chosen, 'messages', 'inApp')
      )
      or exists (
        select from public.notifications
        where notifications.account_id = reader.account_id
          and notifications.kind = 'message_new'
          and notifications.entity_id = reader.conversation_id
          and notifications.identity_id = reader.identity_id and notifications.read_at is null
      )
    );
end
$$;
comment on function private.awaits_reading is
  'Whether to notify one side of a conversation of its unread messages: the identity is active, '
  'the conversation is not archived, muted or blocked, and its notification is unread or the '
  'account gets no notifications for messages.';

create function private.was_read(push private.push_outbox) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from public.notifications
    where notifications.id = push.notification_id and notifications.read_at is not null
  ) or push.conversation_ids is not null and not exists (
    select from public.participants
    where participants.conversation_id = any (push.conversation_ids)
      and participants.account_id = push.account_id and private.awaits_reading(participants)
  );
end
$$;
comment on function private.was_read is 'Whether everything that a push announces has been read.';

create function private.may_push(
  rule text, subject text, account_id uuid, author_id uuid
) returns boolean
  language plpgsql
  security definer -- reads and locks private rows
  set search_path = ''
as $$
declare
  rate private.rates;
begin
  select * into rate from private.rates where rates.rule = may_push.rule;
  if rate.max is null or rate.max >= 1000000 then
    return true;
  end if;
  perform private.hold_hits(rule, array[subject]);
  return private.hits_within(rule, subject, rate.seconds) + (
    select count(distinct waiting.push_id) from private.push_outbox as waiting
    where waiting.account_id = may_push.account_id and not waiting.counted
      and case rule when 'pushes_strangers' then waiting.is_stranger
        else waiting.author_id = may_push.author_id
          and (waiting.category = 'messages') = (rule = 'pushes_messages') end
      and not private.was_read(waiting)
  ) < rate.max;
end
$$;
comment on function private.may_push is
  'Whether a rate allows another push. It counts the pushes that were received and those that '
  'wait, and locks the row of the rate, so that concurrent calls wait.';

create function private.queue_waiting_push(
  account_id uuid, chosen public.account_settings, conversation_id uuid, device_ids text[]
) returns void
  language plpgsql
  security definer -- writes other people's pushes
  set search_path = ''
as $$
#variable_conflict use_column -- column names after "on conflict" cannot be qualified
declare
  pause constant interval := (
    select make_interval(secs => rates.seconds) from private.rates
    where rates.rule = 'pushes_waiting'
  );
  -- The push is delayed, so that it also counts messages that arrive at the same time.
  due timestamptz := clock_timestamp() + interval '1 minute';
  new_id constant uuid := gen_random_uuid();
begin
  select private.after_quiet_hours(greatest(
    due, max(counter.hits[cardinality(counter.hits)]) + pause,
    case when exists (
      select from private.push_outbox as sending
      where sending.account_id = queue_waiting_push.account_id
        and sending.collapse_key = 'messages_waiting' and sending.lease is not null
    ) then clock_timestamp() + pause end), chosen.quiet_from, chosen.quiet_to)
  into due
  from private.rate_hits as counter
  where counter.rule = 'pushes_waiting' and counter.subject = queue_waiting_push.account_id::text;
  -- The count of a push that is being sent does not change. Later messages count in the next push.
  insert into private.push_outbox as waiting (push_id, account_id, device_id, collapse_key,
    conversation_ids, category, title, body, data, exempt, due_at, expires_at)
  select new_id, devices.account_id, devices.device_id, 'messages_waiting',
    array[queue_waiting_push.conversation_id], 'messages', '', '',
    jsonb_build_object('kind', 'message_new', 'route', 'notifications', 'count', '1'), false, due,
    due + interval '24 hours'
  from public.devices
  where devices.account_id = queue_waiting_push.account_id
    and devices.device_id = any (device_ids)
  order by devices.device_id
  on conflict (account_id, device_id, collapse_key) where lease is null do update
  set conversation_ids = case
        when excluded.conversation_ids <@ waiting.conversation_ids then waiting.conversation_ids
        else waiting.conversation_ids || excluded.conversation_ids end,
      data = waiting.data || jsonb_build_object(
        'count', ((waiting.data ->> 'count')::bigint + 1)::text),
      expires_at = waiting.due_at + interval '24 hours';
end
$$;
comment on function private.queue_waiting_push is
  'Queues a push with the number of messages from strangers that were not pushed individually to '
  'these devices, at most one per hour. The caller has locked the account''s row of the rate '
  'pushes_strangers.';

create function private.queue_push(
  made public.notifications, category text, at_once boolean, language text,
  chosen public.account_settings, author_id uuid, details jsonb default '{}'
) returns void
  language plpgsql
  security definer -- writes other people's pushes
  set search_path = ''
as $$
declare
  due timestamptz := case when at_once then now()
    else private.after_quiet_hours(now(), chosen.quiet_from, chosen.quiet_to) end;
  -- For messages, the text is made when the push is sent.
  about public.notifications := case when made.kind <> 'message_new' then made end;
  key text := made.kind || ':' || case when made.collapses then made.entity_id
    else gen_random_uuid() end;
  new_id constant uuid := gen_random_uuid();
  fits boolean := true;
  stranger boolean := false;
  waits_for text[];
  others text[];
begin
  -- All devices are locked before the first push is written, as in private.lock_devices.
  perform from public.devices where devices.account_id = made.account_id
  order by devices.device_id for key share;
  if not found then
    return;
  end if;
  -- Rate limits do not prevent the update of a push that already waits.
  waits_for := array(
    select waiting.device_id from private.push_outbox as waiting
    where waiting.account_id = made.account_id and waiting.collapse_key = key
      and waiting.lease is null
  );
  others := array(
    select devices.device_id from public.devices
    where devices.account_id = made.account_id and devices.device_id <> all (waits_for)
  );
  if author_id is not null and others <> '{}' then
    stranger := category = 'messages' and exists (
      select from private.rates
      where rates.rule = 'pushes_strangers' and rates.max < 1000000
        and private.is_stranger(author_id, made.account_id, rates.seconds)
    );
    if stranger then
      perform private.hold_hits('pushes_strangers', array[made.account_id::text]);
    end if;
    fits := private.may_push(case category when 'messages' then 'pushes_messages' else 'pushes' end,
      author_id || ' ' || made.account_id, made.account_id, author_id);
    if fits and stranger and not private.may_push(
      'pushes_strangers', made.account_id::text, made.account_id, author_id) then
      fits := false;
      perform private.queue_waiting_push(made.account_id, chosen, made.entity_id, others);
    end if;
  end if;
  insert into private.push_outbox as waiting (push_id, account_id, device_id, author_id,
    is_stranger, notification_id, conversation_ids, identity_id, from_identity_id, collapse_key,
    category, title, body, data, details, exempt, due_at, expires_at)
  select
    new_id, devices.account_id, devices.device_id, queue_push.author_id, stranger, made.id,
    case made.kind when 'message_new' then array[made.entity_id] end, made.identity_id,
    made.from_identity_id, key, queue_push.category,
    coalesce(case language when 'en' then about.title_en else about.title_ar end, ''),
    coalesce(case language when 'en' then about.body_en else about.body_ar end, ''),
    jsonb_strip_nulls(jsonb_build_object(
      'notificationId', made.id, 'kind', made.kind, 'route', made.route,
      'entityId', made.entity_id, 'identityId', made.identity_id)),
    queue_push.details, at_once, due, due + interval '24 hours'
  from public.devices
  where devices.account_id = made.account_id and (fits or devices.device_id = any (waits_for))
  order by devices.device_id
  on conflict (account_id, device_id, collapse_key) where lease is null do update
  set notification_id = excluded.notification_id,
      from_identity_id = excluded.from_identity_id, title = excluded.title, body = excluded.body,
      data = excluded.data, details = excluded.details, expires_at = excluded.expires_at,
      -- The updated push does not wait for the retry of the old one, unless FCM asked for the wait.
      attempts = 0, lost = 0,
      due_at = least(waiting.due_at, greatest(excluded.due_at, waiting.held_until));
end
$$;
comment on function private.queue_push is
  'Queues a push for each device of the account, or updates the push that already waits. Rates '
  'limit the pushes per author, and the pushes for messages from all strangers together.';

create function private.withdraw_notification(account_id uuid, kind text, entity_id uuid)
  returns void
  language plpgsql
  security definer -- deletes rows of someone else's account
  set search_path = ''
as $$
declare
  was_unread boolean;
  about constant jsonb := jsonb_build_object('kind', kind, 'entityId', entity_id);
begin
  select bool_or(held.read_at is null) into was_unread
  from (
    select notifications.read_at from public.notifications
    where notifications.account_id = withdraw_notification.account_id
      and notifications.kind = withdraw_notification.kind
      and notifications.entity_id = withdraw_notification.entity_id
    for update
  ) as held;
  -- There may be pushes without a notification in the list.
  if was_unread is null and not exists (
    select from private.push_outbox
    where push_outbox.account_id = withdraw_notification.account_id and push_outbox.data @> about
  ) then
    return;
  end if;
  perform private.lock_devices(array[account_id]);
  delete from private.push_outbox as waiting
  where waiting.account_id = withdraw_notification.account_id
    and waiting.data @> about;
  delete from public.notifications
  where notifications.account_id = withdraw_notification.account_id
    and notifications.kind = withdraw_notification.kind
    and notifications.entity_id = withdraw_notification.entity_id;
  if was_unread then
    perform private.announce_unread(account_id);
  end if;
end
$$;

create function private.apply_push_preferences(account_id uuid) returns void
  language plpgsql
  security definer -- writes push_outbox, for any role that changes the settings
  set search_path = ''
as $$
begin
  -- Pushes that are being sent or are locked by another transaction are skipped. Before their next
  -- attempt, private.claim_pushes applies the current preferences.
  with held as materialized (
    select push_outbox.id from private.push_outbox
    where push_outbox.account_id = apply_push_preferences.account_id and push_outbox.lease is null
    for update skip locked
  ), unwanted as (
    delete from private.push_outbox as waiting
    using held, public.account_settings as chosen
    where waiting.id = held.id and chosen.account_id = apply_push_preferences.account_id
      and not private.wants(chosen, waiting.category, 'push')
  )
  update private.push_outbox as waiting
  set due_at = private.after_quiet_hours(
    -- A push with the number of waiting messages is sent once an hour, and new preferences must not make it
    -- earlier. After a failure they may, because the row does not tell how much of the wait was due to
    -- quiet hours.
    case when waiting.collapse_key = 'messages_waiting' then greatest(now(), waiting.due_at)
      else greatest(now(), waiting.held_until) end,
    chosen.quiet_from, chosen.quiet_to)
  from held, public.account_settings as chosen
  where waiting.id = held.id and chosen.account_id = apply_push_preferences.account_id
    and private.wants(chosen, waiting.category, 'push') and not waiting.exempt;
end
$$;
