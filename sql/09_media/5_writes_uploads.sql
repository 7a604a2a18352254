-- An upload takes two calls. The first begins the upload, before the facade reads the files. The facade
-- then stores the files under names that are built from the id of the upload. The second call inserts
-- the rows of the files.

create function private.begin_upload(
  bucket text, property_id uuid default null, upload_session_id uuid default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller();
  owner_id uuid := private.identity_id();
  property public.properties;
  upload_session private.upload_sessions;
  pictures json;
  uploaded integer;
  room record;
  upload private.uploads;
begin
  if bucket is distinct from 'avatars' and bucket is distinct from 'listings' then
    perform private.refuse(422, 'validation_failed');
  elsif bucket = 'listings' then
    owner_id := private.require_identity();
  elsif owner_id is null then
    -- A person may upload an avatar even if no identity of the account can act.
    select identities.id into owner_id from public.identities
    where identities.account_id = caller_id and identities.type = 'individual';
  end if;
  if bucket = 'listings' and property_id is not null then
    property := private.lock_editable_property(property_id);
  elsif upload_session_id is not null then
    select * into upload_session from private.upload_sessions
    where upload_sessions.identity_id = owner_id
      and upload_sessions.id = begin_upload.upload_session_id;
    perform private.refuse_gone_session(upload_session);
  end if;
  select coalesce(json_agg(json_build_object(
      'sha256', known.sha256, 'position', known.position)), '[]'), count(*)
  into pictures, uploaded
  from private.earlier_pictures(owner_id, bucket, property_id, upload_session_id) as known;
  room := private.upload_room(
    caller_id, owner_id, property, case bucket when 'listings' then uploaded end);
  -- If there are pictures, this upload may repeat one of them, which does not need room.
  if room.used >= room.allowed and uploaded = 0 then
    perform private.refuse_upload(room.error, room.allowed, room.used);
  end if;

  insert into private.uploads (account_id, identity_id, bucket)
  values (caller_id, owner_id, begin_upload.bucket)
  returning * into upload;
  return json_build_object('uploadId', upload.id, 'folder', owner_id, 'error', room.error,
    'limit', room.allowed, 'used', room.used, 'known', pictures);
end
$$;
comment on function private.begin_upload is
  'Facade: begins an upload. Returns the id and folder from which the names of its files are '
  'built, the limit and number of pictures, and the existing pictures, which may be repeated '
  'without using room. The facade counts the call in an earlier transaction, because a refused '
  'upload costs as much as an accepted one. 402 quota_exceeded, 409 uploads_full, 422 if the '
  'upload session has ended.';

create function private.upload_avatar(upload_id uuid, again text default null) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  upload private.uploads := private.lock_own_upload(upload_id, 'avatars');
  picture public.media;
  room record;
begin
  perform private.lock_unused_pictures(upload.account_id);
  -- If the response to an earlier attempt was lost, the picture is already stored.
  select * into picture from private.earlier_pictures(upload.identity_id, 'avatars', null, null)
    as known
  where known.sha256 = coalesce(
    again, (select stored.sha256 from private.stored_files(upload) as stored limit 1))
  limit 1;
  if picture.id is null then
    room := private.upload_room(upload.account_id, upload.identity_id, null, null);
    if room.used >= room.allowed then
      perform private.refuse_upload(room.error, room.allowed, room.used);
    end if;
    insert into public.media
      (account_id, identity_id, bucket, name, width, height, orientation, bytes, sha256)
    select
      upload.account_id, upload.identity_id, upload.bucket, stored.name, stored.width,
      stored.height, stored.orientation, stored.bytes, stored.sha256
    from private.stored_files(upload) as stored
    limit 1
    returning * into picture;
  end if;
  if picture.id is null then
    perform private.refuse(422, 'file_missing');
  end if;
  perform private.finish_upload(upload);
  return json_build_object(
    'mediaId', picture.id,
    'url', private.media_url(picture.bucket, picture.name),
    'width', picture.width,
    'height', picture.height);
end
$$;
comment on function private.upload_avatar is
  'Api: Adds the avatar that this upload has stored. If the same picture already exists (by its '
  'hash), returns that one. 402 quota_exceeded, 409 uploads_full.';

create function private.finish_upload(upload private.uploads) returns void
  language plpgsql
  security definer -- deletes uploads, which clients may not delete
  set search_path = ''
as $$
begin
  -- If files have no row, the next run of a job removes them (private.files_to_remove).
  if exists (
    select from private.stored_files(upload) as stored
    where not exists (
      select from private.file_rows
      where file_rows.bucket = upload.bucket and file_rows.name = stored.name
    )
  ) then
    update private.uploads set due_at = now() where uploads.id = upload.id;
  else
    delete from private.uploads where uploads.id = upload.id;
  end if;
end
$$;

grant execute on function private.begin_upload, private.upload_avatar to authenticated;
