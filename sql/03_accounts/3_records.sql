create function private.shown_name(identity public.identities) returns text
  language sql stable
  return case when identity.status = 'closed' and private.in_english() then 'Deleted account'
    else identity.display_name end;
comment on function private.shown_name is
  'The display name of an identity; if the identity is closed, "deleted account" in the caller''s '
  'language.';

create function private.identity_json(identity public.identities) returns json
  language plpgsql stable set search_path = ''
as $$
begin
  return case when identity.id is not null then json_build_object(
    'id', identity.id,
    'type', identity.type,
    'status', identity.status,
    'displayName', private.shown_name(identity),
    'avatarUrl', identity.avatar_url
  ) end;
end
$$;

create function private.identity_record(identity public.identities) returns json
  language sql stable set search_path = ''
as $$
  select case identity.type
    when 'individual' then json_build_object(
      'id', identity.id,
      'type', identity.type,
      'status', identity.status,
      'statusReason', identity.status_reason,
      'displayName', private.shown_name(identity),
      'avatarUrl', identity.avatar_url,
      'createdAt', identity.created_at)
    else (
      select json_build_object(
        'id', identity.id,
        'type', identity.type,
        'status', identity.status,
        'statusReason', identity.status_reason,
        'displayName', private.shown_name(identity),
        'avatarUrl', identity.avatar_url,
        'createdAt', identity.created_at,
        'nameAr', organisations.name_ar,
        'nameEn', organisations.name_en,
        'slug', organisations.slug,
        'logoUrl', organisations.logo_url,
        'coverUrl', organisations.cover_url,
        'aboutAr', organisations.about_ar,
        'phone', organisations.phone,
        'whatsapp', organisations.whatsapp,
        'email', organisations.email,
        'website', organisations.website,
        'licenceNo', organisations.licence_no,
        'licenceExpiresOn', organisations.licence_expires_on,
        'governorateId', organisations.governorate_id,
        'areaId', organisations.area_id,
        'addressAr', organisations.address_ar,
        'workingHours', organisations.working_hours,
        'verified', organisations.verified,
        'pendingChanges', identity.pending_changes,
        'closeAt', identity.close_at)
      from public.organisations where organisations.identity_id = identity.id
    ) end
$$;

create function private.session_records(account_id uuid, given boolean) returns json
  language plpgsql stable
  security definer -- reads auth.sessions and a table closed to clients
  set search_path = ''
as $$
begin
  return (
    select coalesce(json_agg(json_build_object(
      'id', sessions.id,
      'current', sessions.id = private.session_id(),
      'createdAt', sessions.created_at,
      'lastUsedAt', used.at,
      'address', case family(used.address)
        when 4 then host(used.address)
        when 6 then network(set_masklen(used.address, 64))::text end,
      'userAgent', used.agent,
      'device', (
        select json_build_object(
          'deviceId', devices.device_id,
          'platform', devices.platform,
          'appVersion', devices.app_version)
        from public.devices where devices.session_id = sessions.id
        order by devices.updated_at desc, devices.device_id
        limit 1
      )
    ) order by used.at desc, sessions.id), '[]')
    from auth.sessions
    left join private.session_clients as client on client.session_id = sessions.id
    -- If an app has refreshed its session directly at Auth, the latest address is in auth.sessions.
    cross join lateral (
      select coalesce(sessions.refreshed_at at time zone 'UTC', sessions.created_at),
        case when ours then client.address else sessions.ip end,
        case when ours then client.user_agent else left(sessions.user_agent, 200) end
      from (
        select client.session_id is not null
          and client.refreshed_at is not distinct from sessions.refreshed_at
      ) as noted (ours)
    ) as used (at, address, agent)
    where sessions.user_id = session_records.account_id
      and (client.session_id is not null or not given)
  );
end
$$;
comment on function private.session_records is
  'The sessions of an account. With given => true, sessions whose tokens were never delivered are '
  'left out.';

create function private.settings_record(account_id uuid) returns json
  language plpgsql stable set search_path = ''
as $$
declare
  chosen public.account_settings;
begin
  select * into chosen from public.account_settings
  where account_settings.account_id = settings_record.account_id;
  return json_build_object(
    'language', (
      select accounts.language from public.accounts
      where accounts.id = settings_record.account_id
    ),
    'notifications', (
      select json_object_agg(categories.code, (
        select json_object_agg(
          channels.channel, private.wants(chosen, categories.code, channels.channel))
        from private.notification_channels() as channels
      ) order by categories.position)
      from public.vocabularies as categories
      where categories.vocabulary = 'notification_category'
    ),
    'quietHours', case when chosen.quiet_from is not null then json_build_object(
      'from', to_char(chosen.quiet_from, 'HH24:MI'),
      'to', to_char(chosen.quiet_to, 'HH24:MI')
    ) end,
    'privacy', json_build_object(
      'showPhone', coalesce(chosen.show_phone, true),
      'readReceipts', coalesce(chosen.read_receipts, true),
      'showLastSeen', coalesce(chosen.show_last_seen, true),
      'whoMayWrite', coalesce(chosen.who_may_write, 'everyone')
    ),
    'marketingConsent', coalesce(chosen.marketing_consent, false)
  );
end
$$;

grant execute on function
  private.in_english, private.shown_name, private.identity_json, private.identity_record
  to authenticated;
