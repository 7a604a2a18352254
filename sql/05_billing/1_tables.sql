-- Plans: what an identity may do, for how long, at which price.
--
-- Plans are rows, so an admin changes them in Studio. Who has none has the figures of the free row.

create table public.plans (
  id uuid primary key default gen_random_uuid(),
  code text not null constraint plans_code_key unique
    constraint plans_code_form check (code ~ '^[a-z][a-z0-9_]{1,30}$'),
  name_ar text not null constraint plans_name_ar_is_a_name check (private.is_name(name_ar)),
  name_en text not null constraint plans_name_en_is_a_name check (private.is_name(name_en)),
  audience text not null constraint plans_audience_is_known
    check (audience in ('individual', 'office', 'company')),
  price private.kwd not null,
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
comment on table public.plans is 'What can be subscribed to; the rows are in 91_data.sql.';
comment on column public.plans.id is 'Named when subscribing.';
comment on column public.plans.code is
  'Short name; the plan called free is everybody''s without another.';
comment on column public.plans.name_ar is 'Name in Arabic.';
comment on column public.plans.name_en is 'Name in English.';
comment on column public.plans.audience is 'The type of identity that it is for.';
comment on column public.plans.price is 'KWD for one interval.';
comment on column public.plans.interval_days is 'Days that one payment lasts.';
comment on column public.plans.active_listings is 'How many listings may be active at once.';
comment on column public.plans.listing_days is 'Days that a listing lives once published.';
comment on column public.plans.photos_per_listing is 'Pictures that a listing may have.';
comment on column public.plans.featured_credits is
  'Featured listings that come with each interval.';
comment on column public.plans.position is 'Order in the list.';
comment on column public.plans.on_sale is 'Shown and sold; one that is not goes on for who has it.';

create table public.subscriptions (
  id uuid primary key default gen_random_uuid(),
  identity_id uuid not null references public.identities (id),
  plan_id uuid not null references public.plans (id),
  status text not null default 'active' constraint subscriptions_status_is_known
    check (status in ('active', 'lapsed', 'replaced', 'refunded')),
  starts_at timestamptz not null default now(),
  ends_at timestamptz not null,
  pay_with text not null
    constraint subscriptions_pay_with_is_known check (pay_with in ('invoice', 'wallet')),
  renews boolean not null default true,
  reminded_at timestamptz,
  ended_at timestamptz,
  constraint subscriptions_time_is_forward check (ends_at > starts_at),
  constraint subscriptions_end_is_told check ((status = 'active') = (ended_at is null))
);
comment on table public.subscriptions is 'Which identity has which plan, from when to when.';
comment on column public.subscriptions.id is 'Its id.';
comment on column public.subscriptions.identity_id is 'Who has it.';
comment on column public.subscriptions.plan_id is 'What.';
comment on column public.subscriptions.status is
  'active; lapsed when its time was over; replaced by another plan; refunded.';
comment on column public.subscriptions.starts_at is 'From then on.';
comment on column public.subscriptions.ends_at is 'Paid until then.';
comment on column public.subscriptions.pay_with is
  'How it is renewed: from the wallet by itself, or by an invoice that is sent before the end.';
comment on column public.subscriptions.renews is
  'False once cancelled: it ends when its time is over.';
comment on column public.subscriptions.reminded_at is 'When its owner was told that it ends soon.';
comment on column public.subscriptions.ended_at is 'When it stopped holding.';
create unique index subscriptions_one_active_key on public.subscriptions (identity_id)
  where status = 'active';
create index subscriptions_identity_idx on public.subscriptions (identity_id, starts_at desc);
create index subscriptions_plan_idx on public.subscriptions (plan_id);
create index subscriptions_ends_idx on public.subscriptions (ends_at) where status = 'active';

alter table public.plans enable row level security;
alter table public.subscriptions enable row level security;
revoke all on public.plans, public.subscriptions from anon, authenticated;
grant select on public.plans, public.subscriptions to authenticated;
create policy "everybody signed in sees the plans" on public.plans for select to authenticated
  using (true);
create policy "identities see their own subscriptions" on public.subscriptions
  for select to authenticated
  using (identity_id = (select private.identity_id()));

create function private.plan_of(identity_id uuid) returns public.plans
  language plpgsql
  stable
  security definer -- reads the plan of whoever owns a listing
  set search_path = ''
as $$
declare
  plan public.plans;
begin
  select plans.* into plan
  from public.subscriptions
  join public.plans on plans.id = subscriptions.plan_id
  where subscriptions.identity_id = plan_of.identity_id
    and subscriptions.status = 'active'
    and subscriptions.ends_at > now();
  if plan.id is null then
    select * into plan from public.plans where plans.code = 'free';
  end if;
  return plan;
end
$$;
comment on function private.plan_of is
  'The plan whose figures hold for an identity now: the free one when it has no other.';

-- Quotas -----------------------------------------------------------------------------------------

create function private.count_publication(identity_id uuid) returns void
  language sql
  security definer -- reads rates and plans
  set search_path = ''
as $$
  select private.count_act('publications', (
    select greatest(rates.max, (private.plan_of(identity_id)).active_listings)
    from private.rates where rates.rule = 'publications'
  ))
$$;
comment on function private.count_publication is
  'Counts a listing that is shown from now on: within the hour as many as the plan shows, at least '
  'the rate.';

create function private.hold_quota(identity_id uuid) returns void
  language sql
  set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('quota ' || identity_id, 0))
