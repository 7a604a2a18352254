-- As for files to be removed (7_jobs.sql), an edge function gets a list of names here, has Storage move
-- the files, and passes the same list to its next call. The row is always updated to the bucket in which
-- the file is, even after a crash or concurrent runs. A file in the wrong bucket is then moved again.

create function private.bucket_of(picture public.media) returns text
  language plpgsql stable
  security definer -- reads accounts, identities and listings of other people
  set search_path = ''
as $$
begin
  return case
    when exists (
      select from public.identities
      join public.accounts on accounts.id = identities.account_id
      where identities.id = picture.identity_id
        and (identities.status = 'suspended' or accounts.status in ('suspended', 'banned'))
    ) or exists (
      select from public.properties
      where properties.id = picture.property_id and properties.status = 'suspended'
    ) then 'suspended'
    else private.home_bucket(picture)
  end;
end
$$;
comment on function private.bucket_of is
  'Returns the bucket in which the file of a picture of a listing, person or page belongs.';

create function private.misplaced_files(queued private.file_moves) returns setof public.media
  language plpgsql stable
  rows 20
  set search_path = ''
as $$
begin
  return query
  select media.* from public.media
  where (media.property_id = queued.property_id or media.identity_id = queued.identity_id)
    -- Pictures of messages have already reached other people. Administrators hide them one by one.
    and media.use in ('listing', 'avatar', 'logo', 'cover')
    and media.bucket <> private.bucket_of(media)
  limit 200;
end
$$;

create function private.follow_moved_files(moved_ids uuid[]) returns bigint
  language plpgsql set search_path = ''
as $$
declare
  followed bigint;
begin
  perform from public.properties
  where properties.id in (
    select media.property_id from public.media where media.id = any (moved_ids)
  )
  order by properties.id
  for no key update;
  update public.media set bucket = objects.bucket_id
  from storage.objects
  where media.id = any (moved_ids) and objects.name = media.name
    and objects.bucket_id = any ('{avatars,listings,suspended}'::text[])
    and objects.bucket_id <> media.bucket
    and not exists (
      select from storage.objects as same
      where same.bucket_id = media.bucket and same.name = media.name
    );
  get diagnostics followed = row_count;
  -- A file may belong in a different bucket by the time it has been moved.
  insert into private.file_moves (identity_id)
  select distinct media.identity_id from public.media
  where media.id = any (moved_ids) and media.use in ('listing', 'avatar', 'logo', 'cover')
    and media.bucket <> private.bucket_of(media)
    and not exists (
      select from private.file_moves where file_moves.identity_id = media.identity_id
    );
  return followed;
end
$$;
comment on function private.follow_moved_files is
  'Sets the bucket of each picture to the one in which its file is. Queues the pictures again '
  'whose files are in the wrong bucket.';

create function private.files_to_move(attempted jsonb) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  tried constant uuid[] := array(
    select file.id from jsonb_to_recordset(attempted) as file (id uuid)
  );
  queued private.file_moves;
  answer json;
begin
  perform private.follow_moved_files(tried);
  if tried <> '{}' and not exists (
    select from jsonb_to_recordset(attempted) as file (id uuid, "to" text)
    join public.media on media.id = file.id and media.bucket = file."to"
  ) then
    -- None of these files could be moved, so they are tried again after the others.
    update private.file_moves set due_at = now() + interval '5 minutes'
    where file_moves.id in (
      select file.move from jsonb_to_recordset(attempted) as file (move bigint)
    );
  end if;
  for queued in
    select * from private.file_moves
    where file_moves.due_at <= now()
    order by file_moves.due_at, file_moves.id
    limit 100
    for update skip locked
  loop
    select json_agg(json_build_object(
      'move', queued.id, 'id', media.id, 'name', media.name, 'from', media.bucket,
      'to', private.bucket_of(media)))
    into answer
    from private.misplaced_files(queued) as media;
    exit when answer is not null and queued.created_at > now() - interval '1 day';
    if answer is not null then
      perform private.raise_alarm('files_not_moved',
        coalesce(queued.property_id, queued.identity_id)::text);
      answer := null;
    end if;
    delete from private.file_moves where file_moves.id = queued.id;
  end loop;
  return coalesce(answer, '[]');
end
$$;
comment on function private.files_to_move is
  'Job: returns a batch of pictures whose files belong in a different bucket. attempted is the '
  'batch of the previous call, after Storage was asked to move its files. If a move fails for a '
  'day, an alarm is raised and the move is abandoned.';

grant execute on function private.files_to_move to backend;
