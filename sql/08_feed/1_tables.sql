-- The slots of the feed are counted in these narrow tables, because counting rows of properties takes
-- 30 times as long. Rows are kept for 7 hours after their period ended: snapshots can be read for 6
-- hours, so no reader needs older rows.

create table private.publications (
  property_id uuid not null,
  type text not null,
  published_at timestamptz not null,
  since timestamptz not null,
  until timestamptz not null default 'infinity',
  constraint publications_time_is_forward check (until >= since),
  primary key (property_id, until) -- allows one open period per listing
);
comment on table private.publications is
  'The periods in which listings were listed. Cleaned by private.purge_publications.';
comment on column private.publications.property_id is
  'No foreign key: a row may outlive its listing.';
comment on column private.publications.published_at is
  'The time by which the feed is sorted. The listing does not appear in the feed before this time.';
comment on column private.publications.until is 'Infinity while the listing is listed.';
-- Rows of current periods are read in the order of the feed. Rows of ended periods are few and are
-- found by until.
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
  'The latest place that private.take_feed_place assigned to each account. Deleted with the '
  'account.';
alter table private.feed_places enable row level security;
create policy "nobody but functions of their owner" on private.feed_places using (false);

create table private.listing_places (
  property_id uuid primary key references public.properties (id) on delete cascade,
  sorted_at timestamptz not null
);
comment on table private.listing_places is
  'The time by which each listing is sorted in the feed. Deleted with the listing.';
comment on column private.listing_places.sorted_at is
  'Assigned when the listing is first listed, and never changed.';
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
  'Periods in which offices were listed, with ratings. Cleaned by private.purge_office_ranks.';
comment on column private.office_ranks.identity_id is
  'No foreign key: a row may outlive its office.';
comment on column private.office_ranks.until is
  'When the rating changed or the office was unlisted; infinity for the current period.';
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
