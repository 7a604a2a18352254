-- Who sees a listing: everybody while it is listed, its owner always, and whoever has the link for
-- 30 days after it was sold, rented or exchanged.
--
-- A listing has copies of what a search needs to know of its owner, so that searches read no other
-- table: the type, whether it is verified, and whether identity and account are in order. Later
-- changes of an owner are followed in 6_events_owners.sql.

create function private.copy_owner_to_listing() returns trigger
  language plpgsql
  security definer -- reads accounts and identities
  set search_path = ''
as $$
declare
  closed boolean;
begin
  -- A shared lock: a suspension of the owner waits for it, and then finds this listing too.
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
    -- The listing would outlive the person.
    perform private.refuse(403, 'identity_not_usable');
  end if;

  -- Not shared: the counter in this row may be written next, and two shared locks would deadlock.
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
  'Copies to a new listing what searches need to know of its owner.';

create trigger properties_start
  before insert on public.properties
  for each row execute function private.copy_owner_to_listing();
comment on trigger properties_start on public.properties is
  'After properties_abide_by_their_state_on_insert, by its name.';

create function private.set_listed() returns trigger
  language plpgsql
  set search_path = ''
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
  'Sets properties.listed, and adds up how long a published listing is not.';

create trigger properties_are_listed
  before update of status, owner_active, listed on public.properties
  for each row execute function private.set_listed();
comment on trigger properties_are_listed on public.properties is
  'After properties_abide_by_their_state, by its name.';

-- Without a search_path, as private.may_act (03_accounts/2_rules_access.sql), so that reads inline
-- it.
create function private.may_see(property public.properties, viewer_identity_id uuid)
  returns boolean
  language sql
  stable
  return (
    (property).listed
    or (property).owner_identity_id = viewer_identity_id and (property).status <> 'deleted'
    or (property).status in ('sold', 'rented', 'exchanged')
      and (property).closed_at > now() - interval '30 days' and (property).owner_active
  ) is true;
comment on function private.may_see is
  'Whether this identity (null for a guest) may see a listing: what is listed everybody, what was '
  'closed within 30 days whoever has the link, the rest its owner.';

create function private.require_visible_property(property_id uuid, viewer_identity_id uuid)
  returns public.properties
  language plpgsql
  stable
  set search_path = ''
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
comment on function private.require_visible_property is
  'A listing that this identity may see, or 404 property_not_found.';
