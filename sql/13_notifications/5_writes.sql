create function private.read_notification(notification_id uuid) returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  update public.notifications set read_at = coalesce(notifications.read_at, clock_timestamp())
  where notifications.id = read_notification.notification_id
    and notifications.account_id = caller_id;
  if not found then
    perform private.refuse(404, 'not_found');
  end if;
end
$$;

create function api.read_notification(notification_id uuid) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.count_action('reads');
  perform private.read_notification(notification_id);
  return api.count_unread_notifications();
end
$$;
comment on function api.read_notification is
  'Marks a notification as read; returns the number of unread ones. 404 not_found.';

create function private.read_all_notifications() returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  -- Locked rows are being updated for newer events, so they are skipped and stay unread.
  update public.notifications set read_at = clock_timestamp()
  where notifications.id in (
    select unread.id from public.notifications as unread
    where unread.account_id = caller_id and unread.read_at is null
    for no key update skip locked
  );
end
$$;

create function api.read_all_notifications() returns json
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.count_action('reads');
  perform private.read_all_notifications();
  return api.count_unread_notifications();
end
$$;
comment on function api.read_all_notifications is
  'Marks all notifications as read; returns the number of unread ones that arrived meanwhile.';

create function private.delete_notification(notification_id uuid) returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller(); -- locked before push_outbox, where the delete cascades
begin
  delete from public.notifications
  where notifications.id = delete_notification.notification_id
    and notifications.account_id = caller_id;
  if not found then
    perform private.refuse(404, 'not_found');
  end if;
end
$$;

create function api.delete_notification(notification_id uuid) returns void
  language plpgsql
  set search_path = ''
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
