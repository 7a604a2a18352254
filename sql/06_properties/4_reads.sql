create function private.get_property(property_id uuid) returns text
  language plpgsql security definer set search_path = ''
as $$
declare
  viewer_id uuid := private.identity_id();
  is_own boolean := false;
  record text;
  waiting text;
begin
  -- Only listed properties have a stored record. Their owners see more than it contains.
  select private.listed_record_text(
    listed_records, favorites.property_id is not null, property_counters,
    (select settings.value::text from private.settings where settings.name = 'share_url'),
    private.in_english())
  into record
  from private.listed_records
  left join public.favorites
    on favorites.identity_id = viewer_id and favorites.property_id = listed_records.property_id
  left join private.property_counters
    on property_counters.property_id = listed_records.property_id
  where listed_records.property_id = get_property.property_id
    and listed_records.owner_identity_id is distinct from viewer_id;
  if not found then
    select unlisted.record, unlisted.is_own into record, is_own
    from private.unlisted_property(get_property.property_id, viewer_id) as unlisted;
  elsif strpos(record, chr(1)) > 0 then
    record := replace(record, chr(1), (
      select settings.value #>> '{}' from private.settings where settings.name = 'files_url'
    ));
  end if;

  if viewer_id is not null and not is_own then
    begin
      insert into private.property_views (property_id, identity_id)
      values (get_property.property_id, viewer_id)
      on conflict do nothing;
      if found then
        -- Losing a view in a crash is acceptable, so the commit need not wait for the disk.
        waiting := set_config('synchronous_commit', 'off', true);
      end if;
    exception
      -- The listing is returned even if the view cannot be stored.
      when read_only_sql_transaction or insufficient_resources then null;
    end;
  end if;
  return record;
end
$$;
comment on function private.get_property is
  'Api: Returns a listing. Its owner sees it in every state except deleted. 404 property_not_found '
  'if it does not exist or the caller may not see it.';

create function private.unlisted_property(
  property_id uuid, viewer_id uuid, out record text, out is_own boolean
)
  language plpgsql stable set search_path = ''
as $$
declare
  property public.properties := private.require_visible_property(property_id, viewer_id);
begin
  record := private.property_record(property.id, viewer_id);
  is_own := property.owner_identity_id is not distinct from viewer_id;
end
$$;
comment on function private.unlisted_property is
  'Returns the record of a listing to its owner, in any state except deleted, and the record of a '
  'closed listing to everybody for 30 days.';

create function private.get_property_by_number(ref_no bigint) returns text
  language plpgsql security definer set search_path = ''
as $$
declare
  viewer_id constant uuid := private.identity_id();
  property public.properties;
begin
  select * into property from public.properties
  where properties.ref_no = get_property_by_number.ref_no
    and private.may_see(properties, viewer_id);
  if property.id is null then
    perform private.refuse(404, 'property_not_found');
  end if;
  if property.listed or property.owner_identity_id = viewer_id then
    return private.get_property(property.id);
  end if;
  return json_build_object(
    'id', property.id,
    'refNo', 'KW-' || property.ref_no,
    'status', property.status,
    'titleAr', property.title_ar,
    'available', false
  );
end
$$;
comment on function private.get_property_by_number is
  'Facade: returns a listing by the number in its refNo. Numbers can be guessed, so of a closed '
  'listing other people get only the id, refNo, status and title.';

grant execute on function private.get_property, private.get_property_by_number to anon, authenticated;
