-- Scheduled work of the map.

create function private.refresh_area_prices(age interval default '3 minutes') returns bigint
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  -- One at a time: nothing older may overwrite what is newer.
  if not pg_catalog.pg_try_advisory_xact_lock(hashtextextended('refresh_area_prices', 0))
    or exists (select from private.area_prices where area_prices.computed_at > now() - age) then
    return 0;
  end if;
  insert into private.area_prices (items, computed_at)
  values (private.map_area_prices(null), now())
  on conflict (is_only_row) do update
    set items = excluded.items, computed_at = excluded.computed_at;
  return 1;
end
$$;
comment on function private.refresh_area_prices is
  'Job: writes private.area_prices anew once it is this old, before what reads it finds it too old.';

grant execute on function private.refresh_area_prices to backend;
