create function private.has_notification_events() returns boolean
  language sql stable security definer set search_path = ''
as $$
  select exists (
      select from private.notification_events where notification_events.notified_at is null
    )
    or exists (
      select from private.deferred_notifications
      where deferred_notifications.created_at < clock_timestamp() - interval '1 second'
    )
$$;

create function private.notify_of_sign_ins() returns bigint
  language plpgsql
  security definer -- reads everybody's events
  set search_path = ''
as $$
declare
  sign_in private.notification_events;
  notified bigint := 0;
begin
  -- When the facade only checks a password, Auth creates a session as well. The facade deletes the session
  -- and its event within two seconds (private.discard_session).
  for sign_in in
    select * from private.notification_events
    where notification_events.notified_at is null
      and notification_events.kind = 'security_login'
      and notification_events.created_at < clock_timestamp() - interval '2 seconds'
      and not private.failed_recently('notify_of_sign_ins', notification_events.id::text)
    order by notification_events.id
    limit 20 -- a small batch, to leave the CPU to requests
    for update skip locked
  loop
    begin
      perform private.make_notification(sign_in.account_id, null, 'security_login', sign_in.session_id,
        jsonb_build_object('at', sign_in.created_at));
      delete from private.notification_events where notification_events.id = sign_in.id;
      notified := notified + 1;
    exception
      when others then
        perform private.record_failure('notify_of_sign_ins', sign_in.id::text, sqlstate, sqlerrm);
    end;
  end loop;
  return notified;
end
$$;
comment on function private.notify_of_sign_ins is 'Job: notifies accounts of new sign-ins.';

create function private.notify_of_terms() returns bigint
  language plpgsql
  security definer -- reads everybody's accounts
  set search_path = ''
as $$
declare
  event private.notification_events;
  text_details jsonb;
  texts private.notification_text;
  person record;
  notified bigint := 0;
begin
  select * into event from private.notification_events
  where notification_events.kind = 'terms_new'
  for update skip locked;
  if event.id is null then
    return 0;
  end if;
  text_details := jsonb_build_object(
    'at', event.created_at, 'requiredFrom', event.details -> 'requiredFrom');
  texts := private.texts_of_kind('terms_new', text_details, 1);
  for person in
    select identities.id, identities.account_id, accounts.terms_version
    from public.identities
    join public.accounts on accounts.id = identities.account_id
    where identities.type = 'individual' and accounts.created_at < event.created_at
      and identities.id > coalesce(event.last_identity_id, '00000000-0000-0000-0000-000000000000')
    order by identities.id
    limit 200
  loop
    if person.terms_version is distinct from event.details ->> 'version' then
      perform private.make_notification(
        person.account_id, null, 'terms_new', null, text_details, texts => texts);
    end if;
    event.last_identity_id := person.id;
    notified := notified + 1;
  end loop;
  if notified < 200 then
    delete from private.notification_events where notification_events.id = event.id;
  else
    update private.notification_events set last_identity_id = event.last_identity_id
    where notification_events.id = event.id;
  end if;
  return greatest(notified, 1);
end
$$;
comment on function private.notify_of_terms is
  'Job: notifies the next 200 people of new terms, except people who have already accepted them. '
  'Returns 0 when nobody is left.';

create function private.announce_withdrawals() returns bigint
  language plpgsql
  security definer -- reads everybody's events
  set search_path = ''
as $$
declare
  event private.notification_events;
begin
  -- One account per transaction, so that locks of two accounts are never held together.
  select * into event from private.notification_events
  where notification_events.notified_at is null
    and notification_events.kind = 'notifications_withdrawn'
  order by notification_events.id
  limit 1
  for update skip locked;
  if event.id is null then
    return 0;
  end if;
  delete from private.notification_events where notification_events.id = event.id;
  perform private.announce_unread(event.account_id);
  return 1;
end
$$;
comment on function private.announce_withdrawals is
  'Job: notifies the devices of one account that unread notifications were deleted because an '
  'identity was closed. Returns 0 when no account is left.';

create function private.next_listing_event() returns private.notification_events
  language plpgsql security definer set search_path = ''
as $$
declare
  event private.notification_events;
  first_price numeric;
