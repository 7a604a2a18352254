-- Changes of settings: what may be said, and how it is added to what was chosen before.

create function private.setting_problems(fields jsonb)
  returns table (path text, code text)
  language sql
  stable
  set search_path = ''
as $$
  with leaves as ( -- every value with its path and what it must be
    select given.key as path, given.value,
      case given.key
        when 'language' then 'language' when 'quietHours' then 'hours or null'
        when 'marketingConsent' then 'boolean'
        when 'notifications' then 'object' when 'privacy' then 'object'
      end as must_be
    from jsonb_each(fields) as given
    union all
    select 'quietHours.' || coalesce(given.key, wanted.key), given.value,
      case when wanted.key is not null then 'time' end
    from jsonb_each(
      case jsonb_typeof(fields -> 'quietHours') when 'object' then fields -> 'quietHours'
        else '{"from":"00:00","to":"00:01"}' end) as given
    full join (values ('from'), ('to')) as wanted (key) on wanted.key = given.key
    union all
    select 'privacy.' || given.key, given.value,
      case when given.key in ('showPhone', 'readReceipts', 'showLastSeen') then 'boolean' end
    from jsonb_each(
      case jsonb_typeof(fields -> 'privacy') when 'object' then fields -> 'privacy'
        else '{}' end) as given
    union all
    select 'notifications.' || given.key, given.value,
      case when given.key in (
        select vocabularies.code from public.vocabularies
        where vocabularies.vocabulary = 'notification_category'
      ) then 'object' end
    from jsonb_each(
      case jsonb_typeof(fields -> 'notifications') when 'object' then fields -> 'notifications'
        else '{}' end) as given
    union all
    select format('notifications.%s.%s', category.key, given.key), given.value,
      case when given.key in (
        select channels.channel from private.notification_channels() as channels
      ) then 'boolean' end
    from jsonb_each(
      case jsonb_typeof(fields -> 'notifications') when 'object' then fields -> 'notifications'
        else '{}' end) as category
    cross join jsonb_each(
      case jsonb_typeof(category.value) when 'object' then category.value else '{}' end) as given
  )
  select leaves.path, case
      when leaves.must_be is null then 'unknown'
      when leaves.value is null then 'required'
      else 'invalid' end
  from leaves
  where case leaves.must_be
      when 'language' then leaves.value in ('"ar"', '"en"')
      when 'boolean' then jsonb_typeof(leaves.value) = 'boolean'
      when 'object' then jsonb_typeof(leaves.value) = 'object'
      when 'hours or null' then jsonb_typeof(leaves.value) in ('object', 'null')
      when 'time' then jsonb_typeof(leaves.value) = 'string'
        and leaves.value #>> '{}' ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'
    end is not true
  union all
  -- From and to alike would be no hours or all of them: nobody can tell.
  select 'quietHours.to', 'invalid'
  where fields #> '{quietHours,from}' = fields #> '{quietHours,to}'
$$;
comment on function private.setting_problems is
  'What is wrong with changes of settings, by path: unknown, required, invalid.';

create function private.merged_wishes(before jsonb, given jsonb) returns jsonb
  language sql
  immutable
  set search_path = ''
as $$
  select before || coalesce(jsonb_object_agg(
    category.key, coalesce(before -> category.key, '{}') || category.value), '{}')
  from jsonb_each(coalesce(given, '{}')) as category
$$;
comment on function private.merged_wishes is
  'Choices with some of them changed, category by category and channel by channel.';

create function private.update_settings(fields jsonb) returns json
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
declare
  caller_id uuid := private.take_caller();
  problems jsonb;
begin
  if jsonb_typeof(fields) is distinct from 'object' then
    perform private.refuse_field('', 'invalid');
  end if;
  select jsonb_agg(to_jsonb(wrong)) into problems from private.setting_problems(fields) as wrong;
  if problems is not null then
    perform private.refuse_fields(problems);
  end if;

  if fields ? 'language' then
    update public.accounts set language = fields ->> 'language'
    where accounts.id = caller_id and accounts.language <> fields ->> 'language';
  end if;
  insert into public.account_settings (account_id) values (caller_id) on conflict do nothing;
  update public.account_settings
  set notifications = private.merged_wishes(notifications, fields -> 'notifications'),
      quiet_from = case when fields ? 'quietHours'
        then (fields #>> '{quietHours,from}')::time else quiet_from end,
      quiet_to = case when fields ? 'quietHours'
        then (fields #>> '{quietHours,to}')::time else quiet_to end,
      show_phone = coalesce((fields #>> '{privacy,showPhone}')::boolean, show_phone),
      read_receipts = coalesce((fields #>> '{privacy,readReceipts}')::boolean, read_receipts),
      show_last_seen = coalesce((fields #>> '{privacy,showLastSeen}')::boolean, show_last_seen),
      marketing_consent = coalesce((fields ->> 'marketingConsent')::boolean, marketing_consent),
      updated_at = now()
  where account_settings.account_id = caller_id;
  perform private.apply_wishes(caller_id);
  return private.settings_record(caller_id);
end
$$;
comment on function private.update_settings is 'Changes the caller''s settings.';

create function api.update_settings(fields jsonb) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.update_settings(fields);
end
$$;
comment on function api.update_settings is
  'Changes what is given and leaves the rest. 422 for unknown keys.';

grant execute on function private.update_settings to authenticated;
grant execute on function api.update_settings to authenticated;
