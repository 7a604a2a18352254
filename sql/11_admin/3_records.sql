create function private.user_records(account_ids uuid[])
  returns table (ordinal bigint, id uuid, record json)
  language plpgsql stable
  rows 20
  security definer -- reads other people's accounts; its callers call require_admin
  set search_path = ''
as $$
begin
  return query
  select
    requested.ordinal,
    requested.id,
    json_build_object(
      'id', accounts.id,
      'email', accounts.email,
      'emailProven', accounts.email_proven,
      'phone', accounts.phone,
      'fullName', individual_profiles.full_name,
      'avatarUrl', individual_profiles.avatar_url,
      'language', accounts.language,
      'termsVersion', accounts.terms_version,
      'status', accounts.status,
      'statusReason', accounts.status_reason,
      'suspendedUntil', accounts.suspended_until,
      'deleteAt', accounts.delete_at,
      'isAdmin', admins.account_id is not null,
      'createdAt', accounts.created_at,
      'lastSignInAt', nullif(individual_profiles.last_sign_in_at, '-infinity'),
      'identities', (
        select coalesce(
          json_agg(private.identity_json(identities) order by identities.created_at, identities.id),
          '[]')
        from public.identities where identities.account_id = accounts.id
      )
    )
  from unnest(account_ids) with ordinality as requested (id, ordinal)
  join public.accounts on accounts.id = requested.id
  left join public.individual_profiles on individual_profiles.account_id = accounts.id
  left join public.admins on admins.account_id = accounts.id
  order by requested.ordinal;
end
$$;
comment on function private.user_records is 'Returns accounts as admins see them, without secrets.';

create function private.audit_records(entry_ids bigint[])
  returns table (ordinal bigint, id bigint, record json)
  language plpgsql stable
  rows 20
  security definer -- reads the audit trail; its callers call require_admin
  set search_path = ''
as $$
begin
  return query
  select
    requested.ordinal,
    requested.id,
    json_build_object(
      'id', audit.id,
      'at', audit.at,
      'actor', case when audit.actor_id is not null then json_build_object(
        'id', audit.actor_id,
        'fullName', audit.actor_name
      ) end,
      'said', case when audit.said_id is not null then json_build_object(
        'id', audit.said_id,
        'fullName', audit.said_name
      ) end,
      'actorRole', audit.actor_role,
      'action', audit.action,
      'targetType', audit.target_type,
      'targetId', audit.target_id,
      'reason', audit.reason,
      'before', audit.before,
      'after', audit.after
    )
  from unnest(entry_ids) with ordinality as requested (id, ordinal)
  join public.audit on audit.id = requested.id
  order by requested.ordinal;
end
$$;

create function private.report_record(report public.reports) returns json
  language sql stable
  return json_build_object(
    'id', report.id,
    'targetType', report.target_type,
    'targetId', report.target_id,
    'reason', report.reason,
    'part', report.part,
    'note', report.note,
    'status', report.status,
    'createdAt', report.created_at
  );

create function private.admin_report_json(report public.reports) returns json
  language plpgsql stable
  security definer -- reads other people's data, for admins
  set search_path = ''
as $$
declare
  current constant jsonb := private.reported_content(report);
begin
  if report.id is null then
    return null;
  end if;
  return json_build_object(
    'targetType', report.target_type,
    'targetId', report.target_id,
    'part', report.part,
    'reason', report.reason,
    'note', report.note,
    'reporter', (
      select json_build_object(
        'accountId', identities.account_id,
        'identityId', identities.id,
        'displayName', private.shown_name(identities))
      from public.identities where identities.id = report.identity_id
    ),
    'target', (
      select json_build_object(
        'accountId', identities.account_id,
        'identityId', identities.id,
        'displayName', private.shown_name(identities),
        'status', case report.target_type
          when 'property' then (
            select properties.status from public.properties
            where properties.id = report.target_id
          )
          when 'identity' then identities.status
          when 'review' then (
            select case when reviews.hidden_at is null then 'shown' else 'hidden' end
            from public.reviews where reviews.id = report.target_id
          )
        end,
        'text', coalesce(current #>> '{fields,titleAr}', current #>> '{fields,body}',
          current #>> '{fields,comment}'))
      from public.identities where identities.id = report.reported_identity_id
    ),
    'then', private.shown_content(report.stored_content),
    'now', private.shown_content(current)
  );
end
$$;