$$;
comment on function private.hold_quota is
  'Listings of an identity become active one after another. Taken before any lock on a listing.';

create function private.try_quota(identity_id uuid) returns boolean
  language sql
  set search_path = ''
as $$
  select pg_try_advisory_xact_lock(hashtextextended('quota ' || identity_id, 0))
$$;
comment on function private.try_quota is
  'As hold_quota where a listing is locked already: false instead of waiting.';

create function private.hold_quota_of(property_id uuid) returns void
  language sql
  set search_path = ''
as $$
  select private.hold_quota(properties.owner_identity_id) from public.properties
  where properties.id = hold_quota_of.property_id
$$;
comment on function private.hold_quota_of is 'As hold_quota, for the owner of a listing.';

create function private.listings_used(identity_id uuid) returns integer
  language sql
  stable
  set search_path = ''
as $$
  -- One that waits for review has its place already.
  select count(*)::integer from public.properties
  where properties.owner_identity_id = listings_used.identity_id
    and properties.status in ('active', 'pending_review')
$$;
comment on function private.listings_used is 'How many listings count against the quota.';

create function private.check_quota(identity_id uuid) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  allowed integer := (private.plan_of(identity_id)).active_listings;
  used integer := private.listings_used(identity_id);
begin
  if used >= allowed then
    perform private.refuse(402, 'quota_exceeded',
      jsonb_build_object('limit', allowed, 'used', used));
  end if;
end
$$;
comment on function private.check_quota is
  '402 quota_exceeded {limit, used} unless one more listing may become active.';

create function private.has_room(identity_id uuid, counted boolean) returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.listings_used(identity_id) + (not counted)::integer
    <= (private.plan_of(identity_id)).active_listings;
end
$$;
comment on function private.has_room is
  'Whether the plan of now allows one more that is active, or one that is counted already.';

create function private.pause_over_quota(identity_id uuid) returns integer
  language plpgsql
  security definer -- writes listings for whoever ends a plan
  set search_path = ''
as $$
declare
  over integer;
begin
  perform private.hold_quota(identity_id);
  over := private.listings_used(identity_id) - (private.plan_of(identity_id)).active_listings;
  if over <= 0 then
    return 0;
  end if;
  with newest as (
    select properties.id from public.properties
    where properties.owner_identity_id = pause_over_quota.identity_id
      and properties.status = 'active'
    order by properties.published_at desc, properties.id desc
    limit over
  ), taken as materialized (
    select properties.id from public.properties
    where properties.id in (select newest.id from newest)
    order by properties.id
    for no key update
  )
  update public.properties
  set status = 'paused', version = properties.version + 1
  from taken
  where properties.id = taken.id;
  return over;
end
$$;
comment on function private.pause_over_quota is
  'Pauses what is active over the plan of now, newest first; nothing is ever deleted.';
