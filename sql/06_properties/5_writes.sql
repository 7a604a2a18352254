-- Writing and editing a listing.

create function private.create_property(
  fields jsonb, publish boolean, upload_session_id uuid
) returns json
  language plpgsql
  security definer -- clients have no write grant; the listing is the acting identity's
  set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
  given jsonb := private.read_property(fields);
  property public.properties;
begin
  if not given ? 'type' then
    perform private.refuse_fields('[{"path":"type","code":"required"}]');
  end if;
  perform private.count_act('listings');
  if publish then
    perform private.count_publication(owner_id);
  end if;
  owner_id := private.hold_identity();
  if publish then
    perform private.hold_quota(owner_id);
  end if;
  -- What the owner is decides some rules, and the first trigger knows it.
  insert into public.properties (owner_identity_id, type) values (owner_id, given ->> 'type')
  returning * into property;

  property := private.with_fields(property, given);
  perform private.check_property(property, false);
  if publish then
    property := private.publish_property(property);
    perform private.check_quota(owner_id);
  end if;
  perform private.save_property(property);
  if upload_session_id is not null then
    perform private.take_session(property.id, owner_id, upload_session_id);
  end if;
  return private.property_record(property.id, owner_id);
end
$$;
comment on function private.create_property is 'A new listing of the acting identity, with the pictures of a flow.';

create function private.update_property(property_id uuid, fields jsonb, expected_version integer)
  returns json
  language plpgsql
  security definer -- clients have no write grant; works on own listings only
  set search_path = ''
as $$
declare
  given jsonb;
  before public.properties;
  property public.properties;
  waiting jsonb;
begin
  perform private.require_identity();
  given := private.read_property(fields);
  before := private.editable_property(property_id);
  if expected_version <> before.version then
    perform private.refuse(409, 'version_conflict');
  elsif before.published_at is not null and given ->> 'type' <> before.type then
    perform private.refuse(409, 'type_immutable');
  end if;

  -- The listing as its owner wants it must hold, whether or not all of it is shown at once.
  property := private.with_fields(before, coalesce(before.pending_changes, '{}') || given);
  perform private.check_property(property, before.status not in ('draft', 'rejected'));
  property.pending_changes := null;

  if private.is_reviewed(before) then
    waiting := coalesce(before.pending_changes, '{}') || private.reviewed_fields(given);
    if private.with_fields(before, waiting) is not distinct from before
      and not waiting ? 'media' then
      waiting := null;
    end if;
    property := private.with_fields(before, private.unreviewed_fields(given));
    property.pending_changes := waiting;
  else
    perform private.settle_pictures(before, true);
  end if;

  if property is distinct from before then
    property.version := before.version + 1;
    perform private.save_property(property);
  end if;
  return private.property_record(property.id, property.owner_identity_id);
end
$$;
comment on function private.update_property is
  'Changes an own listing. Under review, what is checked waits and the old version stays visible.';

create function private.reviewed_fields(fields jsonb) returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select coalesce(jsonb_object_agg(given.key, given.value), '{}')
  from jsonb_each(fields) as given
  join private.property_fields() as field on field.name = given.key
  where field.reviewed
$$;
comment on function private.reviewed_fields is
  'The fields that an admin looks at: price, place, title.';

create function private.unreviewed_fields(fields jsonb) returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select fields - array(
    select field.name from private.property_fields() as field where field.reviewed
  )
$$;
comment on function private.unreviewed_fields is 'The fields that nobody needs to look at.';

create function api.create_property(
  fields jsonb, publish boolean default false, upload_session_id uuid default null
) returns json
  language sql
  set search_path = ''
as $$
  select private.create_property(fields, publish, upload_session_id)
$$;
comment on function api.create_property is
  'A new listing of the acting identity: a draft, or with publish active or pending_review.';

create function api.update_property(
  property_id uuid, fields jsonb, expected_version integer default null
) returns json
  language sql
  set search_path = ''
as $$
  select private.update_property(property_id, fields, expected_version)
$$;
comment on function api.update_property is
  'Changes an own listing: what is absent stays, null clears. 404 property_not_found, 409 '
  'version_conflict, type_immutable, property_state_conflict.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.create_property, private.update_property to authenticated;
grant execute on function api.create_property, api.update_property to authenticated;
