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
  'The audit trail: an append-only list of administrators'' actions and of changes made in Studio, '
  'with SQL or by jobs. Never purged: it is the record of all acts.';
comment on column public.audit.at is
  'When the entry was added. The changed rows are usually locked before that, so the newest entry '
  'shows their current state.';
-- There are no foreign keys, because an entry is kept when its target is deleted.
comment on column public.audit.actor_id is
  'The admin who acted through the API; null for Studio, SQL or a job.';
comment on column public.audit.actor_name is
  'The admin''s name at that time. It is kept when the account is deleted.';
comment on column public.audit.said_id is
  'The admin named in "by" of admin_acts. Nothing verifies it.';
comment on column public.audit.actor_role is
  'The database login: facade for the API and jobs, authenticator for the Data API. Any other is a '
  'change by hand (Studio or SQL).';
comment on column public.audit.action is 'The kind of act, for example account.status.';
comment on column public.audit.target_type is 'For example account, identity, property or invoice.';
comment on column public.audit.target_id is 'Null if the target has no id.';
comment on column public.audit.after is
  'The new values. The key act is the id of a row of admin_acts; licenceNo is the licence number '
  'of a company or office.';
create index audit_at_idx on public.audit (at, id);
create index audit_target_idx on public.audit (target_id, at, id);
create index audit_target_type_idx on public.audit (target_type, at, id);
create index audit_licence_idx on public.audit ((after ->> 'licenceNo'))
  where action = 'identity.status';
create index audit_actor_idx on public.audit (actor_id, at, id);
create index audit_actor_role_idx on public.audit (actor_role, at, id);
create index audit_action_idx on public.audit (action, at, id);
alter table public.audit enable row level security;
revoke all on public.audit from anon, authenticated, service_role;
grant select on public.audit to service_role;
