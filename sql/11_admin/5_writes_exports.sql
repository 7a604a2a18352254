create function private.begin_export(list text, filters jsonb) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
  exports bigint;
begin
  if list is null or list not in ('users', 'moderation', 'audit', 'payment_events') then
    perform private.refuse_value('list', list);
  end if;
  if list <> 'payment_events' then
    perform private.require_admin_proof();
  end if;
  perform private.lock_ceilings(admin_id);
  perform private.audit('list.exported', 'list', null, null, null,
    jsonb_build_object('list', list, 'filters', filters));
  select count(*) into exports from public.audit
  where audit.actor_id = admin_id and audit.at > now() - interval '24 hours'
    and audit.action = 'list.exported' and audit.after ->> 'list' <> 'payment_events';
  if exports > 3 and list <> 'payment_events' then
    -- The key contains the day: an alarm with the same key would not be raised again, because nothing
    -- settles the earlier one.
    perform private.raise_alarm('people_exported',
      concat_ws(' ', admin_id, (now() at time zone 'Asia/Kuwait')::date),
      jsonb_build_object('accountId', admin_id, 'list', list, 'exports', exports));
  end if;
end
$$;
comment on function private.begin_export is
  'Facade: for admins: records the export of a list and its filters. A list that contains people '
  'requires a proof, and the fourth export of such lists within 24 hours raises an alarm.';

grant execute on function private.begin_export to authenticated;
