-- Searches read a narrow copy of properties, whose own rows are wide and change all day. With 100,000
-- listings, a scan of the copy in price order costs a fifth of the same scan on properties, and the
-- whole copy stays in memory.

create extension if not exists cube with schema extensions;

create table private.search_documents (
  property_id uuid primary key references public.properties (id) on delete cascade,
  type text not null,
  kind text,
  usage text,
  governorate_id text,
  area_id text,
  price numeric,
  area_m2 numeric not null,
  bedrooms smallint,
  bathrooms smallint,
  furnished text,
  is_direct boolean not null,
  request_year smallint,
  owner_identity_id uuid not null,
  owner_type text not null,
  owner_verified boolean not null,
  published_at timestamptz not null,
  auction_ends_at timestamptz,
  drop_pct numeric,
  drop_until timestamptz,
  lat double precision,
  lng double precision,
  has_pin boolean not null,
  location extensions.cube,
  floor_no smallint,
  plot_position text,
  amenities text[] not null,
  block text,
  document tsvector not null
)
-- Vacuum must run often, because index-only scans need pages that it has processed, and the newest rows
-- are read most.
with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.01);
comment on table private.search_documents is 'The listed properties. Deleted with the listing.';
comment on column private.search_documents.area_m2 is
  'The area of the plot, or the built area if that is unknown.';
comment on column private.search_documents.lat is
  'The latitude shown to clients, because searches by the true latitude would reveal it.';
comment on column private.search_documents.location is
  'The shown location as a private.earth_point; null if the listing has no pin.';
comment on column private.search_documents.block is
  'The block in the form that private.search_block returns; null if it is hidden.';
comment on column private.search_documents.document is
  'The words of the listing, and terms with a colon such as area:salmiya, bedrooms:3 (3 or more) '
  'or furnished:full (from the field or, if that is empty, from the text).';

-- Each sort order has its own indexes. The newest-first indexes include the columns of simple filters,
-- because skipping an index entry costs a quarter of reading a row of the table.
create index search_documents_newest_idx on private.search_documents (published_at, property_id)
  include (type, kind, governorate_id, area_id, price, area_m2, bedrooms, bathrooms, furnished,
    auction_ends_at);
create index search_documents_area_newest_idx
  on private.search_documents (area_id, published_at, property_id)
  include (type, kind, governorate_id, price, area_m2, bedrooms, bathrooms, furnished,
    auction_ends_at);
create index search_documents_area_kind_newest_idx
  on private.search_documents (area_id, kind, published_at, property_id)
  include (type, governorate_id, price, area_m2, bedrooms, bathrooms, furnished, auction_ends_at);
create index search_documents_kind_newest_idx
  on private.search_documents (type, kind, published_at, property_id)
  include (governorate_id, area_id, price, area_m2, bedrooms, bathrooms, furnished,
    auction_ends_at);
-- Listings with an undisclosed price or a price of 0 (both null in this table) are sorted last in both
-- directions.
create index search_documents_price_asc_idx
  on private.search_documents (type, coalesce(price, 100000000000), property_id);
create index search_documents_kind_price_asc_idx
  on private.search_documents (type, kind, coalesce(price, 100000000000), property_id);
create index search_documents_price_desc_idx
  on private.search_documents (type, coalesce(price, -1), property_id);
create index search_documents_kind_price_desc_idx
  on private.search_documents (type, kind, coalesce(price, -1), property_id);
create index search_documents_area_m2_idx on private.search_documents (area_m2, property_id);
create index search_documents_kind_area_m2_idx
  on private.search_documents (kind, area_m2, property_id);
create index search_documents_ends_idx
  on private.search_documents (auction_ends_at, property_id) where auction_ends_at is not null;
create index search_documents_drop_idx
  on private.search_documents (drop_pct, property_id) where drop_pct is not null;
-- The following indexes serve filters that match too few listings for a scan in sort order.
create index search_documents_price_idx on private.search_documents (price);
create index search_documents_floor_idx on private.search_documents (floor_no)
  where floor_no is not null;
create index search_documents_owner_idx on private.search_documents (owner_identity_id);
create index search_documents_document_idx
  on private.search_documents using gin (document) with (fastupdate = off);
