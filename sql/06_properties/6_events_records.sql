-- Kept records follow their listings; pictures do in 09_media/6_events.sql. Whoever writes one holds
-- the lock of the listing, as for cards (6_events_cards.sql).

create function private.write_listed_records(property_ids uuid[]) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  delete from private.listed_records
  using public.properties
  where properties.id = any (property_ids) and not properties.listed
    and listed_records.property_id = properties.id;
  insert into private.listed_records
  select kept.*
  from public.properties
  cross join lateral private.listed_record(properties) as kept
  where properties.id = any (property_ids) and properties.listed
  on conflict (property_id) do update
  set ref_no = excluded.ref_no, drop_until = excluded.drop_until,
      up_to_price_label = excluded.up_to_price_label, price_label = excluded.price_label,
      price_label_en = excluded.price_label_en, up_to_terms = excluded.up_to_terms,
      terms = excluded.terms, terms_en = excluded.terms_en, up_to_media = excluded.up_to_media,
      media = excluded.media,
      up_to_owner_name = excluded.up_to_owner_name, up_to_favorite = excluded.up_to_favorite,
      up_to_deal = excluded.up_to_deal, deal = excluded.deal, after_deal = excluded.after_deal,
      owner_name = excluded.owner_name;
end
$$;
comment on function private.write_listed_records is
  'Writes the kept records of these listings, which the caller has locked.';

create function private.on_listed_property() returns trigger
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  -- Read again: a trigger before this one may have written the row once more.
  perform private.write_listed_records(array[new.id]);
  return null;
end
$$;
comment on function private.on_listed_property is 'Keeps private.listed_records up to date.';

create trigger properties_have_records_on_insert
  after insert on public.properties
  for each row when (new.listed) execute function private.on_listed_property();
-- Whatever is written of a listing: nearly every column is in its record, and an auction, which is
-- too, writes its window into the row.
create trigger properties_have_records
  after update on public.properties
  for each row when (old.listed or new.listed) execute function private.on_listed_property();
