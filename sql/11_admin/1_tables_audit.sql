-- The audit trail: what admins did, through the API, in Studio or by SQL. Only ever added to.

create table public.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor_id uuid,
  actor_name text,
  said_id uuid,
  said_name text,
  actor_role text not null default session_user,
  action text not null,
  target_type text not null,
  target_id uuid,
  reason text,
  before jsonb,
  after jsonb
);
comment on table public.audit is
  'What admins did, wherever they did it. Nobody can change or delete a row. Stays: it is the '
  'record of what was done.';
comment on column public.audit.at is
  'When it was written. What changes is locked by then, so the newest entry says how it stands.';
-- No foreign keys: an entry outlives what it is about.
comment on column public.audit.actor_id is
  'The admin''s account; null for a change made in Studio, by SQL or by a job.';
comment on column public.audit.actor_name is
  'Its name as it was then: an entry outlives the account.';
comment on column public.audit.said_id is
  'Of a row of admin_acts: the admin''s account that it names as whose act it is (by), which nothing proves.';
comment on column public.audit.said_name is 'Its name as it was then.';
comment on column public.audit.actor_role is
  'The login at the database: facade is the API and its jobs, others are Studio and SQL.';
comment on column public.audit.action is 'What was done, such as account.status.';
comment on column public.audit.target_type is 'account, identity, property, invoice …';
comment on column public.audit.target_id is 'Null where the target has no id.';
comment on column public.audit.before is 'The values that changed, as they were.';
comment on column public.audit.after is
  'The same values since then; act is the row of admin_acts that did it.';
create index audit_at_idx on public.audit (at, id);
create index audit_target_idx on public.audit (target_id, at, id);
create index audit_target_type_idx on public.audit (target_type, at, id);
create index audit_actor_idx on public.audit (actor_id, at, id);
create index audit_actor_role_idx on public.audit (actor_role, at, id);
create index audit_action_idx on public.audit (action, at, id);
alter table public.audit enable row level security;
revoke all on public.audit from anon, authenticated, service_role;
grant select on public.audit to service_role;
create policy "nobody but functions of their owner" on public.audit using (false);
