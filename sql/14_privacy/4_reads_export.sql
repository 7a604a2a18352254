-- The export contains all data of the account, as it appears on the account's own screens;
-- test/privacy/export.test.ts lists the exceptions and their reasons. About other people it contains only
-- ids, names and the texts that they wrote to or about the account. Only the facade calls it: one
-- transaction counts the call, the next makes the export (06_properties/5_writes_contact.sql).

create function private.exported_providers(account_id uuid) returns json
  language plpgsql stable
  security definer -- reads an Auth table
  set search_path = ''
as $$
begin
  return (
    select coalesce(json_agg(json_build_object(
      'provider', identities.provider,
      'subject', identities.provider_id,
      'said', identities.identity_data,
      'linkedAt', identities.created_at,
      'lastSignInAt', identities.last_sign_in_at
    ) order by identities.created_at, identities.provider), '[]')
    from auth.identities where identities.user_id = account_id
  );
end
$$;

create function private.exported_metadata(account_id uuid) returns jsonb
  language plpgsql stable
  security definer -- reads an Auth table
  set search_path = ''
as $$
begin
  return (
    select coalesce(users.raw_user_meta_data, '{}') from auth.users where users.id = account_id
  );
end
$$;

create function private.export_account() returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  caller_id constant uuid := private.require_account();
begin
  return json_build_object(
    'exportedAt', now(),
    'user', (
      select json_build_object(
        'id', accounts.id,
        'email', accounts.email,
        'emailProven', accounts.email_proven,
        'phone', accounts.phone,
        'fullName', individual_profiles.full_name,
        'avatarUrl', individual_profiles.avatar_url,
        'language', accounts.language,
        'termsVersion', accounts.terms_version,
        'termsAcceptedAt', accounts.terms_accepted_at,
        'createdAt', accounts.created_at
      )
      from public.accounts
      left join public.individual_profiles on individual_profiles.account_id = accounts.id
      where accounts.id = caller_id
    ),
    'signInProviders', private.exported_providers(caller_id),
    'metadata', private.exported_metadata(caller_id),
    'contactChanges', (
      select coalesce(json_agg(json_build_object(
        'act', changes.act,
        'kind', changes.kind,
        'value', changes.value,
        'oldValue', changes.old_value,
        'doneAt', changes.done_at
      ) order by changes.created_at), '[]')
      from private.contact_changes as changes where changes.account_id = caller_id
    ),
    'settings', private.settings_record(caller_id),
    'sessions', private.session_records(caller_id, false),
    'devices', (
      select coalesce(
        json_agg(private.device_record(devices) order by devices.created_at, devices.device_id),
        '[]')
      from public.devices where devices.account_id = caller_id
    ),
    'notifications', (
      select coalesce(json_agg(private.notification_record(notifications)
        order by notifications.created_at desc, notifications.id), '[]')
      from public.notifications where notifications.account_id = caller_id
    ),
    'blocks', (
      select coalesce(json_agg(json_build_object(
        'identityId', blocks.identity_id,
        'createdAt', blocks.created_at
      ) order by blocks.created_at, blocks.identity_id), '[]')
      from public.blocks where blocks.account_id = caller_id
    ),
    'suspensions', (
      select coalesce(json_agg(json_build_object(
        'propertyId', suspensions.property_id,
        'listing', suspensions.listing,
        'endedAt', suspensions.ended_at
      ) order by suspensions.property_id), '[]')
      from private.suspensions where suspensions.account_id = caller_id
    ),
    'closedLicences', (
      select coalesce(json_agg(json_build_object(
        'identityId', closed.identity_id,
        'licenceNo', closed.licence_no,
        'closedAt', closed.closed_at
      ) order by closed.closed_at, closed.identity_id), '[]')
      from private.closed_licences as closed where closed.account_id = caller_id
    ),
    'reports', (
      select coalesce(
        json_agg(private.report_record(reports) order by reports.created_at, reports.id), '[]')
      from public.reports where reports.account_id = caller_id
    ),
    'identities', (
      select json_agg(private.exported_identity(identities)
        order by identities.created_at, identities.id)
      from public.identities where identities.account_id = caller_id
    )
  );
end
$$;
comment on function private.export_account is
  'Facade: all data of the calling account and its identities, as one JSON object.';

grant execute on function private.export_account to authenticated;
