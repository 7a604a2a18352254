-- What is recorded of admins' actions. A function of the API calls private.audit before it changes
-- anything; triggers record what was changed in any other way.

create function private.refuse_audit_edit() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  raise exception 'the audit trail is append-only' using errcode = 'insufficient_privilege';
end
$$;
comment on function private.refuse_audit_edit is
  'Refuses update, delete and truncate to everybody, the owner of the table included.';

create trigger audit_is_only_added_to
  before update or delete or truncate on public.audit
  for each statement execute function private.refuse_audit_edit();

create function private.name_admins() returns trigger
  language plpgsql
  security definer -- reads profiles, for whoever causes an entry
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
  return new;
end
$$;
comment on function private.name_admins is
  'An entry has who did it, and of a row of admin_acts who is said to, by the name of the time.';

create trigger audit_names_admins
  before insert on public.audit
  for each row execute function private.name_admins();

create function private.audit(
  action text, target_type text, target_id uuid,
  reason text default null, before jsonb default null, after jsonb default null
) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  act_id constant text := nullif(current_setting('audit.act', true), '');
begin
  insert into public.audit (actor_id, action, target_type, target_id, reason, before, after)
  values (private.account_id(), action, target_type, target_id, reason, before,
    case when act_id is null then after
      else coalesce(after, '{}') || jsonb_build_object('act', act_id) end);
  -- The triggers below leave out what has been recorded.
  perform set_config('audit.recorded',
    concat_ws(' ', nullif(current_setting('audit.recorded', true), ''), target_id), true);
end
$$;
comment on function private.audit is
  'Records what the caller is about to do to a target, with its reason. Called before the change, '
  'so that audit_change does not record it a second time.';

create function private.audit_change() returns trigger
  language plpgsql
  security definer -- writes a closed table, for whoever made the change
  set search_path = ''
as $$
declare
  columns constant text[] := tg_argv[2:];
  changed constant jsonb := coalesce(to_jsonb(new), to_jsonb(old));
  target constant uuid := coalesce(changed ->> 'id', changed ->> 'account_id'); -- or it has none
  before jsonb;
  after jsonb;
begin
  -- What people do with their own is no act of an admin, nor is what triggers do after one.
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
  'Records a change made in Studio, by SQL or by a job. Arguments: action, target type, the '
  'columns.';

create trigger accounts_are_audited
  after update of status, status_reason, suspended_until on public.accounts
  for each row
  when (
    (old.status, old.suspended_until) is distinct from (new.status, new.suspended_until)
    -- A reason that is written before its status is recorded with that.
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
      -- A job expires listings by the thousand.
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
