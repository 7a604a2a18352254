create function private.document_json(document public.documents, path text) returns json
  language sql stable
  return json_build_object(
    'id', document.id,
    'name', document.name,
    'type', document.type,
    'size', document.bytes,
    'encrypted', document.encrypted,
    'createdAt', document.created_at,
    'url', path || '/' || document.id);

grant execute on function private.document_json to authenticated;
