-- What an account does with its notifications: reads and deletes them.

create function private.read_notification(notification_id uuid) returns void
  language plpgsql
  security definer -- clients have no write grant
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
comment on function private.read_notification is
  'Marks a notification of the caller as read; 404 not_found.';

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
  'Marks a notification as read; answers how many are unread. 404 not_found.';

create function private.read_all_notifications() returns void
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  -- What is being written at this moment is newer than this request: it stays unread, and nobody
  -- waits.
  update public.notifications set read_at = clock_timestamp()
  where notifications.id in (
    select unread.id from public.notifications as unread
    where unread.account_id = caller_id and unread.read_at is null
    for no key update skip locked
  );
end
$$;
comment on function private.read_all_notifications is
  'Marks all notifications of the caller as read.';

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
  'Marks all notifications as read; answers how many came meanwhile.';

create function private.delete_notification(notification_id uuid) returns void
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller(); -- whose devices lose what waits for them
begin
  delete from public.notifications
  where notifications.id = delete_notification.notification_id
    and notifications.account_id = caller_id;
  if not found then
    perform private.refuse(404, 'not_found');
  end if;
end
$$;
comment on function private.delete_notification is
  'Deletes a notification of the caller; 404 not_found.';

create function api.delete_notification(notification_id uuid) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.count_action('reads');
  perform private.delete_notification(notification_id);
end
$$;
comment on function api.delete_notification is
  'Deletes a notification from the list. 404 not_found.';

grant execute on function
  private.read_notification, private.read_all_notifications, private.delete_notification
  to authenticated;
grant execute on function api.read_notification, api.read_all_notifications, api.delete_notification
  to authenticated;
