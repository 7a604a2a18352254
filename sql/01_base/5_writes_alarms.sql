create function private.cause_of(state text, message text) returns text
  language sql immutable
  -- Messages of these SQLSTATE classes never quote input: API errors (PT), exceptions that our
  -- functions raise (P0), constraint violations (23), unknown names and types (42, except for syntax
  -- errors, 42601, which quote the input) and cancellations (57).
  return case
    when state ~ '^(PT|P0|23|42|57)' and state <> '42601' then message else state
  end;
comment on function private.cause_of is
  'The error message, or only the SQLSTATE if the message may quote input.';

create function private.raise_alarm(kind text, subject_id text, details jsonb default '{}')
  returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.alarms (kind, subject_id, details)
  values (raise_alarm.kind, raise_alarm.subject_id, raise_alarm.details)
  on conflict do nothing;
  if not found then
    -- Many workers may report the same problem at once. They must not all update the same row.
    update private.alarms set seen_at = clock_timestamp()
    where alarms.kind = raise_alarm.kind and alarms.subject_id = raise_alarm.subject_id
      and alarms.settled_at is null and alarms.seen_at < clock_timestamp() - interval '10 seconds';
  end if;
exception
  when others then
    -- This may have been a deadlock with a transaction that settles the alarm, so the insert is
    -- retried.
    insert into private.alarms (kind, subject_id, details)
    values (raise_alarm.kind, raise_alarm.subject_id, raise_alarm.details)
    on conflict do nothing;
end
$$;
comment on function private.raise_alarm is
  'Stores an alarm, unless an alarm of the same kind and subject is still open. A trigger in '
  '11_admin notifies the administrators.';

create function private.settle_alarms(kind text, subjects text[], quiet interval default '0')
  returns void
  language sql security definer set search_path = ''
as $$
  update private.alarms set settled_at = now(), settled_note = 'succeeded later'
  where alarms.kind = settle_alarms.kind and alarms.subject_id = any (subjects)
    and alarms.settled_at is null and alarms.seen_at <= clock_timestamp() - quiet
$$;
comment on function private.settle_alarms is
  'Settles the open alarms of the given subjects, except for those seen within the interval quiet.';

grant execute on function private.raise_alarm, private.settle_alarms to backend;
