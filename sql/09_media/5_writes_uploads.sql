-- Uploads: an entrance before the files are read, and one transaction that makes their rows
-- (09_media/5_writes_rows.sql).
--
-- Between the two the functions store the files, each under the name that its upload gives it. What
-- a row says of its file is read from Storage, never from the caller: whoever calls these functions
-- without having stored anything gets nothing.

create function private.picture_limit(identity_id uuid) returns integer
  language plpgsql
  stable
  security definer -- reads plans and subscriptions
  set search_path = ''
as $$
begin
  return (private.plan_of(identity_id)).photos_per_listing;
end
$$;
comment on function private.picture_limit is
  'How many pictures a listing of this identity may have.';

create function private.allowance_of(identity_id uuid, out allowed integer, out used integer)
  language plpgsql
  stable
  security definer -- counts rows past the policies
  set search_path = ''
as $$
declare
  plan public.plans := private.plan_of(identity_id);
begin
  -- Room for listings that are drafts, closed or archived too, and for a few flows in between.
  allowed := plan.photos_per_listing * plan.active_listings * 4 + 200;
  used := (select count(*) from public.media where media.identity_id = allowance_of.identity_id);
end
$$;
comment on function private.allowance_of is
  'How many pictures one identity may keep in all, and has.';

create function private.pictures_known(
  identity_id uuid, bucket text, property_id uuid, upload_session_id uuid
) returns setof public.media
  language plpgsql
  stable
  rows 10
  security definer -- reads rows past the policies
  set search_path = ''
as $$
begin
  return query
  select media.* from public.media
  where media.identity_id = pictures_known.identity_id and media.discarded_at is null
    and case
      when pictures_known.bucket = 'avatars' then media.bucket = 'avatars' and media.use is null
      when pictures_known.property_id is not null
        then media.property_id = pictures_known.property_id
      else media.upload_session_id = pictures_known.upload_session_id
    end
  order by media.created_at desc
  limit 200;
end
$$;
comment on function private.pictures_known is
  'What was uploaded before to the same place: one of them sent again is not stored again.';

create function private.begin_upload(
  bucket text, property_id uuid default null, upload_session_id uuid default null
) returns json
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  caller_id uuid := private.hold_caller();
  owner_id uuid := private.identity_id();
  property public.properties;
  pictures json;
  had integer;
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
    -- A person has a face also while nothing can be done in its name.
    select identities.id into owner_id from public.identities
    where identities.account_id = caller_id and identities.type = 'individual';
  end if;
  if bucket = 'listings' and property_id is not null then
    property := private.editable_property(property_id);
  end if;
  select coalesce(json_agg(json_build_object(
      'sha256', known.sha256, 'position', known.position)), '[]'), count(*)
  into pictures, had
  from private.pictures_known(owner_id, bucket, property_id, upload_session_id) as known;
  if bucket = 'listings' then
    allowed := private.picture_limit(owner_id);
    used := case when property.id is null then had
      else cardinality(private.wanted_pictures(property)) end;
  end if;
  select * into allowance from private.allowance_of(owner_id);
  if allowed is null or allowance.allowed - allowance.used < allowed - used then
    allowed := allowance.allowed;
    used := allowance.used;
  end if;
  -- Where nothing was uploaded before, nothing can be sent again.
  if used >= allowed and had = 0 then
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
  'Facade: lets an upload begin: under which names its files are stored, how many there is room for, '
  'and which pictures are there: one of them sent again needs no room. Counted and committed before: '
  'what is refused has cost as much. 402 quota_exceeded.';

create function private.refuse_pictures(identity_id uuid) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  allowed integer := private.picture_limit(identity_id);
begin
  perform private.refuse(402, 'quota_exceeded',
    jsonb_build_object('limit', allowed, 'used', allowed));
end
$$;
comment on function private.refuse_pictures is
  '402 quota_exceeded: the listing has all it may have.';

create function private.own_upload(upload_id uuid, bucket text) returns private.uploads
  language plpgsql
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  caller_id uuid := private.hold_caller();
  upload private.uploads;
begin
  select * into upload from private.uploads
  where uploads.id = own_upload.upload_id
    and uploads.account_id = caller_id
    and uploads.bucket = own_upload.bucket
  for update;
  if upload.id is null then
    perform private.refuse(404, 'not_found');
  end if;
  return upload;
end
$$;
comment on function private.own_upload is 'An upload that the caller has begun, or 404 not_found.';

create function private.stored_files(upload private.uploads)
  returns table (
    index integer, name text, width integer, height integer, orientation integer, bytes integer,
    sha256 text
  )
  language plpgsql
  stable
  rows 20
  security definer -- reads the files of Storage
  set search_path = ''
as $$
begin
  return query
  select
    numbered.index,
    objects.name,
    (objects.user_metadata ->> 'width')::integer,
    (objects.user_metadata ->> 'height')::integer,
    (objects.user_metadata ->> 'orientation')::integer,
    (objects.metadata ->> 'size')::integer,
    objects.user_metadata ->> 'sha256'
  from generate_series(0, 19) as numbered (index)
  cross join unnest(array['jpg', 'png', 'webp']) as kind (ending)
  join storage.objects
    on objects.bucket_id = upload.bucket
    and objects.name = format('%s/%s%s.%s', upload.identity_id, left(upload.id::text, 34),
      lpad(to_hex(numbered.index), 2, '0'), kind.ending)
  order by numbered.index;
end
$$;
comment on function private.stored_files is 'What an upload has stored, as Storage tells.';

create function private.end_upload(upload private.uploads) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  -- A file that no row names is removed by the next run of the job.
  if exists (
    select from private.stored_files(upload) as stored
    where not exists (
      select from public.media
      where media.bucket = upload.bucket and media.name = stored.name
    )
  ) then
    update private.uploads set due_at = now() where uploads.id = upload.id;
  else
    delete from private.uploads where uploads.id = upload.id;
  end if;
end
$$;
comment on function private.end_upload is 'Every file of the upload has its row, or is left over.';

revoke execute on all functions in schema private from public;
grant execute on function private.begin_upload to authenticated;
