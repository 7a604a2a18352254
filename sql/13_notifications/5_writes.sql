create function private.queue_badge(account_id uuid) returns void
  language plpgsql
  security definer -- writes push_outbox, and devices of other sessions
  set search_path = ''
as $$
#variable_conflict use_column -- column names after "on conflict" cannot be qualified
begin
  with elsewhere as materialized (
    select devices.device_id, greatest(
      clock_timestamp() + interval '5 seconds',
      least(coalesce(devices.badge_due_at, '-infinity'), clock_timestamp()) + interval '10 minutes'
    ) as due
    from public.devices
    where devices.account_id = queue_badge.account_id
      and devices.session_id is distinct from private.session_id()
      and devices.platform <> 'web' -- browsers show a default notification for a silent push
    order by devices.device_id
    for no key update
  ), queued as (
    insert into private.push_outbox as waiting (account_id, device_id, collapse_key, category,
      title, body, data, exempt, due_at, expires_at)
    select queue_badge.account_id, elsewhere.device_id, 'badge', 'badge', '', '',
      '{"kind": "badge"}', true, elsewhere.due, elsewhere.due + interval '1 hour'
    from elsewhere
    order by elsewhere.device_id
    on conflict (account_id, device_id, collapse_key) where lease is null do update
    set expires_at = excluded.expires_at
    returning waiting.device_id, waiting.due_at as due
  )
  update public.devices set badge_due_at = queued.due
  from queued
  where devices.account_id = queue_badge.account_id and devices.device_id = queued.device_id
    and devices.badge_due_at is distinct from queued.due;
end
$$;
comment on function private.queue_badge is
  'Queues a silent push to the devices of the account''s other sessions so that they update the '
  'badge, at most once in ten minutes per device. The number is counted when the push is sent.';

create function private.announce_unread(account_id uuid) returns void
  language plpgsql
  security definer -- also called for accounts other than the caller's
  set search_path = ''
as $$
begin
  perform private.queue_badge(account_id);
  -- Of two concurrent changes, the second waits for this lock and then counts both.
  perform pg_advisory_xact_lock(hashtextextended('unread ' || account_id, 0));
  perform private.broadcast_to_account(account_id, 'notifications_changed',
    jsonb_build_object('unread', private.count_unread(account_id)));
end
$$;
comment on function private.announce_unread is
  'Notifies the account''s devices that unread notifications were read or deleted: connected '
  'devices get an event, the others a silent push that updates the badge. A caller that deletes '
  'notifications locks the devices first.';

create function private.announce_read_messages(account_id uuid, were_listed boolean) returns void
  language plpgsql set search_path = ''
as $$
begin
  if were_listed then
    perform private.announce_unread(account_id);
  elsif exists (
    select from public.account_settings as chosen
    where chosen.account_id = announce_read_messages.account_id
      and not private.wants(chosen, 'messages', 'inApp')
  ) then
    perform private.queue_badge(account_id);
  end if;
end
$$;
comment on function private.announce_read_messages is
  'Called after messages were read, hidden or muted. If the account gets no notifications for '
  'messages, only the badge has counted them and must be updated.';

create function private.read_notification(notification_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  update public.notifications set read_at = clock_timestamp()
  where notifications.id = read_notification.notification_id
    and notifications.account_id = caller_id and notifications.read_at is null;
  if found then
    perform private.announce_unread(caller_id);
  elsif not exists (
    select from public.notifications
    where notifications.id = read_notification.notification_id
      and notifications.account_id = caller_id
  ) then
    perform private.refuse(404, 'not_found');
  end if;
end
$$;

create function api.read_notification(notification_id uuid) returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('reads');
  perform private.read_notification(notification_id);
  return api.count_unread_notifications();
end
$$;
comment on function api.read_notification is
  'Marks a notification as read and returns the number of notifications that are still unread. 404 '
  'not_found.';

create function private.read_all_notifications() returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  -- A locked row is being updated for a newer event. It is skipped and stays unread.
  update public.notifications set read_at = clock_timestamp()
  where notifications.id in (
    select unread.id from public.notifications as unread
    where unread.account_id = caller_id and unread.read_at is null
    for no key update skip locked
  );
  if found then
    perform private.announce_unread(caller_id);
  end if;
end
$$;

create function api.read_all_notifications() returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('reads');
  perform private.read_all_notifications();
  return api.count_unread_notifications();
end
$$;
comment on function api.read_all_notifications is
  'Marks all notifications as read and returns the number of unread ones, which have arrived in '
  'the meantime.';

create function private.delete_notification(notification_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller();
  read_at timestamptz;
begin
  select notifications.read_at into read_at from public.notifications
  where notifications.id = delete_notification.notification_id
    and notifications.account_id = caller_id
  for update;
  if not found then
    perform private.refuse(404, 'not_found');
  end if;
  perform private.lock_devices(array[caller_id]); -- before rows of push_outbox (cascade)
  delete from public.notifications
  where notifications.id = delete_notification.notification_id;
  if read_at is null then
    perform private.announce_unread(caller_id);
  end if;
end
$$;

create function api.delete_notification(notification_id uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('reads');
  perform private.delete_notification(notification_id);
end
$$;
comment on function api.delete_notification is 'Deletes a notification. 404 not_found.';

grant execute on function
  private.read_notification, private.read_all_notifications, private.delete_notification
  to authenticated;
grant execute on function api.read_notification, api.read_all_notifications, api.delete_notification
  to authenticated;
