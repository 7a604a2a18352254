create function private.create_property(
  fields jsonb, publish boolean default false, upload_session_id uuid default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  owner_id uuid;
  given jsonb;
  property public.properties;
begin
  if publish then
    perform private.require_terms();
  end if;
  owner_id := private.require_identity();
  given := private.parse_property_fields(fields);
  if not given ? 'type' then
    perform private.refuse_field('type', 'required');
  end if;
  perform private.check_new_titles(given, null);
  perform private.count_action('listings');
  if publish then
    perform private.count_publication(owner_id, true);
  end if;
  owner_id := private.lock_identity();
  perform private.lock_quota(owner_id);
  if publish is not true then
    perform private.check_drafts(owner_id);
  end if;
  -- The row is inserted first, because some rules depend on values of the owner that a trigger copies
  -- into it.
  insert into public.properties (owner_identity_id, type) values (owner_id, given ->> 'type')
  returning * into property;

  property := private.apply_fields(property, given);
  perform private.check_property(property, false);
  perform private.check_reach(property, null);
  if publish then
    property := private.submit_property(property);
    perform private.check_quota(owner_id);
  end if;
  if upload_session_id is not null then
    perform private.attach_upload_session(property.id, owner_id, upload_session_id);
  end if;
  if publish then
    property := private.publish_or_review(property);
  end if;
  perform private.save_property(property);
  return private.property_record(property.id, owner_id);
end
$$;
comment on function private.create_property is
  'Api: Creates a listing of the acting identity: a draft or, if publish is true, active or '
  'pending_review. 402 quota_exceeded, 403 terms_not_accepted, account_unproven, 409 '
  'duplicate_listing if publish is true, drafts_full otherwise, 422 for an upload session that no '
  'longer exists, was already used or belongs to another identity.';

create function private.update_property(property_id uuid, fields jsonb, expected_version integer)
  returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  given jsonb;
  before public.properties;
  property public.properties;
  hidden jsonb;
  pending jsonb;
begin
  perform private.require_identity();
  given := private.parse_property_fields(fields);
  before := private.lock_editable_property(property_id);
  if expected_version <> before.version then
    perform private.refuse(409, 'version_conflict');
  elsif before.published_at is not null and given ->> 'type' <> before.type then
    perform private.refuse(409, 'type_immutable');
  end if;

  perform private.check_new_titles(given, before);
  -- The listing must be valid with all changes applied, including those that still wait for approval.
  property := private.apply_fields(before, coalesce(before.pending_changes, '{}') || given);
  perform private.check_property(property, before.status not in ('draft', 'rejected'));
  perform private.check_reach(
    property, private.apply_fields(before, coalesce(before.pending_changes, '{}')));
  if before.status = 'active' then
    perform private.check_reachable(property);
  end if;
  property.pending_changes := null;

  if private.is_moderated(before) then
    hidden := private.hidden_fields(before, private.moderated_fields(given));
    property := private.apply_fields(before, private.unmoderated_fields(given) || hidden);
    pending := coalesce(before.pending_changes, '{}') || private.moderated_fields(given);
    select coalesce(jsonb_object_agg(waiting.key, waiting.value), '{}') into pending
    from jsonb_each(pending) as waiting
    where waiting.value is distinct from hidden -> waiting.key;
    if private.apply_fields(property, pending) is not distinct from property
      and not pending ? 'media' then
      pending := null;
    end if;
    property.pending_changes := pending;
  else
    perform private.decide_pictures(before, true);
  end if;

  if property is distinct from before then
    property.version := before.version + 1;
    perform private.save_property(property);
  end if;
  return private.property_record(property.id, property.owner_identity_id);
end
$$;

create function private.delete_property(property_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  property public.properties := private.lock_own_property(property_id);
begin
  property.status := 'deleted';
  property.version := property.version + 1;
  perform private.save_property(property);
end
$$;

do $$
begin
  execute format($function$
create function private.save_property(property public.properties) returns void
  language plpgsql set search_path = ''
as $body$
begin
  update public.properties
  set %s
  where properties.id = property.id;
end
$body$
    $function$,
    (
      select string_agg(format('%1$I = property.%1$I', saved), E',\n      ' order by index)
      from unnest(array[
        'status', 'status_reason', 'suspended_from', 'version', 'published_at', 'confirmed_at',
        'expires_at', 'paused_at', 'closed_at', 'deleted_at', 'pending_changes'
      ] || private.property_columns()) with ordinality as columns (saved, index)
    ));
end
$$;

create function api.update_property(
  property_id uuid, fields jsonb, expected_version integer default null
) returns json
  language sql set search_path = ''
as $$
  select private.count_action('listing_edits');
  select private.update_property(property_id, fields, expected_version);
$$;
comment on function api.update_property is
  'Changes a listing of the acting identity. Absent fields are kept; null clears a field. 404 '
  'property_not_found, 409 version_conflict, type_immutable, property_state_conflict, 422 '
  'contact_missing, location_outside_area.';

create function api.delete_property(property_id uuid) returns void
  language sql set search_path = ''
as $$
  select private.count_action('listing_deletions');
  select private.delete_property(property_id);
$$;
comment on function api.delete_property is
  'Deletes a listing of the acting identity in any state. 404 property_not_found.';

grant execute on function
  private.create_property, private.update_property, private.delete_property, api.update_property,
  api.delete_property
  to authenticated;
