-- The records of listed properties, kept as JSON text.
--
-- Kept, because putting one together from its row costs five times as much as all else that reading
-- it does. What depends on the reader or the clock, the counts, the owner's name and avatar and the
-- addresses of files and of the listing are added at reading: 3_records_listed.sql.

create table private.listed_records (
  property_id uuid primary key references public.properties (id) on delete cascade,
  owner_identity_id uuid not null,
  ref_no bigint not null,
  drop_until timestamptz,
  up_to_price_label text not null,
  price_label text not null,
  price_label_en text not null,
  up_to_terms text not null,
  terms text not null,
  terms_en text,
  up_to_media text not null,
  media text not null,
  up_to_owner_name text not null,
  up_to_favorite text not null,
  up_to_deal text not null,
  deal text not null,
  after_deal text not null,
  owner_name text not null
) with (fillfactor = 90);
comment on table private.listed_records is
  'The records of listed properties as others see them, in pieces of JSON text that '
  'private.listed_record_text puts together. Written by triggers; a property that is not listed '
  'has no row. Goes with the listing.';
comment on column private.listed_records.up_to_price_label is
  'From the opening brace to the key priceLabel.';
comment on column private.listed_records.terms is
  'From the value of rentConditions to that of additionalExpenses.';
comment on column private.listed_records.terms_en is 'The same in English, where that differs.';
comment on column private.listed_records.media is
  'The pictures, with the character 1, which JSON cannot contain, for the address of files.';
comment on column private.listed_records.up_to_owner_name is
  'From the key owner to the key displayName.';
comment on column private.listed_records.up_to_favorite is
  'From whether the owner is verified to the key isFavorite.';
comment on column private.listed_records.up_to_deal is
  'From what follows the counts to the key deal.';
comment on column private.listed_records.after_deal is 'What follows shareUrl.';
comment on column private.listed_records.deal is 'What deal says until drop_until.';
comment on column private.listed_records.owner_name is
  'The owner''s name and avatar, as private.owner_name_text gives them.';

alter table private.listed_records enable row level security;
create policy "nobody but functions of their owner" on private.listed_records using (false);
