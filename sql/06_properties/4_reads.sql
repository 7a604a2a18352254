-- Reading one listing, which counts as a view of it.

create function private.get_property(property_id uuid) returns text
  language plpgsql
  security definer -- reads listings of others that anybody may see, counts the view
  set search_path = ''
as $$
declare
  viewer_id uuid := private.identity_id();
  has_viewed boolean;
  record text;
begin
  -- What has a kept record is listed. Its owner sees more than others do.
  select
    private.listed_record_text(
      listed_records, identities, favorites.property_id is not null, property_counters,
      (select settings.value #>> '{}' from private.settings where settings.name = 'files_url')
    ),
    viewer_id is null or exists (
      select from private.property_views
      where property_views.property_id = listed_records.property_id
        and property_views.identity_id = viewer_id
        and property_views.day = (now() at time zone 'Asia/Kuwait')::date
    )
  into record, has_viewed
  from private.listed_records
  join public.identities on identities.id = listed_records.owner_identity_id
  left join public.favorites
    on favorites.identity_id = viewer_id and favorites.property_id = listed_records.property_id
  left join private.property_counters
    on property_counters.property_id = listed_records.property_id
  where listed_records.property_id = get_property.property_id
    and listed_records.owner_identity_id is distinct from viewer_id;
  if not found then
    return private.get_unlisted_property(get_property.property_id, viewer_id);
  end if;
  if not has_viewed then
    perform private.count_view(get_property.property_id, viewer_id);
  end if;
  return record;
end
$$;
comment on function private.get_property is
  'Facade: a listing that the caller may see, as JSON text; counts the view.';

create function private.get_unlisted_property(property_id uuid, viewer_id uuid) returns text
  language plpgsql
  set search_path = ''
as $$
declare
  property public.properties := private.require_visible_property(property_id, viewer_id);
begin
  if property.owner_identity_id <> viewer_id then
    perform private.count_view(property.id, viewer_id);
  end if;
  return private.property_record(property.id, viewer_id);
end
$$;
comment on function private.get_unlisted_property is
  'As get_property, for one''s own listings and those that were closed.';

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
