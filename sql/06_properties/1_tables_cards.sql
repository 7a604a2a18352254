-- Cards are stored as JSON text, because building them for each request took longer than finding the
-- listings. File URLs, and values that depend on the reader or the time, are added on each read
-- (3_records_cards.sql).

create table private.property_cards (
  property_id uuid primary key references public.properties (id) on delete cascade,
  owner_identity_id uuid not null,
  drop_pct numeric(5, 2),
  drop_until timestamptz,
  up_to_price_label text not null,
  price_label text not null,
  price_label_en text not null,
  up_to_block text not null,
  location text not null,
  owner_location text,
  picture text,
  up_to_owner_name text not null,
  up_to_favorite text not null,
  after_drop text not null,
  owner_name text not null
) with (fillfactor = 90);
comment on table private.property_cards is
  'Fragments of JSON text that private.card_text concatenates. A fragment named up_to_… ends with '
  'the key of the value that follows it. Deleted with the listing.';
comment on column private.property_cards.owner_location is
  'The location shown to the owner; null if it is the same.';
comment on column private.property_cards.picture is
  'The JSON of the first picture, from the path of its URL to the closing brace.';

alter table private.property_cards enable row level security;
grant select on private.property_cards to acting;
create policy "everybody sees the cards, which are of listed properties"
  on private.property_cards for select to acting using (true);
