create function private.take_push_token(push_token text, account_id uuid, device_id text)
  returns void
  language plpgsql
  security definer -- removes the token from any other account
  set search_path = ''
as $$
begin
  perform private.lock_devices(array(
    select devices.account_id from public.devices
    where devices.push_token = take_push_token.push_token
    union select take_push_token.account_id
  ));
  delete from public.devices
  where devices.push_token = take_push_token.push_token
    and (devices.account_id, devices.device_id)
      <> (take_push_token.account_id, take_push_token.device_id);
end
$$;

create function private.lock_session(session_id uuid) returns void
  language plpgsql
  security definer -- locks a row of an Auth table
  set search_path = ''
as $$
begin
  perform from auth.sessions where sessions.id = lock_session.session_id for share;
end
$$;

create function private.register_device(
  device_id text, platform text, push_token text, app_version text, locale text
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
  caller_session_id uuid := private.session_id();
  device public.devices;
begin
  perform private.refuse_fields(private.device_problems(device_id, platform, push_token));

  -- The session is locked before the account, in the same order as a token refresh does. If the session
  -- has ended, lock_caller fails.
  perform private.lock_session(caller_session_id);
  perform private.lock_caller();

  -- Sorted to avoid deadlocks between two accounts that swap their tokens.
  perform pg_advisory_xact_lock(keys.key)
  from (
    select hashtextextended('device token ' || push_token, 2) as key
    union
    select hashtextextended(format('device of %s %s', caller_id, device_id), 2)
    order by key
  ) as keys;
  perform private.take_push_token(push_token, caller_id, device_id);
  insert into public.devices as devices
    (account_id, device_id, session_id, platform, push_token, app_version, locale)
  values (caller_id, register_device.device_id, caller_session_id, register_device.platform,
    register_device.push_token, private.device_version(register_device.app_version),
    private.device_locale(register_device.locale))
  on conflict on constraint devices_pkey do update
  set session_id = excluded.session_id, platform = excluded.platform,
      push_token = excluded.push_token, app_version = excluded.app_version,
      locale = excluded.locale, updated_at = now(), unknown_answers = 0
  returning * into device;

  delete from public.devices
  where devices.account_id = caller_id and devices.device_id in (
    select others.device_id from public.devices as others
    where others.account_id = caller_id
    order by others.updated_at desc, others.device_id <> register_device.device_id
    offset 20
  );
  return private.device_record(device);
end
$$;

create function api.register_device(
  device_id text, platform text, push_token text, app_version text default null,
  locale text default null
) returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('devices');
  return private.register_device(device_id, platform, push_token, app_version, locale);
end
$$;
comment on function api.register_device is
  'Registers a device. From then on, its token receives no pushes for other accounts. If there are '
  'more than 20 devices, the least recently registered one is deleted. A version or locale that '
  'cannot be parsed is ignored. 422 device_platform_invalid.';

create function private.remove_device(device_id text) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller();
begin
  perform private.lock_devices(array[caller_id]);
  delete from public.devices
  where devices.account_id = caller_id and devices.device_id = remove_device.device_id;
  if not found then
    perform private.refuse(404, 'not_found');
  end if;
end
$$;

create function api.remove_device(device_id text) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('devices');
  perform private.remove_device(device_id);
end
$$;
comment on function api.remove_device is 'Removes a device of the caller. 404 not_found.';

grant execute on function private.register_device, private.remove_device to authenticated;
grant execute on function api.register_device, api.remove_device to authenticated;
