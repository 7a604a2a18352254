create table private.notification_events (
  id bigint generated always as identity primary key,
  kind text not null,
  -- No foreign key, because its check would make sign-ins wait while properties is being altered.
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
  'Events about which jobs notify accounts. Cleaned by private.purge_notification_events.';
comment on column private.notification_events.property_id is
  'The listing that the event is about; everybody who saved it is notified.';
comment on column private.notification_events.details is
  'The values for the texts; for a first sign-in its address and client.';
comment on column private.notification_events.last_identity_id is
  'The last identity that the job has handled; it handles identities in the order of their ids.';
comment on column private.notification_events.notified_at is
  'When everybody was notified. The row is kept for a day, so that nobody is notified twice.';
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
  'Listings whose owners were warned of the expiry. Cleaned by private.purge_notifications.';
comment on column private.expiry_warnings.expires_at is
  'The expiry that the warning was about. A renewed listing expires later, so its owner is warned '
  'again.';
create index expiry_warnings_expires_at_idx on private.expiry_warnings (expires_at);
alter table private.expiry_warnings enable row level security;
create policy "nobody but functions of their owner" on private.expiry_warnings using (false);

create table private.licence_warnings (
  identity_id uuid primary key references public.identities (id) on delete cascade,
  licence_expires_on date not null,
  days integer not null
);
comment on table private.licence_warnings is
  'The last warning about the end of a licence. Deleted with the identity.';
comment on column private.licence_warnings.days is 'How many days before the end: 30, 7 or 0.';
alter table private.licence_warnings enable row level security;
create policy "nobody but functions of their owner" on private.licence_warnings using (false);
