create function private.device_problems(device_id text, platform text, push_token text)
  returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(private.field_problem(path, code, 1, most)), '[]')
    from (values
      ('deviceId', 200, coalesce(private.length_problem(device_id, 1, 200),
        case when device_id ~ '[[:cntrl:]]' then 'invalid' end)),
      ('platform', null, case when platform is null then 'required'
        when platform not in ('ios', 'android', 'web') then 'device_platform_invalid' end),
      ('pushToken', 2048, coalesce(private.length_problem(push_token, 1, 2048),
        case when push_token !~ '^[\x21-\x7E]+$' then 'invalid' end))
    ) as rule (path, most, code)
    where code is not null
  );
end
$$;

create function private.device_version(app_version text) returns text
  language sql immutable
  return case when char_length(app_version) between 1 and 40 and app_version !~ '[[:cntrl:]]'
    then app_version end;

create function private.device_locale(locale text) returns text
  language sql immutable
  return case when char_length(locale) <= 100
    then substring(locale from '^([A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*)_{0,2}(?:[@.#].*)?$') end;
comment on function private.device_locale is
  'Extracts the language, country and other subtags from a locale in the notation of BCP 47 '
  '(ar-KW-u-nu-latn), POSIX (ar_KW@numbers=latn) or Java (ar_KW_#u-nu-latn). Null for any other '
  'text.';

create function private.lock_devices(account_ids uuid[], quoted_ids uuid[] default '{}')
  returns void
  language plpgsql
  security definer -- locks rows of the accounts whose devices are deleted
  set search_path = ''
as $$
begin
  perform from public.devices where devices.account_id = any (account_ids)
  order by devices.account_id, devices.device_id for update;
  -- Sorted to avoid deadlocks: a cascading delete would lock the rows in an arbitrary order.
  perform from private.push_outbox
  where push_outbox.account_id = any (account_ids)
    or push_outbox.from_identity_id = any (quoted_ids)
  order by push_outbox.account_id, push_outbox.device_id, push_outbox.collapse_key, push_outbox.id
  for update;
end
$$;
