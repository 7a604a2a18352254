-- What every administrator is told of: new ones, and what is done to the account of one.

create function private.tell_admins(details jsonb) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  -- By a job: whoever acts waits for no account of another.
  insert into private.deferred_notifications (account_id, kind, details)
  select admins.account_id, 'admin_event', details || jsonb_build_object('at', clock_timestamp())
  from public.admins
$$;
comment on function private.tell_admins is 'Notifies every administrator within seconds.';

create function private.on_act_on_admin() returns trigger
  language plpgsql
  security definer -- reads and writes closed tables
  set search_path = ''
as $$
begin
  if new.action = 'admin.changed'
    or exists (select from public.admins where admins.account_id = new.target_id) then
    perform private.tell_admins(jsonb_build_object(
      'accountId', new.target_id,
      'event', case
        when new.action <> 'admin.changed' then new.action
        when new.before is null then 'admin.added'
        when new.after is null then 'admin.removed'
        else new.action
      end,
      'status', new.after ->> 'status',
      'name', (
        select individual_profiles.full_name from public.individual_profiles
        where individual_profiles.account_id = new.target_id
      )));
  end if;
  return null;
end
$$;
comment on function private.on_act_on_admin is
  'Every administrator is told of a new one, and of every act on the account of one, by a route, a row or '
  'a hand: all of it is in the audit trail.';

create trigger audit_tells_admins
  after insert on public.audit
  for each row when (new.target_type = 'account')
  execute function private.on_act_on_admin();
