create function private.lock_identity_to_decide(identity_id uuid, admin_id uuid)
  returns public.identities
  language plpgsql
  security definer -- locks and reads someone else's identity; its callers call require_admin
  set search_path = ''
as $$
declare
  identity public.identities;
begin
  perform private.lock_account_exclusively(identities.account_id) from public.identities
  where identities.id = lock_identity_to_decide.identity_id;
  select identities.* into identity from public.identities
  join public.accounts on accounts.id = identities.account_id
  where identities.id = lock_identity_to_decide.identity_id and not private.is_decoy(accounts);
  if identity.account_id = admin_id then
    perform private.refuse(409, 'admin_self');
  end if;
  return identity;
end
$$;

create function private.apply_identity_decision(
  identity public.identities, status text, reason text, seen uuid[]
) returns public.identities
  language plpgsql
  security definer -- updates someone else's identity on an admin's behalf
  set search_path = ''
as $$
begin
  perform private.check_documents_seen(identity, seen);
  perform private.audit('identity.status', 'identity', identity.id, reason,
    jsonb_build_object('status', identity.status),
    jsonb_strip_nulls(jsonb_build_object(
      'status', private.status_after(identity, apply_identity_decision.status),
      'documents', private.audited_documents(identity.id))));
  update public.identities
  set status = apply_identity_decision.status,
      status_reason = case when apply_identity_decision.status <> 'active' then reason end
  where identities.id = identity.id
  returning * into identity;
  return identity;
end
$$;

create function private.decide_identity_changes(
  identity public.identities, approved boolean, reason text, seen uuid[]
) returns public.identities
  language plpgsql
  security definer -- updates someone else's identity on an admin's behalf
  set search_path = ''
as $$
declare
  organisation public.organisations;
begin
  perform private.check_documents_seen(identity, coalesce(seen, '{}'));
  select * into organisation from public.organisations
  where organisations.identity_id = identity.id;
  perform private.audit('identity.status', 'identity', identity.id, reason,
    jsonb_build_object('status', identity.status, 'page', jsonb_build_object(
      'nameAr', organisation.name_ar, 'nameEn', organisation.name_en,
      'licenceNo', organisation.licence_no,
      'licenceExpiresOn', organisation.licence_expires_on)),
    jsonb_build_object(
      'status', case when approved then 'active' else identity.status end,
      case when approved then 'approved' else 'refused' end, identity.pending_changes)
      || jsonb_strip_nulls(jsonb_build_object(
        'documents', private.audited_documents(identity.id))));
  if approved then
    organisation := private.page_with_changes(organisation, identity.pending_changes);
    if organisation.licence_expires_on < (now() at time zone 'Asia/Kuwait')::date then
      perform private.refuse_field('licenceExpiresOn', 'licence_expired',
        by_hand => 'The licence has expired: reject the changes.');
    end if;
    perform private.lock_dependents(identity.account_id, array[identity.id], false);
    update public.organisations
    set name_ar = organisation.name_ar, name_en = organisation.name_en,
        licence_no = organisation.licence_no, licence_expires_on = organisation.licence_expires_on
    where organisations.identity_id = identity.id;
    identity.status := 'active';
    identity.display_name := organisation.name_ar;
  end if;
  update public.identities
  set status = identity.status, display_name = identity.display_name, pending_changes = null,
      status_reason = case when not approved then reason end
  where identities.id = identity.id
  returning * into identity;
  perform private.notify(identity.account_id, identity.id,
    case when approved then 'identity_verified' else 'identity_rejected' end, identity.id,
    jsonb_build_object(
      'change', true, 'name', identity.display_name, 'reason', identity.status_reason));
  return identity;
end
$$;
comment on function private.decide_identity_changes is
  'Applies the pending changes of a company or office, which also renews an expired licence, or '
  'rejects them with the reason. 409 documents_changed, licence_in_use, 422 licence_expired.';

create function private.set_identity_status(
  identity_id uuid, status text, reason text, document_ids uuid[] default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
  why constant text := private.tidy_reason(reason);
  identity public.identities;
begin
  if status is null or status not in ('active', 'rejected', 'suspended') then
    perform private.refuse_value('status', status);
  end if;
  identity := private.lock_identity_to_decide(identity_id, admin_id);
  if identity.id is null then
    perform private.refuse(404, 'identity_not_found');
  elsif status <> identity.status and not status = any (private.identity_decisions(identity)) then
    perform private.refuse(409, 'status_transition_invalid', jsonb_build_object(
      'from', identity.status, 'allowed', private.identity_decisions(identity)));
  end if;
  identity := private.apply_identity_decision(identity, status, why, document_ids);
  return private.identity_record(identity);
end
$$;
comment on function private.set_identity_status is
  'Api: For admins: verifies, rejects or suspends an identity, or lifts its suspension (if it was '
  'never verified, it then waits for verification). 403 admin_only, 404 identity_not_found, 409 '
  'admin_self, status_transition_invalid, documents_changed, licence_in_use, 422 licence_expired.';

grant execute on function private.set_identity_status to authenticated;
