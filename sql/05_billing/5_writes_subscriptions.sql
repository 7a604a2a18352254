create function private.lock_plan(identity_id uuid) returns void
  language sql set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('plan ' || identity_id, 0))
$$;
comment on function private.lock_plan is
  'Locks the plan of an identity. Invoices and wallets must be locked before the plan, never after '
  'it.';

create function private.add_credits(identity_id uuid, credits integer, invoice_id uuid)
  returns void
  language sql
  security definer -- writes credits, which no client may write
  set search_path = ''
as $$
  insert into public.featured_credits (identity_id, credits, invoice_id)
  select add_credits.identity_id, add_credits.credits, add_credits.invoice_id
  where add_credits.credits > 0
$$;

create function private.settle_plan(identity_id uuid) returns void
  language plpgsql
  security definer -- writes subscriptions, for functions that have locked the plan
  set search_path = ''
as $$
declare
  clock constant timestamptz := private.plan_clock(identity_id);
begin
  update public.subscriptions set status = 'expired', ended_at = now()
  where subscriptions.identity_id = settle_plan.identity_id
    and subscriptions.status in ('active', 'next') and subscriptions.ends_at <= clock;

  update public.subscriptions as next
  set status = case when active.ends_at is null then 'active' else 'next' end,
      starts_at = coalesce(active.ends_at, least(next.starts_at, clock)),
      ends_at = coalesce(active.ends_at, least(next.starts_at, clock))
        + (next.ends_at - next.starts_at)
  from (
    select max(subscriptions.ends_at) as ends_at from public.subscriptions
    where subscriptions.identity_id = settle_plan.identity_id and subscriptions.status = 'active'
  ) as active
  where next.identity_id = settle_plan.identity_id and next.status = 'next';

  update public.subscriptions set renews = false
  where subscriptions.identity_id = settle_plan.identity_id and subscriptions.status = 'active'
    and exists (
      select from public.subscriptions as next
      where next.identity_id = settle_plan.identity_id and next.status = 'next'
    );
end
$$;
comment on function private.settle_plan is
  'Ends plans whose time is over. The next plan begins if no plan is active. Otherwise it is moved '
  'to the end of the active plan, which is then no longer renewed.';

create function private.intervals_left(subscription public.subscriptions)
  returns table (id bigint, lasts bigint, remaining numeric)
  language sql stable
  security definer -- reads intervals, which no client may read
  set search_path = ''
as $$
  select intervals.id, intervals.lasts, greatest(0, least(intervals.lasts,
    extract(epoch from subscription.ends_at - private.plan_clock(subscription.identity_id))
      - (sum(intervals.lasts) over (order by intervals.id desc) - intervals.lasts)))
  from (
    select subscription_intervals.id,
      coalesce(subscription_intervals.seconds, 86400 * subscription_intervals.days) as lasts
    from public.subscription_intervals
    where subscription_intervals.subscription_id = subscription.id
      and subscription_intervals.taken_back_at is null
  ) as intervals
$$;
comment on function private.intervals_left is
  'The intervals of a subscription, with their length and remaining time in seconds.';

create function private.carry_over(
  old public.subscriptions, subscription_id uuid, plan public.plans
) returns void
  language plpgsql
  security definer -- writes intervals, for private.start_plan
  set search_path = ''
as $$
declare
  old_plan public.plans;
  -- A hundred years, so that dates stay in the valid range.
  most constant bigint := 36525 * bigint '86400';
