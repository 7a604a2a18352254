-- Feed: what was published, newest first, in numbered pages, and every eighth slot an office.
--
-- A page number means the same listings for as long as its snapshot lives, whatever is published,
-- sold or deleted meanwhile. So slots are counted over what was published at or before the snapshot
-- and never over what can be seen now: a slot whose listing has gone stays empty.

-- Two short tables of their own, because counting over properties costs 30 times as much: its rows
-- are wide and change all day.
create table private.publications (
  property_id uuid primary key,
  type text not null,
  published_at timestamptz not null
);
comment on table private.publications is
  'Every listing ever published. Rows stay when listings go, so that no slot moves up.';
comment on column private.publications.property_id is 'Which listing; the row outlives it.';
comment on column private.publications.type is 'SALE, RENT or EXCHANGE.';
comment on column private.publications.published_at is 'First publishing.';
create index publications_newest_idx
  on private.publications (published_at desc, property_id desc);
create index publications_type_newest_idx
  on private.publications (type, published_at desc, property_id desc);

create table private.office_ranks (
  identity_id uuid not null,
  rating numeric(3, 2),
  since timestamptz not null,
  until timestamptz not null default 'infinity',
  constraint office_ranks_time_is_forward check (until >= since)
);
comment on table private.office_ranks is
  'Verified offices and their ratings as they were at every moment of the last hours.';
comment on column private.office_ranks.identity_id is 'Which office; the row outlives it.';
comment on column private.office_ranks.rating is 'Its average rating then; null is unrated.';
comment on column private.office_ranks.since is 'From when it was verified with this rating.';
comment on column private.office_ranks.until is 'Until when; infinity is now.';
create unique index office_ranks_one_open_key on private.office_ranks (identity_id)
  where until = 'infinity';
create index office_ranks_until_idx on private.office_ranks (until, since);

alter table private.publications enable row level security;
alter table private.office_ranks enable row level security;
create policy "nobody but functions of their owner" on private.publications using (false);
create policy "nobody but functions of their owner" on private.office_ranks using (false);

-- What is on its way ------------------------------------------------------------------------------

-- A transaction may publish at 11:59:59.99 and commit at 12:00:00.01. Whoever read the noon snapshot
-- in between would find one slot more on the next page. So publishing holds a shared lock until it
-- commits and takes its time after getting it, and the first readers of a snapshot wait for those
-- that hold it. Publishers never wait for one another.
create function private.publishing_time() returns timestamptz
  language plpgsql
  set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('publishing', 2));
  return clock_timestamp();
end
$$;
comment on function private.publishing_time is
  'Now, in such a way that no snapshot of the feed misses what is published at this time.';

create function private.feed_snapshot(asked timestamptz) returns timestamptz
  language plpgsql
  set search_path = ''
as $$
declare
  snapshot timestamptz := coalesce(
    asked, date_bin('5 minutes', now(), timestamptz '2000-01-01 00:00:00+00'));
begin
  if snapshot > now() or snapshot < now() - interval '6 hours' then
    perform private.refuse(422, 'cursor_invalid',
      '{"fields":[{"path":"snapshot","code":"cursor_invalid"}]}');
  end if;
  -- No call takes that long, so an older snapshot has nobody to wait for.
  if snapshot > now() - interval '15 seconds' then
    perform pg_advisory_lock(hashtextextended('publishing', 2));
    perform pg_advisory_unlock(hashtextextended('publishing', 2));
  end if;
  return snapshot;
end
$$;
comment on function private.feed_snapshot is
  'The moment whose feed is read: as asked, else now rounded down to 5 minutes. It lives 6 hours, '
  'then 422 cursor_invalid.';

-- Written by triggers ----------------------------------------------------------------------------

create function private.time_publication() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if new.published_at = now() then
    new.published_at := private.publishing_time();
  end if;
  return new;
end
$$;
comment on function private.time_publication is
  'Gives a first publishing its exact time. One that is written as of another day keeps that.';

create function private.keep_publication() returns trigger
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  insert into private.publications (property_id, type, published_at)
  values (new.id, new.type, new.published_at)
  on conflict (property_id) do update
  set type = excluded.type, published_at = excluded.published_at;
  return null;
end
$$;
comment on function private.keep_publication is 'Notes a publishing for the feed.';

create trigger properties_publishing_is_timed_at_birth
  before insert on public.properties
  for each row when (new.published_at is not null)
  execute function private.time_publication();
create trigger properties_publishing_is_timed
  before update on public.properties
  for each row when (old.published_at is null and new.published_at is not null)
  execute function private.time_publication();
create trigger properties_publishing_is_kept_at_birth
  after insert on public.properties
  for each row when (new.published_at is not null)
  execute function private.keep_publication();
create trigger properties_publishing_is_kept
  after update on public.properties
  for each row when (
    new.published_at is not null
    and (new.published_at, new.type) is distinct from (old.published_at, old.type)
  )
  execute function private.keep_publication();

create function private.keep_office_rank() returns trigger
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  at timestamptz := case when tg_op = 'INSERT' then new.created_at else private.publishing_time() end;
begin
  update private.office_ranks set until = at
  where office_ranks.identity_id = new.identity_id and office_ranks.until = 'infinity';

  insert into private.office_ranks (identity_id, rating, since)
  select identities.id, new.rating_avg, at from public.identities
  where identities.id = new.identity_id and identities.type = 'office' and new.verified;
  return null;
end
$$;
comment on function private.keep_office_rank is 'Notes which offices are verified, and their rating.';

create trigger organisations_rank_is_kept_at_birth
  after insert on public.organisations
  for each row when (new.verified) execute function private.keep_office_rank();
create trigger organisations_rank_is_kept
  after update on public.organisations
  for each row when (
    (new.verified, new.rating_avg) is distinct from (old.verified, old.rating_avg)
  )
  execute function private.keep_office_rank();

