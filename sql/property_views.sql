-- Views of listings: one for each identity and day, added up by a job.

-- Without foreign keys: checking them would lock and so rewrite the listing at every view.
create table private.property_views (
  property_id uuid not null,
  identity_id uuid not null,
  day date not null default (now() at time zone 'Asia/Kuwait')::date,
  counted boolean not null default false,
  primary key (property_id, identity_id, day)
);
comment on table private.property_views is
  'Who looked at a listing on a day; kept for two days. Guests are not counted.';
comment on column private.property_views.property_id is 'What was looked at.';
comment on column private.property_views.identity_id is 'Who looked.';
comment on column private.property_views.day is 'The day in Kuwait.';
comment on column private.property_views.counted is 'Whether properties.views_count has it.';
create index property_views_uncounted_idx on private.property_views (property_id)
  where not counted;
create index property_views_day_idx on private.property_views (day);
alter table private.property_views enable row level security;
create policy "nobody but functions of their owner" on private.property_views using (false);

create function private.count_view(property_id uuid, identity_id uuid) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  insert into private.property_views (property_id, identity_id)
  values (count_view.property_id, count_view.identity_id)
  on conflict do nothing;
  if found then
    -- A view lost in a crash is no harm, so the reader need not wait for the disk.
    perform set_config('synchronous_commit', 'off', true);
  end if;
end
$$;
comment on function private.count_view is 'Counts a viewer of a listing once a day.';

create function private.fold_views() returns bigint
  language sql
  security definer -- writes counters of everybody's listings, for a job
  set search_path = ''
as $$
  -- Listings that somebody else is writing wait for the next time, so the job waits for nobody.
  with viewed as (
    select properties.id from public.properties
    where properties.id in (
      select property_views.property_id from private.property_views
      where not property_views.counted
      limit 5000
    )
    for no key update skip locked
  ), marked as (
    update private.property_views set counted = true
    from viewed
    where property_views.property_id = viewed.id and not property_views.counted
    returning property_views.property_id
  ), counts as (
    select marked.property_id, count(*) as views from marked group by marked.property_id
  ), folded as (
    update public.properties set views_count = properties.views_count + counts.views
    from counts
    where properties.id = counts.property_id
  ), gone as (
    delete from private.property_views
    where property_views.counted
      and property_views.day < (now() at time zone 'Asia/Kuwait')::date - 1
  )
  select count(*) from marked
$$;
comment on function private.fold_views is 'Job: adds new views to the listings, forgets old ones.';

revoke execute on all functions in schema private from public;
grant execute on function private.fold_views to backend;
