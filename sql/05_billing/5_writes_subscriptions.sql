create function private.lock_plan(identity_id uuid) returns void
  language sql set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('plan ' || identity_id, 0))
$$;
comment on function private.lock_plan is
  'Locks the plan of an identity. Invoices and wallets are locked before it, never after it.';

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

create function private.start_plan(
  identity_id uuid, plan_id uuid, pay_with text, invoice_id uuid default null
) returns void
  language plpgsql
  security definer -- writes subscriptions, for private.deliver_invoice
  set search_path = ''
as $$
declare
  plan public.plans;
  subscription public.subscriptions;
begin
  perform private.lock_plan(identity_id);
  select * into plan from public.plans where plans.id = start_plan.plan_id;
  select * into subscription from public.subscriptions
  where subscriptions.identity_id = start_plan.identity_id and subscriptions.status = 'active'
  for update;

  if subscription.plan_id = plan.id and subscription.ends_at > now() then
    update public.subscriptions
    set ends_at = subscriptions.ends_at + make_interval(days => plan.interval_days),
        pay_with = start_plan.pay_with, renews = true, reminded_at = null
    where subscriptions.id = subscription.id;
  else
    update public.subscriptions
    set ended_at = now(),
        status = case when subscription.ends_at > now() then 'replaced' else 'expired' end
    where subscriptions.id = subscription.id;
    insert into public.subscriptions (identity_id, plan_id, ends_at, pay_with)
    values (start_plan.identity_id, plan.id, now() + make_interval(days => plan.interval_days),
      start_plan.pay_with)
    returning * into subscription;
    perform private.pause_over_quota(start_plan.identity_id);
  end if;
  insert into public.subscription_intervals (subscription_id, invoice_id, days)
  values (subscription.id, start_plan.invoice_id, plan.interval_days);
  perform private.add_credits(
    start_plan.identity_id, plan.featured_credits, start_plan.invoice_id);
end
$$;
comment on function private.start_plan is 'Extends the same plan, or starts another plan at once.';

create function private.end_subscription(subscription_id uuid, status text) returns boolean
  language plpgsql
  security definer -- ends the plan of any identity; the caller has checked which one
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
  where subscriptions.id = end_subscription.subscription_id
    and subscriptions.status = 'active'
    and (end_subscription.status <> 'expired' or subscriptions.ends_at <= now());
  if not found then
    return false;
  end if;
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
  is_last boolean;
  over_at timestamptz;
  rest interval;
begin
  perform private.lock_plan(invoices.identity_id) from public.invoices
  where invoices.id = revoke_interval.invoice_id;
  update public.subscription_intervals set taken_back_at = now()
  where subscription_intervals.invoice_id = revoke_interval.invoice_id
    and subscription_intervals.taken_back_at is null
  returning * into own;
  select * into subscription from public.subscriptions
  where subscriptions.id = own.subscription_id and subscriptions.status = 'active'
  for update;
  if subscription.id is null then
    return; -- the plan was replaced or has ended, so nothing is left
  end if;

  select count(*) = 0,
    subscription.ends_at - make_interval(days => coalesce(sum(later.days), 0)::integer)
  into is_last, over_at
  from public.subscription_intervals as later
  where later.subscription_id = subscription.id and later.id > own.id
    and later.taken_back_at is null;
  rest := over_at - greatest(now(), over_at - make_interval(days => own.days));
  if rest <= interval '0' then
    return;
  elsif subscription.ends_at - rest <= now() then
    perform private.end_subscription(subscription.id, 'refunded');
  else
    update public.subscriptions
    set ends_at = subscriptions.ends_at - rest, reminded_at = null,
        -- Otherwise the renewal just refunded would be charged to the wallet again.
        renews = subscriptions.renews and not is_last
    where subscriptions.id = subscription.id;
  end if;
end
$$;
comment on function private.revoke_interval is
  'Takes back the interval of a refunded invoice. Later intervals keep their length and start '
  'earlier; the plan ends if nothing of it is left.';

create function private.revoke_delivery(invoice_id uuid) returns void
  language plpgsql
  security definer -- takes back plans and credits; the invoice is locked
  set search_path = ''
as $$
begin
  perform private.revoke_interval(invoice_id);
  update public.featured_credits set credits = 0
  where featured_credits.invoice_id = revoke_delivery.invoice_id;
end
$$;
