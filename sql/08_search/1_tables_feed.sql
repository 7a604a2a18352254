-- What the feed counts its slots over: which listings, and which offices, were listed when.
--
-- Two narrow tables of their own, because counting over properties costs 30 times as much: its rows
-- are wide and change all day. A row is open (until infinity) while its listing is listed, and swept
-- 7 hours after it ended, when no snapshot lives that knew it; so what went takes no place for long,
-- however much of it there was.
create table private.publications (
  property_id uuid not null,
  type text not null,
  published_at timestamptz not null,
  since timestamptz not null default '-infinity',
  until timestamptz not null default 'infinity',
  constraint publications_time_is_forward check (until >= since),
  primary key (property_id, until) -- so one is open
);
comment on table private.publications is
  'From when to when each listing was listed: open ones, and those that ended in the last hours.';
comment on column private.publications.property_id is 'Which listing; the row outlives it.';
comment on column private.publications.type is 'SALE, RENT or EXCHANGE.';
comment on column private.publications.published_at is
  'First publishing: its place, also when it comes back.';
comment on column private.publications.since is
  'From when it was listed; -infinity where nobody noted it.';
comment on column private.publications.until is 'Until when; infinity is now.';
-- What is listed is walked in order; what ended is little, and found by when.
create index publications_newest_idx
  on private.publications (published_at desc, property_id desc) include (since)
  where until = 'infinity';
create index publications_type_newest_idx
  on private.publications (type, published_at desc, property_id desc) include (since)
  where until = 'infinity';
create index publications_ended_idx
  on private.publications (until) include (since, type, published_at, property_id)
  where until < 'infinity';

create table private.office_ranks (
  id bigint generated always as identity primary key,
  identity_id uuid not null,
  rating numeric(3, 2),
  since timestamptz not null,
  until timestamptz not null default 'infinity',
  constraint office_ranks_time_is_forward check (until >= since)
);
comment on table private.office_ranks is
  'Listed offices and their ratings as they were at every moment of the last hours.';
comment on column private.office_ranks.id is 'Its id.';
comment on column private.office_ranks.identity_id is 'Which office; the row outlives it.';
comment on column private.office_ranks.rating is 'Its average rating then; null is unrated.';
comment on column private.office_ranks.since is 'From when it was listed with this rating.';
comment on column private.office_ranks.until is 'Until when; infinity is now.';
create unique index office_ranks_one_open_key on private.office_ranks (identity_id)
  where until = 'infinity';
create index office_ranks_best_idx
  on private.office_ranks (rating desc nulls last, identity_id) include (since)
  where until = 'infinity';
create index office_ranks_ended_idx on private.office_ranks (until) where until < 'infinity';

alter table private.publications enable row level security;
alter table private.office_ranks enable row level security;
create policy "nobody but functions of their owner" on private.publications using (false);
create policy "nobody but functions of their owner" on private.office_ranks using (false);

-- When it counts --------------------------------------------------------------------------------

-- A transaction may take its time at 11:59:59.99 and commit at 12:00:00.01. Whoever read the noon
-- snapshot in between would count one slot more or less on the next page. So times are taken under a
-- shared lock that is held until the commit, and the first readers of a snapshot wait for those that
-- hold it. Writers never wait for one another, and take it last of all, by triggers that run at the
-- commit: an account with hundreds of listings is suspended without readers waiting for all of it,
-- and whoever holds the lock waits for no row any more.
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
  'Now, in such a way that no snapshot of the feed misses what comes or goes at this time.';

create function private.feed_snapshot(asked timestamptz) returns timestamptz
  language plpgsql
  set search_path = ''
as $$
begin
  if asked > now() or asked < now() - interval '6 hours' then
    perform private.refuse(422, 'cursor_invalid',
      '{"fields":[{"path":"snapshot","code":"cursor_invalid"}]}');
  end if;
  -- No commit takes that long, so an older snapshot has nobody to wait for.
  if asked > now() - interval '15 seconds' then
    -- To have had the lock is enough. With this block it goes back, also from a reader who is cut
    -- off at this very moment: a lock of the session could stay on its connection for good.
    begin
      perform pg_advisory_xact_lock(hashtextextended('publishing', 2));
      raise exception using errcode = 'ZZ001';
    exception
      when sqlstate 'ZZ001' then null;
    end;
  end if;
  return asked;
end
$$;
comment on function private.feed_snapshot is
  'A moment whose feed may be read: all that came or went until then is in the tables. It lives 6 '
  'hours, then 422 cursor_invalid.';

-- Written by triggers ----------------------------------------------------------------------------

create function private.keep_publication() returns trigger
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  at constant timestamptz := private.publishing_time();
begin
  update private.publications set until = greatest(at, publications.since)
  where publications.property_id = new.id and publications.until > at;
  if new.listed then
    insert into private.publications (property_id, type, published_at, since)
    values (new.id, new.type, new.published_at, at);
  end if;
  return null;
end
$$;
comment on function private.keep_publication is 'Notes for the feed that a listing came or went.';

create constraint trigger properties_publishing_is_kept_at_birth
  after insert on public.properties
  deferrable initially deferred
  for each row when (new.listed)
  execute function private.keep_publication();
create constraint trigger properties_publishing_is_kept
  after update on public.properties
  deferrable initially deferred
  for each row when (
    (old.listed or new.listed)
    and (old.listed, old.type, old.published_at)
      is distinct from (new.listed, new.type, new.published_at)
  )
  execute function private.keep_publication();

create function private.keep_office_rank() returns trigger
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  at constant timestamptz := private.publishing_time();
begin
  update private.office_ranks set until = greatest(at, office_ranks.since)
  where office_ranks.identity_id = new.identity_id and office_ranks.until > at;
  if new.listed then
    insert into private.office_ranks (identity_id, rating, since)
    values (new.identity_id, new.rating_avg, at);
  end if;
  return null;
end
$$;
comment on function private.keep_office_rank is 'Notes which offices are listed, and their rating.';

create constraint trigger organisations_rank_is_kept_at_birth
  after insert on public.organisations
  deferrable initially deferred
  for each row when (new.listed and new.type = 'office')
  execute function private.keep_office_rank();
create constraint trigger organisations_rank_is_kept
  after update on public.organisations
  deferrable initially deferred
  for each row when (
    new.type = 'office' and (old.listed or new.listed)
    and (old.listed, old.rating_avg) is distinct from (new.listed, new.rating_avg)
  )
  execute function private.keep_office_rank();

-- Forgotten again --------------------------------------------------------------------------------

create function private.sweep_publications() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.sweep('private.publications', 'until', '7 hours')
$$;
comment on function private.sweep_publications is
  'Job: forgets, 1,000 at a time, what ended and no living snapshot needs.';

create function private.sweep_office_ranks() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.sweep('private.office_ranks', 'until', '7 hours')
$$;
comment on function private.sweep_office_ranks is
  'Job: forgets, 1,000 at a time, ranks that no living snapshot needs.';

revoke execute on all functions in schema private from public;
grant execute on function private.sweep_publications, private.sweep_office_ranks to backend;