begin
  -- Whoever locks the oldest event of a listing and kind may handle all events of that listing and kind.
  select * into event from private.notification_events as oldest
  where oldest.notified_at is null and oldest.property_id is not null
    and not exists (
      select from private.notification_events as older
      where older.property_id = oldest.property_id and older.kind = oldest.kind
        and older.notified_at is null and older.id < oldest.id
    )
  -- Events with a finished batch come last, so that an event for many accounts does not delay the others.
  order by oldest.last_identity_id is not null, oldest.id
  limit 1
  for update skip locked;
  -- If some people were already notified of this price, the rest are notified of it before the next event.
  if event.id is null or event.details ? 'price' then
    return event;
  end if;
  -- Otherwise only the newest event is kept. As the price before the fall, it gets the highest earlier one.
  select * into event from private.notification_events
  where notification_events.property_id = event.property_id
    and notification_events.kind = event.kind and notification_events.notified_at is null
  order by notification_events.id desc
  limit 1
  for update;
  with older as (
    delete from private.notification_events
    where notification_events.property_id = event.property_id
      and notification_events.kind = event.kind
      and notification_events.notified_at is null and notification_events.id < event.id
    returning (notification_events.details ->> 'before')::numeric as price
  )
  select max(older.price) into first_price from older
  join public.properties
    on properties.id = event.property_id and private.is_fall(older.price, properties.price);
  if first_price > (event.details ->> 'before')::numeric then
    update private.notification_events
    set details = event.details || jsonb_build_object('before', first_price)
    where notification_events.id = event.id
    returning * into event;
  end if;
  return event;
end
$$;

create function private.listing_event_details(event private.notification_events) returns jsonb
  language plpgsql stable
  security definer -- reads other people's listings and notifications
  set search_path = ''
as $$
declare
  property public.properties;
  owner jsonb; -- the owner's identity (from) and account (by)
  is_back constant boolean := coalesce(event.details ->> 'status' = 'active', false);
  price numeric;
  notified record;
begin
  select * into property from public.properties where properties.id = event.property_id;
  owner := jsonb_build_object('from', property.owner_identity_id, 'by', (
    select identities.account_id from public.identities
    where identities.id = property.owner_identity_id));
  -- The text describes the listing's current state, not its state at the time of the event. Only the price
  -- is the same for everybody who is notified of one price fall.
  if event.kind = 'favorite_price_drop' then
    price := coalesce((event.details ->> 'price')::numeric, property.price);
    if not property.listed or (property.price <= price) is not true then
      return null;
    elsif not event.details ? 'price' then
      select count(*) as times,
        (array_agg((earlier.details ->> 'price')::numeric order by earlier.id desc))[1] as price
      into notified
      from private.notification_events as earlier
      where earlier.property_id = event.property_id and earlier.kind = event.kind
        and earlier.notified_at > now() - interval '1 day';
      if not private.is_fall((event.details ->> 'before')::numeric, price)
        or notified.times >= 3 or price > notified.price * 0.95 then
        return null;
      end if;
    end if;
    return owner || jsonb_build_object(
      'titleAr', property.title_ar, 'titleEn', property.title_en,
      'type', property.type, 'price', price, 'before', event.details -> 'before');
  end if;
  if (case when is_back then not property.listed else property.status = 'active' end) or exists (
    select from private.notification_events as earlier
    where earlier.property_id = event.property_id and earlier.kind = event.kind
      and earlier.notified_at > now() - interval '1 day'
      and earlier.details ->> 'status' = property.status
  ) then
    return null;
  end if;
  return jsonb_build_object('status', property.status) || case
    when not private.is_withdrawn(property) and private.shown_title(property, null) is not null
      then owner || jsonb_build_object(
        'titleAr', property.title_ar, 'titleEn', property.title_en)
    else '{}' end;
end
$$;
comment on function private.listing_event_details is
  'The values for the texts. Null if the event is outdated, if people were notified of the same '
  'state or of three price falls within the last day, or if the price is not at least 5 percent '
  'below the last one in a notification.';

create function private.fan_out_listing_events() returns bigint
  language plpgsql
  security definer -- notifies accounts about other people's listings
  set search_path = ''
as $$
declare
  event private.notification_events := private.next_listing_event();
  text_details jsonb;
  texts private.notification_text;
  saver record;
  notified bigint := 0;
