create function private.refresh_area_prices(age interval default '3 minutes') returns bigint
  language plpgsql security definer set search_path = ''
as $$
begin
  -- Only one run at a time, so that an older result cannot overwrite a newer one.
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
  'Job: recomputes private.area_prices if it is older than age, so that requests need not compute '
  'it.';

create function private.keep_area_prices() returns bigint
  language plpgsql security definer set search_path = ''
as $$
declare
  this_month constant date := date_trunc('month', now() at time zone 'Asia/Kuwait');
  stored bigint;
begin
  if private.claim_timestamp('area_prices_kept', '1 day') is null then
    return 0;
  end if;
  delete from private.area_price_history where area_price_history.month = this_month;
  insert into private.area_price_history
    (month, area_id, type, kind, listings, median_price, median_price_per_m2)
  select this_month, figures.area_id, figures.type, figures.kind, figures.listings,
    figures.median_price, figures.median_price_per_m2
  from private.area_figures(null, true) as figures;
  get diagnostics stored = row_count;
  return stored;
end
$$;
comment on function private.keep_area_prices is
  'Job: once a day, replaces the figures of the current month in private.area_price_history.';

grant execute on function private.refresh_area_prices, private.keep_area_prices to backend;
