-- Cards: what lists show of a listing, kept as JSON text for every one that is listed.
--
-- Kept, because putting a page together from rows took longer than finding it. What depends on the
-- reader or the clock, and the address of files, are added at reading: 3_records_cards.sql.

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
  'The cards of listed properties, in pieces of JSON text that private.card_text puts together. '
  'Written by triggers; a property that is not listed has no row. Goes with the listing.';
comment on column private.property_cards.up_to_price_label is
  'From the opening brace to the key of the text of the price.';
comment on column private.property_cards.up_to_block is
  'From what follows the text of the price to the key of the block.';
comment on column private.property_cards.location is
  'From the value of the block to that of the location, as everybody sees them.';
comment on column private.property_cards.owner_location is
  'The same as the owner sees them, where that differs.';
comment on column private.property_cards.picture is
  'The first picture, from the path of its file to its closing brace; null where there is none.';
comment on column private.property_cards.up_to_owner_name is
  'From the number of pictures to the key of the owner''s name.';
comment on column private.property_cards.owner_name is
  'The owner''s name and avatar, as private.owner_name_text gives them.';
comment on column private.property_cards.up_to_favorite is
  'From whether the owner is verified to the key isFavorite.';
comment on column private.property_cards.after_drop is
  'What follows the price drop, to the closing brace.';

alter table private.property_cards enable row level security;
create policy "nobody but functions of their owner" on private.property_cards using (false);
