create function private.expire_listing(property_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  perform from public.properties
  where properties.id = expire_listing.property_id
    and properties.status = 'active' and properties.expires_at <= now()
    and not exists (
      select from public.identities
      where identities.id = properties.owner_identity_id and identities.stopped_at is not null
    )
  for no key update skip locked;
  if not found then
    return false;
  end if;
  update public.properties set status = 'expired', version = properties.version + 1
  where properties.id = expire_listing.property_id;
  return true;
end
$$;

create function private.expire_listings() returns bigint
  language sql security definer set search_path = ''
as $$
  -- Sorted by owner, because a trigger locks the organisation of each owner
  -- (03_accounts/2_rules_locks.sql).
  select private.for_each('expire_listing', array(
    select due.id::text
    from (
      select properties.id, properties.owner_identity_id from public.properties
      where properties.status = 'active' and properties.expires_at <= now()
        and not exists (
          select from public.identities
          where identities.id = properties.owner_identity_id and identities.stopped_at is not null
        )
        and not private.failed_recently('expire_listing', properties.id::text)
      order by properties.expires_at
      limit 1000
    ) as due
    order by due.owner_identity_id, due.id
  ))
$$;
comment on function private.expire_listings is
  'Job: expires active listings after expires_at, except those of owners whom an administrator '
  'stopped.';

create function private.move_to_area_point(property_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  perform from public.properties where properties.id = move_to_area_point.property_id
  for no key update skip locked;
  if not found then
    return false;
  end if;
  update public.properties
  set (shown_lat, shown_lng) = (
    select point.lat, point.lng
    from private.area_point(properties.area_id, properties.governorate_id) as point
  )
  where properties.id = move_to_area_point.property_id;
  return true;
end
$$;

create function private.move_area_points() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('move_to_area_point', array(
    select moved.id::text
    from public.areas
    cross join lateral private.area_point(areas.id, areas.governorate_id) as point
    -- For an area whose point has not changed, these are two index lookups that find no row.
    cross join lateral (
      (
        select properties.id from public.properties
        where coalesce(properties.location_precision, 'area') = 'area'
          and properties.area_id = areas.id
          and (properties.shown_lat, properties.shown_lng) < (point.lat, point.lng)
        limit 1000
      )
      union all
      (
        select properties.id from public.properties
        where coalesce(properties.location_precision, 'area') = 'area'
          and properties.area_id = areas.id
          and (properties.shown_lat, properties.shown_lng) > (point.lat, point.lng)
        limit 1000
      )
    ) as moved
    where not private.failed_recently('move_to_area_point', moved.id::text)
    limit 1000
  ))
$$;
comment on function private.move_area_points is
  'Job: moves listings that are shown at the point of their area after that point has changed.';

create function private.count_views_of(property_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  insert into private.property_counters (property_id)
  select properties.id from public.properties where properties.id = count_views_of.property_id
  on conflict do nothing;
  -- If the row is locked, the listing is left for the next run, so that the job does not wait.
  perform from private.property_counters
  where property_counters.property_id = count_views_of.property_id
  for no key update skip locked;
  if not found then
    return false;
  end if;
  with counted as (
    update private.property_views set counted = true
    where property_views.property_id = count_views_of.property_id and not property_views.counted
    returning property_views.day
  ), by_day as (
    insert into private.property_days as days (property_id, day, views)
    select count_views_of.property_id, counted.day, count(*) from counted group by counted.day
    on conflict on constraint property_days_pkey do update set views = days.views + excluded.views
  )
  update private.property_counters set views = property_counters.views + viewers.number
  from (select count(*) as number from counted) as viewers
  where property_counters.property_id = count_views_of.property_id and viewers.number > 0;
  return found;
end
$$;

create function private.count_views() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('count_views_of', array(
    select distinct property_views.property_id::text from private.property_views
    where not property_views.counted
      and not private.failed_recently('count_views_of', property_views.property_id::text)
    limit 1000
  ))
$$;
comment on function private.count_views is
  'Job: adds new views to the total and daily counts of listings.';

create function private.purge_views() returns bigint
  language sql security definer set search_path = ''
as $$
  with deleted as (
    delete from private.property_views where property_views.ctid = any (array(
      select property_views.ctid from private.property_views
      where property_views.day < (now() at time zone 'Asia/Kuwait')::date - 1
        and (property_views.counted
          or property_views.day < (now() at time zone 'Asia/Kuwait')::date - 7)
      order by property_views.day
      limit 1000
      for update skip locked
    ))
    returning 1
  )
  select count(*) from deleted
$$;
comment on function private.purge_views is
  'Job: deletes counted views after two days, and uncounted ones after a week.';

create function private.purge_property_days() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.property_days', 'day', '90 days')
$$;
comment on function private.purge_property_days is
  'Job: deletes the daily activity of listings after 90 days.';

create function private.purge_leads() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('public.leads', 'created_at', '1 year')
$$;
comment on function private.purge_leads is 'Job: deletes leads after a year.';

create function private.find_duplicates_of(property_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
#variable_conflict use_column -- "on conflict" does not accept qualified column names
declare
  property public.properties;
  pictures text[];
begin
  -- The rows are deleted first, so that a change made from now on queues the listing again.
  delete from private.duplicate_checks
  where duplicate_checks.property_id = find_duplicates_of.property_id;
  select * into property from public.properties
  where properties.id = find_duplicates_of.property_id and properties.listed
  for no key update;
  if property.id is null then
    return true;
  elsif private.repeats_suspended(property) then
    update public.properties set status = 'pending_review', version = properties.version + 1
    where properties.id = property.id;
  elsif private.setting('find_duplicates') = '"on"' then
    pictures := private.picture_hashes(property.id);
    -- properties_similar_idx finds listings with a similar price. Each copy is paired only with the
    -- original, because pairing a hundred copies with each other would create five thousand pairs.
    insert into public.duplicates (property_id, of_id)
    select later_id, earlier_id
    from (
      select
        case when is_later then property.id else others.id end as later_id,
        case when is_later then others.id else property.id end as earlier_id
      from public.properties as others
      cross join lateral (
        select (property.published_at, property.id) > (others.published_at, others.id) as is_later
      ) as compared
      where others.listed and others.id <> property.id
        and others.type = property.type and others.kind = property.kind
        and others.area_id = property.area_id
        and coalesce(others.price, -1) between coalesce(property.price * 0.98, -1)
          and coalesce(property.price / 0.98, -1)
        and pictures && private.picture_hashes(others.id)
        and private.repeats(others, property, true)
      order by others.published_at, others.id
      limit 1
    ) as pairs
    on conflict (least(property_id, of_id), greatest(property_id, of_id)) do update
    set state = 'open', property_id = excluded.property_id, of_id = excluded.of_id,
        created_at = excluded.created_at
    where duplicates.state in ('gone', 'in_review');
  end if;
  return true;
end
$$;

create function private.find_duplicates() returns bigint
  language sql security definer set search_path = ''
as $$
  -- Listings that are not listed can be removed: they are queued again when they become listed.
  delete from private.duplicate_checks where not exists (
    select from public.properties
    where properties.id = duplicate_checks.property_id and properties.listed
  );
  select private.for_each('find_duplicates_of', array(
    select distinct duplicate_checks.property_id::text from private.duplicate_checks
    where not private.failed_recently('find_duplicates_of', duplicate_checks.property_id::text)
    limit 100
  ))
$$;
comment on function private.find_duplicates is
  'Job: compares listings that became listed or were changed with other listings. A listing that '
  'repeats a suspended listing of the same account goes to review. A pair of listings with the '
  'same picture is queued for admins.';

create function private.purge_suspensions() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.suspensions', 'ended_at', '180 days')
$$;
comment on function private.purge_suspensions is
  'Job: deletes the copies of suspended listings 180 days after the suspension ended.';

create function private.purge_deleted_listings() returns bigint
  language plpgsql security definer set search_path = ''
as $$
declare
  gone bigint;
  ids constant uuid[] := array(
    select properties.id from public.properties
    where properties.status = 'deleted' and properties.deleted_at < now() - interval '90 days'
      -- A listing is kept while a report about it is open or its pictures still exist.
      and not exists (
        select from public.reports
        where reports.target_type = 'property' and reports.target_id = properties.id
          and reports.status = 'open'
      )
      and not exists (select from public.media where media.property_id = properties.id)
    order by properties.deleted_at
    limit 100
  );
begin
  -- Conversations are locked before listings (03_accounts/2_rules_locks.sql). Listings that are already
  -- deleted need no lock.
  perform from public.conversations where conversations.property_id = any (ids)
  order by conversations.id for no key update;
  update public.conversations set property_id = null where conversations.property_id = any (ids);
  with deleted as (
    delete from public.properties where properties.id = any (ids) returning 1
  )
  select count(*) into gone from deleted;
  return gone;
end
$$;
comment on function private.purge_deleted_listings is
  'Job: deletes the rows of listings 90 days after the listings were deleted.';

grant execute on function
  private.expire_listings, private.move_area_points, private.count_views, private.purge_views,
  private.purge_property_days, private.purge_leads, private.purge_deleted_listings,
  private.find_duplicates, private.purge_suspensions
  to backend;
