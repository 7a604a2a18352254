-- Every function that changes a value of a card first locks the listing and writes the card in a later
-- statement, so that the second of two concurrent writers sees both changes.

create function private.write_property_cards(property_ids uuid[]) returns void
  language plpgsql security definer set search_path = ''
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
  set owner_identity_id = excluded.owner_identity_id,
      drop_pct = excluded.drop_pct, drop_until = excluded.drop_until,
      up_to_price_label = excluded.up_to_price_label, price_label = excluded.price_label,
      price_label_en = excluded.price_label_en, up_to_block = excluded.up_to_block,
      location = excluded.location,
      owner_location = excluded.owner_location, picture = excluded.picture,
      up_to_owner_name = excluded.up_to_owner_name, up_to_favorite = excluded.up_to_favorite,
      after_drop = excluded.after_drop, owner_name = excluded.owner_name;
end
$$;

create function private.on_property_shown() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- The row is read again, because an earlier trigger may have updated it.
  perform private.write_property_cards(array[new.id]);
  return null;
end
$$;
comment on function private.on_property_shown is 'Keeps private.property_cards up to date.';

create trigger properties_have_cards_on_insert
  after insert on public.properties
  for each row when (new.listed) execute function private.on_property_shown();
do $$
declare
  shown constant text[] := array['listed', 'ref_no'] || private.property_columns('card') || array[
    'owner_identity_id', 'owner_type', 'owner_verified', 'drop_pct', 'drop_until',
    'auction_ends_at', 'published_at', 'confirmed_at', 'shown_lat', 'shown_lng'
  ];
begin
  execute format(
    'create trigger properties_have_cards after update on public.properties '
    'for each row when ((old.listed or new.listed) and (%s) is distinct from (%s)) '
    'execute function private.on_property_shown()',
    'old.' || array_to_string(shown, ', old.'), 'new.' || array_to_string(shown, ', new.'));
end
$$;

create function private.on_owner_renamed() returns trigger
  language plpgsql
  security definer -- locks listings and writes tables that clients may not write
  set search_path = ''
as $$
declare
  name_text constant text := private.owner_name_text(new.id);
begin
  -- Publishing locks the account too, so no new card can be written with the old name.
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
  'Writes the current name and avatar of the owner to the stored cards and records.';

-- Cards do not contain files_url, so a new value (private.set_files_url) leaves them unchanged. The
-- trigger therefore compares only the file names of avatars.
create trigger identities_name_their_cards
  after update of display_name, avatar_url on public.identities
  for each row when (
    (old.display_name, substring(old.avatar_url from '[^/]*$'))
      is distinct from (new.display_name, substring(new.avatar_url from '[^/]*$'))
  )
  execute function private.on_owner_renamed();