create function private.sweep_office_ranks() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  with gone as (
    delete from private.office_ranks where office_ranks.until < now() - interval '7 hours'
    returning 1
  )
  select count(*) from gone
$$;
comment on function private.sweep_office_ranks is 'Job: forgets ranks that no living snapshot needs.';

-- Pages ------------------------------------------------------------------------------------------

create function private.published(
  listing_type text, at timestamptz, skip integer, take integer
) returns uuid[]
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if listing_type is null then
    return array(
      select publications.property_id from private.publications
      where publications.published_at <= at
      order by publications.published_at desc, publications.property_id desc
      offset skip limit take
    );
  end if;
  return array(
    select publications.property_id from private.publications
    where publications.type = listing_type and publications.published_at <= at
    order by publications.published_at desc, publications.property_id desc
    offset skip limit take
  );
end
$$;
comment on function private.published is
  'The listings in a stretch of slots, newest first, whatever became of them.';

-- plpgsql keeps its plan for the session, where a function in SQL is planned again at every call.
create function private.feed_items(
  property_ids uuid[], property_slots integer[], office_ids uuid[], office_slots integer[]
) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  items json;
begin
  with shown_properties as materialized (
    select properties.id, slots.slot
    from unnest(property_ids, property_slots) as slots (property_id, slot)
    join public.properties on properties.id = slots.property_id
    where properties.listed
  ), shown_offices as materialized (
    select identities.id, slots.slot
    from unnest(office_ids, office_slots) as slots (identity_id, slot)
    join public.identities on identities.id = slots.identity_id and identities.status = 'active'
    join public.accounts
      on accounts.id = identities.account_id and accounts.status in ('active', 'deletion_requested')
    join public.organisations
      on organisations.identity_id = identities.id and organisations.verified
  ), slots as (
    -- What an item is stands in kind, so the listing's own kind gets another name: the first "kind"
    -- of the text, since id, refNo and type alone come before it. As jsonb it would take 1 ms more.
    select
      shown_properties.slot,
      regexp_replace(
        records.record::text, '"kind":', '"kind":"property","propertyKind":')::json as item
    from private.property_records(
      array(select shown_properties.id from shown_properties),
      (select private.identity_id())
    ) as records
    join shown_properties on shown_properties.id = records.id
    union all
    select shown_offices.slot, ('{"kind":"office",' || substr(records.record::text, 2))::json
    from private.organisation_records(array(select shown_offices.id from shown_offices)) as records
    join shown_offices on shown_offices.id = records.id
  )
  select coalesce(json_agg(slots.item order by slots.slot), '[]') into items from slots;
  return items;
end
$$;
comment on function private.feed_items is 'What can be seen now in these slots, in their order.';

create function private.list_feed(
  filter text, page integer, page_size integer, snapshot timestamptz
) returns json
  language plpgsql
  security definer -- reads listings of others; shows what is listed only
  set search_path = ''
as $$
declare
  at timestamptz := private.feed_snapshot(snapshot);
  listing_type text := case when filter <> 'all' then upper(filter) end;
  first integer := (page - 1) * page_size + 1;
  last integer := page * page_size;
  offices uuid[] := '{}';
  earlier integer; -- offices before this page
  seen integer; -- offices up to its end
  skip integer; -- listings before this page
  take integer; -- listings on it
  listings uuid[];
begin
  if listing_type is null then
    offices := array(
      select office_ranks.identity_id from private.office_ranks
      where office_ranks.since <= at and office_ranks.until > at
      order by office_ranks.rating desc nulls last, office_ranks.identity_id
    );
  end if;
  earlier := least((first - 1) / 8, cardinality(offices));
  seen := least(last / 8, cardinality(offices));
  skip := first - 1 - earlier;
  take := last - first + 1 - (seen - earlier);
  listings := private.published(listing_type, at, skip, take + 1);

  return json_build_object(
    'items', private.feed_items(
      listings[:take],
      array(
        select nth + least((nth - 1) / 7, cardinality(offices))
        from generate_series(skip + 1, skip + take) as nth
      ),
      offices[earlier + 1:seen],
      array(select 8 * nth from generate_series(earlier + 1, seen) as nth)
    ),
    'page', page,
    'hasMore', page < 500 and (cardinality(listings) > take or 8 * cardinality(offices) > last),
    'snapshot', (to_json(at at time zone 'UTC') #>> '{}') || 'Z'
  );
end
$$;
comment on function private.list_feed is 'A page of the feed; see api.list_feed.';

create function api.list_feed(
  filter text default 'all',
  page integer default 1,
  page_size integer default 20,
  snapshot timestamptz default null
) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  if filter is null or filter not in ('all', 'sale', 'rent', 'exchange') then
    perform private.refuse(422, 'feed_filter_unknown',
      '{"fields":[{"path":"filter","code":"feed_filter_unknown"}]}');
  elsif page is null or page not between 1 and 500 then
    perform private.refuse(422, 'validation_failed', '{"fields":[{"path":"page","code":"invalid"}]}');
  elsif page_size is null or page_size not between 1 and 50 then
    perform private.refuse(422, 'validation_failed', '{"fields":[{"path":"limit","code":"invalid"}]}');
  end if;
  return private.list_feed(filter, page, page_size, snapshot);
end
$$;
comment on function api.list_feed is
  'A numbered page of what was published at or before the snapshot: filter all, sale, rent or '
  'exchange. On all, every eighth slot is a verified office, by rating. 422 feed_filter_unknown, '
  'cursor_invalid for a snapshot that is over or to come.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.list_feed to anon, authenticated;
grant execute on function private.sweep_office_ranks to backend;
grant execute on function api.list_feed to anon, authenticated;
