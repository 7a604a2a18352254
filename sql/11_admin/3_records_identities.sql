create function private.licence_sought(identity public.identities) returns text
  language sql stable
  security definer -- reads other people's organisations; its callers call require_admin
  set search_path = ''
as $$
  select coalesce(identity.pending_changes ->> 'licenceNo', organisations.licence_no)
  from public.organisations where organisations.identity_id = identity.id
$$;
comment on function private.licence_sought is
  'The licence number in the identity''s pending changes or, if there is none, its current licence '
  'number.';

create function private.licence_claims(identity public.identities) returns json
  language plpgsql stable
  security definer -- reads other people's organisations; its caller calls require_admin
  set search_path = ''
as $$
declare
  licence constant text := private.licence_sought(identity);
begin
  return array_to_json(array(
    select json_build_object(
      'accountId', identities.account_id, 'identity', private.identity_json(identities))
    from (
      select organisations.identity_id, organisations.holds_licence as holds
      from public.organisations where organisations.licence_no = licence
      union all
      select waiting.id, false from public.identities as waiting
      where waiting.pending_changes is not null
        and waiting.pending_changes ->> 'licenceNo' = licence
    ) as claims
    join public.identities on identities.id = claims.identity_id
    where identities.id <> identity.id
      and (claims.holds or private.awaits_verification(identities))
    order by claims.holds desc, identities.created_at, identities.id
    limit 20
  ));
end
$$;

create function private.earlier_decisions(identity public.identities) returns bigint[]
  language plpgsql stable
  security definer -- reads the audit trail; its callers call require_admin
  set search_path = ''
as $$
declare
  licence constant text := private.licence_sought(identity);
begin
  return array(
    select audit.id from public.audit
    where audit.action = 'identity.status' and (
      audit.after ->> 'licenceNo' = licence
      or audit.target_id in (
        select others.id from public.identities as others
        where others.account_id = identity.account_id and others.type <> 'individual'
        union
        select claims.identity_id from public.organisations as claims
        where claims.licence_no = licence
      )
    )
    order by audit.at desc, audit.id desc
    limit 50
  );
end
$$;
comment on function private.earlier_decisions is
  'Audit entries about companies and offices of the same account or with the same licence.';

create function private.waiting_identity_json(identity public.identities) returns json
  language plpgsql stable
  security definer -- reads someone else's account; its caller calls require_admin
  set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'accountId', accounts.id,
      'fullName', individual_profiles.full_name,
      'email', accounts.email,
      'phone', accounts.phone,
      'record', private.identity_record(identity),
      'documents', (
        select coalesce(json_agg(private.document_json(documents, '/admin/documents')
          order by documents.created_at, documents.file), '[]')
        from public.documents
        where documents.identity_id = identity.id and documents.discarded_at is null
      ),
      'claims', private.licence_claims(identity),
      'earlierDecisions', (
        select coalesce(json_agg(entry.record order by entry.ordinal), '[]')
        from private.audit_records(private.earlier_decisions(identity)) as entry
      ),
      'lastDecision', (
        select entry.record from private.audit_records(array(
          select audit.id from public.audit
          where audit.target_id = identity.id and audit.action = 'identity.status'
          order by audit.at desc, audit.id desc
          limit 1
        )) as entry
      )
    )
    from public.accounts
    left join public.individual_profiles on individual_profiles.account_id = accounts.id
    where accounts.id = identity.account_id
  );
end
$$;
