-- Postgres cannot delete files in Storage. Therefore, an edge function gets a list of names here, has
-- Storage delete the files, and passes the same list to its next call. Rows are deleted after their
-- files, so that no file is forgotten if the job crashes. If a deletion fails, it is retried after all
-- other files.

create function private.check_files(listed jsonb)
  returns table (bucket text, name text, is_stored boolean)
  language plpgsql stable
  rows 1000
  security definer -- reads storage.objects
  set search_path = ''
as $$
begin
  return query
  select listing.bucket, file.name, exists (
    select from storage.objects
    where objects.bucket_id = listing.bucket and objects.name = file.name
  )
  from jsonb_to_recordset(listed) as listing (bucket text, names jsonb)
  cross join lateral jsonb_array_elements_text(listing.names) as file (name);
end
$$;
comment on function private.check_files is
  'Returns the files of a list from private.files_to_remove, and whether Storage still has them.';

create function private.forget_removed_files(attempted jsonb) returns void
  language sql security definer set search_path = ''
as $$
  update public.media set removed_at = now()
  from private.check_files(attempted) as file
  where media.bucket = file.bucket and media.name = file.name and not file.is_stored
    and media.discarded_at is not null and media.removed_at is null
    and exists (select from public.messages where messages.media_id = media.id);
  delete from public.media
  using private.check_files(attempted) as file
  where media.bucket = file.bucket and media.name = file.name and not file.is_stored
    and media.discarded_at is not null and media.removed_at is null;
  delete from public.documents
  using private.check_files(attempted) as file
  where file.bucket = 'documents' and documents.file = file.name and not file.is_stored
    and documents.discarded_at is not null;
  delete from private.stray_files
  using private.check_files(attempted) as file
  where stray_files.bucket = file.bucket and stray_files.name = file.name and not file.is_stored;

  update public.media set removal_due_at = now() + interval '5 minutes'
  from private.check_files(attempted) as file
  where media.bucket = file.bucket and media.name = file.name and file.is_stored
    and media.discarded_at is not null and media.removed_at is null;
  update public.documents set removal_due_at = now() + interval '5 minutes'
  from private.check_files(attempted) as file
  where file.bucket = 'documents' and documents.file = file.name and file.is_stored
    and documents.discarded_at is not null;
  update private.stray_files set removal_due_at = now() + interval '5 minutes'
  from private.check_files(attempted) as file
  where stray_files.bucket = file.bucket and stray_files.name = file.name and file.is_stored;
$$;
comment on function private.forget_removed_files is
  'Deletes or marks the rows of files that were removed. Postpones the next attempt for files that '
  'still exist.';

create function private.expire_uploads() returns void
  language sql
  security definer -- reads storage.objects, and deletes the due uploads of all accounts
  set search_path = ''
as $$
  with due as (
    delete from private.uploads where uploads.id in (
      select uploads.id from private.uploads where uploads.due_at <= now()
      order by uploads.due_at
      limit 500
      -- Uploads whose rows are being written are locked and therefore skipped.
      for update skip locked
    )
    returning uploads.*
  )
  insert into private.stray_files (bucket, name)
  select due.bucket, stored.name
  from due
  cross join lateral private.stored_files(due::private.uploads) as stored
  where not exists (
    select from private.file_rows
    where file_rows.bucket = due.bucket and file_rows.name = stored.name
  )
  on conflict do nothing
$$;

create function private.discard_unused_pictures() returns void
  language sql security definer set search_path = ''
as $$
  with due as materialized (
    select upload_sessions.identity_id, upload_sessions.id from private.upload_sessions
    where not upload_sessions.ended and upload_sessions.expires_at <= now()
    order by upload_sessions.expires_at
    limit 100
    -- Sessions from which a listing is being created are locked and therefore skipped.
    for update skip locked
  ), ended as (
    update private.upload_sessions set ended = true
    from due
    where upload_sessions.identity_id = due.identity_id and upload_sessions.id = due.id
  ), alone as (
    select media.id from public.media
    where media.use is null and media.discarded_at is null and media.upload_session_id is null
      and media.created_at < now() - interval '24 hours'
    order by media.created_at
    limit 500
  )
  update public.media
  set discarded_at = now(), upload_session_id = null, position = null
  where media.use is null and media.discarded_at is null and media.id in (
    select alone.id from alone
    union all
    select media.id from due
    join public.media
      on media.identity_id = due.identity_id and media.upload_session_id = due.id
  );
  delete from private.upload_sessions
  where (upload_sessions.identity_id, upload_sessions.id) in (
    select upload_sessions.identity_id, upload_sessions.id from private.upload_sessions
    where upload_sessions.ended and upload_sessions.expires_at < now() - interval '30 days'
    order by upload_sessions.expires_at
    limit 500
  )
$$;
comment on function private.discard_unused_pictures is
  'Discards pictures that were never used: those of expired upload sessions, and avatars that were '
  'not chosen within a day.';

