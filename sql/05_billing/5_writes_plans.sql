-- Subscribing to plans, cancelling them, topping up: what an identity orders.

create function private.list_plans() returns json
  language plpgsql
  stable
  security definer -- the same rows for everybody
  set search_path = ''
as $$
begin
  perform private.require_account();
  return json_build_object('items', (
    select coalesce(json_agg(private.plan_record(plans) order by plans.position, plans.code), '[]')
    from public.plans where plans.on_sale
  ));
end
$$;
comment on function private.list_plans is 'The plans; see api.list_plans.';

create function private.plan_record(plan public.plans) returns json
  language sql
  immutable
  set search_path = ''
as $$
  select json_build_object(
    'id', plan.id, 'code', plan.code, 'nameAr', plan.name_ar, 'nameEn', plan.name_en,
    'audience', plan.audience, 'price', plan.price, 'intervalDays', plan.interval_days,
    'activeListings', plan.active_listings, 'listingDays', plan.listing_days,
    'photosPerListing', plan.photos_per_listing, 'featuredCredits', plan.featured_credits)
$$;
comment on function private.plan_record is 'A plan as clients see it.';

create function private.current_plan() returns json
  language plpgsql
  stable
  security definer -- counts the caller's own listings, as the quota does
  set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
  plan public.plans := private.plan_of(owner_id);
begin
  return json_build_object(
    'plan', private.plan_record(plan),
    'subscription', (
      select json_build_object(
        'startsAt', subscriptions.starts_at, 'endsAt', subscriptions.ends_at,
        'payWith', subscriptions.pay_with, 'renews', subscriptions.renews)
      from public.subscriptions
      where subscriptions.identity_id = owner_id and subscriptions.status = 'active'
        and subscriptions.ends_at > now()
    ),
    'usage', json_build_object(
      'activeListings', json_build_object(
        'limit', plan.active_listings, 'used', private.listings_used(owner_id)),
      'photosPerListing', json_build_object('limit', plan.photos_per_listing),
      'featuredCredits', json_build_object('limit', plan.featured_credits, 'left', (
        select coalesce(sum(featured_credits.credits), 0) from public.featured_credits
        where featured_credits.identity_id = owner_id
      ))
    )
  );
end
$$;
comment on function private.current_plan is 'The caller''s plan and its use; see api.current_plan.';

create function private.unpaid_plan_invoice(identity_id uuid, plan public.plans) returns uuid
  language sql
  stable
  security definer -- looks at the caller's invoices for private.subscribe
  set search_path = ''
as $$
  select invoices.id from public.invoices
  join public.invoice_lines on invoice_lines.invoice_id = invoices.id
  where invoices.identity_id = unpaid_plan_invoice.identity_id
    and invoices.state in ('open', 'processing', 'failed')
    and invoices.due_at > now()
    and invoice_lines.plan_id = plan.id
    and invoices.total = plan.price
  order by invoices.issued_at desc
  limit 1
$$;
comment on function private.unpaid_plan_invoice is
  'The invoice for a plan at its price of now that waits to be paid.';

create function private.subscribe(plan_id uuid, pay_with text) returns uuid
  language plpgsql
  security definer -- writes invoices, money and plans of the acting identity
  set search_path = ''
as $$
declare
  owner_id uuid := private.hold_identity();
  plan public.plans;
  invoice_id uuid;
begin
  if pay_with not in ('invoice', 'wallet') or pay_with is null then
    perform private.refuse_field('payWith', 'invalid');
  end if;
  -- Two clicks at once pass one after another.
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
    where subscriptions.identity_id = owner_id and subscriptions.plan_id = plan.id
      and subscriptions.status = 'active' and subscriptions.renews
      and subscriptions.ends_at > now()
  ) then
    perform private.refuse(409, 'already_subscribed');
  end if;

  invoice_id := private.unpaid_plan_invoice(owner_id, plan);
  if pay_with = 'wallet' and exists (
    select from public.invoices where invoices.id = invoice_id and invoices.state = 'processing'
  ) then
    invoice_id := null; -- somebody is paying it at the provider just now
  end if;
  invoice_id := coalesce(
    invoice_id, private.issue_plan_invoice(owner_id, plan, now() + interval '7 days'));
  if pay_with = 'wallet' then
    perform private.pay_from_wallet(invoice_id);
  end if;
  return invoice_id;
end
$$;
comment on function private.subscribe is 'Buys a plan for the acting identity; gives the invoice.';

create function private.cancel_plan() returns void
  language plpgsql
  security definer -- writes subscriptions and invoices of the acting identity
  set search_path = ''
as $$
declare
  owner_id uuid := private.hold_identity();
  current public.subscriptions;
