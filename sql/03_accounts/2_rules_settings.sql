create function private.notification_channels() returns table (channel text)
  language sql immutable
  rows 4
  set search_path = ''
as $$
  values ('push'), ('inApp'), ('sms'), ('email')
$$;

create function private.wants(chosen public.account_settings, category text, channel text)
  returns boolean
  language plpgsql immutable set search_path = ''
as $$
begin
  return coalesce(
    (chosen.notifications -> category ->> channel)::boolean, channel in ('push', 'inApp'));
end
$$;

create function private.after_quiet_hours(at timestamptz, quiet_from time, quiet_to time)
  returns timestamptz
  language plpgsql stable set search_path = ''
as $$
declare
  local timestamp := at at time zone 'Asia/Kuwait';
  time_of_day time := local::time;
begin
  if quiet_from is null then
    return at;
  elsif quiet_from < quiet_to then
    return case when time_of_day >= quiet_from and time_of_day < quiet_to
      then (local::date + quiet_to) at time zone 'Asia/Kuwait' else at end;
  elsif time_of_day >= quiet_from then
    return (local::date + 1 + quiet_to) at time zone 'Asia/Kuwait';
  elsif time_of_day < quiet_to then
    return (local::date + quiet_to) at time zone 'Asia/Kuwait';
  end if;
  return at;
end
$$;
comment on function private.after_quiet_hours is
  'If the time is within the quiet hours, returns their end, otherwise the time itself.';

create function private.shows_read_receipts(account_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads one setting of someone else's account
  set search_path = ''
as $$
begin
  return not exists (
    select from public.account_settings
    where account_settings.account_id = shows_read_receipts.account_id
      and not account_settings.read_receipts
  );
end
$$;

create function private.setting_problems(fields jsonb)
  returns table (path text, code text)
  language sql stable set search_path = ''
as $$
  with leaves as ( -- each value with its path and the form it must have
    select given.key as path, given.value,
      case given.key
        when 'language' then 'language' when 'quietHours' then 'hours or null'
        when 'marketingConsent' then 'boolean'
        when 'notifications' then 'object' when 'privacy' then 'object'
      end as must_be
    from jsonb_each(fields) as given
    union all
    select 'quietHours.' || coalesce(given.key, expected.key), given.value,
      case when expected.key is not null then 'time' end
    from jsonb_each(
      case jsonb_typeof(fields -> 'quietHours') when 'object' then fields -> 'quietHours'
        else '{"from":"00:00","to":"00:01"}' end) as given
    full join (values ('from'), ('to')) as expected (key) on expected.key = given.key
    union all
    select 'privacy.' || given.key, given.value,
      case
        when given.key in ('showPhone', 'readReceipts', 'showLastSeen') then 'boolean'
        when given.key = 'whoMayWrite' then 'writers'
      end
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
  select left(leaves.path, 200), case
      when leaves.must_be is null then 'unknown'
      when leaves.value is null then 'required'
      else 'invalid' end
  from leaves
  where case leaves.must_be
      when 'language' then leaves.value in ('"ar"', '"en"')
      when 'boolean' then jsonb_typeof(leaves.value) = 'boolean'
      when 'writers' then leaves.value in ('"everyone"', '"proven"')
      when 'object' then jsonb_typeof(leaves.value) = 'object'
      when 'hours or null' then jsonb_typeof(leaves.value) in ('object', 'null')
      when 'time' then jsonb_typeof(leaves.value) = 'string'
        and leaves.value #>> '{}' ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'
    end is not true
  union all
  -- Equal times are refused, because they could mean either no quiet hours or all day.
  select 'quietHours.to', 'invalid'
  where fields #> '{quietHours,from}' = fields #> '{quietHours,to}'
$$;

create function private.merged_choices(before jsonb, given jsonb) returns jsonb
  language sql immutable set search_path = ''
as $$
  select before || coalesce(jsonb_object_agg(
    category.key, coalesce(before -> category.key, '{}') || category.value), '{}')
  from jsonb_each(coalesce(given, '{}')) as category
$$;
