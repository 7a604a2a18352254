create function private.upload_listing_media(
  upload_id uuid, property_id uuid default null, upload_session_id uuid default null,
  start_position integer default null, again jsonb default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  owner_id uuid := private.lock_identity();
  upload private.uploads := private.lock_own_upload(upload_id, 'listings');
  session_id uuid := coalesce(upload_session_id, upload_id);
  listing_id uuid := property_id;
  property public.properties;
  pictures uuid[];
  stored record;
begin
  if upload.identity_id <> owner_id then
    perform private.refuse(409, 'identity_changed');
  elsif start_position not between 0 and 999 then
    perform private.refuse_field('startPosition',
      private.number_problem('integer', to_jsonb(start_position), 0, 999));
  end if;
  -- The listing is always locked before any row that belongs to it (03_accounts/2_rules_locks.sql).
  if listing_id is null then
    select upload_sessions.property_id into listing_id from private.upload_sessions
    where upload_sessions.identity_id = owner_id and upload_sessions.id = session_id;
  end if;
  if listing_id is null then
    perform private.lock_unused_pictures(upload.account_id);
    -- The listing may have been created while this transaction waited for the lock.
    listing_id := (private.lock_upload_session(owner_id, session_id)).property_id;
  end if;
  if listing_id is not null then
    property := private.lock_editable_property(listing_id);
  end if;

  stored := private.insert_listing_pictures(upload, property, session_id, start_position, again);
  if property.id is not null and private.is_moderated(property) then
    pictures := private.owner_pictures(property);
    start_position := coalesce(start_position, cardinality(pictures));
    perform private.change_pictures(
      property, pictures[:start_position] || stored.added || pictures[start_position + 1:]);
  end if;
  perform private.finish_upload(upload);
  return json_build_object(
    'propertyId', property.id, 'uploadSessionId', session_id, 'files', stored.answer);
end
$$;
comment on function private.upload_listing_media is
  'Api: Adds the pictures that this upload has stored to a listing, in their order. Without a '
  'listing, adds them to an upload session for a new listing. 404 property_not_found, 402 '
  'quota_exceeded or 409 uploads_full if there is room for none, 409 property_state_conflict, 422 '
  'if the upload session has ended.';

create function private.insert_listing_pictures(
  upload private.uploads, property public.properties, session_id uuid, start_position integer,
  again jsonb, out answer json, out added uuid[]
)
  language plpgsql set search_path = ''
as $$
declare
  answers jsonb := '[]';
  stored record;
  picture public.media;
  requested integer;
  -- The pictures of a moderated listing keep their positions. The new order waits for approval in
  -- pending_changes.
  is_pending constant boolean := property.id is not null and private.is_moderated(property);
  room record;
  others uuid[] := array(
    select media.id from public.media
    where property.id is null and media.identity_id = upload.identity_id
        and media.upload_session_id = session_id and media.use is null
        and media.discarded_at is null
      or media.property_id = property.id
  );
begin
  added := '{}';
  room := private.upload_room(
    upload.account_id, upload.identity_id, property, cardinality(others));
  for stored in
    select files.index, files.name, files.width, files.height, files.orientation, files.bytes,
      files.sha256
    from private.stored_files(upload) as files
    union all
    select known.index, null, null, null, null, null, known.sha256
    from jsonb_to_recordset(again) as known (index integer, sha256 text)
    order by index
    limit 20
  loop
    requested := case when not is_pending then start_position + stored.index end;
    -- If the response to an earlier attempt was lost, the picture is already stored at this position.
    select * into picture from public.media
    where media.id = any (others) and media.sha256 = stored.sha256
      and (requested is null or media.position = requested or stored.name is null)
    order by media.position is distinct from requested, media.position
    limit 1;
    if picture.id is null and stored.name is null then
      -- The picture existed when the upload began, so its file was not stored again. It has been
      -- deleted since then.
      answers := answers || jsonb_build_object('index', stored.index, 'error', 'not_found');
      continue;
    elsif picture.id is null and cardinality(added) >= room.allowed - room.used then
      answers := answers || jsonb_build_object('index', stored.index, 'error', room.error);
      continue;
    elsif picture.id is null then
      insert into public.media (
        account_id, identity_id, bucket, name, width, height, orientation, bytes, sha256,
        use, property_id, upload_session_id, pending, position
      ) values (
        upload.account_id, upload.identity_id, upload.bucket, stored.name, stored.width,
        stored.height, stored.orientation, stored.bytes, stored.sha256,
        case when property.id is not null then 'listing' end, property.id, session_id,
        is_pending, private.make_room(others || added, requested)
      )
      returning * into picture;
      added := added || picture.id;
    end if;
    answers := answers || jsonb_build_object(
      'index', stored.index,
      'mediaId', picture.id,
      'url', private.media_url(picture.bucket, picture.name),
      'position', picture.position);
  end loop;
  if answers = '[]' then
    perform private.refuse(422, 'file_missing');
  elsif not jsonb_path_exists(answers, '$[*].mediaId') then
    if jsonb_path_exists(answers, '$[*] ? (@.error != "not_found")') then
      perform private.refuse_upload(room.error, room.allowed, room.used);
    end if;
    perform private.refuse(404, 'not_found');
  end if;
  answer := answers::json;
end
$$;
comment on function private.insert_listing_pictures is
  'Inserts the rows of the uploaded pictures of a listing. Repeated pictures are recognised by '
  'their hash and, if a position was requested for a stored file, also by their position. Pictures '
  'for which there is no room get the error quota_exceeded or uploads_full.';

create function private.make_room(media_ids uuid[], requested integer) returns integer
  language plpgsql set search_path = ''
as $$
declare
  taken integer[] := array(
    select media.position from public.media where media.id = any (media_ids)
  );
  free integer := coalesce(requested, (select max(used) + 1 from unnest(taken) as used), 0);
begin
  while free = any (taken) loop
    free := free + 1;
  end loop;
  update public.media set position = media.position + 1
  where media.id = any (media_ids) and media.position >= requested and media.position < free;
  return coalesce(requested, free);
end
$$;
comment on function private.make_room is
  'Moves pictures back by one position so that the requested position is free, and returns it. If '
  'none was requested, returns the position after the last picture.';

grant execute on function private.upload_listing_media to authenticated;
