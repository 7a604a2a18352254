-- Jobs: owners whose listing is about to expire are notified, what is old is forgotten.

create function private.warn_expiring_listing(property_id uuid) returns boolean
  language plpgsql
  set search_path = ''
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
    return false; -- another run of the job was faster
  end if;
  perform private.tell_listing_owner(property, 'listing_expiring', jsonb_build_object(
    'days', ceil(extract(epoch from property.expires_at - now()) / 86400)::integer));
  return true;
end
$$;
comment on function private.warn_expiring_listing is 'Tells an owner once that a listing ends.';

create function private.warn_expiring_listings() returns bigint
  language sql
  security definer -- tells owners, for a job
  set search_path = ''
as $$
  select private.for_each('warn_expiring_listing', array(
    select properties.id::text from public.properties
    where properties.status = 'active'
      and properties.expires_at > now() and properties.expires_at <= now() + interval '3 days'
      and not exists (
        select from private.expiry_warnings
        where expiry_warnings.property_id = properties.id
          and expiry_warnings.expires_at = properties.expires_at
      )
      and not private.rests('warn_expiring_listing', properties.id::text)
    order by properties.expires_at
    limit 500
  ))
$$;
comment on function private.warn_expiring_listings is
  'Job: tells owners once that a listing ends within three days.';

create function private.sweep_notifications() returns bigint
  language sql
  security definer -- deletes everybody's old rows, for a job
  set search_path = ''
as $$
  select private.sweep('public.notifications', 'created_at', '180 days')
$$;
comment on function private.sweep_notifications is 'Job: forgets notifications after 180 days.';

create function private.sweep_news() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  with gone as (
    delete from private.news where news.ctid = any (array(
      select news.ctid from private.news
      where news.id in (
        select told.id from private.news as told
        where told.told_at < now() - interval '1 day'
        order by told.told_at
        limit 1000
      )
        -- They are numbered as they come, so what is too old is among the first.
        or news.created_at < now() - interval '2 days'
          and news.id in (select first.id from private.news as first order by first.id limit 1000)
      for update skip locked
    ))
    returning 1
  )
  select count(*) from gone
$$;
comment on function private.sweep_news is
  'Job: forgets what was told a day ago, and what could not be told for two.';

grant execute on function
  private.warn_expiring_listings, private.sweep_notifications, private.sweep_news
  to backend;
