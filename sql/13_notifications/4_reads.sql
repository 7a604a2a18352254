-- Notifications as their account lists, reads and deletes them, and how they are forgotten.

create function private.list_notifications(
  unread boolean, page_cursor text, page_size integer
) returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- asks for the caller first; helpers of pages are closed to clients
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
  size integer := private.page_size(page_size);
  query text := concat_ws(' ', 'list_notifications', unread, caller_id);
  key jsonb := private.cursor_key(query, page_cursor);
  before_at timestamptz := coalesce(key ->> 0, 'infinity');
  before_id uuid := coalesce(key ->> 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return query
  with page as materialized (
    (
      select notifications as notification, notifications.created_at, notifications.id
      from public.notifications
      where unread and notifications.account_id = caller_id and notifications.read_at is null
        and (notifications.created_at, notifications.id) < (before_at, before_id)
      order by notifications.created_at desc, notifications.id desc
      limit size + 1
    ) union all (
      select notifications as notification, notifications.created_at, notifications.id
      from public.notifications
      where unread is not true and notifications.account_id = caller_id
        and (unread is null or notifications.read_at is not null)
        and (notifications.created_at, notifications.id) < (before_at, before_id)
      order by notifications.created_at desc, notifications.id desc
      limit size + 1
    )
  ), placed as (
    select page.*,
      row_number() over (order by page.created_at desc, page.id desc) as place
    from page
  )
  select
    coalesce(
      json_agg(private.notification_record(placed.notification) order by placed.place)
        filter (where placed.place <= size),
      '[]'),
    case when count(*) > size then (
      select private.cursor_of(query, jsonb_build_array(last_one.created_at, last_one.id))
      from placed as last_one where last_one.place = size
    ) end
  from placed;
end
$$;
comment on function private.list_notifications is
  'A page of notifications; see api.list_notifications.';

create function api.list_notifications(
  unread boolean default null, page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select mine.items, mine."nextCursor"
  from private.list_notifications(unread, page_cursor, page_size) as mine;
end
$$;
comment on function api.list_notifications is
  'The caller''s notifications, newest first; unread true gives those alone, false the read ones.';

create function api.count_unread_notifications() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  return json_build_object('unread', (
    select count(*) from public.notifications
    where notifications.account_id = caller_id and notifications.read_at is null
  ));
end
$$;
comment on function api.count_unread_notifications is 'How many are unread: for a badge.';

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
comment on function private.read_notification is 'Marks an own notification; 404 not_found.';

create function api.read_notification(notification_id uuid) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.read_notification(notification_id);
  return api.count_unread_notifications();
end
$$;
comment on function api.read_notification is
  'It has been read; answers how many are not. 404 not_found.';

create function private.read_all_notifications() returns void
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  -- What is being written in this moment is newer than this request: it stays, and nobody waits.
  update public.notifications set read_at = clock_timestamp()
  where notifications.id in (
    select unread.id from public.notifications as unread
    where unread.account_id = caller_id and unread.read_at is null
    for no key update skip locked
  );
end
$$;
comment on function private.read_all_notifications is 'Marks all of the caller''s.';

create function api.read_all_notifications() returns json
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.read_all_notifications();
  return api.count_unread_notifications();
end
$$;
comment on function api.read_all_notifications is
  'All that are there have been read; answers how many came meanwhile.';

create function private.delete_notification(notification_id uuid) returns void
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  delete from public.notifications
  where notifications.id = delete_notification.notification_id
    and notifications.account_id = caller_id;
  if not found then
    perform private.refuse(404, 'not_found');
  end if;
end
$$;
comment on function private.delete_notification is 'Deletes an own notification; 404 not_found.';

create function api.delete_notification(notification_id uuid) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.delete_notification(notification_id);
end
$$;
comment on function api.delete_notification is 'Takes it from the list for good. 404 not_found.';

create function private.sweep_notifications() returns bigint
  language sql
  security definer -- deletes everybody's old rows, for a job
  set search_path = ''
as $$
  select private.sweep('public.notifications', 'created_at', '180 days')
$$;
comment on function private.sweep_notifications is 'Job: forgets notifications after 180 days.';

revoke execute on all functions in schema private, api from public;
grant execute on function
  private.list_notifications, private.read_notification, private.read_all_notifications,
  private.delete_notification
  to authenticated;
grant execute on function
  api.list_notifications, api.count_unread_notifications, api.read_notification,
  api.read_all_notifications, api.delete_notification
  to authenticated;
grant execute on function private.sweep_notifications to backend;
