create function private.holds_licence(identity_status text) returns boolean
  language sql immutable
  return identity_status in ('active', 'expired', 'suspended');
comment on function private.holds_licence is 'Whether this status reserves the licence number.';
grant execute on function private.holds_licence
  to anon, authenticated, service_role, backend, supabase_auth_admin;

create function private.fill_organisation() returns trigger
  language plpgsql
  security definer -- reads accounts and identities
  set search_path = ''
as $$
begin
  -- The shared lock makes a suspension of the owner wait, so that it hides this page too.
  select
    identities.type,
    identities.status = 'active' and private.may_act(accounts),
    private.holds_licence(identities.status)
  into strict new.type, new.active, new.holds_licence
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
  'Copies the type and state from the identity and its account.';

create trigger organisations_start
  before insert on public.organisations
  for each row execute function private.fill_organisation();

create function private.check_licence_is_free(licence_no text, identity_id uuid) returns void
  language plpgsql
  security definer -- reads other people's organisations
  set search_path = ''
as $$
begin
  -- Because of this lock, the second of two concurrent changes gets licence_in_use and not a unique
  -- violation.
  perform pg_advisory_xact_lock(hashtextextended('licence ' || licence_no, 0));
  if exists (
    select from public.organisations
    where organisations.licence_no = check_licence_is_free.licence_no
      and organisations.holds_licence
      and organisations.identity_id <> check_licence_is_free.identity_id
  ) then
    perform private.refuse(409, 'licence_in_use',
      '{"fields":[{"path":"licenceNo","code":"licence_in_use"}]}',
      'Another company or office holds this licence. If it is not its own, set identities.status of '
      'that one to rejected first.');
  end if;
end
$$;

create function private.licence_is_over(organisation public.organisations) returns boolean
  language plpgsql stable
  security definer -- reads other people's identities and documents
  set search_path = ''
as $$
declare
  today constant date := (now() at time zone 'Asia/Kuwait')::date;
begin
  if organisation.licence_expires_on >= today then
    return false;
  end if;
  return organisation.licence_expires_on < today - 7 or not exists (
    select from public.identities
    join public.documents on documents.identity_id = identities.id
    where identities.id = organisation.identity_id
      and (identities.pending_changes ->> 'licenceExpiresOn')::date >= today
      and documents.discarded_at is null
      -- kept_until is shortened by an administrator's decision about the identity.
      and documents.kept_until = documents.created_at + interval '180 days'
  );
end
$$;
comment on function private.licence_is_over is
  'Whether the licence has expired. If a later expiry date and its document await a decision, the '
  'licence counts as valid for 7 more days.';

create function private.status_after(identity public.identities, status text) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  if status = 'active' and identity.status = 'suspended' and exists (
    select from public.organisations
    where organisations.identity_id = identity.id and not organisations.verified
  ) then
    return 'pending_verification';
  end if;
  return status;
end
$$;
comment on function private.status_after is
  'The status that an identity actually gets when this one is set. A company or office that is not '
  'verified becomes pending_verification instead of active after a suspension.';

create function private.keep_unverified() returns trigger
  language plpgsql
  security definer -- reads organisations, whichever role changes a status
  set search_path = ''
as $$
begin
  new.status := private.status_after(old, new.status);
  if new.status <> 'active' then
    new.pending_changes := null; -- as private.apply_identity_state does
  end if;
  return new;
end
$$;
comment on function private.keep_unverified is
  'After a suspension, sets a company or office that is not verified to pending_verification.';

create trigger identities_abide_by_their_verification
  before update of status on public.identities
  for each row when (
    old.status = 'suspended' and new.status = 'active' and new.type <> 'individual'
  )
  execute function private.keep_unverified();
comment on trigger identities_abide_by_their_verification on public.identities is
  'Runs before identities_active_need_a_licence, identities_take_what_follows and '
  'identities_tell_since_when, which read the status.';

create function private.check_licence() returns trigger
  language plpgsql
  security definer -- reads organisations, whichever role changes a status
  set search_path = ''
as $$
begin
  if new.status = 'active' and exists (
    select from public.organisations
    where organisations.identity_id = new.id and private.licence_is_over(organisations)
  ) then
    perform private.refuse(422, 'licence_expired',
      '{"fields":[{"path":"licenceExpiresOn","code":"licence_expired"}]}',
      'The licence has expired: set organisations.licence_expires_on once a new one was seen.');
  end if;
  if not private.holds_licence(old.status) then
    perform private.check_licence_is_free(organisations.licence_no, new.id)
    from public.organisations where organisations.identity_id = new.id;
  end if;
  return new;
end
$$;
comment on function private.check_licence is
  'Refuses to activate an identity with an expired licence, or to reserve a licence that another '
  'identity holds.';

create trigger identities_active_need_a_licence
  before update of status on public.identities
  for each row when (
    new.status <> old.status and new.type <> 'individual' and private.holds_licence(new.status)
  )
  execute function private.check_licence();

create function private.check_held_licence() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  perform private.check_licence_is_free(new.licence_no, new.identity_id);
  return new;
end
$$;
comment on function private.check_held_licence is 'Refuses a licence that another identity holds.';

create trigger organisations_licence_is_held_once
  before update of licence_no on public.organisations
  for each row when (new.holds_licence and new.licence_no <> old.licence_no)
  execute function private.check_held_licence();

create function private.sync_organisation() returns trigger
  language plpgsql
  security definer -- writes the page, whichever role changes the identity
  set search_path = ''
as $$
begin
  update public.organisations
  set active = new.status = 'active' and exists (
        select from public.accounts
        where accounts.id = new.account_id and private.may_act(accounts)
      ),
      holds_licence = private.holds_licence(new.status),
      -- An active identity was verified by an admin; a pending or rejected identity is not verified.
      -- When an owner cancels a closing, this does not verify the page.
      verified = case new.status
        when 'active' then old.status <> 'closing' or organisations.verified
        when 'pending_verification' then false
        when 'rejected' then false
        else organisations.verified
      end
  where organisations.identity_id = new.id;
  if new.status = 'closed' then
    -- The page of a closed identity keeps no data that identifies a person.
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
  'Shows or hides the page when the state of the identity changes.';

-- The trigger is named so that it runs after identities_carry_their_listings, because listings are
-- locked before pages.
create trigger identities_show_their_organisation
  after update of status, type on public.identities
  for each row when (old.status is distinct from new.status and new.type <> 'individual')
  execute function private.sync_organisation();

create function private.sync_organisations() returns trigger
  language plpgsql
  security definer -- writes the pages, whichever role changes the account
  set search_path = ''
as $$
begin
  update public.organisations
  set active = identities.status = 'active' and private.may_act(new)
  from public.identities
  where identities.account_id = new.id and organisations.identity_id = identities.id
    -- Do not lock pages that stay the same.
    and organisations.active <> (identities.status = 'active' and private.may_act(new));
  return null;
end
$$;
comment on function private.sync_organisations is
  'Shows or hides the pages when the state of the account changes.';

create trigger accounts_show_their_organisations
  after update of status, suspended_until, delete_at on public.accounts
  for each row when (
    (old.status, old.suspended_until, old.delete_at is null)
      is distinct from (new.status, new.suspended_until, new.delete_at is null)
  )
  execute function private.sync_organisations();
