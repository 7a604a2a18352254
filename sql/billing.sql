-- What paying gives, and how plans are subscribed to and cancelled.

create table public.featured_credits (
  identity_id uuid primary key references public.identities (id),
  credits integer not null constraint featured_credits_never_below_zero check (credits >= 0)
);
comment on table public.featured_credits is 'Featured listings that an identity has paid for.';
comment on column public.featured_credits.identity_id is 'Who.';
comment on column public.featured_credits.credits is 'How many are left.';
alter table public.featured_credits enable row level security;
revoke all on public.featured_credits from anon, authenticated;
grant select on public.featured_credits to authenticated;
create policy "identities see their own credits" on public.featured_credits
  for select to authenticated
  using (identity_id = (select private.identity_id()));

create table private.alarms (
  id bigint generated always as identity primary key,
  kind text not null,
  subject_id text not null,
  facts jsonb not null default '{}',
  raised_at timestamptz not null default now(),
  settled_at timestamptz,
  settled_note text
);
comment on table private.alarms is
  'What an admin has to look at: money that does not fit. One row for each thing until it is settled.';
comment on column private.alarms.id is 'Order.';
comment on column private.alarms.kind is 'What happened, as wallet_differs or payment_mismatch.';
comment on column private.alarms.subject_id is 'The wallet, payment, invoice or event.';
comment on column private.alarms.facts is 'What was seen.';
comment on column private.alarms.raised_at is 'When.';
comment on column private.alarms.settled_at is 'When an admin was done with it.';
comment on column private.alarms.settled_note is 'What the admin did.';
create unique index alarms_one_unsettled_key on private.alarms (kind, subject_id)
  where settled_at is null;
alter table private.alarms enable row level security;
create policy "nobody but functions of their owner" on private.alarms using (false);

create function private.raise_alarm(kind text, subject_id text, facts jsonb default '{}')
  returns void
  language plpgsql
  security definer -- writes a closed table, for whoever came across it
  set search_path = ''
as $$
begin
  insert into private.alarms (kind, subject_id, facts)
  values (raise_alarm.kind, raise_alarm.subject_id, raise_alarm.facts)
  on conflict do nothing;
  if found then
    perform private.notify(admins.account_id, null, 'system', null,
      jsonb_build_object(
        'titleAr', 'تنبيه مالي يحتاج إلى مراجعة', 'titleEn', 'A payment needs a look',
        'bodyAr', raise_alarm.kind, 'bodyEn', raise_alarm.kind))
    from public.admins;
  end if;
end
$$;
comment on function private.raise_alarm is
  'Tells the admins, once for each thing until it is settled.';

-- Effects ----------------------------------------------------------------------------------------

create function private.hold_plan(identity_id uuid) returns void
  language sql
  set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('plan ' || identity_id, 0))
$$;
comment on function private.hold_plan is
  'Plans of an identity change one after another. Taken after the lock on an invoice or wallet.';

create function private.add_credits(identity_id uuid, credits integer) returns void
  language sql
  security definer -- writes for functions that have decided it
  set search_path = ''
as $$
  insert into public.featured_credits (identity_id, credits)
  select add_credits.identity_id, add_credits.credits where add_credits.credits > 0
  on conflict on constraint featured_credits_pkey
    do update set credits = featured_credits.credits + excluded.credits
$$;
comment on function private.add_credits is 'More featured listings.';

create function private.start_plan(identity_id uuid, plan_id uuid, pay_with text) returns void
  language plpgsql
  security definer -- writes subscriptions for functions that have decided it
  set search_path = ''
as $$
declare
  plan public.plans;
  before public.subscriptions;
begin
  perform private.hold_plan(identity_id);
  select * into plan from public.plans where plans.id = start_plan.plan_id;
  select * into before from public.subscriptions
  where subscriptions.identity_id = start_plan.identity_id and subscriptions.status = 'active'
  for update;

  if before.plan_id = plan.id and before.ends_at > now() then
    update public.subscriptions
    set ends_at = subscriptions.ends_at + make_interval(days => plan.interval_days),
        pay_with = start_plan.pay_with, renews = true, reminded_at = null
    where subscriptions.id = before.id;
  else
    update public.subscriptions
    set ended_at = now(), status = case when before.ends_at > now() then 'replaced' else 'lapsed' end
    where subscriptions.id = before.id;
    insert into public.subscriptions (identity_id, plan_id, ends_at, pay_with)
    values (start_plan.identity_id, plan.id, now() + make_interval(days => plan.interval_days),
      start_plan.pay_with);
    perform private.pause_over_quota(start_plan.identity_id);
  end if;
  perform private.add_credits(start_plan.identity_id, plan.featured_credits);