-- Thousands of listings can share one location, so property_id is included to tell them apart.
create index search_documents_location_idx
  on private.search_documents using gist (location) include (property_id);

create function private.search_cell(lat double precision, lng double precision) returns integer
  language plpgsql immutable
  strict -- returns null for a listing without a location
  parallel safe set search_path = ''
as $$
begin
  return floor(lat * 50)::integer * 32768 + floor(lng * 50)::integer;
end
$$;
comment on function private.search_cell is
  'Returns the number of a grid cell of 0.02 degrees (about 2 km). The number increases by 1 from '
  'one cell to the next in the east, and by 32768 to the next in the north.';

create index search_documents_cell_newest_idx
  on private.search_documents (private.search_cell(lat, lng), published_at, property_id)
  include (lat, lng, has_pin, type, kind, area_id, price, bedrooms, auction_ends_at);
-- For large results, facets are counted over a sample: the listings with the lowest ids, 1 in 16.
create index search_documents_sample_idx on private.search_documents (type, kind)
  include (usage, governorate_id, area_id, price, area_m2, bedrooms, bathrooms, furnished, is_direct,
    floor_no, plot_position, amenities, lat, lng, has_pin, published_at, auction_ends_at, property_id)
  where property_id < '10000000-0000-0000-0000-000000000000';

-- If the only filter is a type, clusters are counted by an index-only scan of this index.
create index search_documents_map_idx on private.search_documents (lng, lat)
  include (type, price);
-- Contains all columns from which the prices of areas are computed.
create index search_documents_area_prices_idx on private.search_documents (area_id)
  include (type, kind, price, area_m2, owner_identity_id);

create table private.search_names (
  word text not null,
  term text not null,
  primary key (word, term)
);
comment on table private.search_names is
  'Words in the names of places, kinds and usages. Never purged: their number is limited.';
create index search_names_term_idx on private.search_names (term);
create index search_names_trigrams_idx on private.search_names
  using gin (word extensions.gin_trgm_ops) with (fastupdate = off);

create table private.search_vocabulary (
  word text primary key
    constraint search_vocabulary_words_can_be_guessed check (word ~ '^[^0-9:]{3,}$'),
  listings integer not null,
  writers smallint[] not null,
  is_shared boolean not null generated always as (cardinality(writers) >= 5) stored
);
comment on table private.search_vocabulary is
  'Words of listings, used to correct misspelt words. Cleaned by private.count_search_words.';
comment on column private.search_vocabulary.word is
  'A word without digits, because 104233 is not a misspelling of 104234.';
comment on column private.search_vocabulary.listings is
  'The number of listings that contain the word, as of the last count.';
comment on column private.search_vocabulary.writers is
  'The hashes (private.word_writer) of the first five or more accounts that used the word. '
  'Accounts without a phone number do not count.';
comment on column private.search_vocabulary.is_shared is
  'Whether at least five accounts with a phone number used the word. Only such words serve as '
  'corrections, so that no single account can introduce one.';
create index search_vocabulary_trigrams_idx
  on private.search_vocabulary using gin (word extensions.gin_trgm_ops) with (fastupdate = off)
  where is_shared;
create index search_vocabulary_short_trigrams_idx on private.search_vocabulary
  using gin (word extensions.gin_trgm_ops) with (fastupdate = off)
  where is_shared and char_length(word) <= 6;

-- A job counts these rows. If writers updated the counts themselves, they would wait for row locks.
create table private.search_word_changes (
  id bigint generated always as identity primary key,
  writer smallint,
  added text[] not null,
  removed text[] not null
);
comment on table private.search_word_changes is
  'Words that were added to or removed from listings and wait to be counted. Cleaned by '
  'private.count_search_words.';
comment on column private.search_word_changes.writer is
  'The hash of the account (private.word_writer).';

alter table private.search_documents enable row level security;
create policy "nobody but functions of their owner" on private.search_documents using (false);

alter table private.search_names enable row level security;
alter table private.search_vocabulary enable row level security;
alter table private.search_word_changes enable row level security;
grant select on private.search_names, private.search_vocabulary to acting;
create policy "functions for clients read all" on private.search_names
  for select to acting using (true);
create policy "functions for clients read all" on private.search_vocabulary
  for select to acting using (true);
create policy "nobody but functions of their owner" on private.search_word_changes using (false);
