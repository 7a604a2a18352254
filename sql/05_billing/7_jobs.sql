create function private.due_payments() returns json
  language sql security definer set search_path = ''
as $$
  with due as (
    select payments.id from public.payments
    where payments.state in ('starting', 'open', 'superseded')
      and payments.created_at < now() - interval '10 minutes'
      and coalesce(payments.looked_up_at < now() - interval '4 minutes', true)
    order by payments.looked_up_at nulls first, payments.created_at
    limit 25
    for update skip locked
  ), taken as (
    update public.payments set looked_up_at = now()
    from due where due.id = payments.id
    returning private.due_payment(payments) as due
  )
  select coalesce(json_agg(taken.due), '[]') from taken
$$;
comment on function private.due_payments is
  'Job: returns payments that have been pending for 10 minutes, each at most once every 4 minutes.';

create function private.give_up_payment(payment_id uuid) returns boolean
  language sql set search_path = ''
as $$
  select private.fail_payment(give_up_payment.payment_id) = 'failed'
$$;

create function private.give_up_payments() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('give_up_payment', array(
    select payments.id::text from public.payments
    where payments.state in ('starting', 'open', 'superseded')
      and payments.created_at < now() - interval '24 hours'
      and payments.looked_up_at > now() - interval '1 hour'
      and not private.failed_recently('give_up_payment', payments.id::text)
    limit 100
  ), true)
$$;
comment on function private.give_up_payments is
  'Job: marks charges that are still pending or unknown after a day as failed. A late webhook can '
  'still pay the invoice.';

create function private.due_refunds() returns json
  language sql security definer set search_path = ''
as $$
  with due as (
    select refunds.id from public.refunds
    where refunds.state = 'requested'
      and refunds.created_at < now() - interval '2 minutes'
      and coalesce(refunds.looked_up_at < now() - interval '10 minutes', true)
    order by refunds.looked_up_at nulls first
    limit 25
    for update skip locked
  ), taken as (
    update public.refunds set looked_up_at = now()
    from due where due.id = refunds.id
    returning refunds.id
  )
  select coalesce(json_agg(private.refund_order(taken.id)), '[]') from taken
$$;
comment on function private.due_refunds is
  'Job: returns requested refunds that have to be looked up at the provider.';

