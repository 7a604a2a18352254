create function private.list_notifications(
  unread boolean default null, page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
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
  ), numbered as (
    select page.*,
      row_number() over (order by page.created_at desc, page.id desc) as row_number
    from page
  )
  select
    coalesce(
      json_agg(private.notification_record(numbered.notification) order by numbered.row_number)
        filter (where numbered.row_number <= size),
      '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(numbered.created_at, numbered.id) order by numbered.row_number)
        filter (where numbered.row_number >= size))
  from numbered;
end
$$;
comment on function private.list_notifications is
  'Api: The caller''s notifications, newest first. If unread is true, only unread ones; if it is '
  'false, only read ones.';

create function private.count_unread(account_id uuid) returns bigint
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select count(*) from public.notifications
    where notifications.account_id = count_unread.account_id and notifications.read_at is null
  );
end
$$;

create function api.count_unread_notifications() returns json
  language plpgsql stable set search_path = ''
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
comment on function api.count_unread_notifications is
  'Returns the number of unread notifications, which apps show as a badge.';

create function api.list_devices() returns table (items json, "nextCursor" text)
  language plpgsql stable set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  return query
  select
    coalesce(json_agg(private.device_record(devices)
      order by devices.updated_at desc, devices.device_id), '[]'),
    null::text
  from public.devices
  where devices.account_id = caller_id;
end
$$;
comment on function api.list_devices is
  'The caller''s devices, the most recently registered first.';

grant execute on function private.list_notifications to authenticated;
grant execute on function api.count_unread_notifications, api.list_devices to authenticated;
