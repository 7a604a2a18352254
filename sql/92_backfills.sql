-- Backfills: changes to rows that older versions wrote, so that they satisfy the present rules. A
-- script that may run twice: rows that fit are left alone. It runs after 91_data.sql and before
-- constraints are validated.

-- Which invoice paid which interval, for plans that were bought before intervals were recorded: one
-- that was paid while the subscription was active. Refunded invoices had theirs taken back already.
-- Featured credits, none of which had been used, are assigned to their invoices.
with filled as (
  insert into public.subscription_intervals (subscription_id, invoice_id, days)
  select subscriptions.id, invoices.id, plans.interval_days
  from public.subscriptions
  join public.plans on plans.id = subscriptions.plan_id
  join public.invoices on invoices.identity_id = subscriptions.identity_id
    and invoices.paid_at >= subscriptions.starts_at
    and invoices.paid_at < coalesce(subscriptions.ended_at, 'infinity')
  where invoices.state in ('paid', 'partially_refunded') and not invoices.credited
    and exists (
      select from public.invoice_lines
      where invoice_lines.invoice_id = invoices.id and invoice_lines.plan_id = plans.id
    )
    and not exists (
      select from public.subscription_intervals
      where subscription_intervals.invoice_id = invoices.id
    )
  order by invoices.paid_at
  on conflict do nothing
  returning subscription_intervals.id, subscription_id, invoice_id
), given as (
  select featured_credits.id, subscriptions.identity_id, filled.invoice_id,
    plans.featured_credits as credits,
    sum(plans.featured_credits) over (partition by featured_credits.id order by filled.id)
      <= featured_credits.credits as fits
  from filled
  join public.subscriptions on subscriptions.id = filled.subscription_id
  join public.plans on plans.id = subscriptions.plan_id and plans.featured_credits > 0
  join public.featured_credits
    on featured_credits.identity_id = subscriptions.identity_id
    and featured_credits.invoice_id is null
), named as (
  insert into public.featured_credits (identity_id, credits, invoice_id)
  select given.identity_id, given.credits, given.invoice_id from given where given.fits
)
update public.featured_credits
set credits = featured_credits.credits
  - (select sum(given.credits) from given where given.fits and given.id = featured_credits.id)
where featured_credits.id in (select given.id from given where given.fits);

-- Publications and ranks from before they had an end: what is no longer listed ends. A little in the
-- future, so that no snapshot taken before this commits changes afterwards; rows that triggers keep
-- never match.
with over as (
  select publications.property_id from private.publications
  where publications.until = 'infinity' and not exists (
    select from public.properties
    where properties.id = publications.property_id and properties.listed
  )
  for update skip locked
)
update private.publications set until = clock_timestamp() + interval '10 minutes'
from over where publications.property_id = over.property_id and publications.until = 'infinity';

with over as (
  select office_ranks.id from private.office_ranks
  where office_ranks.until = 'infinity' and not exists (
    select from public.organisations
    where organisations.identity_id = office_ranks.identity_id and organisations.listed
  )
  for update skip locked
)
update private.office_ranks set until = clock_timestamp() + interval '10 minutes'
from over where office_ranks.id = over.id;

-- Listings and accounts that were edited by hand before constraints tied states to times.
update public.properties
set published_at = case
      when status in ('active', 'paused', 'expired', 'sold', 'rented', 'exchanged')
        then coalesce(published_at, created_at)
      else published_at
    end,
    expires_at = case
      when status in ('active', 'paused') then coalesce(expires_at, now() + interval '30 days')
      when status = 'expired' then coalesce(expires_at, now())
      else expires_at
    end,
    paused_at = case status
      when 'paused' then coalesce(paused_at, now()) when 'active' then null else paused_at
    end,
    closed_at = case
      when status in ('sold', 'rented', 'exchanged') then coalesce(closed_at, now())
      when status in ('active', 'paused') then null
      else closed_at
    end,
    suspended_from = case when status = 'suspended' then coalesce(suspended_from,
      case when published_at is null then 'draft' else 'active' end) end,
    deleted_at = case when status = 'deleted' then coalesce(deleted_at, now()) end
where status in ('active', 'paused', 'expired') and num_nulls(published_at, expires_at) > 0
  or status = 'paused' and paused_at is null or status = 'active' and paused_at is not null
  or status in ('sold', 'rented', 'exchanged') and num_nulls(published_at, closed_at) > 0
  or status in ('active', 'paused') and closed_at is not null
  or (status = 'suspended') <> (suspended_from is not null)
  or (status = 'deleted') <> (deleted_at is not null);
update public.accounts
set suspended_until = case when status = 'suspended' then suspended_until end,
    delete_at = case when status = 'deletion_requested'
      then coalesce(delete_at, now() + interval '14 days') end
where suspended_until is not null and status <> 'suspended'
  or (status = 'deletion_requested') <> (delete_at is not null);

-- Listings from before cards were kept.
insert into private.property_cards
select card.*
from public.properties
cross join lateral private.property_card(properties) as card
where properties.listed and not exists (
  select from private.property_cards where property_cards.property_id = properties.id
)
on conflict do nothing;

-- Cards from before they held the owner's name. One that is given a new name meanwhile has it.
update private.property_cards set owner_name = private.owner_name_text(owner_identity_id)
where owner_name is null;

-- The same of records. And who acts as an identity that may not any more acts as none.
update private.listed_records set owner_name = private.owner_name_text(owner_identity_id)
where owner_name is null;
update public.accounts set active_identity_id = null
from public.identities
where identities.id = accounts.active_identity_id and identities.status <> 'active';

-- Counts from when they were columns of listings (00_kept_rows.sql). Nobody saves anything meanwhile,
-- so that none is missed.
do $$
begin
  if to_regclass('extensions.kept_views') is not null then
    lock table public.favorites in share row exclusive mode;
    insert into private.property_counters as counters (property_id, views, favorites)
    select properties.id, coalesce(kept_views.views, 0), coalesce(saved.favorites, 0)
    from public.properties
    left join extensions.kept_views on kept_views.property_id = properties.id
    left join (
      select favorites.property_id, count(*) as favorites from public.favorites group by 1
    ) as saved on saved.property_id = properties.id
    where num_nonnulls(kept_views.views, saved.favorites) > 0
    on conflict (property_id) do update
    set views = counters.views + excluded.views, favorites = excluded.favorites;
    drop table extensions.kept_views;
  end if;
end
$$;

-- Listings from before their records were kept.
insert into private.listed_records
select kept.*
from public.properties
cross join lateral private.listed_record(properties) as kept
where properties.listed and not exists (
  select from private.listed_records where listed_records.property_id = properties.id
)
on conflict do nothing;

-- Profiles from before they held the last sign-in.
update public.individual_profiles set last_sign_in_at = users.last_sign_in_at
from auth.users
where users.id = individual_profiles.account_id and users.last_sign_in_at is not null
  and individual_profiles.last_sign_in_at < users.last_sign_in_at;

-- Common words from when their bitmaps alone said which they were.
insert into private.search_common_words (word, is_folded)
select search_bits.word, count(*) = (select count(*) from private.search_folds)
from private.search_bits
where not starts_with(search_bits.word, 'in:')
  and not exists (select from private.search_common_words)
group by search_bits.word;
