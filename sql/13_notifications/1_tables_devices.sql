create table public.devices (
  account_id uuid not null references public.accounts (id) on delete cascade,
  device_id text not null
    constraint devices_device_id_length check (char_length(device_id) between 1 and 200),
  session_id uuid not null,
  platform text not null
    constraint devices_platform_is_known check (platform in ('ios', 'android', 'web')),
  push_token text not null
    constraint devices_push_token_key unique
    constraint devices_push_token_form
      check (push_token ~ '^[\x21-\x7E]+$' and char_length(push_token) <= 2048),
  app_version text
    constraint devices_app_version_length check (char_length(app_version) between 1 and 40),
  locale text
    constraint devices_locale_form check (locale ~ '^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unknown_answers smallint not null default 0,
  badge_due_at timestamptz,
  primary key (account_id, device_id)
);
comment on table public.devices is
  'The phones and browsers that receive an account''s pushes. Deleted with the account.';
comment on column public.devices.device_id is 'Chosen by the app; unique within an account.';
comment on column public.devices.session_id is
  'The session that last registered the device. The device is deleted with the session, so that '
  'nobody gets pushes after signing out.';
comment on column public.devices.push_token is 'The FCM token; only one account has it at a time.';
comment on column public.devices.locale is
  'The locale of the app. The language of pushes comes from the account instead.';
comment on column public.devices.unknown_answers is
  'How many times in a row FCM has responded that it does not know the token.';
comment on column public.devices.badge_due_at is
  'When the last silent push that updates the badge was due.';
create index devices_session_idx on public.devices (session_id);

alter table public.devices enable row level security;
revoke all on public.devices from anon, authenticated;
grant select on public.devices to authenticated, acting;
grant insert, update, delete on public.devices to acting;
create policy "people see their own devices" on public.devices
  for select to authenticated, acting
  using (account_id = (select private.account_id()));
create policy "people add devices of their own" on public.devices for insert to acting
  with check (account_id = (select private.account_id()));
create policy "people change their own devices" on public.devices for update to acting
  using (account_id = (select private.account_id()));
create policy "people remove their own devices" on public.devices for delete to acting
  using (account_id = (select private.account_id()));
