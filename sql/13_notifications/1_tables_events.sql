-- What jobs still have to notify of: what concerns many accounts, sign-ins, what met a lock,
-- listings that are about to expire.

create table private.notification_events (
  id bigint generated always as identity primary key,
  kind text not null constraint notification_events_kind_is_known
    check (
      kind in ('favorite_price_drop', 'favorite_unavailable', 'security_login', 'terms_new')
    ),
  -- No foreign key: to check it a sign-in would wait for whoever changes the table of listings.
  property_id uuid,
  account_id uuid references public.accounts (id) on delete cascade,
  session_id uuid,
  details jsonb not null default '{}',
  last_identity_id uuid,
  notified_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  constraint notification_events_have_one_subject check (
    num_nonnulls(property_id, session_id) = case kind when 'terms_new' then 0 else 1 end
  )
);
comment on table private.notification_events is
  'Events of which a job notifies everybody they concern. Cleaned by '
  'private.purge_notification_events.';
comment on column private.notification_events.kind is 'The kind of notification that it becomes.';
comment on column private.notification_events.property_id is
  'Which listing; everybody who saved it is notified.';
comment on column private.notification_events.account_id is 'Of a sign-in: whose.';
comment on column private.notification_events.session_id is 'Of a sign-in: which session.';
comment on column private.notification_events.details is
  'What the texts need; of a first sign-in: from where it came.';
comment on column private.notification_events.last_identity_id is
  'Identities up to this one have been notified.';
comment on column private.notification_events.notified_at is
  'When everybody had been notified; kept for a day, so that nobody hears the same twice a day.';
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

-- No foreign keys: to write a row must not wait for anything.
create table private.deferred_notifications (
  id bigint generated always as identity primary key,
  account_id uuid not null,
  identity_id uuid,
  kind text not null,
  entity_id uuid,
  details jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
comment on table private.deferred_notifications is
  'Calls of private.notify that met a lock, with their arguments; a job makes them again. Cleaned '
  'by private.retry_deferred_notifications.';
alter table private.deferred_notifications enable row level security;
create policy "nobody but functions of their owner" on private.deferred_notifications
  using (false);

create table private.expiry_warnings (
  property_id uuid primary key references public.properties (id) on delete cascade,
  expires_at timestamptz not null
);
comment on table private.expiry_warnings is
  'Which owners have been warned of which expiry. Cleaned by private.purge_notifications.';
comment on column private.expiry_warnings.expires_at is
  'Of which expiry; a listing that was renewed has another one.';
create index expiry_warnings_expires_at_idx on private.expiry_warnings (expires_at);
alter table private.expiry_warnings enable row level security;
create policy "nobody but functions of their owner" on private.expiry_warnings using (false);
