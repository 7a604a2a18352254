-- What a deal is: the history of prices, and the price drops in it. Nobody enters any of this.

create function private.record_price() returns trigger
  language plpgsql
  security definer -- writes a table that nobody may write
  set search_path = ''
as $$
declare
  latest public.price_history;
begin
  select * into latest from public.price_history
  where price_history.property_id = new.id
  order by price_history.changed_at desc, price_history.id desc
  limit 1;

  if latest.id is null then
    insert into public.price_history (property_id, price, changed_at)
    values (new.id, new.price, new.published_at);
  elsif latest.price is distinct from new.price then
    insert into public.price_history (property_id, price) values (new.id, new.price);
  end if;
  return null;
end
$$;
comment on function private.record_price is
  'Records the price at the first publishing, and every other price that a published listing gets.';

-- Drafts and archived listings may have any price: nobody sees it.
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
  )
  execute function private.record_price();

create function private.update_deal(property_id uuid) returns void
  language plpgsql
  security definer -- writes columns that nobody may write
  set search_path = ''
as $$
begin
  with prices as (
    select
      price_history.price,
      price_history.changed_at as since,
      lag(price_history.price) over (
        order by price_history.changed_at, price_history.id
      ) as before,
      min(price_history.price) over (
        order by price_history.changed_at
        range between interval '30 days' preceding and current row exclude group
      ) as lowest_within
    from public.price_history
    where price_history.property_id = update_deal.property_id
  ), drops as (
    select prices.since, least(prices.lowest_within, starting.price) as lowest
    from prices
    left join lateral ( -- the price at the beginning of the 30 days
      select price_history.price from public.price_history
      where price_history.property_id = update_deal.property_id
        and price_history.changed_at <= prices.since - interval '30 days'
      order by price_history.changed_at desc
      limit 1
    ) as starting on true
    where prices.price < prices.before and prices.since > now() - interval '14 days'
  ), deal as (
    select
      properties.id,
      round((drops.lowest - properties.price) * 100 / drops.lowest, 2) as pct,
      drops.since + interval '14 days' as until
    from public.properties
    left join drops on properties.type in ('SALE', 'RENT')
      and drops.lowest > 0 and properties.price <= drops.lowest * 0.95
    where properties.id = update_deal.property_id
    order by drops.since desc nulls last
    limit 1
  )
  update public.properties set drop_pct = deal.pct, drop_until = deal.until
  from deal
  where properties.id = deal.id
    and (properties.drop_pct, properties.drop_until) is distinct from (deal.pct, deal.until);
end
$$;
comment on function private.update_deal is
  'A deal is a price that stands at least 5 percent under the lowest of the 30 days before it '
  'dropped, for 14 days after that. Of several such drops the last one counts.';

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
