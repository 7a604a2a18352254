-- What searches and the map read: a short row for every listed property, written by triggers.
--
-- A copy, because rows of properties are wide and change all day: at 100,000 listings a walk in
-- order of price costs a fifth of what it costs there, and all of it stays in memory.

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
  place extensions.cube,
  floor_no smallint,
  plot_position text,
  block text,
  document tsvector not null
)
-- An index tells all of a row alone where vacuum has been since the row was written, and the newest,
-- which are asked for most, were written last.
with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.01);
comment on table private.search_documents is
  'Listed properties as searches compare them. A property that is not listed has no row. Goes '
  'with the listing.';
comment on column private.search_documents.price is 'KWD; null is undisclosed.';
comment on column private.search_documents.area_m2 is 'The plot, else the built area.';
comment on column private.search_documents.lat is
  'Degrees north as shown: searching by the true place would reveal it.';
comment on column private.search_documents.lng is 'Degrees east as shown.';
comment on column private.search_documents.place is 'The place shown, as private.earth_point.';
comment on column private.search_documents.block is
  'As private.search_block writes it; null where others do not see it.';
comment on column private.search_documents.document is
  'Its words, and a term with a colon for what filters ask: area:salmiya, bedrooms:3 (3 or more).';

-- One for each order in which pages are walked, led by what usually narrows it or goes together with
-- that order. Those of the newest hold all that plain filters ask (4_reads_2_plan.sql): an entry here
-- is passed by at a quarter of what a visit of the table costs.
create index search_documents_newest_idx on private.search_documents (published_at, property_id)
  include (
    type, kind, governorate_id, area_id, price, area_m2, bedrooms, bathrooms, furnished,
    auction_ends_at
  );
create index search_documents_area_newest_idx
  on private.search_documents (area_id, published_at, property_id)
  include (
    type, kind, governorate_id, price, area_m2, bedrooms, bathrooms, furnished, auction_ends_at
  );
create index search_documents_area_kind_newest_idx
  on private.search_documents (area_id, kind, published_at, property_id)
  include (
    type, governorate_id, price, area_m2, bedrooms, bathrooms, furnished, auction_ends_at
  );
create index search_documents_kind_newest_idx
  on private.search_documents (type, kind, published_at, property_id)
  include (
    governorate_id, area_id, price, area_m2, bedrooms, bathrooms, furnished, auction_ends_at
  );
-- The other orders. An undisclosed price comes last both ways.
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
-- And for what is too rare for such a walk.
create index search_documents_price_idx on private.search_documents (price);
create index search_documents_owner_idx on private.search_documents (owner_identity_id);
create index search_documents_document_idx
  on private.search_documents using gin (document) with (fastupdate = off);
-- Thousands can stand at one place, and are told apart by their id.
create index search_documents_place_idx
  on private.search_documents using gist (place) include (property_id);

create function private.search_cell(lat double precision, lng double precision) returns integer
  language plpgsql
  immutable
  strict -- what has no place is in no cell
  parallel safe
  set search_path = ''
as $$
begin
  return floor(lat * 50)::integer * 32768 + floor(lng * 50)::integer;
end
$$;
comment on function private.search_cell is
  'The number of the cell of a place, in a grid of 0.02 degrees (2 km): eastwards by 1, northwards '
  'by 32768.';

create index search_documents_cell_newest_idx
  on private.search_documents (private.search_cell(lat, lng), published_at, property_id, lat, lng);

-- Clusters are counted from this alone, without the table, as long as the filter is a type.
create index search_documents_map_idx on private.search_documents (lng, lat)
  include (type, price);
-- Prices of areas likewise.
create index search_documents_area_prices_idx on private.search_documents (area_id)
  include (type, kind, price, area_m2, owner_identity_id);

create table private.search_names (
  word text not null,
  term text not null,
  primary key (word, term)
);
comment on table private.search_names is
  'The words of the names and aliases of places, kinds and usages. Written by triggers. Stays: as '
  'many as there are names.';
comment on column private.search_names.word is 'A word, as private.search_text writes it.';
comment on column private.search_names.term is 'What has that word in a name, as area:salmiya.';
create index search_names_term_idx on private.search_names (term);

create table private.search_vocabulary (
  word text primary key
    constraint search_vocabulary_words_can_be_guessed check (word ~ '^[^0-9:]{3,}$'),
  listings integer not null,
  writers smallint[] not null,
  is_shared boolean not null generated always as (cardinality(writers) >= 5) stored
);
comment on table private.search_vocabulary is
  'The words of listings, to find those similar to a misspelt one. A word goes with its last listing. '
  'Cleaned by private.count_search_words.';
comment on column private.search_vocabulary.word is
  'As private.search_text writes it, so no term with a colon. Numbers are not guessed at: 104233 is '
  'not nearly 104234.';
comment on column private.search_vocabulary.listings is 'How many listings had it when last counted.';
comment on column private.search_vocabulary.writers is
  'Marks of the first accounts with a phone that wrote it, five or a few more: two accounts seldom have '
  'the same, and none names anybody.';
comment on column private.search_vocabulary.is_shared is
  'Whether five accounts with a phone have written it: only then a misspelt word can be taken for it, so '
  'that nobody decides that with accounts that cost nothing.';
create index search_vocabulary_trigrams_idx
  on private.search_vocabulary using gin (word extensions.gin_trgm_ops) with (fastupdate = off)
  where is_shared;

-- Listings would wait for one another if each counted its own words.
create table private.search_word_changes (
  id bigint generated always as identity primary key,
  writer smallint,
  added text[] not null,
  removed text[] not null
);
comment on table private.search_word_changes is
  'Words that listings got and lost since they were counted. Cleaned by private.count_search_words.';
comment on column private.search_word_changes.writer is
  'As in private.search_vocabulary; null where the account has no phone.';

alter table private.search_documents enable row level security;
create policy "nobody but functions of their owner" on private.search_documents using (false);

alter table private.search_names enable row level security;
alter table private.search_vocabulary enable row level security;
alter table private.search_word_changes enable row level security;
create policy "nobody but functions of their owner" on private.search_names using (false);
create policy "nobody but functions of their owner" on private.search_vocabulary using (false);
create policy "nobody but functions of their owner" on private.search_word_changes using (false);