end
$$;
comment on function private.start_plan is
  'One more interval of the plan that an identity has, or another plan from now on.';

create function private.end_plan(identity_id uuid, plan_id uuid, status text) returns boolean
  language plpgsql
  security definer -- writes subscriptions for functions that have decided it
  set search_path = ''
as $$
begin
  perform private.hold_plan(identity_id);
  update public.subscriptions set status = end_plan.status, ended_at = now()
  where subscriptions.identity_id = end_plan.identity_id
    and subscriptions.plan_id = end_plan.plan_id
    and subscriptions.status = 'active'
    and (end_plan.status <> 'lapsed' or subscriptions.ends_at <= now());
  if not found then
    return false;
  end if;
  perform private.pause_over_quota(end_plan.identity_id);
  return true;
end
$$;
comment on function private.end_plan is
  'A plan holds no longer, and what is active over the quota of now is paused, newest first.';

create function private.can_give(invoice public.invoices) returns boolean
  language sql
  stable
  security definer -- looks at everybody's plans, for functions that settle
  set search_path = ''
as $$
  select invoice.state <> 'void'
    and exists (
      select from public.identities
      where identities.id = invoice.identity_id and identities.status <> 'closed'
    )
    and not exists (
      select from public.invoice_lines
      join public.plans on plans.id = invoice_lines.plan_id
      where invoice_lines.invoice_id = invoice.id
        and not plans.on_sale
        and (private.plan_of(invoice.identity_id)).id <> plans.id
    )
$$;
comment on function private.can_give is
  'Whether what an invoice is for can still be given: it is not void, its plan not withdrawn.';

create function private.give_effects(invoice public.invoices, pay_with text) returns void
  language plpgsql
  security definer -- writes for functions that have settled an invoice
  set search_path = ''
as $$
declare
  line public.invoice_lines;
begin
  for line in
    select * from public.invoice_lines
    where invoice_lines.invoice_id = invoice.id order by invoice_lines.position
  loop
    case line.kind
      when 'plan' then perform private.start_plan(invoice.identity_id, line.plan_id, pay_with);
      when 'feature' then perform private.add_credits(invoice.identity_id, line.quantity);
      else null; -- a top-up is the money itself
    end case;
  end loop;
end
$$;
comment on function private.give_effects is 'Gives what the lines of a paid invoice say.';

create function private.mark_paid(invoice public.invoices, paid_with text, credited boolean)
  returns void
  language plpgsql
  security definer -- writes for functions that have moved the money
  set search_path = ''
as $$
begin
  update public.invoices
  set state = 'paid', paid_at = now(), paid_with = mark_paid.paid_with,
      credited = mark_paid.credited
  where invoices.id = invoice.id;
  perform private.make_receipt(invoice.id);
  perform private.notify(invoice.account_id, invoice.identity_id, 'invoice_paid', invoice.id,
    jsonb_build_object('number', invoice.number, 'amount', invoice.total));
end
$$;
comment on function private.mark_paid is 'A paid invoice: state, receipt, word to its owner.';

create function private.pay_from_wallet(invoice_id uuid) returns void
  language plpgsql
  security definer -- spends the wallet of the invoice's own identity
  set search_path = ''
as $$
declare
  invoice public.invoices;
begin
  select * into invoice from public.invoices
  where invoices.id = pay_from_wallet.invoice_id for update;
  if invoice.state not in ('open', 'failed') then
    perform private.refuse(409, 'status_transition_invalid');
  end if;
  perform private.move_money(
    private.wallet_of(invoice.identity_id), private.house('sales'), invoice.total,
    'purchase', 'purchase', invoice.id, invoice.id);
  perform private.mark_paid(invoice, 'wallet', false);
  perform private.give_effects(invoice, 'wallet');
end
$$;
comment on function private.pay_from_wallet is
  'Pays an invoice from its identity''s wallet. 402 wallet_insufficient.';

-- Subscribing ------------------------------------------------------------------------------------

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
      'featuredCredits', json_build_object('limit', plan.featured_credits, 'left', coalesce((
        select featured_credits.credits from public.featured_credits
        where featured_credits.identity_id = owner_id
      ), 0))
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
    perform private.refuse_fields('[{"path":"payWith","code":"invalid"}]');
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
    perform private.refuse(422, 'amount_out_of_range',
      '{"fields":[{"path":"amount","code":"amount_out_of_range"}]}');
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
  'An invoice of 1.000 to 1000.000 KWD whose payment goes into the wallet. 422 amount_out_of_range.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.list_plans, private.current_plan, private.subscribe,
  private.cancel_plan, private.order_topup to authenticated;
grant execute on function api.list_plans, api.current_plan, api.subscribe_plan, api.cancel_plan,
  api.top_up_wallet to authenticated;
