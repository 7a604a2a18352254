-- Writers must lock the listing first, as they do for cards (6_events_cards.sql).

create function private.write_listed_records(property_ids uuid[]) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from private.listed_records
  using public.properties
  where properties.id = any (property_ids) and not properties.listed
    and listed_records.property_id = properties.id;
  insert into private.listed_records
  select stored.*
  from public.properties
  cross join lateral private.listed_record(properties) as stored
  where properties.id = any (property_ids) and properties.listed
  on conflict (property_id) do update
  set owner_identity_id = excluded.owner_identity_id,
      ref_no = excluded.ref_no, drop_until = excluded.drop_until,
      up_to_price_label = excluded.up_to_price_label, price_label = excluded.price_label,
      price_label_en = excluded.price_label_en, up_to_terms = excluded.up_to_terms,
      terms = excluded.terms, terms_en = excluded.terms_en, up_to_media = excluded.up_to_media,
      media = excluded.media,
      up_to_owner_name = excluded.up_to_owner_name, up_to_favorite = excluded.up_to_favorite,
      up_to_deal = excluded.up_to_deal, deal = excluded.deal, after_deal = excluded.after_deal,
      owner_name = excluded.owner_name;
end
$$;

create function private.on_listed_property() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- The row is read again, because an earlier trigger may have updated it.
  perform private.write_listed_records(array[new.id]);
  return null;
end
$$;
comment on function private.on_listed_property is 'Updates private.listed_records.';

create trigger properties_have_records_on_insert
  after insert on public.properties
  for each row when (new.listed) execute function private.on_listed_property();
-- The trigger names no columns, because the record contains nearly all of them. That includes the
-- auction window, which another trigger copies into this row.
create trigger properties_have_records
  after update on public.properties
  for each row when (old.listed or new.listed) execute function private.on_listed_property();
