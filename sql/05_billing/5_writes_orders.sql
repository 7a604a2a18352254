create function private.subscribe(plan_id uuid, pay_with text) returns uuid
  language plpgsql security definer set search_path = ''
as $$
declare
  owner_id uuid := private.lock_identity();
  plan public.plans;
  invoice_id uuid;
begin
  if pay_with not in ('invoice', 'wallet') or pay_with is null then
    perform private.refuse_value('payWith', pay_with);
  end if;
  -- Orders of an identity are serialised, so that a double click results in a single order.
  perform pg_advisory_xact_lock(hashtextextended('subscribe ' || owner_id, 0));
  select * into plan from public.plans where plans.id = subscribe.plan_id and plans.on_sale;
  if plan.id is null then
    perform private.refuse(404, 'plan_not_found');
  elsif plan.audience <> (
    select identities.type from public.identities where identities.id = owner_id
  ) then
    perform private.refuse(409, 'plan_audience_mismatch');
  elsif plan.price = 0 or exists (
    select from public.subscriptions
    where subscriptions.identity_id = owner_id and subscriptions.ends_at > now()
      and case
        when subscriptions.status = 'active'
          or subscriptions.status = 'next' and subscriptions.starts_at <= now()
        then subscriptions.plan_id = plan.id and subscriptions.renews
        when subscriptions.status = 'next' then subscriptions.plan_id = plan.id
          or not private.begins_at_once(plan, private.plan_of(owner_id))
      end
  ) then
    perform private.refuse(409, 'already_subscribed');
  end if;

  invoice_id := private.unpaid_plan_invoice(owner_id, plan);
  if pay_with = 'wallet' and exists (
    select from public.invoices where invoices.id = invoice_id and invoices.state = 'processing'
  ) then
    invoice_id := null; -- the invoice is being paid at the provider
  end if;
  invoice_id := coalesce(
    invoice_id, private.issue_plan_invoice(owner_id, plan, now() + interval '7 days'));
  if pay_with = 'wallet' then
    perform private.pay_from_wallet(invoice_id);
  end if;
  return invoice_id;
end
$$;

create function api.subscribe_plan(plan_id uuid, pay_with text)
  returns table (invoice json, current json)
  language plpgsql set search_path = ''
as $$
declare
  invoice_id uuid;
begin
  perform private.count_action('subscriptions');
  invoice_id := private.subscribe(subscribe_plan.plan_id, subscribe_plan.pay_with);
  -- These are two statements, because a query does not see the rows that it writes itself.
  return query select private.get_invoice(invoice_id), private.current_plan();
end
$$;
comment on function api.subscribe_plan is
  'Buys a plan, with an invoice to be paid or directly from the wallet. A plan that neither costs '
  'more per day nor has a larger quota begins when the current plan ends. 404 plan_not_found, 409 '
  'already_subscribed, plan_audience_mismatch, 402 wallet_insufficient.';

create function private.cancel_plan() returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  owner_id uuid := private.lock_identity();
begin
  perform pg_advisory_xact_lock(hashtextextended('subscribe ' || owner_id, 0));
  if not exists (
    select from public.subscriptions
    where subscriptions.identity_id = owner_id and subscriptions.status in ('active', 'next')
      and subscriptions.ends_at > now()
  ) then
    perform private.refuse(404, 'plan_not_found');
  end if;
  perform private.void_invoices(owner_id, private.plan_of(owner_id));
  perform private.lock_plan(owner_id);
  update public.subscriptions set renews = false
  where subscriptions.identity_id = owner_id and subscriptions.status in ('active', 'next');
end
$$;

create function api.cancel_plan() returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('subscriptions');
  perform private.cancel_plan();
  return private.current_plan();
end
$$;
comment on function api.cancel_plan is
  'Stops the renewal of the current plan and of a next plan that is already paid; both run until '
  'they end. Voids the unpaid invoice of a renewal or next plan. 404 plan_not_found if there is no '
  'plan.';

create function private.open_topups(account_id uuid) returns bigint
  language plpgsql stable
  security definer -- counts the invoices of all identities of the account
  set search_path = ''
as $$
begin
  return (
    select count(*) from public.invoices
    where invoices.account_id = open_topups.account_id and invoices.purpose = 'topup'
      and invoices.state in ('open', 'processing', 'failed')
      and invoices.due_at > now()
  );
end
$$;
comment on function private.open_topups is 'The number of unpaid top-ups that can still be paid.';

create function private.order_topup(amount numeric) returns uuid
  language plpgsql security definer set search_path = ''
as $$
declare
  owner_id uuid := private.lock_identity();
begin
  if amount is null or not (amount between 1 and 1000) or amount <> round(amount, 3) then
    perform private.refuse_field(
      'amount', case when amount is null then 'required' else 'amount_out_of_range' end);
  end if;
  -- Top-ups of an account are serialised, so that concurrent calls cannot exceed the limit of unpaid
  -- top-ups.
  perform pg_advisory_xact_lock(hashtextextended('topup ' || private.account_id(), 0));
  perform private.check_limit('topups_open', 'topups_full', private.open_topups(private.account_id()));
  return private.issue_invoice(
    owner_id, 'topup', now() + interval '1 day', 'شحن رصيد المحفظة', 'Wallet top-up', amount);
end
$$;

create function api.top_up_wallet(amount numeric) returns json
  language plpgsql set search_path = ''
as $$
declare
  invoice_id uuid;
begin
  perform private.count_action('topups');
  invoice_id := private.order_topup(top_up_wallet.amount);
  return private.get_invoice(invoice_id);
end
$$;
comment on function api.top_up_wallet is
  'Issues an invoice of 1.000 to 1000.000 KWD. Its payment is credited to the wallet. Five such '
  'invoices may be unpaid at a time, otherwise 409 topups_full. 422 amount_out_of_range.';

grant execute on function private.subscribe, private.cancel_plan, private.order_topup
  to authenticated;
grant execute on function api.subscribe_plan, api.cancel_plan, api.top_up_wallet to authenticated;
