create function private.update_listings_of_owner(identity_id uuid) returns void
  language sql
  security definer -- writes listings of the changed owner
  set search_path = ''
as $$
  update public.properties
  set owner_type = owner.type, owner_verified = owner.verified, owner_active = owner.active
  from (
    select
      identities.type,
      coalesce(organisations.verified, false) as verified,
      identities.status = 'active' and private.may_act(accounts) as active
    from public.identities
    join public.accounts on accounts.id = identities.account_id
    left join public.organisations on organisations.identity_id = identities.id
    where identities.id = update_listings_of_owner.identity_id
  ) as owner
  where properties.owner_identity_id = update_listings_of_owner.identity_id
    and (properties.owner_type, properties.owner_verified, properties.owner_active)
      is distinct from (owner.type, owner.verified, owner.active)
$$;

create function private.on_owner_account() returns trigger
  language plpgsql
  security definer -- writes listings of the changed owner
  set search_path = ''
as $$
begin
  perform private.update_listings_of_owner(identities.id)
  from public.identities where identities.account_id = new.id;
  return null;
end
$$;
comment on function private.on_owner_account is
  'Unlists the listings of an account that may not act, and lists them again when it may.';

create trigger accounts_carry_their_listings
  after update of status, suspended_until, delete_at on public.accounts
  for each row when (
    (old.status, old.suspended_until, old.delete_at is null)
      is distinct from (new.status, new.suspended_until, new.delete_at is null)
  )
  execute function private.on_owner_account();

create function private.on_owner_identity() returns trigger
  language plpgsql
  security definer -- writes listings of the changed owner
  set search_path = ''
as $$
begin
  perform private.update_listings_of_owner(new.id);
  if new.status = 'closed' then
    -- This deletes personal data, including texts, the address and the exact location.
    update public.properties
    set status = 'deleted', deleted_at = coalesce(properties.deleted_at, now()),
        version = properties.version + 1, pending_changes = null, status_reason = null,
        title_ar = null, title_en = null, description_ar = null, description_en = null,
        block = null, street = null, building = null, paci_no = null,
        lat = null, lng = null, location_precision = null
    where properties.owner_identity_id = new.id;
  end if;
  return null;
end
$$;
comment on function private.on_owner_identity is
  'Updates the listings of an identity when its state changes. Closing the identity deletes them.';

create trigger identities_carry_their_listings
  after update of status, type on public.identities
  for each row when ((old.status, old.type) is distinct from (new.status, new.type))
  execute function private.on_owner_identity();

create function private.return_listing_time() returns trigger
  language plpgsql
  security definer -- writes listings of the identity, regardless of who lets it act again
  set search_path = ''
as $$
begin
  -- If a listing was paused or suspended meanwhile, only the time before that is added here. The end of
  -- the pause or suspension adds the rest.
  update public.properties
  set expires_at = properties.expires_at
        + (coalesce(properties.paused_at, properties.suspended_at, now()) - old.stopped_at),
      version = properties.version + 1
  where properties.owner_identity_id = new.id
    and properties.status in ('active', 'paused', 'suspended')
    and coalesce(properties.paused_at, properties.suspended_at, now()) > old.stopped_at;
  return null;
end
$$;
comment on function private.return_listing_time is
  'Extends the listings of an identity by the time during which an administrator had stopped it.';

create trigger identities_return_listing_time
  after update on public.identities
  for each row when (
    old.stopped_at is not null and new.stopped_at is null and new.status <> 'closed'
  )
  execute function private.return_listing_time();

create function private.on_owner_organisation() returns trigger
  language plpgsql
  security definer -- writes listings of the changed owner
  set search_path = ''
as $$
begin
  perform private.update_listings_of_owner(new.identity_id);
  return null;
end
$$;
comment on function private.on_owner_organisation is
  'Copies the verification of an organisation to its listings.';

create trigger organisations_carry_their_listings_on_insert
  after insert on public.organisations
  for each row when (new.verified) execute function private.on_owner_organisation();
create trigger organisations_carry_their_listings
  after update of verified on public.organisations
  for each row when (old.verified is distinct from new.verified)
  execute function private.on_owner_organisation();

create function private.check_auctions_of_owner() returns trigger
  language plpgsql
  security definer -- reads listings of the changed owner
  set search_path = ''
as $$
begin
  if exists (
    select from public.properties
    where properties.owner_identity_id = new.identity_id
      and properties.status in ('active', 'paused', 'pending_review')
      and properties.auction_ends_at > now()
      and (properties.auction_ends_at + interval '24 hours') at time zone 'Asia/Kuwait'
        > new.licence_expires_on + 1
  ) then
    perform private.refuse(409, 'status_transition_invalid', '{}',
      'It has an auction that ends later: the licence lasts for a day after it.');
  end if;
  return new;
end
$$;
comment on function private.check_auctions_of_owner is
  'Refuses to shorten a licence that would then expire before an auction of its owner ends or '
  'within a day after that.';

create trigger organisations_licence_lasts_for_auctions
  before update of licence_expires_on on public.organisations
  for each row when (new.licence_expires_on < old.licence_expires_on)
  execute function private.check_auctions_of_owner();

create function private.count_listing() returns trigger
  language plpgsql
  security definer -- updates a counter of the organisation that owns the listing
  set search_path = ''
as $$
begin
  update public.organisations
  set active_listings_count = organisations.active_listings_count
    + (new.listed and new.owner_identity_id = organisations.identity_id)::integer
    - coalesce(old.listed and old.owner_identity_id = organisations.identity_id, false)::integer
  where organisations.identity_id in (new.owner_identity_id, old.owner_identity_id);
  return null;
end
$$;
comment on function private.count_listing is 'Updates organisations.active_listings_count.';

create trigger properties_are_counted_on_insert
  after insert on public.properties
  for each row when (new.listed and new.owner_type <> 'individual')
  execute function private.count_listing();
create trigger properties_are_counted
  after update on public.properties
  for each row when (
    (old.listed, old.owner_identity_id) is distinct from (new.listed, new.owner_identity_id)
    and (old.owner_type, new.owner_type) is distinct from ('individual', 'individual')
  )
  execute function private.count_listing();