begin
  select sold.* into old_plan
  from public.plans cross join lateral jsonb_populate_record(plans, old.terms) as sold
  where plans.id = old.plan_id;
  -- Time that belongs to no interval was added by an administrator.
  insert into public.subscription_intervals (subscription_id, days, value, seconds)
  select old.id, old_plan.interval_days,
    div(1000 * old_plan.price * given.seconds, 86400 * old_plan.interval_days) / 1000, given.seconds
  from (
    select floor(extract(epoch from old.ends_at - private.plan_clock(old.identity_id))
      - coalesce(sum(intervals.lasts), 0)) as seconds
    from private.intervals_left(old) as intervals
  ) as given
  where given.seconds > 0;

  with counted as (
    select intervals.*, coalesce(own.value, invoices.total, old_plan.price) as value,
      coalesce(invoices.total, 1) as total,
      coalesce(invoices.total - invoices.refunded, 1) as unrefunded
    from private.intervals_left(old) as intervals
    join public.subscription_intervals as own on own.id = intervals.id
    left join public.invoices on invoices.id = own.invoice_id
    where intervals.remaining > 0
  ), carried as (
    update public.subscription_intervals as own
    set subscription_id = carry_over.subscription_id,
        value = div(1000 * counted.value * counted.remaining, counted.lasts) / 1000,
        seconds = least(most, div(
          counted.value * counted.unrefunded * counted.remaining * 86400 * plan.interval_days,
          counted.total * counted.lasts * greatest(plan.price, 0.001)))
    from counted where counted.id = own.id
    returning own.seconds
  )
  update public.subscriptions
  set ends_at = subscriptions.ends_at
    + make_interval(secs => (select coalesce(sum(carried.seconds), 0) from carried))
  where subscriptions.id = carry_over.subscription_id;
end
$$;
comment on function private.carry_over is
  'Converts the remaining value of each interval of the old subscription into time of the new '
  'plan.';

create function private.start_plan(
  invoice public.invoices, line public.invoice_lines, pay_with text
) returns void
  language plpgsql
  security definer -- writes subscriptions, for private.deliver_invoice
  set search_path = ''
as $$
declare
  owner_id constant uuid := invoice.identity_id;
  clock constant timestamptz := private.plan_clock(owner_id);
  plan public.plans;
  current public.subscriptions;
  subscription public.subscriptions;
begin
  perform private.lock_plan(owner_id);
  perform private.settle_plan(owner_id);
  select sold.* into plan
  from public.plans cross join lateral jsonb_populate_record(plans, line.terms) as sold
  where plans.id = line.plan_id;
  select * into current from public.subscriptions
  where subscriptions.identity_id = owner_id and subscriptions.status = 'active';
  select * into subscription from public.subscriptions
  where subscriptions.identity_id = owner_id and subscriptions.plan_id = plan.id
    and subscriptions.terms = line.terms and subscriptions.status in ('active', 'next')
  order by subscriptions.status
  limit 1;

  if subscription.id is not null then
    update public.subscriptions
    set ends_at = subscriptions.ends_at + make_interval(days => plan.interval_days),
        pay_with = start_plan.pay_with, renews = true, reminded_at = null
    where subscriptions.id = subscription.id;
  else
    if current.id is null
      or private.begins_at_once(plan, private.plan_of(owner_id)) then
      update public.subscriptions set status = 'replaced', ended_at = now()
      where subscriptions.id = current.id;
      insert into public.subscriptions (identity_id, plan_id, terms, starts_at, ends_at, pay_with)
      values (owner_id, plan.id, line.terms, clock,
        clock + make_interval(days => plan.interval_days), start_plan.pay_with)
      returning * into subscription;
      perform private.carry_over(current, subscription.id, plan);
    elsif exists (
      select from public.subscriptions
      where subscriptions.identity_id = owner_id and subscriptions.status = 'next'
    ) then
      -- A concurrent call has bought a plan first. When this call is retried, it is refused, or its
      -- money goes to the wallet.
      raise exception 'another plan follows' using errcode = '40001';
    else
      insert into public.subscriptions
        (identity_id, plan_id, terms, status, starts_at, ends_at, pay_with)
      values (owner_id, plan.id, line.terms, 'next', current.ends_at,
        current.ends_at + make_interval(days => plan.interval_days), start_plan.pay_with)
      returning * into subscription;
    end if;
    perform private.void_invoices(owner_id, private.plan_of(owner_id));
    perform private.pause_over_quota(owner_id);
  end if;
  insert into public.subscription_intervals (subscription_id, invoice_id, days)
  values (subscription.id, invoice.id, plan.interval_days);
  perform private.settle_plan(owner_id);
  perform private.add_credits(owner_id, plan.featured_credits, invoice.id);
