-- What an organisation takes from its identity and account, and what makes one active.

create function private.fill_organisation() returns trigger
  language plpgsql
  security definer -- reads accounts and identities
  set search_path = ''
as $$
begin
  -- A shared lock: whoever suspends the owner meanwhile waits, and then sees this page too.
  select
    identities.type,
    identities.status = 'active' and private.may_act(accounts)
  into strict new.type, new.active
  from public.identities
  join public.accounts on accounts.id = identities.account_id
  where identities.id = new.identity_id
  for share of accounts;
  insert into private.response_measures (identity_id) values (new.identity_id)
  on conflict do nothing;
  return new;
end
$$;
comment on function private.fill_organisation is
  'Fills in what a new organisation takes from its identity and account.';

create trigger organisations_start
  before insert on public.organisations
  for each row execute function private.fill_organisation();

create function private.check_licence() returns trigger
  language plpgsql
  security definer -- reads organisations, for whoever changes a status
  set search_path = ''
as $$
begin
  if exists (
    select from public.organisations
    where organisations.identity_id = new.id
      and organisations.licence_expires_on < (now() at time zone 'Asia/Kuwait')::date
  ) then
    perform private.refuse(422, 'licence_expired',
      '{"fields":[{"path":"licenceExpiresOn","code":"licence_expired"}]}',
      'The licence has expired: set organisations.licence_expires_on once a new one was seen.');
  end if;
  return new;
end
$$;
comment on function private.check_licence is
  'No company or office becomes active with an expired licence: 422 licence_expired.';

create trigger identities_active_need_a_licence
  before update of status on public.identities
  for each row when (
    new.status = 'active' and old.status <> 'active' and new.type <> 'individual'
  )
  execute function private.check_licence();

create function private.sync_organisation() returns trigger
  language plpgsql
  security definer -- writes the page of whoever's state changed
  set search_path = ''
as $$
begin
  update public.organisations
  set active = new.status = 'active' and exists (
        select from public.accounts
        where accounts.id = new.account_id and private.may_act(accounts)
      ),
      -- Whoever activates it has seen the licence; what is pending or rejected is not verified.
      verified = case new.status
        when 'active' then true
        when 'pending_verification' then false
        when 'rejected' then false
        else organisations.verified
      end
  where organisations.identity_id = new.id;
  if new.status = 'closed' then
    -- Nothing that names a person stays, and the licence number can be used again.
    update public.organisations
    set name_ar = new.display_name, name_en = null, slug = new.id::text, verified = false,
        licence_no = upper(left('CLOSED-' || new.id, 40)), logo_url = null, cover_url = null,
        about_ar = null, phone = null, whatsapp = null, email = null, website = null,
        governorate_id = null, area_id = null, address_ar = null, working_hours = null
    where organisations.identity_id = new.id;
  end if;
  return null;
end
$$;
comment on function private.sync_organisation is
  'Shows and hides the page of a company or office with the state of its identity.';

-- Named to run after the listings (06_properties/6_events_owners.sql), the order in which publishing
-- locks the two.
create trigger identities_show_their_organisation
  after update of status, type on public.identities
  for each row when (old.status is distinct from new.status and new.type <> 'individual')
  execute function private.sync_organisation();

create function private.sync_organisations() returns trigger
  language plpgsql
  security definer -- writes pages of whoever's state changed
  set search_path = ''
as $$
begin
  update public.organisations
  set active = identities.status = 'active' and private.may_act(new)
  from public.identities
  where identities.account_id = new.id and organisations.identity_id = identities.id
    -- Where nothing changes nothing is locked: requesting deletion hides no page.
    and organisations.active <> (identities.status = 'active' and private.may_act(new));
  return null;
end
$$;
comment on function private.sync_organisations is
  'Shows and hides pages of companies and offices with the state of their account.';

create trigger accounts_show_their_organisations
  after update of status, suspended_until on public.accounts
  for each row when (
    (old.status, old.suspended_until) is distinct from (new.status, new.suspended_until)
  )
  execute function private.sync_organisations();
