-- Scheduled work: expiring listings, adding up views.

create function private.expire_listing(property_id uuid) returns boolean
  language plpgsql
  set search_path = ''
as $$
begin
  perform from public.properties
  where properties.id = expire_listing.property_id
    and properties.status = 'active' and properties.expires_at <= now()
  for no key update skip locked;
  if not found then
    return false;
  end if;
  update public.properties set status = 'expired', version = properties.version + 1
  where properties.id = expire_listing.property_id;
  return true;
end
$$;
comment on function private.expire_listing is
  'Expires a listing whose time is over, unless somebody is writing it.';

create function private.expire_listings() returns bigint
  language sql
  security definer -- writes everybody's listings, for a job
  set search_path = ''
as $$
  -- Locked listings are left out. The pages of their owners are locked by a trigger, in the order
  -- of 03_accounts/2_rules_locks.sql.
  select private.for_each('expire_listing', array(
    select due.id::text
    from (
      select properties.id, properties.owner_identity_id from public.properties
      where properties.status = 'active' and properties.expires_at <= now()
        and not private.failed_recently('expire_listing', properties.id::text)
      order by properties.expires_at
      limit 1000
    ) as due
    order by due.owner_identity_id, due.id
  ))
$$;
comment on function private.expire_listings is 'Job: expires listings whose time is over.';

create function private.count_views_of(property_id uuid) returns boolean
  language plpgsql
  set search_path = ''
as $$
declare
  viewers bigint;
begin
  insert into private.property_counters (property_id)
  select properties.id from public.properties where properties.id = count_views_of.property_id
  on conflict do nothing;
  -- What somebody has locked is left to the next run: the job waits for nobody.
  perform from private.property_counters
  where property_counters.property_id = count_views_of.property_id
  for no key update skip locked;
  if not found then
    return false;
  end if;
  update private.property_views set counted = true
  where property_views.property_id = count_views_of.property_id and not property_views.counted;
  get diagnostics viewers = row_count;
  update private.property_counters set views = property_counters.views + viewers
  where property_counters.property_id = count_views_of.property_id and viewers > 0;
  return found;
end
$$;
comment on function private.count_views_of is 'Adds the new views of a listing to its count.';

create function private.count_views() returns bigint
  language sql
  security definer -- writes counters of everybody's listings, for a job
  set search_path = ''
as $$
  select private.for_each('count_views_of', array(
    select distinct property_views.property_id::text from private.property_views
    where not property_views.counted
      and not private.failed_recently('count_views_of', property_views.property_id::text)
    limit 1000
  ))
$$;
comment on function private.count_views is 'Job: adds new views to the counts of listings.';

create function private.purge_views() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
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
  'Job: deletes views older than two days; those that could not be counted, after a week.';

create function private.purge_leads() returns bigint
  language sql
  security definer -- deletes everybody's old rows, for a job
  set search_path = ''
as $$
  select private.purge('public.leads', 'created_at', '1 year')
$$;
comment on function private.purge_leads is 'Job: deletes leads after a year.';

create function private.purge_deleted_listings() returns bigint
  language plpgsql
  security definer -- deletes rows of everybody, for a job
  set search_path = ''
as $$
declare
  gone bigint;
  ids constant uuid[] := array(
    select properties.id from public.properties
    where properties.status = 'deleted' and properties.deleted_at < now() - interval '90 days'
      -- Whoever decides about it still wants to see it, and its pictures go first.
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
  -- Conversations before listings (03_accounts/2_rules_locks.sql). A deleted listing does not come
  -- back, so what was chosen without a lock still holds.
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
  'Job: deletes the rows of listings that were deleted 90 days ago, and all that was kept of them.';

grant execute on function
  private.expire_listings, private.count_views, private.purge_views, private.purge_leads,
  private.purge_deleted_listings
  to backend;
