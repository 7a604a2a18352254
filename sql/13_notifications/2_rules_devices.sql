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
    when (char_length(push_token) <= 2048 and push_token ~ '^[\x21-\x7E]+$') is not true
      then 'pushToken'
    when not (char_length(app_version) between 1 and 40 and app_version !~ '[[:cntrl:]]')
      then 'appVersion'
    when char_length(locale) > 35 or locale !~ '^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$'
      then 'locale'
  end;
end
$$;
comment on function private.device_problem is 'Returns the first invalid field by its API name.';

create function private.lock_devices(account_ids uuid[], quoted_ids uuid[] default '{}')
  returns void
  language plpgsql
  security definer -- locks rows of the accounts whose devices are deleted
  set search_path = ''
as $$
begin
  perform from public.devices where devices.account_id = any (account_ids)
  order by devices.account_id, devices.device_id for update;
  -- The rows are locked in order here, because a cascading delete would lock them in any order.
  perform from private.push_outbox
  where push_outbox.account_id = any (account_ids)
    or push_outbox.from_identity_id = any (quoted_ids)
  order by push_outbox.account_id, push_outbox.device_id, push_outbox.collapse_key for update;
end
$$;