begin
  perform pg_advisory_xact_lock(hashtextextended('subscribe ' || owner_id, 0));
  select * into current from public.subscriptions
  where subscriptions.identity_id = owner_id and subscriptions.status = 'active'
    and subscriptions.ends_at > now();
  if current.id is null then
    perform private.refuse(404, 'plan_not_found');
  end if;
  perform private.void_invoices(owner_id, current.plan_id);
  perform private.hold_plan(owner_id);
  update public.subscriptions set renews = false where subscriptions.id = current.id;
end
$$;
comment on function private.cancel_plan is 'See api.cancel_plan.';

create function private.void_invoices(identity_id uuid, plan_id uuid) returns void
  language plpgsql
  security definer -- writes invoices for functions that have decided it
  set search_path = ''
as $$
declare
  unpaid uuid;
begin
  for unpaid in
    select invoices.id from public.invoices
    where invoices.identity_id = void_invoices.identity_id
      and invoices.state in ('open', 'failed')
      and invoices.purpose = 'plan'
      and (void_invoices.plan_id is null or exists (
        select from public.invoice_lines
        where invoice_lines.invoice_id = invoices.id
          and invoice_lines.plan_id = void_invoices.plan_id
      ))
    order by invoices.id
    for update
  loop
    update public.invoices set state = 'open'
    where invoices.id = unpaid and invoices.state = 'failed';
    update public.invoices set state = 'void' where invoices.id = unpaid;
  end loop;
end
$$;
comment on function private.void_invoices is
  'Takes back invoices for a plan, or for all plans, that nobody has paid.';

-- A closed identity has no plan, and owes nothing.
create function private.forget_plans() returns trigger
  language plpgsql
  security definer -- writes rows of whoever is going
  set search_path = ''
as $$
begin
  perform private.void_invoices(new.id, null);
  update public.subscriptions set renews = false
  where subscriptions.identity_id = new.id and subscriptions.status = 'active';
  return null;
end
$$;
comment on function private.forget_plans is 'A closed identity renews nothing.';

create trigger identities_forget_their_plans
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.forget_plans();

create function private.has_open_money(account_id uuid) returns boolean
  language sql
  stable
  security definer -- for the deletion of accounts
  set search_path = ''
as $$
  select exists (
    select from public.wallets
    join public.identities on identities.id = wallets.identity_id
    where identities.account_id = has_open_money.account_id and wallets.balance > 0
  ) or exists (
    select from public.invoices
    where invoices.account_id = has_open_money.account_id and invoices.state = 'processing'
  )
$$;
comment on function private.has_open_money is
  'Whether an account has money in a wallet or a payment under way: 409 account_has_obligations.';

create function private.order_topup(amount numeric) returns uuid
  language plpgsql
  security definer -- writes an invoice of the acting identity
  set search_path = ''
as $$
declare
  owner_id uuid := private.hold_identity();
begin
  if amount is null or not (amount between 1 and 1000) or amount <> round(amount, 3) then
    perform private.refuse_field('amount', 'amount_out_of_range');
  end if;
  return private.issue_invoice(
    owner_id, 'topup', now() + interval '1 day', 'شحن رصيد المحفظة', 'Wallet top-up', amount);
end
$$;
comment on function private.order_topup is 'An invoice whose payment goes into the wallet.';

-- As clients call them ---------------------------------------------------------------------------

create function api.list_plans() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.list_plans();
end
$$;
comment on function api.list_plans is 'The plans that are on sale.';

create function api.current_plan() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.current_plan();
end
$$;
comment on function api.current_plan is
  'The plan that holds for the acting identity, until when, and how much of it is used.';

create function api.subscribe_plan(plan_id uuid, pay_with text)
  returns table (invoice json, current json)
  language plpgsql
  set search_path = ''
as $$
declare
  invoice_id uuid := private.subscribe(subscribe_plan.plan_id, subscribe_plan.pay_with);
begin
  -- Two statements: one that reads sees only what was written before it began.
  return query select private.own_invoice(invoice_id), private.current_plan();
end
$$;
comment on function api.subscribe_plan is
  'Buys a plan: by an invoice to be charged, or from the wallet at once. 404 plan_not_found, 409 '
  'already_subscribed, plan_audience_mismatch, 402 wallet_insufficient.';

create function api.cancel_plan() returns json
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.cancel_plan();
  return private.current_plan();
end
$$;
comment on function api.cancel_plan is
  'The plan ends when its time is over and is not renewed. 404 plan_not_found without one.';

create function api.top_up_wallet(amount numeric) returns json
  language plpgsql
  set search_path = ''
as $$
declare
  invoice_id uuid := private.order_topup(top_up_wallet.amount);
begin
  return private.own_invoice(invoice_id);
end
$$;
comment on function api.top_up_wallet is
  'An invoice of 1.000 to 1000.000 KWD whose payment goes into the wallet. 422 '
  'amount_out_of_range.';

grant execute on function private.list_plans, private.current_plan, private.subscribe,
  private.cancel_plan, private.order_topup to authenticated;
grant execute on function api.list_plans, api.current_plan, api.subscribe_plan, api.cancel_plan,
  api.top_up_wallet to authenticated;
