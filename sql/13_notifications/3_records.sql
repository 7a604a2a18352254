create function private.notification_record(notification public.notifications) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return jsonb_build_object(
    'id', notification.id,
    'identityId', notification.identity_id,
    'kind', notification.kind,
    'titleAr', notification.title_ar,
    'bodyAr', notification.body_ar,
    'titleEn', notification.title_en,
    'bodyEn', notification.body_en,
    'data', jsonb_build_object(
      'route', notification.route, 'entityId', notification.entity_id),
    'createdAt', notification.created_at,
    'readAt', notification.read_at
  );
end
$$;

create function private.device_record(device public.devices) returns json
  language sql stable
  return json_build_object(
    'deviceId', device.device_id,
    'platform', device.platform,
    'appVersion', device.app_version,
    'locale', device.locale,
    'current', device.session_id = private.session_id(),
    'createdAt', device.created_at,
    'updatedAt', device.updated_at
  );

grant execute on function private.notification_record, private.device_record to authenticated;
