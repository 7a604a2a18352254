create function private.report_waiting_acts() returns bigint
  language plpgsql
  security definer -- raises and settles alarms
  set search_path = ''
as $$
begin
  update private.alarms set settled_at = now(), settled_note = 'it waits no longer'
  where alarms.kind = 'act_waiting' and alarms.settled_at is null and not exists (
    select from public.admin_acts
    where admin_acts.id::text = alarms.subject_id and admin_acts.state = 'waiting'
  );
  perform private.raise_alarm('act_waiting', admin_acts.id::text,
    jsonb_build_object('act', admin_acts.act, 'since', admin_acts.created_at))
  from public.admin_acts
  where admin_acts.state = 'waiting' and admin_acts.created_at < now() - interval '24 hours';
  return 0; -- a job is called again until it returns 0
end
$$;
comment on function private.report_waiting_acts is
  'Job: raises an alarm for an act that has waited for a provider for a day, and settles the alarm '
  'once the act no longer waits.';

create function private.empty_reports() returns bigint
  language plpgsql
  security definer -- writes reports of every account
  set search_path = ''
as $$
declare
  emptied bigint;
begin
  update public.reports set stored_content = null
  where reports.id in (
    select old.id from public.reports as old
    where old.stored_content is not null and old.decided_at <= now() - interval '180 days'
    order by old.decided_at
    limit 1000
    for no key update skip locked
  );
  get diagnostics emptied = row_count;
  return emptied;
end
$$;
comment on function private.empty_reports is
  'Job: removes the stored content of reports that were decided 180 days ago, so that their '
  'pictures can be removed.';

create function private.purge_claims() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('public.item_claims', 'claimed_at', '15 minutes')
$$;
comment on function private.purge_claims is 'Job: deletes expired claims on items of the queue.';

grant execute on function
  private.report_waiting_acts, private.empty_reports, private.purge_claims
  to backend;