end
$$;
comment on function private.start_plan is
  'Extends the current or next subscription if plan and terms are the same. A better plan begins '
  'at once. Any other plan, or the same plan with other terms, begins when the current one ends.';

create function private.end_subscription(subscription_id uuid, status text) returns boolean
  language plpgsql
  security definer -- ends the plan of any identity; the caller has checked access
  set search_path = ''
as $$
declare
  owner_id uuid := (
    select subscriptions.identity_id from public.subscriptions
    where subscriptions.id = end_subscription.subscription_id
  );
begin
  perform private.lock_owner(owner_id);
  perform private.lock_plan(owner_id);
  update public.subscriptions set status = end_subscription.status, ended_at = now()
  where (
      subscriptions.id = end_subscription.subscription_id
      -- If the owner loses the plan, a plan that was paid in advance does not begin either.
      or end_subscription.status = 'expired' and subscriptions.identity_id = owner_id
        and private.loses_plan(owner_id)
    )
    and subscriptions.status in ('active', 'next')
    and (end_subscription.status <> 'expired'
      or subscriptions.ends_at <= private.plan_clock(owner_id)
      or private.loses_plan(owner_id));
  if not found then
    return false;
  end if;
  perform private.settle_plan(owner_id);
  perform private.pause_over_quota(owner_id);
  return true;
end
$$;

create function private.revoke_interval(invoice_id uuid) returns void
  language plpgsql
  security definer -- writes subscriptions, for private.revoke_delivery
  set search_path = ''
as $$
declare
  own public.subscription_intervals;
  subscription public.subscriptions;
  rest interval;
begin
  perform private.lock_plan(invoices.identity_id) from public.invoices
  where invoices.id = revoke_interval.invoice_id;
  select * into own from public.subscription_intervals
  where subscription_intervals.invoice_id = revoke_interval.invoice_id
    and subscription_intervals.taken_back_at is null;
  select * into subscription from public.subscriptions
  where subscriptions.id = own.subscription_id and subscriptions.status in ('active', 'next');
  select make_interval(secs => intervals.remaining) into rest
  from private.intervals_left(subscription) as intervals where intervals.id = own.id;
  update public.subscription_intervals set taken_back_at = now()
  where subscription_intervals.id = own.id;
  if rest is null or rest = interval '0' then
    return; -- the interval is over, or its plan has ended
  elsif subscription.ends_at - rest
    <= greatest(private.plan_clock(subscription.identity_id), subscription.starts_at) then
    perform private.end_subscription(subscription.id, 'refunded');
  else
    update public.subscriptions
    set ends_at = subscriptions.ends_at - rest, reminded_at = null,
        -- Without this, the wallet would pay again for the renewal that was just refunded.
        renews = subscriptions.renews and exists (
          select from public.subscription_intervals as later
          where later.subscription_id = subscription.id and later.id > own.id
            and later.taken_back_at is null
        )
    where subscriptions.id = subscription.id;
    perform private.settle_plan(subscription.identity_id);
  end if;
end
$$;
comment on function private.revoke_interval is
  'Takes back the interval of a refunded invoice. Later intervals keep their length and start '
  'earlier; the plan ends if no time is left.';

create function private.revoke_delivery(invoice_id uuid) returns void
  language plpgsql
  security definer -- takes back plans and credits; the caller has locked the invoice
  set search_path = ''
as $$
begin
  perform private.revoke_interval(invoice_id);
  update public.featured_credits set credits = 0
  where featured_credits.invoice_id = revoke_delivery.invoice_id;
end
$$;
