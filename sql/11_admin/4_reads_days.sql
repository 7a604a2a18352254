create function private.stats_by_day(days integer) returns json
  language plpgsql stable
  security definer -- counts rows of all accounts; its caller calls require_admin
  set search_path = ''
as $$
declare
  first_day constant date := (now() at time zone 'Asia/Kuwait')::date - days + 1;
  begins constant timestamptz := first_day::timestamp at time zone 'Asia/Kuwait';
begin
  return (
    with
    came as (
      select (accounts.created_at at time zone 'Asia/Kuwait')::date as day, count(*) as number
      from public.accounts where accounts.created_at >= begins group by 1
    ),
    published as (
      select (properties.published_at at time zone 'Asia/Kuwait')::date as day,
        count(*) filter (where properties.type = 'SALE') as sale,
        count(*) filter (where properties.type = 'RENT') as rent,
        count(*) filter (where properties.type = 'EXCHANGE') as exchange
      from public.properties where properties.published_at >= begins group by 1
    ),
    wrote as (
      select (messages.created_at at time zone 'Asia/Kuwait')::date as day, count(*) as number
      from public.messages where messages.created_at >= begins group by 1
    ),
    contacted as (
      select (leads.created_at at time zone 'Asia/Kuwait')::date as day, count(*) as number
      from public.leads where leads.created_at >= begins group by 1
    ),
    paid as (
      select (payments.captured_at at time zone 'Asia/Kuwait')::date as day, count(*) as number,
        sum(payments.amount) as amount
      from public.payments where payments.captured_at >= begins group by 1
    ),
    refunded as (
      select (refunds.settled_at at time zone 'Asia/Kuwait')::date as day, count(*) as number,
        sum(refunds.amount) as amount
      from public.refunds where refunds.settled_at >= begins group by 1
    ),
    reported as (
      select (reports.created_at at time zone 'Asia/Kuwait')::date as day, count(*) as number
      from public.reports where reports.created_at >= begins group by 1
    ),
    decided as (
      select (reports.decided_at at time zone 'Asia/Kuwait')::date as day, count(*) as number,
        round((percentile_cont(0.5) within group (
          order by extract(epoch from reports.decided_at - reports.created_at)) / 3600)::numeric, 1)
          as median_hours
      from public.reports where reports.decided_at >= begins group by 1
    )
    select coalesce(json_agg(json_build_object(
      'day', calendar.day,
      'accounts', coalesce(came.number, 0),
      'listings', json_build_object('SALE', coalesce(published.sale, 0),
        'RENT', coalesce(published.rent, 0), 'EXCHANGE', coalesce(published.exchange, 0)),
      'messages', coalesce(wrote.number, 0),
      'leads', coalesce(contacted.number, 0),
      'payments', json_build_object(
        'number', coalesce(paid.number, 0), 'amount', coalesce(paid.amount, 0)),
      'refunds', json_build_object(
        'number', coalesce(refunded.number, 0), 'amount', coalesce(refunded.amount, 0)),
      'reports', json_build_object('made', coalesce(reported.number, 0),
        'decided', coalesce(decided.number, 0), 'medianHours', decided.median_hours)
    ) order by calendar.day), '[]')
    from (select first_day + nth as day from generate_series(0, days - 1) as nth) as calendar
    left join came using (day)
    left join published using (day)
    left join wrote using (day)
    left join contacted using (day)
    left join paid using (day)
    left join refunded using (day)
    left join reported using (day)
    left join decided using (day)
  );
end
$$;
comment on function private.stats_by_day is
  'Daily figures of the last days in Kuwait time, including today. A listing counts on the day of '
  'its first publication, a payment on the day it was paid, a refund on the day it was settled.';
