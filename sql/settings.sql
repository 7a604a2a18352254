-- Settings: what an account wants to hear of, when it wants quiet, what others may see.

create table public.account_settings (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  notifications jsonb not null default '{}'
    constraint account_settings_notifications_is_an_object
      check (jsonb_typeof(notifications) = 'object'),
  quiet_from time,
  quiet_to time,
  show_phone boolean not null default true,
  read_receipts boolean not null default true,
  show_last_seen boolean not null default true,
  marketing_consent boolean not null default false,
  updated_at timestamptz not null default now(),
  constraint account_settings_quiet_hours_are_whole check (
    (quiet_from is null) = (quiet_to is null) and (quiet_from <> quiet_to) is not false
  )
);
comment on table public.account_settings is
  'What an account has chosen; one without a row has chosen nothing and gets the defaults.';
comment on column public.account_settings.account_id is 'Whose.';
comment on column public.account_settings.notifications is
  'Choices by category and channel that differ from the defaults: {"leads":{"push":false}}.';
comment on column public.account_settings.quiet_from is 'Pushes wait from then, time in Kuwait.';
comment on column public.account_settings.quiet_to is
  'Pushes go on then, time in Kuwait; earlier than quiet_from is the next day.';
comment on column public.account_settings.show_phone is
  'The account''s own number is given to whoever asks for the contact of a listing.';
comment on column public.account_settings.read_receipts is
  'The other side of a conversation hears that messages were read.';
comment on column public.account_settings.show_last_seen is
  'Kept for clients; nothing in the service shows when somebody was last there.';
comment on column public.account_settings.marketing_consent is 'Wants to hear of offers.';
comment on column public.account_settings.updated_at is 'When it was last changed.';

alter table public.account_settings enable row level security;
revoke all on public.account_settings from anon, authenticated;
grant select on public.account_settings to authenticated;
create policy "people see their own settings" on public.account_settings
  for select to authenticated
  using (account_id = (select private.account_id()));

create function private.notification_channels()
  returns table (channel text, wanted boolean)
  language sql
  immutable
  rows 4
  set search_path = ''
as $$
  values ('push', true), ('inApp', true), ('sms', false), ('email', false)
$$;
comment on function private.notification_channels is
  'The ways in which somebody hears of something, and whether they do without having chosen.';

create function private.settings_record(account_id uuid) returns json
  language plpgsql
  stable
  set search_path = ''
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
        select json_object_agg(channels.channel, coalesce(
          (chosen.notifications -> categories.code ->> channels.channel)::boolean,
          channels.wanted))
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
      'showLastSeen', coalesce(chosen.show_last_seen, true)
    ),
    'marketingConsent', coalesce(chosen.marketing_consent, false)
  );
end
$$;
comment on function private.settings_record is 'All settings of an account, defaults included.';

create function private.get_settings() returns json
  language plpgsql
  stable
  security definer -- one way for callers and for functions that act for an account
  set search_path = ''
as $$
begin
  return private.settings_record(private.require_account());
end
$$;
comment on function private.get_settings is 'The caller''s settings; see api.get_settings.';

create function api.get_settings() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.get_settings();
end
$$;
comment on function api.get_settings is
  'Language, notifications by category and channel, quiet hours, privacy, consent.';

-- Changes ----------------------------------------------------------------------------------------

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
  caller_id uuid := private.require_account();
  problems jsonb;
begin
  if jsonb_typeof(fields) is distinct from 'object' then
    perform private.refuse_fields('[{"path":"","code":"invalid"}]');
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

-- What they do -----------------------------------------------------------------------------------

create function private.wants(chosen public.account_settings, category text, channel text)
  returns boolean
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return coalesce(
    (chosen.notifications -> category ->> channel)::boolean, channel in ('push', 'inApp'));
end
$$;
comment on function private.wants is
  'Whether somebody wants to hear of a category in this way; the defaults of '
  'notification_channels.';

create function private.after_quiet_hours(at timestamptz, quiet_from time, quiet_to time)
  returns timestamptz
  language plpgsql
  stable
  set search_path = ''
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
  'That moment, or the end of the quiet hours in Kuwait that it falls into.';

create function private.shows_read_receipts(account_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- asks for one switch of somebody else's settings
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
comment on function private.shows_read_receipts is
  'Whether the other side may hear that this account has read messages.';

create function private.shows_phone(account_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- asks for one switch of somebody else's settings
  set search_path = ''
as $$
begin
  return not exists (
    select from public.account_settings
    where account_settings.account_id = shows_phone.account_id
      and not account_settings.show_phone
  );
end
$$;
comment on function private.shows_phone is
  'Whether the account''s own number is given to whoever asks for a contact.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.get_settings, private.update_settings to authenticated;
grant execute on function api.get_settings, api.update_settings to authenticated;
