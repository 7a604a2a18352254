-- Reading one listing, which counts as a view of it.

create function private.get_property(property_id uuid) returns json
  language plpgsql
  security definer -- reads listings of others that anybody may see, counts the view
  set search_path = ''
as $$
declare
  viewer_id uuid := private.identity_id();
  property public.properties := private.require_visible_property(property_id, viewer_id);
begin
  if property.owner_identity_id <> viewer_id then
    perform private.count_view(property.id, viewer_id);
  end if;
  return private.property_record(property.id, viewer_id);
end
$$;
comment on function private.get_property is 'A listing that the caller may see; counts the view.';

create function private.count_view(property_id uuid, identity_id uuid) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  insert into private.property_views (property_id, identity_id)
  values (count_view.property_id, count_view.identity_id)
  on conflict do nothing;
  if found then
    -- A view may be lost in a crash, so the reader need not wait for the disk.
    perform set_config('synchronous_commit', 'off', true);
  end if;
end
$$;
comment on function private.count_view is 'Counts each viewer of a listing once a day.';

create function api.get_property(property_id uuid) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.get_property(property_id);
end
$$;
comment on function api.get_property is
  'A listing; its owner sees it in any state. 404 property_not_found, also for a listing that the '
  'caller may not see.';

grant execute on function private.get_property, api.get_property to anon, authenticated;