create function private.files_to_remove(attempted jsonb) returns json
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.forget_removed_files(attempted);
  perform private.discard_unused_pictures();
  perform private.expire_uploads();
  perform private.discard_documents(array(
    select documents.id from public.documents
    where documents.kept_until <= now() and documents.discarded_at is null
    order by documents.kept_until
    limit 500
    -- A row may be locked by a decision about the identity that extends kept_until.
    for no key update skip locked
  ));

  return (
    select coalesce(json_agg(json_build_object('bucket', due.bucket, 'names', due.names)), '[]')
    from (
      select file.bucket, json_agg(file.name) as names
      from (
        (
          select media.bucket, media.name from public.media
          where media.discarded_at is not null and media.removed_at is null
            and media.removal_due_at <= now()
            and not exists (
              select from public.reports
              where reports.stored_content -> 'pictures' @> to_jsonb(array[media.id])
                -- If a report about a message was upheld, its picture is removed, because the URL is
                -- public.
                and (reports.target_type, reports.status) <> ('message', 'upheld')
            )
          order by media.removal_due_at, media.discarded_at
          limit 500
        )
        union
        (
          select 'documents', documents.file from public.documents
          where documents.discarded_at is not null and documents.removal_due_at <= now()
          order by documents.removal_due_at
          limit 500
        )
        union
        (
          select stray_files.bucket, stray_files.name from private.stray_files
          where stray_files.removal_due_at <= now()
          order by stray_files.removal_due_at
          limit 500
        )
      ) as file
      group by file.bucket
    ) as due
  );
end
$$;
comment on function private.files_to_remove is
  'Job: returns the names of a batch of files to be removed, grouped by bucket. attempted is the '
  'batch of the previous call, after Storage was asked to remove its files.';

create function private.reconcile_media() returns bigint
  language plpgsql security definer set search_path = ''
as $$
declare
  scan private.media_scans;
  last_name text;
  seen bigint;
  stray bigint;
  lost bigint;
  wrong bigint := 0;
begin
  insert into private.media_scans (bucket)
  values ('avatars'), ('listings'), ('suspended'), ('documents')
  on conflict do nothing;
  for scan in select * from private.media_scans for update skip locked loop
    -- Compares the next files, in the order of their names, with the rows in the same range of names.
    select count(*), case when count(*) = 20000 then max(files.name) end into seen, last_name
    from (
      select objects.name from storage.objects
      where objects.bucket_id = scan.bucket and objects.name > scan.after_name
      order by objects.name
      limit 20000
    ) as files;
    -- First updates the rows of files that a job moved but did not record, because it crashed.
    perform private.follow_moved_files(array(
      select media.id from storage.objects
      join public.media
        on media.bucket = any ('{avatars,listings,suspended}'::text[]) and media.name = objects.name
      where objects.bucket_id = scan.bucket and objects.name > scan.after_name
        and (last_name is null or objects.name <= last_name)
        and media.name > scan.after_name and (last_name is null or media.name <= last_name)
        and media.bucket <> scan.bucket
    ));
    with strays as (
      insert into private.stray_files (bucket, name)
      select objects.bucket_id, objects.name from storage.objects
      where objects.bucket_id = scan.bucket and objects.name > scan.after_name
        and (last_name is null or objects.name <= last_name)
        and objects.created_at < now() - interval '1 hour'
        and not exists (
          select from private.file_rows
          where file_rows.bucket = objects.bucket_id and file_rows.name = objects.name
        )
        and not exists ( -- the file was just moved, and its row will be updated
          select from public.media
          where media.bucket = any ('{avatars,listings,suspended}'::text[])
            and media.name = objects.name
            and not exists (
              select from storage.objects as own
              where own.bucket_id = media.bucket and own.name = media.name
            )
        )
      on conflict do nothing
      returning 1
    )
    select count(*) into stray from strays;
    select count(*) into lost from private.file_rows
    where file_rows.bucket = scan.bucket and file_rows.name > scan.after_name
      and (last_name is null or file_rows.name <= last_name)
      and file_rows.discarded_at is null
      and not exists (
        select from storage.objects
        where objects.name = file_rows.name
          and (objects.bucket_id = file_rows.bucket
            or 'documents' not in (objects.bucket_id, file_rows.bucket))
      );
    wrong := wrong + stray + lost;
    scan.files := scan.files + seen;
    scan.files_without_row := scan.files_without_row + stray;
    scan.rows_without_file := scan.rows_without_file + lost;
    perform private.save_media_scan(scan, last_name);
  end loop;
  return wrong;
end
$$;
comment on function private.reconcile_media is
  'Job: compares the next files with their rows. Returns the number of differences, for which an '
  'alarm is raised.';

create function private.save_media_scan(scan private.media_scans, last_name text) returns void
  language sql security definer set search_path = ''
as $$
  update private.media_scans
  set
    after_name = coalesce(last_name, ''),
    began_at = case when last_name is null then now() else scan.began_at end,
    files = case when last_name is null then 0 else scan.files end,
    files_without_row = case when last_name is null then 0 else scan.files_without_row end,
    rows_without_file = case when last_name is null then 0 else scan.rows_without_file end,
    last_ended_at = case when last_name is null then now() else scan.last_ended_at end,
    last_files = case when last_name is null then scan.files else scan.last_files end,
    last_files_without_row =
      case when last_name is null then scan.files_without_row else scan.last_files_without_row end,
    last_rows_without_file =
      case when last_name is null then scan.rows_without_file else scan.last_rows_without_file end
  where media_scans.bucket = scan.bucket
$$;

grant execute on function private.files_to_remove, private.reconcile_media to backend;
