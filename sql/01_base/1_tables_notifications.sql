create view private.notification_requests with (security_invoker = true) as
select
  null::uuid as account_id, null::uuid as identity_id, null::text as kind, null::uuid as entity_id,
  null::jsonb as details
where false;
comment on view private.notification_requests is
  'Requests for notifications. A trigger turns each inserted row into a notification.';

-- No foreign keys, so that an insert never waits for a lock on another table.
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
  'Notifications that a job creates later, so that no transaction waits for a lock. Cleaned by '
  'private.retry_deferred_notifications.';
alter table private.deferred_notifications enable row level security;
create policy "nobody but functions of their owner" on private.deferred_notifications
  using (false);
