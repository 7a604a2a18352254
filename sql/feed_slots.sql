-- What the feed counts its slots over: publishings and ranks of offices as they were at a moment.
--
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
  id bigint generated always as identity primary key,
  identity_id uuid not null,
  rating numeric(3, 2),
  since timestamptz not null,
  until timestamptz not null default 'infinity',
  constraint office_ranks_time_is_forward check (until >= since)
);
comment on table private.office_ranks is
  'Verified offices and their ratings as they were at every moment of the last hours.';
comment on column private.office_ranks.id is 'Its id.';
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

revoke execute on all functions in schema private from public;
grant execute on function private.sweep_office_ranks to backend;
