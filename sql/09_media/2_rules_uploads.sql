-- Whose an upload and its flow are, and which files it has stored. What a row says of its file is read
-- from Storage, never taken from the caller: who calls without having stored a file gets nothing.

create function private.own_upload(upload_id uuid, bucket text) returns private.uploads
  language plpgsql
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller();
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

create function private.hold_session(identity_id uuid, upload_session_id uuid)
  returns private.upload_sessions
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  flow private.upload_sessions;
begin
  insert into private.upload_sessions (identity_id, id)
  values (hold_session.identity_id, hold_session.upload_session_id)
  on conflict do nothing;
  select * into flow from private.upload_sessions
  where upload_sessions.identity_id = hold_session.identity_id
    and upload_sessions.id = hold_session.upload_session_id
  for update;
  return flow;
end
$$;
comment on function private.hold_session is
  'A flow, locked: uploads of it and the writing of its listing go one after another.';

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
