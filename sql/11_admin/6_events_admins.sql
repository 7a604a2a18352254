create function private.notify_admins(details jsonb) returns void
  language sql security definer set search_path = ''
as $$
  -- A job notifies the admins later, so that the acting admin does not wait for locks on their accounts.
  insert into private.deferred_notifications (account_id, kind, details)
  select admins.account_id, 'admin_event', details || jsonb_build_object('at', clock_timestamp())
  from public.admins
$$;

create function private.on_act_on_admin() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.action = 'admin.changed'
    or exists (select from public.admins where admins.account_id = new.target_id) then
    perform private.notify_admins(jsonb_build_object(
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
  'Notifies all admins when an admin is added or removed, and of every action on an admin''s '
  'account.';

create trigger audit_tells_admins
  after insert on public.audit
  for each row when (new.target_type = 'account')
  execute function private.on_act_on_admin();

create function private.on_alarm() returns trigger
  language plpgsql
  security definer -- reads admins, for any role that raises an alarm
  set search_path = ''
as $$
declare
  is_money constant boolean := new.kind ~ '^(wallet|payment|paid|refund|charge)_';
begin
  if new.kind = 'admin_ceiling' then
    perform private.notify_admins(new.details);
    return null;
  elsif new.kind = 'passkeys_removed' then
    return null; -- on_act_on_admin has already notified the admins
  end if;
  perform private.notify(admins.account_id, null, 'system', null,
    jsonb_build_object(
      'titleAr', case when is_money then 'تنبيه مالي يحتاج إلى مراجعة'
        else 'تنبيه يحتاج إلى مراجعة' end,
      'titleEn', case when is_money then 'A payment needs a look' else 'Something needs a look' end,
      'bodyAr', new.kind, 'bodyEn', new.kind))
  from public.admins;
  return null;
exception
  when others then
    return null; -- the alarm is kept even if notifying the admins fails
end
$$;
comment on function private.on_alarm is 'Notifies the admins when an alarm is raised.';

create trigger alarms_notify_admins
  after insert on private.alarms
  for each row when (new.settled_at is null)
  execute function private.on_alarm();
