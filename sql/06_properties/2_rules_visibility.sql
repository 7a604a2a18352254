-- Who sees a listing: everybody while it is listed, its owner always, and whoever has the link for 30
-- days after it was sold, rented or exchanged.
--
-- A listing carries of its owner what a search needs, so that it reads no other table: the type,
-- whether it is verified, and whether identity and account are in order. What changes an owner later
-- is followed in 6_events_owners.sql.

create function private.start_property() returns trigger
  language plpgsql
  security definer -- reads accounts and identities
  set search_path = ''
as $$
declare
  closed boolean;
begin
  -- A shared lock: whoever suspends the owner meanwhile waits, and then finds this listing too.
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
    -- Its words would outlive the person.
    perform private.refuse(403, 'identity_not_usable');
  end if;

  -- Not shared: its counter may be written next, and two that share would wait for one another.
  new.owner_verified := coalesce((
    select organisations.verified from public.organisations
    where organisations.identity_id = new.owner_identity_id
    for no key update
  ), false);
  new.listed := new.status = 'active' and new.owner_active;
  return new;
end
$$;
comment on function private.start_property is 'Gives a new listing what it carries of its owner.';

create trigger properties_start
  before insert on public.properties
  for each row execute function private.start_property();

create function private.list_property() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  new.listed := new.status = 'active' and new.owner_active;
  return new;
end
$$;
comment on function private.list_property is 'Keeps properties.listed.';

create trigger properties_are_listed
  before update of status, owner_active, listed on public.properties
  for each row execute function private.list_property();

create function private.may_see(property public.properties, viewer_identity_id uuid)
  returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if property.listed then
    return true;
  elsif property.owner_identity_id = viewer_identity_id then
    return property.status <> 'deleted';
  end if;
  return property.status in ('sold', 'rented', 'exchanged')
    and property.closed_at > now() - interval '30 days'
    and property.owner_active;
end
$$;
comment on function private.may_see is
  'Whether a listing shows itself to this identity (null for a guest): what is listed to '
  'everybody, what was closed within 30 days to whoever has the link, the rest to its owner.';

create function private.seen_property(property_id uuid, viewer_identity_id uuid)
  returns public.properties
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  property public.properties;
begin
  select * into property from public.properties where properties.id = seen_property.property_id;
  if property.id is null or not private.may_see(property, viewer_identity_id) then
    perform private.refuse(404, 'property_not_found');
  end if;
  return property;
end
$$;
comment on function private.seen_property is
  'A listing that may be seen, or 404 property_not_found.';
