-- Plans are rows of a table, so that an admin can change them in Studio.

create table public.plans (
  id uuid primary key default gen_random_uuid(),
  code text not null constraint plans_code_key unique
    constraint plans_code_form check (code ~ '^[a-z][a-z0-9_]{1,30}$'),
  name_ar text not null constraint plans_name_ar_is_a_name check (private.is_name(name_ar)),
  name_en text not null constraint plans_name_en_is_a_name check (private.is_name(name_en)),
  audience text not null constraint plans_audience_is_known
    check (audience in ('individual', 'office', 'company')),
  -- Repeats the checks of private.kwd, because a domain rejects a value before a trigger can explain
  -- why.
  price numeric not null constraint plans_price_is_in_dinars_with_three_decimals
    check (price between 0 and 99999999999.999 and price = round(price, 3)),
  interval_days integer not null
    constraint plans_interval_range check (interval_days between 1 and 3660),
  active_listings integer not null
    constraint plans_active_listings_range check (active_listings between 0 and 1000000),
  listing_days integer not null
    constraint plans_listing_days_range check (listing_days between 1 and 3660),
  photos_per_listing integer not null
    constraint plans_photos_range check (photos_per_listing between 0 and 40),
  featured_credits integer not null default 0
    constraint plans_featured_credits_range check (featured_credits between 0 and 1000000),
  position integer not null default 100,
  on_sale boolean not null default true
);
comment on table public.plans is
  'The plans of identities, with their quotas. Never purged: subscriptions refer to them.';
comment on column public.plans.code is
  'A stable name. free is the plan of identities without a subscription.';
comment on column public.plans.price is 'The price of one interval in KWD.';
comment on column public.plans.on_sale is 'Whether the plan can be bought or renewed.';

create table public.subscriptions (
  id uuid primary key default gen_random_uuid(),
  identity_id uuid not null references public.identities (id),
  plan_id uuid not null references public.plans (id),
  status text not null default 'active' constraint subscriptions_status_is_known
    check (status in ('active', 'next', 'expired', 'replaced', 'refunded')),
  starts_at timestamptz not null default now(),
  ends_at timestamptz not null,
  terms jsonb not null,
  pay_with text not null
    constraint subscriptions_pay_with_is_known check (pay_with in ('invoice', 'wallet')),
  renews boolean not null default true,
  reminded_at timestamptz,
  ended_at timestamptz,
  constraint subscriptions_time_is_forward check (ends_at > starts_at),
  constraint subscriptions_ended_tells_when
    check ((status in ('active', 'next')) = (ended_at is null))
);
comment on table public.subscriptions is
  'Plans that identities bought or were given. Never purged: financial records.';
comment on column public.subscriptions.status is
  'next: paid, and begins when the active subscription ends; replaced: another subscription began '
  'before this one ended.';
comment on column public.subscriptions.terms is
  'Price, days and quotas of the plan when it was bought (private.plan_terms). Later changes of '
  'the plan do not affect the subscription.';
comment on column public.subscriptions.pay_with is 'How a renewal is paid: invoice or wallet.';
comment on column public.subscriptions.renews is
  'False if the subscription will end without a renewal.';
create unique index subscriptions_one_active_one_next_key on public.subscriptions
  (identity_id, status) where status in ('active', 'next');
create index subscriptions_identity_idx on public.subscriptions (identity_id, starts_at desc);
create index subscriptions_plan_idx on public.subscriptions (plan_id);
create index subscriptions_ends_idx on public.subscriptions (ends_at) where status = 'active';

create function private.plan_terms(plan public.plans) returns jsonb
  language sql stable
  return jsonb_build_object(
    'price', plan.price, 'interval_days', plan.interval_days,
    'active_listings', plan.active_listings, 'listing_days', plan.listing_days,
    'photos_per_listing', plan.photos_per_listing, 'featured_credits', plan.featured_credits);

create function private.keep_plan_terms() returns trigger
  language plpgsql
  security definer -- reads plans, no matter who adds a subscription
  set search_path = ''
as $$
begin
  new.terms := (select private.plan_terms(plans) from public.plans where plans.id = new.plan_id);
  return new;
end
$$;
comment on function private.keep_plan_terms is
  'Stores the current terms of the plan in a subscription that is added by hand.';

create trigger subscriptions_keep_their_terms
  before insert on public.subscriptions
  for each row when (new.terms is null) execute function private.keep_plan_terms();

alter table public.plans enable row level security;
alter table public.subscriptions enable row level security;
revoke all on public.plans, public.subscriptions from anon, authenticated;
grant select on public.plans, public.subscriptions to authenticated;
grant select on public.plans to acting;
grant select, update (renews) on public.subscriptions to acting;
create policy "everybody signed in sees the plans" on public.plans
  for select to authenticated, acting
  using (true);
create policy "identities see their own subscriptions" on public.subscriptions
  for select to authenticated, acting
  using (identity_id = (select private.identity_id()));
create policy "identities cancel their own subscriptions" on public.subscriptions
  for update to acting
  using (identity_id = (select private.identity_id()));
