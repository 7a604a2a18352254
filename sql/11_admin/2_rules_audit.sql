-- Functions for admins call private.audit before they change something. Triggers record changes made in
-- Studio, with SQL and by jobs.

create function private.refuse_audit_edit() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  raise exception 'the audit trail is append-only' using errcode = 'insufficient_privilege';
end
$$;
comment on function private.refuse_audit_edit is
  'Refuses to change or delete entries, even for the owner of the table.';

create trigger audit_is_only_added_to
  before update or delete or truncate on public.audit
  for each statement execute function private.refuse_audit_edit();

create function private.name_admins() returns trigger
  language plpgsql
  security definer -- reads profiles, for any role that adds an entry
  set search_path = ''
as $$
begin
  new.said_id := nullif(current_setting('audit.said', true), '');
  new.actor_name := (
    select individual_profiles.full_name from public.individual_profiles
    where individual_profiles.account_id = new.actor_id
  );
  new.said_name := (
    select individual_profiles.full_name from public.individual_profiles
    where individual_profiles.account_id = new.said_id
  );
  if new.action = 'identity.status' then
    -- The licence number is copied, because a company or office loses it when it is closed.
    new.after := new.after || coalesce((
      select jsonb_build_object('licenceNo', coalesce(new.after #>> '{approved,licenceNo}',
        new.after #>> '{refused,licenceNo}', organisations.licence_no))
      from public.organisations
      where organisations.identity_id = new.target_id
    ), '{}');
  end if;
  return new;
end
$$;
comment on function private.name_admins is
  'Fills in said_id, the current names of both admins and, for a decision about a company or '
  'office, the licence number.';

create trigger audit_names_admins
  before insert on public.audit
  for each row execute function private.name_admins();

create function private.audit(
  action text, target_type text, target_id uuid,
  reason text default null, before jsonb default null, after jsonb default null
) returns void
  language plpgsql
  security definer -- writes the audit trail, to which no client role may write
  set search_path = ''
as $$
declare
  act_id constant text := nullif(current_setting('audit.act', true), '');
begin
  -- Functions that act for administrators run as postgres, which bypasses policies, so the caller is
  -- checked here.
  if private.account_id() is not null and not private.is_admin() then
    perform private.refuse(403, 'admin_only');
  end if;
  insert into public.audit (actor_id, action, target_type, target_id, reason, before, after)
  values (private.account_id(), action, target_type, target_id, reason, before,
    case when act_id is null then after
      else coalesce(after, '{}') || jsonb_build_object('act', act_id) end);
  -- The triggers below skip targets that are already recorded.
  perform set_config('audit.recorded',
    concat_ws(' ', nullif(current_setting('audit.recorded', true), ''), target_id), true);
end
$$;
comment on function private.audit is
  'Adds an entry. Raises 403 admin_only if the caller is signed in but not an admin. Called before '
  'the change, so that audit_change does not record it a second time.';

create function private.audit_change() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  columns constant text[] := tg_argv[2:];
  changed constant jsonb := coalesce(to_jsonb(new), to_jsonb(old));
  target constant uuid := coalesce(changed ->> 'id', changed ->> 'account_id'); -- null if the row has neither
  before jsonb;
  after jsonb;
begin
  -- Skips changes that people make to their own data, changes that private.audit has recorded and,
  -- except in accounts, changes made by triggers.
  if private.account_id() is not null and not private.is_admin()
    or pg_trigger_depth() > 1 and tg_table_name <> 'accounts'
    or target::text = any (string_to_array(current_setting('audit.recorded', true), ' ')) then
    return null;
  end if;
  select
    jsonb_object_agg(name, to_jsonb(old) -> name) filter (where tg_op <> 'INSERT'),
    jsonb_object_agg(name, to_jsonb(new) -> name) filter (where tg_op <> 'DELETE')
  into before, after
  from unnest(columns) as name;
  if before is distinct from after
    or to_jsonb(old) ->> 'status_reason' is distinct from to_jsonb(new) ->> 'status_reason' then
    insert into public.audit (actor_id, action, target_type, target_id, reason, before, after)
    values (private.account_id(), tg_argv[0], tg_argv[1], target,
      changed ->> 'status_reason', before, after);
  end if;
  return null;
end
$$;
comment on function private.audit_change is
  'Records a change made in Studio, with SQL or by a job. Arguments: action, target type, columns.';

create trigger accounts_are_audited
  after update of status, status_reason, suspended_until on public.accounts
  for each row
  when (
    (old.status, old.suspended_until) is distinct from (new.status, new.suspended_until)
    -- A reason that is written before the status changes is recorded together with the new status.
    or old.status_reason is distinct from new.status_reason
      and new.status in ('suspended', 'banned')
  )
  execute function private.audit_change('account.status', 'account', 'status', 'suspended_until');
create trigger identities_are_audited
  after update of status, status_reason on public.identities
  for each row when (
    old.status is distinct from new.status
    or old.status_reason is distinct from new.status_reason
      and new.status in ('rejected', 'suspended')
  )
  execute function private.audit_change('identity.status', 'identity', 'status');
create trigger properties_are_audited
  after update of status, status_reason on public.properties
  for each row
  when (
    old.status is distinct from new.status
      -- The expiry of a listing is not recorded, because a job expires thousands of listings.
      and not (old.status = 'active' and new.status = 'expired')
    or old.status_reason is distinct from new.status_reason
      and new.status in ('rejected', 'suspended')
  )
  execute function private.audit_change('property.status', 'property', 'status');

create trigger reports_are_audited
  after update of status, status_reason on public.reports
  for each row when (
    old.status is distinct from new.status
    or old.status_reason is distinct from new.status_reason and new.status <> 'open'
  )
  execute function private.audit_change('report.status', 'report', 'status');

create trigger admins_are_audited
  after insert or update or delete on public.admins
  for each row
  execute function private.audit_change('admin.changed', 'account', 'account_id', 'role');
