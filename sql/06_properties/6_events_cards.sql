-- Cards follow their listings; pictures do in 09_media/6_events.sql.
--
-- Whoever changes what a card shows holds the lock of the listing before the card is made, in a
-- later statement than the change: so of two who write at once, the second sees both changes.

create function private.write_property_cards(property_ids uuid[]) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  delete from private.property_cards
  using public.properties
  where properties.id = any (property_ids) and not properties.listed
    and property_cards.property_id = properties.id;
  insert into private.property_cards
  select card.*
  from public.properties
  cross join lateral private.property_card(properties) as card
  where properties.id = any (property_ids) and properties.listed
  on conflict (property_id) do update
  set drop_pct = excluded.drop_pct, drop_until = excluded.drop_until,
      up_to_price_label = excluded.up_to_price_label, price_label = excluded.price_label,
      price_label_en = excluded.price_label_en, up_to_block = excluded.up_to_block,
      location = excluded.location,
      owner_location = excluded.owner_location, picture = excluded.picture,
      up_to_owner_name = excluded.up_to_owner_name, up_to_favorite = excluded.up_to_favorite,
      after_drop = excluded.after_drop, owner_name = excluded.owner_name;
end
$$;
comment on function private.write_property_cards is
  'Writes the cards of these listings, which the caller has locked.';

create function private.on_property_shown() returns trigger
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  -- Read again: a trigger before this one may have written the row once more.
  perform private.write_property_cards(array[new.id]);
  return null;
end
$$;
comment on function private.on_property_shown is 'Keeps private.property_cards up to date.';

create trigger properties_have_cards_on_insert
  after insert on public.properties
  for each row when (new.listed) execute function private.on_property_shown();
create trigger properties_have_cards
  after update on public.properties
  for each row when (
    (old.listed or new.listed) and (
      old.listed, old.ref_no, old.type, old.kind, old.usage, old.title_ar, old.title_en, old.price,
      old.is_negotiable, old.request_year, old.required_year, old.land_area_m2, old.built_area_m2,
      old.bedrooms, old.bathrooms, old.furnished, old.is_direct, old.governorate_id, old.area_id,
      old.block, old.lat, old.lng, old.location_precision, old.owner_type, old.owner_verified,
      old.drop_pct, old.drop_until, old.auction_ends_at, old.published_at, old.confirmed_at
    ) is distinct from (
      new.listed, new.ref_no, new.type, new.kind, new.usage, new.title_ar, new.title_en, new.price,
      new.is_negotiable, new.request_year, new.required_year, new.land_area_m2, new.built_area_m2,
      new.bedrooms, new.bathrooms, new.furnished, new.is_direct, new.governorate_id, new.area_id,
      new.block, new.lat, new.lng, new.location_precision, new.owner_type, new.owner_verified,
      new.drop_pct, new.drop_until, new.auction_ends_at, new.published_at, new.confirmed_at
    )
  )
  execute function private.on_property_shown();

create function private.on_owner_renamed() returns trigger
  language plpgsql
  security definer -- locks listings, and writes a closed table
  set search_path = ''
as $$
declare
  name_text constant text := private.owner_name_text(new.id);
begin
  -- Whoever publishes holds the account too: so nothing is made meanwhile with the name of before.
  perform private.lock_account_exclusively(new.account_id);
  perform from public.properties where properties.owner_identity_id = new.id
  order by properties.id for no key update;
  update private.property_cards set owner_name = name_text
  from public.properties
  where properties.owner_identity_id = new.id and properties.listed
    and property_cards.property_id = properties.id;
  update private.listed_records set owner_name = name_text
  from public.properties
  where properties.owner_identity_id = new.id and properties.listed
    and listed_records.property_id = properties.id;
  return null;
end
$$;
comment on function private.on_owner_renamed is
  'The cards and records of an owner''s listings show the name and avatar that the owner has now.';

-- The same file at another address (private.set_files_url) is the same to what is kept.
create trigger identities_name_their_cards
  after update of display_name, avatar_url on public.identities
  for each row when (
    (old.display_name, substring(old.avatar_url from '[^/]*$'))
      is distinct from (new.display_name, substring(new.avatar_url from '[^/]*$'))
  )
  execute function private.on_owner_renamed();
