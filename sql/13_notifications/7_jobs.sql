create function private.warn_expiring_listing(property_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  property public.properties;
begin
  select * into property from public.properties
  where properties.id = warn_expiring_listing.property_id;
  insert into private.expiry_warnings as before (property_id, expires_at)
  values (property.id, property.expires_at)
  on conflict on constraint expiry_warnings_pkey
    do update set expires_at = excluded.expires_at
    where before.expires_at <> excluded.expires_at;
  if not found then
    return false; -- another run of the job has written the warning
  end if;
  perform private.notify_listing_owner(property, 'listing_expiring', jsonb_build_object(
    'at', clock_timestamp(),
    'days', ceil(extract(epoch from property.expires_at - now()) / 86400)::integer));
  return true;
end
$$;

create function private.warn_expiring_listings() returns bigint
  language sql
  security definer -- reads everybody's listings
  set search_path = ''
as $$
  select private.for_each('warn_expiring_listing', array(
    select properties.id::text from public.properties
    where properties.status = 'active' and properties.listed
      and properties.expires_at > now() and properties.expires_at <= now() + interval '7 days'
      and not exists (
        select from private.expiry_warnings
        where expiry_warnings.property_id = properties.id
          and expiry_warnings.expires_at = properties.expires_at
      )
      and not private.failed_recently('warn_expiring_listing', properties.id::text)
    order by properties.expires_at
    limit 500
  ))
$$;
comment on function private.warn_expiring_listings is
  'Job: warns the owner of a listing once, seven days before it expires, when renewing begins.';

create function private.purge_notifications() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('public.notifications', 'created_at', '180 days')
    + private.purge('private.expiry_warnings', 'expires_at', '1 day')
$$;
comment on function private.purge_notifications is
  'Job: deletes notifications after 180 days, and warnings a day after the expiry.';

create function private.purge_notification_events() returns bigint
  language sql security definer set search_path = ''
as $$
  with gone as (
    delete from private.notification_events where notification_events.ctid = any (array(
      select notification_events.ctid from private.notification_events
      where notification_events.id in (
        select done.id from private.notification_events as done
        where done.notified_at < now() - interval '1 day'
        order by done.notified_at
        limit 1000
      )
        -- Ids grow with time, so old events have the lowest ids.
        or notification_events.created_at < now() - interval '2 days'
          and notification_events.id in (
            select first.id from private.notification_events as first order by first.id limit 1000
          )
      for update skip locked
    ))
    returning 1
  )
  select count(*) from gone
$$;
comment on function private.purge_notification_events is
  'Job: deletes events a day after everybody was notified, and unfinished ones after two days.';

grant execute on function
  private.warn_expiring_listings, private.purge_notifications, private.purge_notification_events
  to backend;
