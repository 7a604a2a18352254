create function private.price_history_stored() returns interval
  language sql immutable
  return interval '2 years';
comment on function private.price_history_stored is
  'How long past prices are stored. The price that applied when this period began is kept as well.';

create function private.record_price() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  latest public.price_history;
  counted record;
begin
  select * into latest from public.price_history
  where price_history.property_id = new.id
  order by price_history.changed_at desc, price_history.id desc
  limit 1;

  if latest.id is null then
    insert into public.price_history (property_id, price, changed_at)
    values (new.id, new.price, new.published_at);
  elsif latest.price is distinct from new.price then
    if private.identity_id() = new.owner_identity_id then
      counted := private.count_hit('price_changes', new.id::text);
      if counted.hit is null then
        perform private.refuse_rate(
          format('%s,%s,%s', counted."limit", counted.remaining, counted.reset), 'price');
      end if;
    end if;
    insert into public.price_history (property_id, price, unlisted_for)
    values (new.id, new.price,
      new.unlisted_for + coalesce(now() - new.unlisted_since, interval '0'));
    -- Rows are added only here, so old rows are deleted here too. The price that applied when the
    -- stored period began is kept.
    delete from public.price_history
    where price_history.property_id = new.id
      and price_history.changed_at
        < private.price_since(new.id, now() - private.price_history_stored());
  end if;
  return null;
end
$$;
comment on function private.record_price is
  'Records published prices and deletes old ones. Raises 429 rate_limited if the owner changes the '
  'price too often in a day.';

-- Prices of drafts and archived listings are not recorded, because nobody else sees them.
create trigger properties_price_is_recorded_on_insert
  after insert on public.properties
  for each row when (
    new.published_at is not null and new.status in ('active', 'paused', 'expired')
  )
  execute function private.record_price();
create trigger properties_price_is_recorded
  after update of price, status, published_at on public.properties
  for each row when (
    new.published_at is not null and new.status in ('active', 'paused', 'expired')
    and (old.price, old.status, old.published_at)
      is distinct from (new.price, new.status, new.published_at)
  )
  execute function private.record_price();

create function private.price_since(property_id uuid, at timestamptz) returns timestamptz
  language plpgsql stable
  security definer -- reads the prices of any listing
  set search_path = ''
as $$
begin
  return coalesce((
    select price_history.changed_at from public.price_history
    where price_history.property_id = price_since.property_id and price_history.changed_at <= at
    order by price_history.changed_at desc
    limit 1
  ), '-infinity');
end
$$;
comment on function private.price_since is
  'Returns since when the price of a given time had applied; -infinity if unknown.';

create function private.lowest_price(property_id uuid, before timestamptz) returns numeric
  language plpgsql stable
  security definer -- reads the prices of any listing
  set search_path = ''
as $$
begin
  return (
    select min(price_history.price) from public.price_history
    where price_history.property_id = lowest_price.property_id
      and price_history.changed_at < before
      and price_history.changed_at
        >= private.price_since(lowest_price.property_id, before - interval '30 days')
  );
end
$$;
comment on function private.lowest_price is
  'Returns the lowest price in the 30 days before a time.';

create function private.is_fall(before numeric, price numeric) returns boolean
  language sql immutable
  return coalesce(price between before * 0.5 and before * 0.99, false);
comment on function private.is_fall is
  'Whether a price is 1 to 50 percent lower than before. A smaller reduction is not worth a '
  'notification, and a larger one is assumed to be a mistake.';

create function private.price_fell_from(property public.properties) returns numeric
  language plpgsql stable
  security definer -- reads the prices of any listing
  set search_path = ''
as $$
declare
  lowest constant numeric := private.lowest_price(property.id, (
    select max(price_history.changed_at) from public.price_history
    where price_history.property_id = property.id
  ));
begin
  return case when private.is_fall(lowest, property.price) then lowest end;
end
$$;
comment on function private.price_fell_from is
  'Returns the lowest price of the 30 days before the last change of the price, or null if the '
  'current price is not a reduction from it. A price that was raised and then restored is '
  'therefore not a reduction.';

create function private.update_deal(property_id uuid) returns void
  language plpgsql
  security definer -- reads and writes any listing
  set search_path = ''
as $$
declare
  window_begins timestamptz := private.price_since(property_id, now() - interval '44 days');
  property public.properties;
  first_at constant timestamptz := (
    select min(price_history.changed_at) from public.price_history
    where price_history.property_id = update_deal.property_id
  );
  dropped_at timestamptz;
  lowest numeric;
begin
  select * into property from public.properties where properties.id = update_deal.property_id;

  -- This finds the latest drop for which the current price is at least 5 % below every price of the
  -- 30 days before the drop. low_until is computed in one pass, whereas a window frame of 30 days
  -- would be aggregated again for every row.
  with stood as (
    select
      price_history.id, price_history.price, price_history.changed_at as since,
      price_history.changed_at - first_at - price_history.unlisted_for as listed_for,
      lag(price_history.price) over by_time as before,
      lead(price_history.changed_at) over by_time as until
    from public.price_history
    where price_history.property_id = property.id and price_history.changed_at >= window_begins
    window by_time as (order by price_history.changed_at, price_history.id)
  ), judged as (
    select stood.*,
      max(stood.until) filter (where stood.price = 0 or stood.price * 0.95 < property.price) over (
        order by stood.since, stood.id rows between unbounded preceding and 1 preceding
      ) as low_until
    from stood
  )
  select max(judged.since) into dropped_at from judged
  where property.type in ('SALE', 'RENT')
    and judged.price < judged.before and judged.since > now() - interval '14 days'
    and judged.listed_for >= interval '7 days'
    and (judged.low_until > judged.since - interval '30 days') is not true;

  lowest := private.lowest_price(property.id, dropped_at);
  -- If a price drops by more than half, either the old or the new price is assumed to be a mistake.
  if property.price < lowest * 0.5 then
    dropped_at := null;
    lowest := null;
  end if;
  update public.properties
  set drop_pct = deal.pct, drop_until = deal.until
  from (values (
    round((lowest - property.price) * 100 / lowest, 2), dropped_at + interval '14 days'
  )) as deal (pct, until)
  where properties.id = property.id
    and (properties.drop_pct, properties.drop_until) is distinct from (deal.pct, deal.until);
end
$$;
comment on function private.update_deal is
  'Updates drop_pct and drop_until. A price drop makes the listing a deal for 14 days if the '
  'current price is 5 to 50 percent below the lowest price of the 30 days before the drop, and the '
  'listing had been listed for 7 days before the drop. The latest such drop counts.';

create function private.on_price_history() returns trigger
  language plpgsql
  security definer -- reads all prices of the listing, regardless of who changed one
  set search_path = ''
as $$
begin
  -- The first price of a listing cannot be a drop.
  if tg_op <> 'INSERT' or exists (
    select from public.price_history
    where price_history.property_id = new.property_id and price_history.id <> new.id
  ) then
    perform private.update_deal(coalesce(new.property_id, old.property_id));
  end if;
  return null;
end
$$;
comment on function private.on_price_history is
  'Updates the deal of a listing when its price history changes.';

create trigger price_history_makes_deals
  after insert or update or delete on public.price_history
  for each row execute function private.on_price_history();
