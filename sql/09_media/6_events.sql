-- The pictures of a deleted listing and of a closed identity are discarded.

create function private.on_property_deleted() returns trigger
  language plpgsql
  security definer -- writes pictures of another's listing
  set search_path = ''
as $$
begin
  perform private.discard_media(array(
    select media.id from public.media where media.property_id = new.id
  ));
  return null;
end
$$;
comment on function private.on_property_deleted is 'Discards the pictures of a deleted listing.';
create trigger properties_take_their_pictures
  after update of status on public.properties
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.on_property_deleted();

create function private.on_pictures_owner_closed() returns trigger
  language plpgsql
  security definer -- writes pictures of a closed identity
  set search_path = ''
as $$
begin
  perform private.discard_media(array(
    select media.id from public.media where media.identity_id = new.id
  ));
  -- Files that are being stored at this moment get no row any more. The facade deletes them, or
  -- failing that the job that removes files.
  update private.uploads set due_at = least(uploads.due_at, now() + interval '5 minutes')
  where uploads.identity_id = new.id;
  return null;
end
$$;
comment on function private.on_pictures_owner_closed is
  'Discards the pictures of a closed identity.';
create trigger identities_take_their_pictures
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.on_pictures_owner_closed();
