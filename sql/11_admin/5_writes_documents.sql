create function private.get_admin_document(document_id uuid) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  document public.documents;
begin
  perform private.require_admin();
  select * into document from public.documents
  where documents.id = document_id and documents.discarded_at is null;
  if document.id is null then
    perform private.refuse(404, 'document_not_found');
  end if;
  perform private.audit('document.read', 'document', document.id, null, null,
    jsonb_build_object('identityId', document.identity_id));
  return json_build_object('file', document.file, 'type', document.type, 'size', document.bytes);
end
$$;
comment on function private.get_admin_document is
  'Facade: returns the file of a document to an admin and records that in the audit trail.';

grant execute on function private.get_admin_document to authenticated;
