-- functions/jobs/push.ts sends pushes through FCM. A row is one push to one device, leased for a
-- minute while it is sent. After a crash the push is tried once more, and then dropped.

create table private.push_outbox (
  id bigint generated always as identity primary key,
  push_id uuid not null default gen_random_uuid(),
  account_id uuid not null,
  device_id text not null,
  author_id uuid,
  is_stranger boolean not null default false,
  counted boolean not null default false,
  notification_id uuid references public.notifications (id) on delete cascade,
  conversation_ids uuid[],
  identity_id uuid,
  from_identity_id uuid,
  collapse_key text not null
    constraint push_outbox_collapse_key_length check (octet_length(collapse_key) <= 64),
  category text not null,
  title text not null,
  body text not null,
  data jsonb not null,
  details jsonb not null default '{}',
  exempt boolean not null,
  due_at timestamptz not null,
  held_until timestamptz,
  expires_at timestamptz not null,
  attempts integer not null default 0,
  lease uuid,
  lost integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  constraint push_outbox_device_fkey foreign key (account_id, device_id)
    references public.devices (account_id, device_id) on delete cascade
);
comment on table private.push_outbox is
  'Pushes that wait to be sent; sent ones are deleted. Cleaned by private.drop_pushes.';
comment on column private.push_outbox.push_id is
  'Shared by all devices of the account, so that limits count the push once.';
comment on column private.push_outbox.device_id is 'The device; the push is deleted with it.';
comment on column private.push_outbox.author_id is
  'The account whose act the push is about, if limits count its pushes.';
comment on column private.push_outbox.is_stranger is 'Whether pushes_strangers counts it, too.';
comment on column private.push_outbox.counted is
  'Whether a device has received it and the limits have a hit for it. Until then they count the '
  'row itself; a dropped push no longer counts.';
comment on column private.push_outbox.notification_id is 'Once this is read, the push is not sent.';
comment on column private.push_outbox.conversation_ids is
  'The conversation whose unread messages to identity_id it announces, or all conversations whose '
  'messages it counts. If none is unread, it is not sent.';
comment on column private.push_outbox.from_identity_id is 'The identity that it quotes.';
comment on column private.push_outbox.collapse_key is
  'A newer push with the same key replaces it on the device, and in this table while it waits. '
  'While it is being sent, a newer push waits.';
comment on column private.push_outbox.category is
  'A preference category, used as Android channel; badge for a silent push with the badge alone.';
comment on column private.push_outbox.title is
  'Empty (as is body) for messages, whose text is made at sending, and for silent pushes.';
comment on column private.push_outbox.data is 'For the app, to open a screen; strings only.';
comment on column private.push_outbox.details is
  'The values in its text. Before a push about a listing is sent, private.still_holds checks them.';
comment on column private.push_outbox.exempt is 'Whether it is sent in quiet hours too.';
comment on column private.push_outbox.due_at is
  'The earliest time to send it: after quiet hours, the lease or the wait before the next attempt.';
comment on column private.push_outbox.held_until is
  'The end of a wait that FCM asked for; a newer text does not shorten it.';
comment on column private.push_outbox.lost is 'The number of leases with an unknown outcome.';
create unique index push_outbox_waiting_key
  on private.push_outbox (account_id, device_id, collapse_key) where lease is null;
create index push_outbox_device_idx on private.push_outbox (account_id, device_id, collapse_key);
create index push_outbox_due_idx on private.push_outbox (due_at, id);
create index push_outbox_notification_idx on private.push_outbox (notification_id);
create index push_outbox_from_identity_idx on private.push_outbox (from_identity_id)
  where from_identity_id is not null;
alter table private.push_outbox enable row level security;
create policy "nobody but functions of their owner" on private.push_outbox using (false);
