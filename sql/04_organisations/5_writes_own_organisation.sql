-- What a company or office changes of its page.

create function private.update_profile(type text, fields jsonb) returns json
  language plpgsql
  security definer -- clients have no write grant on organisations
  set search_path = ''
as $$
declare
  identity_id uuid;
begin
  perform private.lock_caller_exclusively();
  identity_id := private.require_identity_type(update_profile.type);
  perform private.update_identity(identity_id, update_profile.fields);
  return private.organisation_profile(identity_id);
end
$$;
comment on function private.update_profile is 'Changes the page of the acting company or office.';

grant execute on function private.update_profile to authenticated;
