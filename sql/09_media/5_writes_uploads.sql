-- Uploads: one call before the files are read, and one that creates their rows. Between the two the
-- functions store the files, under the names that the upload gives them. Avatars get their row
-- here, pictures of listings in 5_writes_listing_uploads.sql.

create function private.begin_upload(
  bucket text, property_id uuid default null, upload_session_id uuid default null
) returns json
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller();
  owner_id uuid := private.identity_id();
  property public.properties;
  pictures json;
  uploaded integer;
  allowance record;
  allowed integer;
  used integer;
  upload private.uploads;
begin
  if bucket is distinct from 'avatars' and bucket is distinct from 'listings' then
    perform private.refuse(422, 'validation_failed');
  elsif bucket = 'listings' then
    owner_id := private.require_identity();
  elsif owner_id is null then
    -- A person may have an avatar also while none of the identities can act.
    select identities.id into owner_id from public.identities
    where identities.account_id = caller_id and identities.type = 'individual';
  end if;
  if bucket = 'listings' and property_id is not null then
    property := private.lock_editable_property(property_id);
  end if;
  select coalesce(json_agg(json_build_object(
      'sha256', known.sha256, 'position', known.position)), '[]'), count(*)
  into pictures, uploaded
  from private.earlier_pictures(owner_id, bucket, property_id, upload_session_id) as known;
  if bucket = 'listings' then
    allowed := private.picture_limit(owner_id);
    used := case when property.id is null then uploaded
      else cardinality(private.owner_pictures(property)) end;
  end if;
  select * into allowance from private.picture_allowance(owner_id);
  if allowed is null or allowance.allowed - allowance.used < allowed - used then
    allowed := allowance.allowed;
    used := allowance.used;
  end if;
  -- Where nothing was uploaded before, nothing can be sent again.
  if used >= allowed and uploaded = 0 then
    perform private.refuse(402, 'quota_exceeded',
      jsonb_build_object('limit', allowed, 'used', used));
  end if;

  insert into private.uploads (account_id, identity_id, bucket)
  values (caller_id, owner_id, begin_upload.bucket)
  returning * into upload;
  return json_build_object('uploadId', upload.id, 'folder', owner_id, 'limit', allowed,
    'used', used, 'known', pictures);
end
$$;
comment on function private.begin_upload is
  'Facade: begins an upload: how its files are named, how many there is room for, and which '
  'pictures are there already, since one that is sent again needs no room. The facade counts and '
  'commits the call before, because a refused one costs as much. 402 quota_exceeded.';

create function private.upload_avatar(upload_id uuid, again text default null) returns json
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
declare
  upload private.uploads := private.lock_own_upload(upload_id, 'avatars');
  picture public.media;
begin
  -- Sent again because the answer was lost: the picture is there.
  select * into picture from private.earlier_pictures(upload.identity_id, 'avatars', null, null)
    as known
  where known.sha256 = coalesce(
    again, (select stored.sha256 from private.stored_files(upload) as stored limit 1))
  limit 1;
  if picture.id is null then
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
  'Api: The avatar that this upload stored, or one that was sent again, recognised by its hash. 402 '
  'quota_exceeded comes when an upload begins.';

create function private.finish_upload(upload private.uploads) returns void
  language plpgsql
  security definer -- writes a closed table, and reads what belongs to others
  set search_path = ''
as $$
begin
  -- A file without a row is removed by the next run of the job.
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
comment on function private.finish_upload is
  'Ends an upload whose rows are written; files without a row are left to the job.';

grant execute on function private.begin_upload, private.upload_avatar to authenticated;
