-- What searches and the map read: a short row for every listed property, kept by triggers.
--
-- A copy, because rows of properties are wide and change all day: at 100,000 listings a walk in
-- order of price costs a fifth here, and the whole stays in memory where properties do not.

create extension if not exists cube with schema extensions;

create function private.earth_point(lat double precision, lng double precision)
  returns extensions.cube
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
begin
  return extensions.cube(array[
    6371.0088 * cosd(lat) * cosd(lng), 6371.0088 * cosd(lat) * sind(lng), 6371.0088 * sind(lat)
  ]);
end
$$;
comment on function private.earth_point is
  'A place as a point in space, in km from the centre of the earth: between two such points the '
  'straight line grows with the way over ground, so an index can sort by distance exactly.';

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
  document tsvector not null
);
comment on table private.search_documents is
  'Listed properties as searches compare them. A property that is not listed has no row here.';
comment on column private.search_documents.property_id is 'Which listing.';
comment on column private.search_documents.type is 'SALE, RENT or EXCHANGE.';
comment on column private.search_documents.kind is 'Vocabulary kind.';
comment on column private.search_documents.usage is 'Vocabulary usage.';
comment on column private.search_documents.governorate_id is 'Slug of the governorate.';
comment on column private.search_documents.area_id is 'Slug of the area.';
comment on column private.search_documents.price is 'KWD; null is undisclosed.';
comment on column private.search_documents.area_m2 is 'The plot, else the built area, m².';
comment on column private.search_documents.bedrooms is 'Bedrooms.';
comment on column private.search_documents.bathrooms is 'Bathrooms.';
comment on column private.search_documents.furnished is 'Vocabulary furnished.';
comment on column private.search_documents.is_direct is 'From the owner without a broker.';
comment on column private.search_documents.request_year is 'EXCHANGE: year of the طلب row.';
comment on column private.search_documents.owner_identity_id is 'Who offers it.';
comment on column private.search_documents.owner_type is 'Type of the owner identity.';
comment on column private.search_documents.owner_verified is
  'The owner is a verified organisation.';
comment on column private.search_documents.published_at is 'First publishing.';
comment on column private.search_documents.auction_ends_at is 'When its auction ends or ended.';
comment on column private.search_documents.drop_pct is 'Percent that its price dropped by.';
comment on column private.search_documents.drop_until is 'Until when that makes it a deal.';
comment on column private.search_documents.lat is
  'Degrees north as shown: a search by the true place would tell what is not shown.';
comment on column private.search_documents.lng is 'Degrees east as shown.';
comment on column private.search_documents.place is 'The place shown, as private.earth_point.';
comment on column private.search_documents.document is
  'Its words, and terms with a colon for what filters ask: area:salmiya, bedrooms:3 (3 or more).';

-- One for each order in which pages are walked (08_search/4_reads_pages.sql), with what usually narrows it, or
-- goes hand in hand with the order, in front. An undisclosed price comes last both ways.
create index search_documents_newest_idx on private.search_documents (published_at, property_id);
create index search_documents_area_newest_idx
  on private.search_documents (area_id, published_at, property_id);
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
-- And for what is too rare to be met on such a walk.
create index search_documents_price_idx on private.search_documents (price);
create index search_documents_owner_idx on private.search_documents (owner_identity_id);
create index search_documents_document_idx
  on private.search_documents using gin (document) with (fastupdate = off);
create index search_documents_place_idx on private.search_documents using gist (place);

alter table private.search_documents enable row level security;
create policy "nobody but functions of their owner" on private.search_documents using (false);

create function private.search_bucket(amount numeric) returns integer
  language plpgsql
  immutable
  strict -- an amount that is not known is in no bucket
  parallel safe
  set search_path = ''
as $$
begin
  return floor(10 * log(greatest(amount, 1)::double precision));
end
$$;
comment on function private.search_bucket is
  'Amounts within a quarter of one another, as one term for the index of words.';

