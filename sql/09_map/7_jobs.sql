create function private.refresh_area_prices(age interval default '3 minutes') returns bigint
  language plpgsql security definer set search_path = ''
as $$
begin
  -- Only one run works at a time, so that an older result cannot overwrite a newer one.
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
  'Job: renews private.area_prices if it is older than age, before readers have to compute it.';

grant execute on function private.refresh_area_prices to backend;
