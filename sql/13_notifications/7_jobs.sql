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
  'Job: warns the owner of a listing once, seven days before it expires. From then on the owner '
  'can renew it.';

create function private.licence_warning(licence_expires_on date) returns integer
  language plpgsql stable set search_path = ''
as $$
declare
  days constant integer := licence_expires_on - (now() at time zone 'Asia/Kuwait')::date;
begin
  return case when days between 8 and 30 then 30 when days between 1 and 7 then 7
    when days = 0 then 0 end;
end
$$;
comment on function private.licence_warning is 'The warning that is due (30, 7 or 0 days), or null.';

create function private.warn_expiring_licence(identity_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  licence record;
begin
  select identities.account_id, identities.display_name, organisations.licence_expires_on,
    private.licence_warning(organisations.licence_expires_on) as due
  into licence
  from public.organisations
  join public.identities on identities.id = organisations.identity_id
  where organisations.identity_id = warn_expiring_licence.identity_id and organisations.active;
  if licence.due is null then
    return false;
  end if;
  insert into private.licence_warnings as before (identity_id, licence_expires_on, days)
  values (warn_expiring_licence.identity_id, licence.licence_expires_on, licence.due)
  on conflict on constraint licence_warnings_pkey
    do update set licence_expires_on = excluded.licence_expires_on, days = excluded.days
    where before.licence_expires_on <> excluded.licence_expires_on or before.days > excluded.days;
  if not found then
    return false; -- another run of the job has written the warning
  end if;
  perform private.notify(licence.account_id, identity_id, 'licence_expiring', identity_id,
    jsonb_build_object('at', clock_timestamp(), 'name', licence.display_name, 'days',
      licence.licence_expires_on - (now() at time zone 'Asia/Kuwait')::date));
  return true;
end
$$;

create function private.warn_expiring_licences() returns bigint
  language sql
  security definer -- reads everybody's organisations
  set search_path = ''
as $$
  select private.for_each('warn_expiring_licence', array(
    select organisations.identity_id::text from public.organisations
    join public.identities on identities.id = organisations.identity_id
    where organisations.active
      and organisations.licence_expires_on >= (now() at time zone 'Asia/Kuwait')::date
      and organisations.licence_expires_on <= (now() at time zone 'Asia/Kuwait')::date + 30
      -- If the owner has already sent a new date, an admin has to approve it.
      and coalesce(identities.pending_changes ? 'licenceExpiresOn', false) = false
      and not exists (
        select from private.licence_warnings
        where licence_warnings.identity_id = organisations.identity_id
          and licence_warnings.licence_expires_on = organisations.licence_expires_on
          and licence_warnings.days <= private.licence_warning(organisations.licence_expires_on)
      )
      and not private.failed_recently('warn_expiring_licence', organisations.identity_id::text)
    order by organisations.licence_expires_on
    limit 500
  ))
$$;
comment on function private.warn_expiring_licences is
  'Job: warns companies and offices 30 and 7 days before their licence expires, and on its last '
  'day.';

create function private.purge_notifications() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('public.notifications', 'created_at', '180 days')
    + private.purge('private.expiry_warnings', 'expires_at', '1 day')
$$;
comment on function private.purge_notifications is
  'Job: deletes notifications after 180 days, and expiry warnings a day after the expiry.';

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
        -- Ids increase with time, so the oldest events have the lowest ids.
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
  private.warn_expiring_listings, private.warn_expiring_licences, private.purge_notifications,
  private.purge_notification_events
  to backend;
