-- Records are stored as JSON text, because building one takes five times as long as the rest of the
-- request. Counts, URLs, the name of the owner, and values that depend on the reader or the time are
-- added on each read (3_records_listed.sql).

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
  'Fragments of JSON text that private.listed_record_text concatenates. A fragment named up_to_… '
  'ends with the key of the value that follows it. Deleted with the listing.';
comment on column private.listed_records.terms is
  'The JSON text from the value of rentConditions through the value of additionalExpenses.';
comment on column private.listed_records.terms_en is
  'The English text of terms; null if it is the same.';
comment on column private.listed_records.media is
  'The JSON of the pictures. chr(1) is a placeholder for the setting files_url.';
comment on column private.listed_records.after_deal is
  'Everything after the value of shareUrl, including the closing brace.';
comment on column private.listed_records.deal is 'The JSON of the deal, valid until drop_until.';

alter table private.listed_records enable row level security;
grant select on private.listed_records to acting;
create policy "everybody sees the records, which are of listed properties"
  on private.listed_records for select to acting using (true);
