-- What a deal is: the history of prices, and the price drops in it. Nobody enters any of this.

create function private.price_history_kept() returns interval
  language sql
  immutable
  return interval '2 years';
comment on function private.price_history_kept is
  'For how long the prices of a listing are kept, and the one that it had before.';

create function private.record_price() returns trigger
  language plpgsql
  security definer -- writes a table that nobody may write
  set search_path = ''
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
    -- Only here does a history grow, so here it forgets; the price at the beginning stays.
    delete from public.price_history
    where price_history.property_id = new.id
      and price_history.changed_at
        < private.price_since(new.id, now() - private.price_history_kept());
  end if;
  return null;
end
$$;
comment on function private.record_price is
  'Records the price at the first publishing, and every other price that a published listing gets: '
  'of its owner so many a day, then 429 rate_limited for the field price.';

-- Drafts and archived listings may have any price: nobody sees it.
create trigger properties_price_is_recorded
  after insert or update of price, status, published_at on public.properties
  for each row when (
    new.published_at is not null and new.status in ('active', 'paused', 'expired')
  )
  execute function private.record_price();

create function private.price_since(property_id uuid, at timestamptz) returns timestamptz
  language plpgsql
  stable
  security definer -- reads prices of listings of others
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
  'Since when the price had stood that a listing had at a moment.';

create function private.update_deal(property_id uuid) returns void
  language plpgsql
  security definer -- writes columns that nobody may write
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

  -- The last drop that no price too low for it stood in the 30 days before. One pass, whatever was
  -- changed how often: a frame of 30 days would be added up anew for each price.
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
    -- Who has just come has no price to lower yet.
    and judged.listed_for >= interval '7 days'
    and (judged.low_until > judged.since - interval '30 days') is not true;

  select min(price_history.price) into lowest from public.price_history
  where price_history.property_id = property.id and price_history.changed_at < dropped_at
    and price_history.changed_at
      >= private.price_since(property.id, dropped_at - interval '30 days');
  -- By more than half no price falls: one of the two was not meant.
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
  'A deal is a price that stands 5 to 50 percent under the lowest of the 30 days before it dropped, '
  'for 14 days after that; the listing had been listed for 7 days by then. Of several such drops the '
  'last one counts.';

create function private.on_price_history() returns trigger
  language plpgsql
  security definer -- writes columns that nobody may write
  set search_path = ''
as $$
begin
  -- There is nothing that the very first price could be lower than.
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
  'A change of the history may make a deal, or end one.';

create trigger price_history_makes_deals
  after insert or update or delete on public.price_history
  for each row execute function private.on_price_history();
