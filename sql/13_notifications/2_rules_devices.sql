-- What an app may register as a device.

create function private.device_problem(
  device_id text, platform text, push_token text, app_version text, locale text
) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return case
    when (char_length(device_id) between 1 and 200 and device_id !~ '[[:cntrl:]]') is not true
      then 'deviceId'
    when (platform in ('ios', 'android', 'web')) is not true then 'platform'
    when (push_token ~ '^[\x21-\x7E]+$' and char_length(push_token) <= 2048) is not true
      then 'pushToken'
    when not (char_length(app_version) between 1 and 40 and app_version !~ '[[:cntrl:]]')
      then 'appVersion'
    when locale !~ '^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$' or char_length(locale) > 35
      then 'locale'
  end;
end
$$;
comment on function private.device_problem is
  'The first field of a device that is not valid, as the API names it; null when all are.';
