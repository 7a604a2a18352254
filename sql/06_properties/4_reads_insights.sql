create function private.first_counted_day() returns date
  language plpgsql stable
  security definer -- reads the daily activity of all listings
  set search_path = ''
as $$
begin
  return (select min(property_days.day) from private.property_days);
end
$$;

create function private.figures_by_day(property_ids uuid[], days integer)
  returns table (day date, views bigint, favorites bigint, contacts bigint)
  language plpgsql stable set search_path = ''
as $$
declare
  today constant date := (now() at time zone 'Asia/Kuwait')::date;
  first_day constant date :=
    greatest(today - days + 1, coalesce(private.first_counted_day(), today));
begin
  return query
  select
    calendar.day, coalesce(happened.views, 0), coalesce(happened.favorites, 0),
    coalesce(asked.contacts, 0)
  from (
    select first_day + nth as day from generate_series(0, today - first_day) as nth
  ) as calendar
  left join (
    select property_days.day, sum(property_days.views) as views,
      sum(property_days.favorites) as favorites
    from private.property_days
    where property_days.property_id = any (property_ids) and property_days.day >= first_day
    group by property_days.day
  ) as happened on happened.day = calendar.day
  left join (
    -- Contacts are not in property_days: leads have a day and are kept for longer than 90 days.
    select leads.day, count(*) as contacts from public.leads
    where leads.property_id = any (property_ids) and leads.day >= first_day
    group by leads.day
  ) as asked on asked.day = calendar.day
  order by calendar.day;
end
$$;
comment on function private.figures_by_day is
  'Returns the daily activity of listings of the caller for the given number of days (in Kuwait '
  'time), up to and including today. Days before the first recorded day are omitted.';

create function private.market_of(property public.properties) returns json
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'listings', count(*),
      'medianPrice', round((
        percentile_cont(0.5) within group (order by others.price::float8))::numeric, 3),
      'medianPricePerM2', round((
        percentile_cont(0.5) within group (order by others.price::float8 / others.area_m2::float8)
      )::numeric, 3),
      'percentile', case when property.price > 0 then round(
        100.0 * count(*) filter (where others.price < property.price)
          / nullif(count(others.price), 0)) end)
    from (
      select nullif(properties.price, 0) as price, properties.area_m2 from public.properties
      where properties.listed and properties.type = property.type
        and properties.kind = property.kind and properties.area_id = property.area_id
    ) as others
    having count(*) >= 5
  );
end
$$;
comment on function private.market_of is
  'Compares the price of a listing with those of all listed properties of the same type, kind and '
  'area. percentile is the percentage of them that cost less. Null if there are fewer than five.';

create function private.get_property_insights(property_id uuid, days integer default 30)
  returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
  property public.properties;
begin
  if (days between 1 and 90) is not true then
    perform private.refuse_field('days', 'invalid');
  end if;
  select * into property from public.properties
  where properties.id = get_property_insights.property_id
    and properties.owner_identity_id = owner_id and properties.status <> 'deleted';
  if property.id is null then
    perform private.refuse(404, 'property_not_found');
  end if;
  return (
    select json_build_object(
      'days', json_agg(json_build_object(
        'day', figures.day, 'views', figures.views, 'shown', 0, 'favorites', figures.favorites,
        'contacts', figures.contacts) order by figures.day),
      'totals', json_build_object(
        'views', sum(figures.views), 'shown', 0, 'favorites', sum(figures.favorites),
        'contacts', sum(figures.contacts)),
      'demand', null,
      'market', private.market_of(property))
    from private.figures_by_day(array[property.id], days) as figures
  );
end
$$;
comment on function private.get_property_insights is
  'Api: Returns the daily views, favorites and contacts of a listing of the acting identity for up '
  'to 90 days, and compares its price with those of similar listings. 404 property_not_found.';

grant execute on function private.get_property_insights to authenticated;
