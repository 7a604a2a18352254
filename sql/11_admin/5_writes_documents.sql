-- Admins read documents of companies and offices; each reading is in the audit trail.

create function private.get_admin_document(document_id uuid) returns json
  language plpgsql
  security definer -- reads what belongs to others, for an admin
  set search_path = ''
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
  'Facade: where the file of a document lies, for an admin, in the audit trail. 403 admin_only, '
  '404 document_not_found.';

grant execute on function private.get_admin_document to authenticated;