create function private.expire_invoice(invoice_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  perform from public.invoices
  where invoices.id = expire_invoice.invoice_id
    and invoices.state in ('open', 'failed') and invoices.due_at <= now()
  for update skip locked;
  if not found then
    return false;
  end if;
  update public.invoices set state = 'open'
  where invoices.id = expire_invoice.invoice_id and invoices.state = 'failed';
  update public.invoices set state = 'expired' where invoices.id = expire_invoice.invoice_id;
  return true;
end
$$;

create function private.expire_invoices() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('expire_invoice', array(
    select invoices.id::text from public.invoices
    where invoices.state in ('open', 'failed') and invoices.due_at <= now()
      and not private.failed_recently('expire_invoice', invoices.id::text)
    order by invoices.due_at
    limit 1000
  ))
$$;
comment on function private.expire_invoices is 'Job: expires invoices that were not paid in time.';

create function private.ends_unrenewed(
  subscription public.subscriptions, plan public.plans
) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return subscription.renews and case
    when not plan.on_sale then subscription.ends_at <= now() + interval '30 days'
    else subscription.ends_at <= now() + interval '7 days'
      and private.is_worse(plan, subscription.terms)
  end;
end
$$;
comment on function private.ends_unrenewed is
  'Whether it is time to notify the owner that the chosen renewal will not take place.';

create function private.remind_of_plan(subscription_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  due record;
  renews_by text;
begin
  perform private.lock_owner(subscriptions.identity_id) from public.subscriptions
  where subscriptions.id = remind_of_plan.subscription_id;
  select subscriptions, plans, identities.account_id,
    private.ends_unrenewed(subscriptions, plans) as ends_unrenewed,
    jsonb_strip_nulls(jsonb_build_object(
      'nameAr', plans.name_ar, 'nameEn', plans.name_en,
      'amount', case when plans.on_sale then plans.price end,
      'day', (subscriptions.ends_at at time zone 'Asia/Kuwait')::date)) as details
  into due
  from public.subscriptions
  join public.plans on plans.id = subscriptions.plan_id
  join public.identities on identities.id = subscriptions.identity_id
  where subscriptions.id = remind_of_plan.subscription_id
    and subscriptions.status = 'active' and private.is_in_order(identities.id)
  for update of subscriptions skip locked;
  if due.ends_unrenewed then
    update public.subscriptions
    set renews = false,
        reminded_at = case when subscriptions.ends_at <= now() + interval '7 days' then now() end
    where subscriptions.id = (due.subscriptions).id;
    perform private.notify(due.account_id, (due.subscriptions).identity_id, 'plan_terms_changed',
      (due.plans).id, due.details);
  elsif (due.subscriptions).reminded_at is null
    and (due.subscriptions).ends_at <= now() + interval '7 days' then
    update public.subscriptions set reminded_at = now()
    where subscriptions.id = (due.subscriptions).id;
    if (due.subscriptions).renews then
      renews_by := (due.subscriptions).pay_with;
    end if;
    if renews_by = 'invoice' and private.unpaid_plan_invoice(
      (due.subscriptions).identity_id, due.plans) is null then
      perform private.issue_plan_invoice(
        (due.subscriptions).identity_id, due.plans, (due.subscriptions).ends_at);
    end if;
    perform private.notify(due.account_id, (due.subscriptions).identity_id, 'plan_expiring',
      (due.plans).id, due.details || jsonb_build_object('renewsBy', renews_by));
  else
    return false;
  end if;
  return true;
end
$$;
comment on function private.remind_of_plan is
  'Notifies the owner that a plan is about to end, or that the chosen renewal will not take place.';

create function private.remind_of_plans() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('remind_of_plan', array(
    with due as materialized ( -- filters first, so that the functions below are called for few rows
      select subscriptions.id, subscriptions.identity_id, subscriptions.ends_at
      from public.subscriptions
      join public.plans on plans.id = subscriptions.plan_id
      where subscriptions.status = 'active'
        and (subscriptions.reminded_at is null or subscriptions.renews)
        and subscriptions.ends_at between now() and now() + interval '30 days'
        and (not plans.on_sale or subscriptions.ends_at <= now() + interval '7 days')
        and (
          subscriptions.reminded_at is null and subscriptions.ends_at <= now() + interval '7 days'
          or private.ends_unrenewed(subscriptions, plans)
        )
        and not exists (
          select from public.subscriptions as next
          where next.identity_id = subscriptions.identity_id and next.status = 'next'
        )
    )
    select due.id::text from due
    where private.is_in_order(due.identity_id)
      and not private.failed_recently('remind_of_plan', due.id::text)
    order by due.ends_at
    limit 100
  ), true)
$$;
comment on function private.remind_of_plans is
  'Job: seven days before a plan ends, notifies its owner (if private.is_in_order) and, if needed, '
  'issues the invoice for the renewal. If the plan has become worse, it stops the renewal and '
  'notifies the owner of this instead. If the plan is no longer sold, it does this 30 days before '
  'the end.';

create function private.renew_plan(subscription_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  due record;
begin
  perform private.lock_owner(subscriptions.identity_id) from public.subscriptions
  where subscriptions.id = renew_plan.subscription_id;
  perform pg_advisory_xact_lock(hashtextextended('subscribe ' || subscriptions.identity_id, 0))
  from public.subscriptions where subscriptions.id = renew_plan.subscription_id;
  select subscriptions.identity_id, plans into due
  from public.subscriptions
  join public.plans on plans.id = subscriptions.plan_id
  where subscriptions.id = renew_plan.subscription_id and subscriptions.status = 'active'
    and private.is_in_order(subscriptions.identity_id)
    and subscriptions.renews and subscriptions.ends_at < now() + interval '1 day'
    and plans.on_sale and not private.is_worse(plans, subscriptions.terms);
  if due.identity_id is null then
    return false;
  end if;
  perform private.pay_from_wallet(
    private.issue_plan_invoice(due.identity_id, due.plans, now() + interval '1 day'));
  if not exists (
    select from public.subscriptions
    where subscriptions.id = renew_plan.subscription_id and subscriptions.status = 'active'
  ) then
    raise exception 'another plan began meanwhile' using errcode = '40001';
  end if;
  return true;
exception
  when sqlstate 'PT402' then -- the balance is no longer sufficient
    return false;
end
$$;

create function private.renew_plans() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('renew_plan', array(
    select subscriptions.id::text from public.subscriptions
    join public.plans on plans.id = subscriptions.plan_id
    join public.wallets
      on wallets.identity_id = subscriptions.identity_id and wallets.part = 'available'
    where subscriptions.status = 'active' and subscriptions.renews
      and subscriptions.pay_with = 'wallet'
      and subscriptions.ends_at between now() and now() + interval '1 day'
      and plans.on_sale and wallets.balance >= plans.price
      and not private.is_worse(plans, subscriptions.terms)
      and private.is_in_order(subscriptions.identity_id)
      and not private.failed_recently('renew_plan', subscriptions.id::text)
    order by subscriptions.ends_at
    limit 100
  ), true)
$$;
comment on function private.renew_plans is
  'Job: on a plan''s last day, renews it from the wallet if the balance is sufficient and '
  'private.is_in_order.';

create function private.downgrade_plan(subscription_id uuid) returns boolean
  language sql set search_path = ''
as $$
  select private.end_subscription(downgrade_plan.subscription_id, 'expired')
$$;

create function private.downgrade_plans() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('downgrade_plan', array(
    select due.id::text
    from (
      (
        select subscriptions.id, subscriptions.ends_at from public.subscriptions
        join public.identities on identities.id = subscriptions.identity_id
        where subscriptions.status = 'active' and subscriptions.ends_at <= now()
          and subscriptions.ends_at <= coalesce(identities.stopped_at, now())
      )
      union
      select subscriptions.id, subscriptions.ends_at
      from public.identities
      join public.accounts on accounts.id = identities.account_id
      join public.subscriptions
        on subscriptions.identity_id = identities.id and subscriptions.status = 'active'
      where identities.stopped_at is not null and (
        accounts.status = 'banned' or identities.stopped_at <= now() - interval '180 days'
      )
    ) as due
    where not private.failed_recently('downgrade_plan', due.id::text)
    order by due.ends_at
    limit 100
  ), true)
$$;
comment on function private.downgrade_plans is
  'Job: ends plans whose time is over, or whose owner was banned or has been suspended for 180 '
  'days. Begins the next plan, and pauses active listings that exceed its quota.';

create function private.recount_wallets() returns bigint
  language plpgsql security definer set search_path = ''
as $$
declare
  last uuid;
  counted record;
  done bigint := 0;
begin
  insert into private.recounts (name, last_wallet_id)
  values ('wallets', '00000000-0000-0000-0000-000000000000')
  on conflict do nothing;
  select recounts.last_wallet_id into last from private.recounts
  where recounts.name = 'wallets' for update;
  for counted in
    select wallets.id, wallets.balance,
      (
        select coalesce(sum(wallet_entries.amount), 0) from public.wallet_entries
        where wallet_entries.wallet_id = wallets.id
      ) as summed,
      case wallets.part when 'held' then private.held_for_refunds(wallets.identity_id) end
        as refunds
    from public.wallets
    where wallets.id > last and wallets.system_account is null
    order by wallets.id
    limit 2000
  loop
    if counted.balance <> counted.summed then
      perform private.raise_alarm('wallet_differs', counted.id::text,
        jsonb_build_object('balance', counted.balance, 'summed', counted.summed));
    end if;
    if counted.balance <> counted.refunds then
      perform private.raise_alarm('wallet_held', counted.id::text,
        jsonb_build_object('held', counted.balance, 'refunds', counted.refunds));
    end if;
    last := counted.id;
    done := done + 1;
  end loop;
  -- After the last wallet, the next run starts over.
  update private.recounts
  set last_wallet_id = case when done = 2000 then last
    else '00000000-0000-0000-0000-000000000000' end
  where recounts.name = 'wallets';
  return done;
end
$$;
comment on function private.recount_wallets is
  'Job: compares 2,000 wallets with their entries and refunds; raises alarms for differences.';

create function private.forget_payout(payout_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  payout public.wallet_payouts;
begin
  select * into payout from public.wallet_payouts
  where wallet_payouts.id = payout_id and wallet_payouts.decided_at is null
    and num_nonnulls(wallet_payouts.name, wallet_payouts.phone, wallet_payouts.email) > 0
  for no key update skip locked;
  if payout.id is null then
    return false;
  end if;
  update public.wallet_payouts set name = null, phone = null, email = null
  where wallet_payouts.id = payout.id;
  perform private.raise_alarm('payout_undecided', payout.id::text,
    jsonb_build_object('amount', payout.amount, 'since', payout.created_at));
  return true;
end
$$;

create function private.forget_payouts() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('forget_payout', array(
    select wallet_payouts.id::text from public.wallet_payouts
    where wallet_payouts.state in ('at_provider', 'open')
      and wallet_payouts.created_at < now() - interval '180 days'
      and num_nonnulls(wallet_payouts.name, wallet_payouts.phone, wallet_payouts.email) > 0
      and not private.failed_recently('forget_payout', wallet_payouts.id::text)
    order by wallet_payouts.created_at
    limit 100
  ))
$$;
comment on function private.forget_payouts is
  'Job: removes personal data from undecided payouts after 180 days. An admin can still decide '
  'about these payouts.';

create function private.purge_void_lines() returns bigint
  language sql security definer set search_path = ''
as $$
  with gone as (
    delete from public.invoice_lines
    where (invoice_lines.invoice_id, invoice_lines.position) in (
      select of_void.invoice_id, of_void.position
      from public.invoices
      join public.invoice_lines as of_void on of_void.invoice_id = invoices.id
      where invoices.state = 'void' and invoices.issued_at < now() - interval '1 year'
      order by invoices.issued_at
      limit 1000
    )
    returning 1
  )
  select count(*) from gone
$$;
comment on function private.purge_void_lines is
  'Job: deletes the lines of void invoices after a year. If such an invoice is paid later, the '
  'money goes to the wallet.';

grant execute on function
  private.due_payments, private.give_up_payments, private.due_refunds, private.expire_invoices,
  private.remind_of_plans, private.renew_plans, private.downgrade_plans, private.recount_wallets,
  private.forget_payouts, private.purge_void_lines
  to backend;
