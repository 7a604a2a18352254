-- functions/jobs/push.ts sends pushes through FCM. A row is one push to one device. The sender leases it
-- for a minute. If the sender crashes, the push is retried once and then dropped.

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
  'Pushes that are waiting to be sent. A push is deleted when it has been sent. Cleaned by '
  'private.drop_pushes.';
comment on column private.push_outbox.push_id is
  'The same for all devices of the account, so that rate limits count the push once.';
comment on column private.push_outbox.device_id is
  'The device. If it is deleted, its pushes are deleted too.';
comment on column private.push_outbox.author_id is
  'The account whose action caused the push, if a rate limits the pushes that one author causes.';
comment on column private.push_outbox.is_stranger is
  'Whether the push also counts towards the rate pushes_strangers.';
comment on column private.push_outbox.counted is
  'Whether a device has received the push, so that it is stored in rate_hits. Until then, rate '
  'limits count the row itself; a push that is dropped no longer counts.';
comment on column private.push_outbox.notification_id is
  'The notification. Once it has been read, the push is not sent.';
comment on column private.push_outbox.conversation_ids is
  'The conversations whose unread messages to identity_id the push announces: one, or several if '
  'the push only gives their number. If all messages have been read, the push is not sent.';
comment on column private.push_outbox.from_identity_id is
  'The identity whose words the push quotes.';
comment on column private.push_outbox.collapse_key is
  'A newer push with the same key replaces this one on the device, and in this table unless this '
  'one is being sent; then the newer one waits until it has been sent.';
comment on column private.push_outbox.category is
  'The preference category, which is also the Android channel. badge for a silent push that only '
  'updates the badge.';
comment on column private.push_outbox.title is
  'Empty, like body, for silent pushes and for messages, whose text is made when the push is sent.';
comment on column private.push_outbox.data is
  'For the app, which opens a screen with it. All values are strings.';
comment on column private.push_outbox.details is
  'The values in the text. Before a push about a listing is sent, private.still_holds compares '
  'them with the listing.';
comment on column private.push_outbox.exempt is 'Whether the push is sent even in quiet hours.';
comment on column private.push_outbox.due_at is
  'The earliest time to send the push: after quiet hours, after the end of the lease, or after the '
  'wait before a retry.';
comment on column private.push_outbox.held_until is
  'The end of the wait that FCM asked for. An update of the push does not shorten it.';
comment on column private.push_outbox.lost is 'How many leases have ended without a known outcome.';
create unique index push_outbox_waiting_key
  on private.push_outbox (account_id, device_id, collapse_key) where lease is null;
create index push_outbox_device_idx on private.push_outbox (account_id, device_id, collapse_key);
create index push_outbox_due_idx on private.push_outbox (due_at, id);
create index push_outbox_notification_idx on private.push_outbox (notification_id);
create index push_outbox_from_identity_idx on private.push_outbox (from_identity_id)
  where from_identity_id is not null;
alter table private.push_outbox enable row level security;
create policy "nobody but functions of their owner" on private.push_outbox using (false);
