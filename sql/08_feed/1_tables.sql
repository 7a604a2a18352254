-- What the feed counts its slots over: which listings and which offices were listed when.
--
-- Two narrow tables, because counting over properties costs 30 times as much: its rows are wide and
-- change all day. A row is open (until infinity) while its listing is listed, and deleted 7 hours
-- after it ended, when every snapshot that included it has expired; so rows of the past stay few.

create table private.publications (
  property_id uuid not null,
  type text not null,
  published_at timestamptz not null,
  since timestamptz not null,
  until timestamptz not null default 'infinity',
  constraint publications_time_is_forward check (until >= since),
  primary key (property_id, until) -- so no listing has two open ones
);
comment on table private.publications is
  'From when until when each listing was listed; periods that ended are kept for some hours. '
  'Cleaned by private.purge_publications.';
comment on column private.publications.property_id is 'The row outlives the listing.';
comment on column private.publications.published_at is
  'Its place in the feed (private.listing_places): until then it is not in it.';
comment on column private.publications.since is 'From when it was listed.';
comment on column private.publications.until is 'Until when it was listed; infinity while it is.';
-- Open rows are walked in order; those that ended are few, and found by when they did.
create index publications_newest_idx
  on private.publications (published_at desc, property_id desc) include (since)
  where until = 'infinity';
create index publications_type_newest_idx
  on private.publications (type, published_at desc, property_id desc) include (since)
  where until = 'infinity';
create index publications_ended_idx
  on private.publications (until) include (since, type, published_at, property_id)
  where until < 'infinity';

create table private.feed_places (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  taken_to timestamptz not null
);
comment on table private.feed_places is
  'The last place in the feed that each account has taken. Goes with the account.';
alter table private.feed_places enable row level security;
create policy "nobody but functions of their owner" on private.feed_places using (false);

create table private.listing_places (
  property_id uuid primary key references public.properties (id) on delete cascade,
  place timestamptz not null
);
comment on table private.listing_places is
  'The place in the feed of each listing that was ever listed. Goes with the listing.';
comment on column private.listing_places.place is
  'Taken when it was listed for the first time, and the same whenever it is listed again.';
alter table private.listing_places enable row level security;
create policy "nobody but functions of their owner" on private.listing_places using (false);

create table private.office_ranks (
  id bigint generated always as identity primary key,
  identity_id uuid not null,
  rating numeric(5, 4) not null,
  since timestamptz not null,
  until timestamptz not null default 'infinity',
  constraint office_ranks_time_is_forward check (until >= since)
);
comment on table private.office_ranks is
  'Listed offices and their ratings as they were at any moment of the last hours. Cleaned by '
  'private.purge_office_ranks.';
comment on column private.office_ranks.identity_id is 'The row outlives the office.';
comment on column private.office_ranks.rating is 'Its weighed rating at the time.';
comment on column private.office_ranks.since is 'From when it was listed with this rating.';
comment on column private.office_ranks.until is 'Until when; infinity while it is.';
create unique index office_ranks_one_open_key on private.office_ranks (identity_id)
  where until = 'infinity';
create index office_ranks_best_idx
  on private.office_ranks (rating desc, identity_id) include (since)
  where until = 'infinity';
create index office_ranks_ended_idx on private.office_ranks (until) where until < 'infinity';

alter table private.publications enable row level security;
alter table private.office_ranks enable row level security;
create policy "nobody but functions of their owner" on private.publications using (false);
create policy "nobody but functions of their owner" on private.office_ranks using (false);
