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

create function private.fold_views_of(property_id uuid) returns boolean
  language plpgsql
  set search_path = ''
as $$
declare
  views bigint;
begin
  -- A listing that somebody else is writing waits for the next time, so the job waits for nobody.
  perform from public.properties where properties.id = fold_views_of.property_id
  for no key update skip locked;
  if not found then
    return false;
  end if;
  update private.property_views set counted = true
  where property_views.property_id = fold_views_of.property_id and not property_views.counted;
  get diagnostics views = row_count;
  update public.properties set views_count = properties.views_count + views
  where properties.id = fold_views_of.property_id and views > 0;
  return found;
end
$$;
comment on function private.fold_views_of is 'Adds new views to the count of a listing.';

create function private.fold_views() returns bigint
  language sql
  security definer -- writes counters of everybody's listings, for a job
  set search_path = ''
as $$
  select private.for_each('fold_views_of', array(
    select distinct property_views.property_id::text from private.property_views
    where not property_views.counted
      and not private.rests('fold_views_of', property_views.property_id::text)
    limit 1000
  ))
$$;
comment on function private.fold_views is 'Job: adds new views to the listings.';

create function private.sweep_views() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  with gone as (
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
  select count(*) from gone
$$;
comment on function private.sweep_views is
  'Job: forgets who looked at what two days ago, also what could not be counted for a week.';

revoke execute on all functions in schema private from public;
grant execute on function private.fold_views, private.sweep_views to backend;
