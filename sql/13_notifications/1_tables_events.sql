create table private.notification_events (
  id bigint generated always as identity primary key,
  kind text not null,
  -- No foreign key: its check would make sign-ins wait while a migration alters properties.
  property_id uuid,
  account_id uuid references public.accounts (id) on delete cascade,
  session_id uuid,
  details jsonb not null default '{}',
  last_identity_id uuid,
  notified_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  constraint notification_events_have_one_subject
    check (num_nonnulls(property_id, session_id) <= 1)
);
comment on table private.notification_events is
  'Events that jobs turn into notifications. Cleaned by private.purge_notification_events.';
comment on column private.notification_events.property_id is
  'The listing that the event is about; everybody who saved it is notified.';
comment on column private.notification_events.details is
  'The values for the texts. For a first sign-in: its address and client.';
comment on column private.notification_events.last_identity_id is
  'How far the job has got: the last identity that it notified, in the order of their ids.';
comment on column private.notification_events.notified_at is
  'When the last notification for the event was made. The row is kept for another day, so that '
  'nobody is notified twice.';
create index notification_events_waiting_idx on private.notification_events (id)
  where notified_at is null;
create index notification_events_property_idx
  on private.notification_events (property_id, kind, id);
create index notification_events_account_idx on private.notification_events (account_id);
create index notification_events_session_idx on private.notification_events (session_id)
  where session_id is not null;
create index notification_events_notified_idx on private.notification_events (notified_at)
  where notified_at is not null;
alter table private.notification_events enable row level security;
create policy "nobody but functions of their owner" on private.notification_events using (false);

create table private.expiry_warnings (
  property_id uuid primary key references public.properties (id) on delete cascade,
  expires_at timestamptz not null
);
comment on table private.expiry_warnings is
  'Listings whose owners have been warned that they expire. Cleaned by '
  'private.purge_notifications.';
comment on column private.expiry_warnings.expires_at is
  'The expiry time in the warning. If the listing is renewed, it expires later and its owner is '
  'warned again.';
create index expiry_warnings_expires_at_idx on private.expiry_warnings (expires_at);
alter table private.expiry_warnings enable row level security;
create policy "nobody but functions of their owner" on private.expiry_warnings using (false);

create table private.licence_warnings (
  identity_id uuid primary key references public.identities (id) on delete cascade,
  licence_expires_on date not null,
  days integer not null
);
comment on table private.licence_warnings is
  'The last warning that a licence is about to expire. Deleted with the identity.';
comment on column private.licence_warnings.days is
  'The number of days before the expiry: 30, 7 or 0.';
alter table private.licence_warnings enable row level security;
create policy "nobody but functions of their owner" on private.licence_warnings using (false);
