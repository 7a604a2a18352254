-- Listings contain copies of the owner's type, verification and state, so that a search reads only
-- one table.

create function private.copy_owner_to_listing() returns trigger
  language plpgsql
  security definer -- reads accounts and identities
  set search_path = ''
as $$
declare
  closed boolean;
begin
  -- With this shared lock, a concurrent suspension of the owner waits and then updates this listing too.
  select
    identities.type,
    identities.status = 'active' and private.may_act(accounts),
    identities.status = 'closed'
  into strict new.owner_type, new.owner_active, closed
  from public.identities
  join public.accounts on accounts.id = identities.account_id
  where identities.id = new.owner_identity_id
  for share of accounts;
  if closed then
    -- The owner has just been deleted. A new listing would outlive the account.
    perform private.refuse(403, 'identity_not_usable');
  end if;

  -- A shared lock would not do: a trigger may update this row next, and two transactions that both hold
  -- a shared lock on it would deadlock.
  new.owner_verified := coalesce((
    select organisations.verified from public.organisations
    where organisations.identity_id = new.owner_identity_id
    for no key update
  ), false);
  new.listed := new.status = 'active' and new.owner_active;
  if new.published_at is not null and not new.listed then
    new.unlisted_since := coalesce(new.unlisted_since, now());
  end if;
  return new;
end
$$;
comment on function private.copy_owner_to_listing is
  'Copies the type, verification and state of the owner to a new listing.';

create trigger properties_start
  before insert on public.properties
  for each row execute function private.copy_owner_to_listing();
comment on trigger properties_start on public.properties is
  'Runs after properties_abide_by_their_state_on_insert, which may change the status.';

create function private.set_listed() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.listed := new.status = 'active' and new.owner_active;
  if old.listed and not new.listed then
    new.unlisted_since := now();
  elsif new.listed and new.unlisted_since is not null then
    new.unlisted_for := new.unlisted_for + (now() - new.unlisted_since);
    new.unlisted_since := null;
  end if;
  return new;
end
$$;
comment on function private.set_listed is
  'Sets properties.listed, and sums up how long a published listing has not been listed.';

create trigger properties_are_listed
  before update of status, owner_active, listed on public.properties
  for each row when (
    (old.status, old.owner_active, old.listed)
      is distinct from (new.status, new.owner_active, new.listed)
  )
  execute function private.set_listed();
comment on trigger properties_are_listed on public.properties is
  'Runs after properties_abide_by_their_state, which may change the status.';

-- No search_path, so that the planner can inline this function (03_accounts/2_rules_access.sql).
create function private.may_see(property public.properties, viewer_identity_id uuid)
  returns boolean
  language sql stable
  return (
    (property).listed
    or (property).owner_identity_id = viewer_identity_id and (property).status <> 'deleted'
    or (property).status in ('sold', 'rented', 'exchanged')
      and (property).closed_at > now() - interval '30 days' and (property).owner_active
  ) is true;
comment on function private.may_see is
  'Whether an identity can see a listing. Everybody sees listed properties, and for 30 days closed '
  'ones. The owner sees all except deleted listings.';

create function private.shown_title(property public.properties, viewer_identity_id uuid)
  returns text
  language sql stable
  return case when private.may_see((shown_title.property), viewer_identity_id)
    or (shown_title.property).owner_active and (shown_title.property).suspended_from is null
      and (shown_title.property).status in (
        'paused', 'sold', 'rented', 'exchanged', 'expired', 'archived', 'deleted'
      )
      -- expires_at is null if other people never saw this title.
      and ((shown_title.property).status not in ('archived', 'deleted')
        or (shown_title.property).expires_at is not null)
    then (shown_title.property).title_ar end;
comment on function private.shown_title is
  'The title of a listing that is visible or was withdrawn by its owner, for people who saved it '
  'or wrote about it. Null if an admin suspended the listing, if the owner may not act, or if the '
  'listing was archived or deleted before other people ever saw this title.';

create function private.require_visible_property(property_id uuid, viewer_identity_id uuid)
  returns public.properties
  language plpgsql stable set search_path = ''
as $$
declare
  property public.properties;
begin
  select * into property from public.properties
  where properties.id = require_visible_property.property_id;
  if property.id is null or not private.may_see(property, viewer_identity_id) then
    perform private.refuse(404, 'property_not_found');
  end if;
  return property;
end
$$;

create function private.without_blocked(property_ids uuid[]) returns uuid[]
  language plpgsql stable
  security definer -- reads the owners of listings
  set search_path = ''
as $$
declare
  blocked constant uuid[] := private.blocked_identities();
begin
  if blocked = '{}' then
    return property_ids;
  end if;
  return array(
    select found.id
    from unnest(property_ids) with ordinality as found (id, ordinal)
    join public.properties on properties.id = found.id
    where properties.owner_identity_id <> all (blocked)
    order by found.ordinal
  );
end
$$;
comment on function private.without_blocked is
  'Removes the listings of blocked identities. Cursors and counts ignore blocks, so a page may '
  'contain fewer items than requested.';
