create function private.plan_clock(identity_id uuid) returns timestamptz
  language plpgsql stable
  security definer -- reads identities of others
  set search_path = ''
as $$
begin
  return coalesce((
    select identities.stopped_at from public.identities
    where identities.id = plan_clock.identity_id
  ), now());
end
$$;
comment on function private.plan_clock is
  'The current time for the plan and listings of an identity. While an administrator keeps the '
  'identity from acting, this clock is stopped at stopped_at.';

create function private.loses_plan(identity_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads the state of someone else's account
  set search_path = ''
as $$
begin
  return exists (
    select from public.identities
    join public.accounts on accounts.id = identities.account_id
    where identities.id = loses_plan.identity_id and identities.stopped_at is not null
      and (accounts.status = 'banned' or identities.stopped_at <= now() - interval '180 days')
  );
end
$$;
comment on function private.loses_plan is
  'Whether the identity loses its plan: its account is banned, or an administrator stopped the '
  'identity at least 180 days ago.';

create function private.plan_of(identity_id uuid) returns public.plans
  language plpgsql stable set search_path = ''
as $$
declare
  clock constant timestamptz := private.plan_clock(identity_id);
  plan public.plans;
begin
  select sold.* into plan
  from public.subscriptions
  join public.plans on plans.id = subscriptions.plan_id
  cross join lateral jsonb_populate_record(plans, subscriptions.terms) as sold
  where subscriptions.identity_id = plan_of.identity_id
    and subscriptions.status in ('active', 'next')
    and subscriptions.ends_at > clock
  order by subscriptions.status -- active sorts before next, which begins when the active one ends
  limit 1;
  if plan.id is null then
    select * into plan from public.plans where plans.code = 'free';
  end if;
  return plan;
end
$$;
comment on function private.plan_of is
  'The identity''s current plan with the terms at which it was bought, or the free plan.';

create function private.begins_at_once(plan public.plans, current public.plans) returns boolean
  language sql immutable
  return plan.id <> current.id and (
    plan.price * current.interval_days > current.price * plan.interval_days
    or plan.active_listings > current.active_listings or plan.listing_days > current.listing_days
    or plan.photos_per_listing > current.photos_per_listing
    or plan.featured_credits > current.featured_credits);
comment on function private.begins_at_once is
  'Whether a plan begins as soon as it is bought: it differs from the current plan and costs more '
  'per day or has a larger quota. Any other plan waits until the current one ends.';

create function private.is_worse(plan public.plans, terms jsonb) returns boolean
  language plpgsql stable set search_path = ''
as $$
declare
  sold constant public.plans := jsonb_populate_record(plan, terms);
begin
  return plan.price * sold.interval_days > sold.price * plan.interval_days
    or plan.interval_days < sold.interval_days or plan.active_listings < sold.active_listings
    or plan.listing_days < sold.listing_days or plan.photos_per_listing < sold.photos_per_listing
    or plan.featured_credits < sold.featured_credits;
end
$$;
comment on function private.is_worse is
  'Whether the plan now costs more per day, or offers less, than when it was bought. If so, it is '
  'not renewed automatically.';

create function private.count_publication(identity_id uuid, first boolean) returns void
  language plpgsql
  security definer -- reads rates, and the plans of the account's other identities
  set search_path = ''
as $$
declare
  -- Publications of all identities of an account count together, so the largest limit of their plans
  -- applies.
  shown constant integer := (
    select max((private.plan_of(others.id)).active_listings)
    from public.identities
    join public.identities as others on others.account_id = identities.account_id
    where identities.id = count_publication.identity_id
  );
begin
  if first then
    perform private.count_action('first_publications', (
      select least(1000000, 2 * shown + rates.max)
      from private.rates where rates.rule = 'first_publications'
    ));
  end if;
  perform private.count_action('publications', (
    select greatest(rates.max, shown) from private.rates where rates.rule = 'publications'
  ));
end
$$;
comment on function private.count_publication is
  'Counts a publication. The hourly limit is the plan''s number of active listings or the maximum '
  'of the rate, whichever is higher. The daily limit of first publications is twice the plan''s '
  'number plus the maximum of the rate.';

create function private.lock_quota(identity_id uuid) returns void
  language sql set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('quota ' || identity_id, 0))
$$;
comment on function private.lock_quota is
  'Locks the quota of an identity. This lock must be taken before any lock on a listing.';

create function private.try_lock_quota(identity_id uuid) returns boolean
  language sql set search_path = ''
as $$
  select pg_try_advisory_xact_lock(hashtextextended('quota ' || identity_id, 0))
$$;
comment on function private.try_lock_quota is
  'Like lock_quota, but never waits, because the caller has already locked a listing.';

create function private.lock_quota_of_listing(property_id uuid) returns void
  language sql set search_path = ''
as $$
  select private.lock_quota(properties.owner_identity_id) from public.properties
  where properties.id = lock_quota_of_listing.property_id
$$;

create function private.listings_used(identity_id uuid) returns integer
  language sql stable set search_path = ''
as $$
  -- A listing in review already counts against the quota.
  select count(*)::integer from public.properties
  where properties.owner_identity_id = listings_used.identity_id
    and properties.status in ('active', 'pending_review')
$$;

create function private.check_quota(identity_id uuid) returns void
  language plpgsql set search_path = ''
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

create function private.has_room(identity_id uuid, counted boolean) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return private.listings_used(identity_id) + (not counted)::integer
    <= (private.plan_of(identity_id)).active_listings;
end
$$;

create function private.check_drafts(identity_id uuid, added bigint default 1) returns void
  language plpgsql set search_path = ''
as $$
declare
  allowed constant integer := (
    select greatest(rates.max, 2 * (private.plan_of(identity_id)).active_listings)
    from private.rates where rates.rule = 'drafts'
  );
  used bigint;
begin
  -- An archived listing that was never published counts as a draft.
  select count(*) into used
  from (
    select from public.properties
    where properties.owner_identity_id = check_drafts.identity_id
      and (properties.status = 'draft'
        or properties.status = 'archived' and properties.published_at is null)
    limit allowed
  ) as drafts;
  if used + added > allowed then
    perform private.refuse(409, 'drafts_full', jsonb_build_object('limit', allowed, 'used', used));
  end if;
end
$$;
comment on function private.check_drafts is
  'Raises 409 drafts_full if there would be more drafts than allowed: twice the plan''s number of '
  'active listings, but at least rates.max. The caller must have locked the quota.';

create function private.pause_over_quota(identity_id uuid) returns integer
  language plpgsql
  security definer -- pauses listings and notifies their owner, no matter who ends the plan
  set search_path = ''
as $$
declare
  over integer;
begin
  perform private.lock_quota(identity_id);
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
  ), paused as (
    update public.properties
    set status = 'paused', pause_reason = 'plan', version = properties.version + 1
    from taken
    where properties.id = taken.id
    returning 1
  )
  select count(*) into over from paused;
  if over > 0 then
    perform private.notify(identities.account_id, identities.id, 'listings_hidden', null,
      jsonb_build_object('reason', 'plan', 'count', over))
    from public.identities where identities.id = pause_over_quota.identity_id;
  end if;
  return over;
end
$$;
comment on function private.pause_over_quota is
  'Pauses the newest listings that exceed the quota of the plan, and sends their owner one '
  'notification.';
