-- The intervals of a subscription follow one another without gaps, and the last one ends when the
-- subscription ends. So the start and end of each interval are computed backwards from the end of
-- the subscription.

create table public.subscription_intervals (
  id bigint generated always as identity primary key,
  subscription_id uuid not null references public.subscriptions (id),
  invoice_id uuid references public.invoices (id)
    constraint subscription_intervals_one_per_invoice_key unique,
  days integer not null
    constraint subscription_intervals_days_range check (days between 1 and 3660),
  value private.kwd,
  seconds bigint,
  taken_back_at timestamptz,
  constraint subscription_intervals_value_became_time check ((value is null) = (seconds is null))
);
comment on table public.subscription_intervals is
  'The intervals that were added to a subscription, in order. Never purged: financial records.';
comment on column public.subscription_intervals.invoice_id is
  'Null if an admin added the interval.';
comment on column public.subscription_intervals.days is
  'The plan''s interval_days when the interval was added.';
comment on column public.subscription_intervals.value is
  'The part of the invoice''s total (without an invoice, of the plan''s price) that was carried '
  'over to this plan at the last change of plan. A refund takes back its share. Null before the '
  'first change.';
comment on column public.subscription_intervals.seconds is
  'How much time of this plan, in seconds, the value was worth.';
comment on column public.subscription_intervals.taken_back_at is 'When its invoice was refunded.';
create index subscription_intervals_subscription_idx
  on public.subscription_intervals (subscription_id, id);
alter table public.subscription_intervals enable row level security;
revoke all on public.subscription_intervals from anon, authenticated, service_role;
grant select on public.subscription_intervals to service_role;
create policy "nobody but functions of their owner" on public.subscription_intervals
  using (false);

-- Credits are stored per invoice, so that a refund takes back only the credits of its invoice. No
-- function spends credits.
create table public.featured_credits (
  id bigint generated always as identity primary key,
  identity_id uuid not null references public.identities (id),
  credits integer not null constraint featured_credits_never_below_zero check (credits >= 0),
  invoice_id uuid references public.invoices (id)
    constraint featured_credits_one_per_invoice_key unique
);
comment on table public.featured_credits is
  'Credits for featured listings, by invoice. Never purged: financial records.';
comment on column public.featured_credits.invoice_id is 'Null if an admin added them.';
create index featured_credits_identity_idx on public.featured_credits (identity_id, id);
alter table public.featured_credits enable row level security;
revoke all on public.featured_credits from anon, authenticated;
grant select on public.featured_credits to authenticated, acting;
create policy "identities see their own credits" on public.featured_credits
  for select to authenticated, acting
  using (identity_id = (select private.identity_id()));
