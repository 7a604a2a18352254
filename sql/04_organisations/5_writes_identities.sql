create function private.check_waiting_identities(account_id uuid) returns void
  language sql set search_path = ''
as $$
  select private.check_limit('identities_waiting', 'identities_full', (
    select count(*) from public.identities
    where identities.account_id = check_waiting_identities.account_id
      and (identities.status = 'pending_verification' or identities.pending_changes is not null)
  ))
$$;

create function private.add_identity(type text, fields jsonb)
  returns public.identities
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller_exclusively(); -- serialises the count of pending identities
  organisation public.organisations;
  added public.identities;
begin
  organisation.identity_id := gen_random_uuid();
  -- A new identity cannot have a logo or cover yet, because only the identity can upload one.
  perform private.refuse_field(picture, 'unknown')
  from unnest(array['logoMediaId', 'coverMediaId']) as picture
  where fields -> picture <> 'null';
  organisation := private.organisation_with(fields, organisation);
  organisation.slug := concat_ws('-',
    nullif(btrim(regexp_replace(lower(organisation.name_en), '[^a-z0-9]+', '-', 'g'), '-'), ''),
    left(organisation.identity_id::text, 8));
  perform private.check_organisation(organisation);
  perform private.check_waiting_identities(caller_id);

  insert into public.identities (id, account_id, type, status, display_name)
  values (organisation.identity_id, caller_id, add_identity.type,
    'pending_verification', organisation.name_ar)
  returning * into added;
  insert into public.organisations (
    identity_id, name_ar, name_en, slug, licence_no, licence_expires_on, about_ar, phone, whatsapp,
    email, website, governorate_id, area_id, address_ar, working_hours
  )
  select
    organisation.identity_id, organisation.name_ar, organisation.name_en, organisation.slug,
    organisation.licence_no, organisation.licence_expires_on, organisation.about_ar,
    organisation.phone, organisation.whatsapp, organisation.email, organisation.website,
    organisation.governorate_id, organisation.area_id, organisation.address_ar,
    organisation.working_hours;
  return added;
end
$$;

create function api.add_identity(type text, fields jsonb) returns json
  language plpgsql set search_path = ''
as $$
declare
  added public.identities;
begin
  if (add_identity.type in ('company', 'office')) is not true then
    perform private.refuse_value('type', add_identity.type);
  end if;
  perform private.count_action('identities');
  -- These are two statements, because a query does not see the rows that it writes itself.
  added := private.add_identity(add_identity.type, add_identity.fields);
  return private.identity_record(added);
end
$$;
comment on function api.add_identity is
  'Requests a company or office identity, which can act once an admin has verified it. An account '
  'may have three pending identities, otherwise 409 identities_full.';

create function private.update_identity(identity_id uuid, fields jsonb)
  returns public.identities
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller_exclusively();
  before public.organisations;
  organisation public.organisations;
  changed public.identities;
  changes jsonb;
begin
  select * into changed from public.identities
  where identities.account_id = caller_id
    and identities.id = update_identity.identity_id;
  select * into before from public.organisations
  where organisations.identity_id = update_identity.identity_id;
  if changed.id is null or before.identity_id is null then
    perform private.refuse(404, 'identity_not_found');
  elsif changed.status in ('suspended', 'closing', 'closed') then
    perform private.refuse(409, 'status_transition_invalid');
  end if;

  organisation := private.organisation_with(
    fields, private.page_with_changes(before, changed.pending_changes));
  perform private.check_organisation(organisation);
  if changed.status in ('active', 'expired') then
    changes := private.changes_to_verify(before, organisation);
    if changed.pending_changes is null and changes is not null then
      perform private.check_waiting_identities(caller_id);
    end if;
    if changes is distinct from changed.pending_changes then
      changed.status_reason := null; -- the old reason applied to earlier changes
    end if;
    changed.pending_changes := changes;
    -- Verified values stay unchanged. An earlier expiry date of the licence needs no verification.
    organisation.name_ar := before.name_ar;
    organisation.name_en := before.name_en;
    organisation.licence_no := before.licence_no;
    organisation.licence_expires_on := least(
      organisation.licence_expires_on, before.licence_expires_on);
  elsif changed.status = 'rejected' then
    perform private.check_waiting_identities(caller_id);
    changed.status := 'pending_verification';
  end if;
  organisation := private.with_pictures(organisation, fields);
  -- Dependent rows are locked before the page. The page is written before the state, because the
  -- trigger that checks the state reads the page.
  perform private.lock_dependents(caller_id, array[changed.id], false)
  from public.identities
  where identities.id = changed.id and (
    (identities.status, identities.display_name, identities.avatar_url)
      is distinct from (changed.status, organisation.name_ar, organisation.logo_url)
    or (before.phone is null, before.whatsapp is null)
      is distinct from (organisation.phone is null, organisation.whatsapp is null));

  update public.organisations
  set name_ar = organisation.name_ar, name_en = organisation.name_en,
      licence_no = organisation.licence_no, licence_expires_on = organisation.licence_expires_on,
      about_ar = organisation.about_ar, phone = organisation.phone,
      whatsapp = organisation.whatsapp, email = organisation.email, website = organisation.website,
      governorate_id = organisation.governorate_id, area_id = organisation.area_id,
      address_ar = organisation.address_ar, working_hours = organisation.working_hours,
      logo_url = organisation.logo_url, cover_url = organisation.cover_url
  where organisations.identity_id = update_identity.identity_id;
  update public.identities
  set status = changed.status, status_reason = changed.status_reason,
      pending_changes = changed.pending_changes, display_name = organisation.name_ar,
      avatar_url = organisation.logo_url
  where identities.id = update_identity.identity_id
  returning * into changed;
  return changed;
end
$$;
comment on function private.update_identity is
  'Changes a company or office. If it is verified, new names, a new licence number and a later '
  'licence date wait in pending_changes until an admin decides. Sending the old values again '
  'withdraws these changes. An earlier licence date applies at once.';

create function api.update_identity(identity_id uuid, fields jsonb) returns json
  language plpgsql set search_path = ''
as $$
declare
  changed public.identities;
begin
  perform private.count_action('profile');
  changed := private.update_identity(update_identity.identity_id, update_identity.fields);
  return private.identity_record(changed);
end
$$;
comment on function api.update_identity is
  'Changes a company or office identity of the account. 404 identity_not_found; 409 '
  'status_transition_invalid if the identity is suspended, closing or closed, or if its licence '
  'would end within a day of a live auction; otherwise the same errors as api.add_identity.';

grant execute on function private.add_identity, private.update_identity to authenticated;
grant execute on function api.add_identity, api.update_identity to authenticated;
