create function private.begin_document_upload(identity_id uuid) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id constant uuid := private.lock_caller();
  allowance record;
  known json;
  upload private.uploads;
begin
  perform private.require_own_organisation(caller_id, identity_id);
  allowance := private.document_allowance(caller_id, identity_id);
  select json_agg(json_build_object('sha256', documents.sha256)) into known
  from public.documents
  where documents.identity_id = begin_document_upload.identity_id
    and documents.discarded_at is null;
  -- If there are documents, this upload may repeat one of them, which does not need room.
  if allowance.used >= allowance.allowed and known is null then
    perform private.refuse(409, 'documents_full',
      jsonb_build_object('limit', allowance.allowed, 'used', allowance.used));
  end if;
  insert into private.uploads (account_id, identity_id, bucket)
  values (caller_id, begin_document_upload.identity_id, 'documents')
  returning * into upload;
  return json_build_object('uploadId', upload.id, 'folder', upload.identity_id,
    'limit', allowance.allowed, 'used', allowance.used, 'known', coalesce(known, '[]'));
end
$$;
comment on function private.begin_document_upload is
  'Facade: begins an upload. Returns the id and folder from which the names of its files are '
  'built, the limit and number of documents, and the hashes of the existing documents.';

create function private.upload_documents(upload_id uuid, again jsonb default null) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  -- The exclusive lock makes concurrent uploads and decisions of admins wait.
  caller_id constant uuid := private.lock_caller_exclusively();
  upload constant private.uploads := private.lock_own_upload(upload_id, 'documents');
  allowance record;
  room integer;
  stored record;
  document_id uuid;
  answers jsonb := '[]';
begin
  perform private.require_own_organisation(caller_id, upload.identity_id);
  allowance := private.document_allowance(caller_id, upload.identity_id);
  room := allowance.allowed - allowance.used;
  for stored in
    select files.index, files.name, files.label, files.type, files.bytes, files.sha256,
      files.encrypted, false as known
    from private.stored_files(upload) as files
    union all
    select again.index, null, null, null, null, again.sha256, null, again.known
    from jsonb_to_recordset(again) as again (index integer, sha256 text, known boolean)
    order by index
    limit 20
  loop
    -- A concurrent upload, or one whose response was lost, may already have stored the document.
    select documents.id into document_id from public.documents
    where documents.identity_id = upload.identity_id and documents.sha256 = stored.sha256
      and documents.discarded_at is null
    limit 1;
    if document_id is null and stored.name is not null and room > 0 then
      if not private.is_written(stored.label) then
        perform private.refuse_field('files', 'invalid');
      end if;
      insert into public.documents (account_id, identity_id, name, file, type, encrypted, bytes,
        sha256)
      values (caller_id, upload.identity_id, stored.label, stored.name, stored.type,
        stored.encrypted, stored.bytes, stored.sha256)
      returning documents.id into document_id;
      room := room - 1;
    end if;
    answers := answers || (jsonb_build_object('index', stored.index) || case
      when document_id is not null then jsonb_build_object('documentId', document_id)
      -- The document existed when the upload began, so its file was not stored again. It has been
      -- deleted since then.
      when stored.known then '{"error":"document_not_found"}'
      else '{"error":"documents_full"}' end);
  end loop;
  if not jsonb_path_exists(answers, '$[*].documentId')
    and jsonb_path_exists(answers, '$[*] ? (@.error == "documents_full")') then
    perform private.refuse(409, 'documents_full',
      jsonb_build_object('limit', allowance.allowed, 'used', allowance.used));
  end if;
  perform private.finish_upload(upload);
  return jsonb_build_object('files', answers);
end
$$;
comment on function private.upload_documents is
  'Api: Adds the files that this upload has stored to the documents of the company or office. '
  'Repeated files are recognised by their hash. Files for which there is no room get the error '
  'documents_full. 404 identity_not_found, 409 documents_full if there is room for none.';

create function private.delete_document(identity_id uuid, document_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id constant uuid := private.lock_caller();
begin
  perform from public.documents
  where documents.id = document_id and documents.identity_id = delete_document.identity_id
    and documents.account_id = caller_id and documents.discarded_at is null
  for no key update;
  if not found then
    perform private.refuse(404, 'document_not_found');
  end if;
  perform private.discard_documents(array[document_id]);
end
$$;

create function api.delete_document(identity_id uuid, document_id uuid) returns void
  language sql set search_path = ''
as $$
  select private.count_action('document_deletions');
  select private.delete_document(identity_id, document_id)
$$;
comment on function api.delete_document is
  'Deletes a document of a company or office of the caller, and its file. 404 document_not_found.';

grant execute on function
  private.begin_document_upload, private.upload_documents,
  private.delete_document, api.delete_document
  to authenticated;