create function private.search_document(property public.properties)
  returns private.search_documents
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  answer private.search_documents := row(
    property.id, property.type, property.kind, property.usage, property.governorate_id,
    property.area_id, property.price, property.area_m2, property.bedrooms, property.bathrooms,
    property.furnished, property.is_direct, property.request_year, property.owner_identity_id,
    property.owner_type, property.owner_verified,
    coalesce(property.published_at, property.created_at), property.auction_ends_at,
    property.drop_pct, property.drop_until, property.shown_lat, property.shown_lng, null, null
  );
begin
  if property.shown_lat is not null then
    answer.place := private.earth_point(property.shown_lat, property.shown_lng);
  end if;
  -- Words hold no colon, so no text can pretend to be a term.
  answer.document := array_to_tsvector(private.search_words(concat_ws(' ',
    property.title_ar, property.title_en, property.description_ar, property.description_en,
    'KW-' || property.ref_no, 'KW' || property.ref_no
  )) || array_remove(array[
    'type:' || property.type,
    'kind:' || property.kind,
    'usage:' || property.usage,
    'governorate:' || property.governorate_id,
    'area:' || property.area_id,
    'furnished:' || property.furnished,
    'price:' || private.search_bucket(property.price),
    'size:' || private.search_bucket(property.area_m2),
    case when property.is_direct then 'is:direct' end,
    case when property.owner_verified then 'is:verified' end
  ], null)
    || array(select 'bedrooms:' || n from generate_series(1, least(property.bedrooms, 10)) as n)
    || array(select 'bathrooms:' || n from generate_series(1, least(property.bathrooms, 10)) as n));
  return answer;
end
$$;
comment on function private.search_document is 'A listing as searches compare it.';

create function private.keep_search_document() returns trigger
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  document private.search_documents;
begin
  delete from private.search_documents where search_documents.property_id = new.id;
  insert into private.search_changes (chunk, property_id) values (new.ref_no / 8192, new.id);
  if new.listed then
    document := private.search_document(new);
    insert into private.search_documents select document.*;
    perform private.remember_words(tsvector_to_array(document.document));
  end if;
  return null;
end
$$;
comment on function private.keep_search_document is 'Keeps private.search_documents.';

create trigger properties_are_searched_from_birth
  after insert on public.properties
  for each row when (new.listed) execute function private.keep_search_document();
create trigger properties_are_searched
  after update on public.properties
  for each row when (
    (old.listed or new.listed) and (
      old.listed, old.type, old.kind, old.usage, old.governorate_id, old.area_id, old.price,
      old.area_m2, old.bedrooms, old.bathrooms, old.furnished, old.is_direct, old.request_year,
      old.owner_type, old.owner_verified, old.published_at, old.auction_ends_at, old.drop_pct,
      old.drop_until, old.shown_lat, old.shown_lng, old.title_ar, old.title_en,
      old.description_ar, old.description_en
    ) is distinct from (
      new.listed, new.type, new.kind, new.usage, new.governorate_id, new.area_id, new.price,
      new.area_m2, new.bedrooms, new.bathrooms, new.furnished, new.is_direct, new.request_year,
      new.owner_type, new.owner_verified, new.published_at, new.auction_ends_at, new.drop_pct,
      new.drop_until, new.shown_lat, new.shown_lng, new.title_ar, new.title_en,
      new.description_ar, new.description_en
    )
  )
  execute function private.keep_search_document();

create function private.rebuild_search_documents() returns bigint
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
as $$
declare
  listings bigint;
begin
  delete from private.search_documents;
  -- A chunk without bits is written by the job, and until then no bits are believed.
  delete from private.search_bits;
  delete from private.search_changes;
  insert into private.search_documents
  select document.*
  from public.properties
  cross join lateral private.search_document(properties) as document
  where properties.listed;
  get diagnostics listings = row_count;
  perform private.remember_words(array(
    select word from ts_stat('select document from private.search_documents')
  ));
  return listings;
end
$$;
comment on function private.rebuild_search_documents is
  'Writes private.search_documents anew, after a load without triggers or a change of its rule; '
  'answers how many listings there are. Nobody can call it but the owner of the database.';

revoke execute on all functions in schema private from public;
