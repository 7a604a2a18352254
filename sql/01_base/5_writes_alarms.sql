-- Alarms: what an admin has to look at. One row for each thing until it is settled.

create function private.cause_of(state text, message text) returns text
  language sql
  immutable
  -- Refusals, our own exceptions, names of constraints and functions, limits of time. A syntax error
  -- repeats the text that cannot be read, as to_tsquery does.
  return case
    when state ~ '^(PT|P0|23|42|57)' and state <> '42601' then message else state
  end;
comment on function private.cause_of is
  'What an alarm says of a failure: never what was sent, which Postgres repeats in its messages about values. '
  'Its own log has them whole.';

create function private.raise_alarm(kind text, subject_id text, details jsonb default '{}')
  returns void
  language plpgsql
  security definer -- writes a closed table, for whatever function noticed it
  set search_path = ''
as $$
declare
  is_money boolean := raise_alarm.kind ~ '^(wallet|payment|paid|refund|charge)_';
begin
  insert into private.alarms (kind, subject_id, details)
  values (raise_alarm.kind, raise_alarm.subject_id, raise_alarm.details)
  on conflict do nothing;
  if not found then
    -- Many workers may see the same thing; they must not all write the one row.
    update private.alarms set seen_at = clock_timestamp()
    where alarms.kind = raise_alarm.kind and alarms.subject_id = raise_alarm.subject_id
      and alarms.settled_at is null and alarms.seen_at < clock_timestamp() - interval '10 seconds';
    return;
  end if;
  if raise_alarm.kind = 'admin_ceiling' then
    perform private.tell_admins(details);
    return;
  end if;
  perform private.notify(admins.account_id, null, 'system', null,
    jsonb_build_object(
      'titleAr', case when is_money then 'تنبيه مالي يحتاج إلى مراجعة'
        else 'تنبيه يحتاج إلى مراجعة' end,
      'titleEn', case when is_money then 'A payment needs a look' else 'Something needs a look' end,
      'bodyAr', raise_alarm.kind, 'bodyEn', raise_alarm.kind))
  from public.admins;
exception
  when others then
    -- The alarm is kept even where notifying the admins is what fails.
    insert into private.alarms (kind, subject_id, details)
    values (raise_alarm.kind, raise_alarm.subject_id, raise_alarm.details)
    on conflict do nothing;
end
$$;
comment on function private.raise_alarm is
  'Notifies the admins, once for each thing until it is settled.';

create function private.settle_alarms(kind text, subjects text[], quiet interval default '0')
  returns void
  language sql
  security definer -- writes a closed table, for jobs
  set search_path = ''
as $$
  update private.alarms set settled_at = now(), settled_note = 'succeeded later'
  where alarms.kind = settle_alarms.kind and alarms.subject_id = any (subjects)
    and alarms.settled_at is null and alarms.seen_at <= clock_timestamp() - quiet
$$;
comment on function private.settle_alarms is
  'Settles alarms of what had failed and has now succeeded, where nobody has seen it fail for that long.';

grant execute on function private.raise_alarm, private.settle_alarms to backend;
