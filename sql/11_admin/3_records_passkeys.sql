create function private.passkey_record(passkey private.passkeys) returns json
  language sql stable
  return json_build_object(
    'id', passkey.id,
    'name', passkey.name,
    'rpId', passkey.rp_id,
    'createdAt', passkey.created_at,
    'lastUsedAt', passkey.last_used_at
  );
