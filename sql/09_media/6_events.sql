-- Cards of listings contain the first picture and the number of pictures.

create function private.on_property_deleted() returns trigger
  language plpgsql
  security definer -- writes pictures of someone else's listing
  set search_path = ''
as $$
begin
  perform private.discard_media(array(
    select media.id from public.media where media.property_id = new.id
  ));
  return null;
end
$$;
comment on function private.on_property_deleted is
  'Discards the pictures of a listing when it is deleted.';
create trigger properties_take_their_pictures
  after update of status on public.properties
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.on_property_deleted();

create function private.on_property_moved() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  update public.media set identity_id = new.owner_identity_id where media.property_id = new.id;
  -- If the former owner was suspended, the files may still be in the bucket suspended.
  insert into private.file_moves (property_id)
  select new.id where exists (
    select from public.media where media.property_id = new.id and media.bucket = 'suspended'
  );
  return null;
end
$$;
comment on function private.on_property_moved is
  'Assigns the pictures of a listing to its new owner.';
create trigger properties_take_their_pictures_along
  after update of owner_identity_id on public.properties
  for each row when (new.owner_identity_id <> old.owner_identity_id)
  execute function private.on_property_moved();

create function private.on_pictures_owner_closed() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.discard_media(array(
    select media.id from public.media where media.identity_id = new.id
  ));
  -- Files that are being stored right now get no row. The facade or the job will remove them.
  update private.uploads set due_at = least(uploads.due_at, now() + interval '5 minutes')
  where uploads.identity_id = new.id;
  return null;
end
$$;
comment on function private.on_pictures_owner_closed is
  'Discards the pictures of an identity when it is closed.';
create trigger identities_take_their_pictures
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.on_pictures_owner_closed();

create function private.on_pictures_of_listings() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  property_ids uuid[] := '{}';
begin
  if tg_op <> 'INSERT' then
    property_ids := array(select before.property_id from before);
  end if;
  if tg_op <> 'DELETE' then
    property_ids := property_ids || array(select after.property_id from after);
  end if;
  property_ids := array(
    select distinct id from unnest(property_ids) as id where id is not null
  );
  if property_ids <> '{}' then
    -- Our functions have already locked the listing, but a change by hand has not.
    perform from public.properties where properties.id = any (property_ids)
    order by properties.id for no key update;
    perform private.write_property_cards(property_ids);
    perform private.write_listed_records(property_ids);
    insert into private.duplicate_checks (property_id)
    select properties.id from public.properties
    where properties.id = any (property_ids) and properties.listed;
    update public.properties set pictures_version = properties.pictures_version + 1
    where properties.id = any (property_ids) and properties.status = 'pending_review';
  end if;
  return null;
end
$$;
comment on function private.on_pictures_of_listings is
  'Updates the cards and stored records of listings whose pictures changed, and pictures_version '
  'if a listing is in review. Queues listed ones for the search for duplicates.';
create trigger media_are_shown_on_insert
  after insert on public.media referencing new table as after
  for each statement execute function private.on_pictures_of_listings();
create trigger media_are_shown
  after update on public.media referencing old table as before new table as after
  for each statement execute function private.on_pictures_of_listings();
create trigger media_are_shown_no_more
  after delete on public.media referencing old table as before
  for each statement execute function private.on_pictures_of_listings();
