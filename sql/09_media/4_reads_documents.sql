create function api.list_documents(identity_id uuid)
  returns table (items json, "nextCursor" text)
  language plpgsql stable set search_path = ''
as $$
begin
  perform api.get_identity(list_documents.identity_id); -- raises 404 identity_not_found
  return query
  select
    coalesce(json_agg(
      private.document_json(documents,
        format('/auth/identities/%s/documents', documents.identity_id))
      order by documents.created_at, documents.file), '[]'),
    null::text
  from public.documents
  where documents.identity_id = list_documents.identity_id;
end
$$;
comment on function api.list_documents is
  'Lists all documents of an identity of the caller, oldest first. 404 identity_not_found.';

create function private.get_document(identity_id uuid, document_id uuid) returns json
  language plpgsql stable set search_path = ''
as $$
declare
  caller_id constant uuid := private.require_account();
  document public.documents;
begin
  select * into document from public.documents
  where documents.id = document_id and documents.identity_id = get_document.identity_id
    and documents.account_id = caller_id and documents.discarded_at is null;
  if document.id is null then
    perform private.refuse(404, 'document_not_found');
  end if;
  return json_build_object('file', document.file, 'type', document.type, 'size', document.bytes);
end
$$;
comment on function private.get_document is
  'Facade: returns the file name, type and size of a document of the caller. 404 '
  'document_not_found.';

grant execute on function api.list_documents, private.get_document to authenticated;