begin
  if event.id is null then
    return 0;
  end if;
  -- If the owner is just being deleted, this waits: the deletion withdraws only notifications that exist
  -- already.
  perform private.lock_owner(properties.owner_identity_id) from public.properties
  where properties.id = event.property_id;
  text_details := private.listing_event_details(event) || jsonb_build_object('at', event.created_at);
  if text_details is null then
    if event.details ? 'price' then -- some people were notified of it, so it is kept for the limits
      update private.notification_events set notified_at = now()
      where notification_events.id = event.id;
    else
      delete from private.notification_events where notification_events.id = event.id;
    end if;
    return 1;
  end if;
  texts := private.texts_of_kind(event.kind, text_details, 1);
  for saver in
    select next.*
    from (
      select favorites.identity_id, identities.account_id
      from public.favorites
      join public.identities on identities.id = favorites.identity_id
      where favorites.property_id = event.property_id
        and favorites.identity_id
          > coalesce(event.last_identity_id, '00000000-0000-0000-0000-000000000000')
      order by favorites.identity_id
      limit 200
    ) as next
    -- Sorted to avoid deadlocks: concurrent runs for one owner's listings update the same push counters.
    order by next.account_id, next.identity_id
  loop
    begin
      perform private.make_notification(
        saver.account_id, saver.identity_id, event.kind, event.property_id, text_details,
        texts => texts);
    exception
      when lock_not_available or deadlock_detected then raise; -- the whole batch is retried
      when others then
        perform private.record_failure(
          'fan_out_listing_events', saver.identity_id::text, sqlstate, sqlerrm);
    end;
    event.last_identity_id := greatest(event.last_identity_id, saver.identity_id);
    notified := notified + 1;
  end loop;
  update private.notification_events
  set last_identity_id = event.last_identity_id,
      details = event.details || jsonb_strip_nulls(jsonb_build_object(
        'status', text_details -> 'status', 'price', text_details -> 'price')),
      notified_at = case when notified < 200 then now() end
  where notification_events.id = event.id;
  return greatest(notified, 1);
end
$$;
comment on function private.fan_out_listing_events is
  'Job: notifies the next 200 accounts that saved a listing. Returns 0 when nothing is left.';

create function private.retry_deferred_notifications() returns bigint
  language plpgsql
  security definer -- makes notifications for any account
  set search_path = ''
as $$
declare
  deferred private.deferred_notifications;
  texts private.notification_text;
  said record;
begin
  select * into deferred from private.deferred_notifications
  -- A notification that was deferred only just now would run into the same lock again.
  where deferred_notifications.created_at < clock_timestamp() - interval '1 second'
  order by deferred_notifications.id
  limit 1
  for update skip locked;
  if deferred.id is null then
    return 0;
  end if;
  delete from private.deferred_notifications where deferred_notifications.id = deferred.id;
  if deferred.kind = 'message_new' then
    -- The notification counts the messages that are unread now. The lock keeps their number from changing.
    perform from public.conversations where conversations.id = deferred.entity_id
    for no key update;
    said := private.unread_messages(deferred.entity_id, deferred.identity_id);
    if said.last_seq is null or not exists (
      select from public.participants
      where participants.conversation_id = deferred.entity_id
        and participants.identity_id = deferred.identity_id
        and not participants.archived and not participants.muted
    ) or exists (
      select from public.notifications -- a later message has caused a notification
      where notifications.account_id = deferred.account_id and notifications.kind = 'message_new'
        and notifications.entity_id = deferred.entity_id
        and notifications.identity_id = deferred.identity_id
        and notifications.read_at is null and notifications.quoted_seq >= said.last_seq
    ) then
      return 1;
    end if;
    texts := said.texts;
    deferred.details := deferred.details || jsonb_build_object('seq', said.last_seq);
  end if;
  -- If the quoted identity has been closed in the meantime, its words must not be quoted any more.
  if not exists (
    select from public.identities
    where identities.id = (deferred.details ->> 'from')::uuid and identities.status = 'closed'
  ) then
    perform private.make_notification(deferred.account_id, deferred.identity_id, deferred.kind,
      deferred.entity_id, jsonb_build_object('at', deferred.created_at) || deferred.details,
      texts => texts);
  end if;
  return 1;
end
$$;
comment on function private.retry_deferred_notifications is
  'Job: creates the oldest deferred notification. After another lock conflict it is deferred '
  'again.';

grant execute on function
  private.has_notification_events, private.notify_of_sign_ins, private.notify_of_terms,
  private.announce_withdrawals, private.fan_out_listing_events,
  private.retry_deferred_notifications
  to backend;
