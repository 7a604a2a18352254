create function private.toggle_favorite(property_id uuid) returns boolean
  language plpgsql security definer set search_path = ''
as $$
declare
  -- The action is counted against its rate limit before anything is locked.
  hit timestamptz := private.count_action('favorites');
  saver_id uuid := private.lock_identity();
begin
  loop
    delete from public.favorites
    using public.properties
    where favorites.identity_id = saver_id
      and favorites.property_id = toggle_favorite.property_id
      and properties.id = toggle_favorite.property_id
      and not private.is_withdrawn(properties);
    if found then
      return false;
    end if;
    insert into public.favorites (identity_id, property_id)
    select saver_id, properties.id from public.properties
    where properties.id = toggle_favorite.property_id
      and private.is_saveable(properties, saver_id)
    on conflict do nothing;
    if found then
      return true;
    end if;
    if not private.may_save(toggle_favorite.property_id) then
      perform private.refuse(404, 'property_not_found');
    end if;
    -- A concurrent call saved the property after the delete above, so the next iteration removes it.
  end loop;
end
$$;
comment on function private.toggle_favorite is
  'Facade: works like api.toggle_favorite, but returns only whether the property is now saved.';

create function api.toggle_favorite(property_id uuid)
  returns table ("propertyId" uuid, "isFavorite" boolean)
  language plpgsql set search_path = ''
as $$
begin
  "propertyId" := toggle_favorite.property_id;
  "isFavorite" := private.toggle_favorite(toggle_favorite.property_id);
  return next;
end
$$;
comment on function api.toggle_favorite is
  'Saves a property, or removes it if it is already saved. Safe under concurrent calls. 404 '
  'property_not_found, 429.';

grant execute on function private.toggle_favorite, api.toggle_favorite to authenticated;
