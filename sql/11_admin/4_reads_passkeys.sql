create function private.list_passkeys() returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
begin
  return query
  select coalesce(json_agg(private.passkey_record(passkeys) order by passkeys.created_at), '[]'),
    null::text
  from private.passkeys
  where passkeys.account_id = admin_id;
end
$$;
comment on function private.list_passkeys is
  'Facade: for admins: the caller''s passkeys, oldest first.';

grant execute on function private.list_passkeys to authenticated;
