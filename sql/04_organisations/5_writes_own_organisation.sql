create function private.update_organisation_profile(type text, fields jsonb) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  identity_id uuid;
begin
  perform private.lock_caller_exclusively();
  identity_id := private.require_identity_type(update_organisation_profile.type);
  perform private.update_identity(identity_id, update_organisation_profile.fields);
  return private.organisation_profile(identity_id);
end
$$;

create function api.update_organisation_profile(type text, fields jsonb) returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('profile');
  return private.update_organisation_profile(type, fields);
end
$$;
comment on function api.update_organisation_profile is
  'Changes the page of the acting company or office (type). Changed names, a changed licence '
  'number and a later licence date wait for an admin''s decision. 403 identity_type_required for '
  'any other identity.';

grant execute on function
  private.update_organisation_profile, api.update_organisation_profile
  to authenticated;
