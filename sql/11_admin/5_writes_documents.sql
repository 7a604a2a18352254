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
  'Facade: returns the file of a document to an admin and records the access in the audit trail.';

create function private.get_admin_picture(media_id uuid) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  picture public.media;
begin
  perform private.require_admin();
  select * into picture from public.media
  where media.id = get_admin_picture.media_id and media.removed_at is null;
  if picture.id is null then
    perform private.refuse(404, 'not_found');
  end if;
  return json_build_object('bucket', picture.bucket, 'file', picture.name, 'size', picture.bytes,
    'type', 'image/' || replace(split_part(picture.name, '.', 2), 'jpg', 'jpeg'));
end
$$;
comment on function private.get_admin_picture is
  'Facade: returns the bucket and name of a picture''s file to an admin, even if it is suspended.';

grant execute on function private.get_admin_document, private.get_admin_picture to authenticated;
