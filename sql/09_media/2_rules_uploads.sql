-- The size, hash and type of a stored file are read from Storage, never from arguments of the caller.

create function private.lock_own_upload(upload_id uuid, bucket text) returns private.uploads
  language plpgsql set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller();
  upload private.uploads;
begin
  perform private.require_open(); -- count_action, which checks for maintenance, ran before the upload
  select * into upload from private.uploads
  where uploads.id = lock_own_upload.upload_id
    and uploads.account_id = caller_id
    and uploads.bucket = lock_own_upload.bucket
  for update;
  if upload.id is null then
    perform private.refuse(404, 'not_found');
  end if;
  return upload;
end
$$;

create function private.refuse_gone_session(upload_session private.upload_sessions) returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if upload_session.property_id is null
    and (upload_session.ended or upload_session.expires_at <= now()) then
    perform private.refuse_field('uploadSessionId', 'invalid');
  end if;
end
$$;

create function private.lock_upload_session(identity_id uuid, upload_session_id uuid)
  returns private.upload_sessions
  language plpgsql set search_path = ''
as $$
declare
  upload_session private.upload_sessions;
begin
  insert into private.upload_sessions (identity_id, id)
  values (lock_upload_session.identity_id, lock_upload_session.upload_session_id)
  on conflict do nothing;
  select * into upload_session from private.upload_sessions
  where upload_sessions.identity_id = lock_upload_session.identity_id
    and upload_sessions.id = lock_upload_session.upload_session_id
  for update;
  perform private.refuse_gone_session(upload_session);
  update private.upload_sessions
  set expires_at = least(now() + interval '7 days', upload_session.created_at + interval '14 days')
  where upload_sessions.identity_id = upload_session.identity_id
    and upload_sessions.id = upload_session.id;
  return upload_session;
end
$$;
comment on function private.lock_upload_session is
  'Locks the session, so that uploads to it and the creation of its listing do not overlap, and '
  'extends its expiry. 422 if the session has ended or expired.';

create function private.stored_files(upload private.uploads)
  returns table (
    index integer, name text, width integer, height integer, orientation integer, bytes integer,
    sha256 text, type text, label text, encrypted boolean
  )
  language plpgsql stable
  rows 20
  security definer -- reads storage.objects
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
    objects.user_metadata ->> 'sha256',
    objects.metadata ->> 'mimetype',
    objects.user_metadata ->> 'label',
    coalesce((objects.user_metadata ->> 'encrypted')::boolean, false)
  from generate_series(0, 19) as numbered (index)
  cross join unnest(array['jpg', 'png', 'webp', 'pdf']) as kind (ending)
  join storage.objects
    on objects.bucket_id = upload.bucket
    and objects.name = format('%s/%s%s.%s', upload.identity_id, left(upload.id::text, 34),
      lpad(to_hex(numbered.index), 2, '0'), kind.ending)
  order by numbered.index;
end
$$;

create function private.is_same_picture(one_id uuid, other_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads pictures of all identities
  set search_path = ''
as $$
begin
  return one_id is not distinct from other_id or exists (
    select from public.media as one
    join public.media as other on other.account_id = one.account_id and other.sha256 = one.sha256
    where one.id = one_id and other.id = other_id
  );
end
$$;
comment on function private.is_same_picture is
  'Whether two uploads of one account have the same content, or both ids are null.';

create function private.earlier_pictures(
  identity_id uuid, bucket text, property_id uuid, upload_session_id uuid
) returns setof public.media
  language plpgsql stable
  rows 10
  set search_path = ''
as $$
begin
  return query
  select media.* from public.media
  where media.identity_id = earlier_pictures.identity_id and media.discarded_at is null
    and case
      when earlier_pictures.bucket = 'avatars' then media.bucket = 'avatars' and media.use is null
      when earlier_pictures.property_id is not null
        then media.property_id = earlier_pictures.property_id
      else media.upload_session_id = earlier_pictures.upload_session_id
    end
  order by media.created_at desc
  limit 200;
end
$$;
comment on function private.earlier_pictures is
  'Returns pictures that were uploaded earlier for the same use, to recognise a repeated upload.';
