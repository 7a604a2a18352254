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

grant execute on function private.get_settings to authenticated;
grant execute on function api.get_settings to authenticated;
