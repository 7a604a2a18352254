-- Pushes: what waits to be sent to devices. functions/jobs drains it (push.ts), FCM delivers.
--
-- A row is one text for one device. It is leased for a minute while it is sent: after a crash in
-- that minute nobody knows whether it went out, so it is tried once more and then dropped. A newer
-- push with the same key replaces the text of a row that still waits.

create table private.push_outbox (
  id bigint generated always as identity primary key,
  account_id uuid not null,
  device_id text not null,
  notification_id uuid references public.notifications (id) on delete cascade,
  from_identity_id uuid,
  collapse_key text not null
    constraint push_outbox_collapse_key_length check (octet_length(collapse_key) <= 64),
  category text not null,
  title text not null,
  body text not null,
  data jsonb not null,
  exempt boolean not null,
  version integer not null default 1,
  due_at timestamptz not null,
  expires_at timestamptz not null,
  attempts integer not null default 0,
  lease uuid,
  lost integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  constraint push_outbox_device_fkey foreign key (account_id, device_id)
    references public.devices (account_id, device_id) on delete cascade,
  constraint push_outbox_once_key unique (account_id, device_id, collapse_key)
);
comment on table private.push_outbox is
  'Pushes that wait; a row is deleted when it was sent or given up. Cleaned by '
  'private.drop_pushes.';
comment on column private.push_outbox.device_id is
  'When the device is deleted, or its token becomes another account''s, so is the row.';
comment on column private.push_outbox.notification_id is
  'Where it is in the list too: once read or deleted there, it is no longer sent.';
comment on column private.push_outbox.from_identity_id is
  'Whose words it quotes, as in notifications.';
comment on column private.push_outbox.collapse_key is
  'A newer push with the same key replaces it, here and on the device. messages_waiting has a key for '
  'each push here, and one on the device.';
comment on column private.push_outbox.category is 'Category of preferences; channel on Android.';
comment on column private.push_outbox.title is
  'In the account''s language, as the body; both are empty of messages_waiting, and made when it is sent.';
comment on column private.push_outbox.data is 'What the app opens; strings only.';
comment on column private.push_outbox.exempt is 'Quiet hours do not hold it back.';
comment on column private.push_outbox.version is
  'Grows whenever a newer text replaces the old one.';
comment on column private.push_outbox.due_at is
  'Not before: the end of quiet hours, of a lease, of a wait before the next try.';
comment on column private.push_outbox.lease is 'Who is sending it now.';
comment on column private.push_outbox.lost is 'How often a lease ended without an outcome.';
create index push_outbox_due_idx on private.push_outbox (due_at, id);
create index push_outbox_notification_idx on private.push_outbox (notification_id);
create index push_outbox_from_identity_idx on private.push_outbox (from_identity_id)
  where from_identity_id is not null;
alter table private.push_outbox enable row level security;
create policy "nobody but functions of their owner" on private.push_outbox using (false);
