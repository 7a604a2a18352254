-- When a row fails, for_each rolls its changes back. Unless the cause was a lock conflict, the
-- failure raises an alarm and the job skips the row for an hour (failed_recently).

create function private.failed_recently(step text, subject text) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.alarms
    where alarms.kind = 'job_failed'
      and alarms.subject_id = failed_recently.step || ' ' || failed_recently.subject
      and alarms.settled_at is null and alarms.seen_at > now() - interval '1 hour'
  )
$$;

create function private.record_failure(step text, subject text, code text, why text) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  -- A lock conflict raises no alarm, because the next run retries the row.
  if code not in ('40001', '40P01', '55P03') then
    perform private.raise_alarm('job_failed', step || ' ' || subject,
      jsonb_build_object('code', code, 'why', private.cause_of(code, why)));
  end if;
end
$$;

create function private.for_each(step text, subjects text[], one boolean default false)
  returns bigint
  language plpgsql set search_path = ''
as $$
declare
  began timestamptz := clock_timestamp();
  subject text;
  did boolean;
  done bigint := 0;
begin
  foreach subject in array subjects loop
    begin
      execute format('select private.%I(%L)', step, subject) into did;
      if did then
        done := done + 1;
        perform private.settle_alarms('job_failed', array[step || ' ' || subject]);
      end if;
    exception
      when query_canceled then -- the statement timed out; rows processed so far are kept
        perform private.record_failure(step, subject, sqlstate, sqlerrm);
        exit;
      when others then
        perform private.record_failure(step, subject, sqlstate, sqlerrm);
    end;
    -- A call returns well before the statement timeout. The job is called again until nothing is
    -- left.
    exit when one and did or clock_timestamp() > began + interval '1 second';
  end loop;
  return done;
end
$$;
comment on function private.for_each is
  'Calls the step for each subject and returns the number of successes. With one => true it stops '
  'after the first success, so that the transaction locks only a few rows.';

create function private.purge(from_table regclass, by_time text, age interval) returns bigint
  language plpgsql security definer set search_path = ''
as $$
declare
  gone bigint;
begin
  -- Rows are deleted by ctid, because the planner has no statistics for a table that was just filled
  -- and would choose a bad plan. The condition on infinity is needed to use partial indexes.
  execute format(
    'with gone as (delete from %1$s where ctid = any (array('
    'select ctid from %1$s where %2$I < $1 and %2$I < ''infinity'' order by %2$I limit 1000 '
    'for update skip locked)) returning 1) select count(*) from gone',
    from_table, by_time
  ) into gone using now() - age;
  return gone;
end
$$;

create function private.purge_alarms() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.alarms', 'settled_at', '1 year')
$$;
comment on function private.purge_alarms is 'Job: deletes alarms that were settled a year ago.';

create function private.take_alarms() returns json
  language sql security definer set search_path = ''
as $$
  with due as (
    select alarms.id from private.alarms
    where alarms.deliver_at between now() - interval '1 day' and now()
      and alarms.raised_at > now() - interval '1 day'
      -- alarms_unsent is never sent: once the receiver accepts alarms again, it no longer applies.
      and alarms.kind <> 'alarms_unsent'
    order by alarms.deliver_at
    limit 10
    for no key update skip locked
  ), taken as (
    -- A worker may crash while sending, so alarms are sent again for a day, at increasing intervals,
    -- until finish_alarm marks them as delivered.
    update private.alarms
    set tries = alarms.tries + 1,
        deliver_at = now() + least(power(2, alarms.tries), 60) * interval '1 minute'
    from due where alarms.id = due.id
    returning alarms.*
  )
  select coalesce(json_agg(json_build_object(
    'id', taken.id, 'kind', taken.kind, 'subject', taken.subject_id,
    -- The administrator's name appears only in the notification to the other administrators.
    'details', case taken.kind when 'admin_ceiling' then taken.details - 'name' else taken.details end,
    'raisedAt', taken.raised_at, 'settledAt', taken.settled_at) order by taken.id), '[]')
  from taken
$$;
comment on function private.take_alarms is
  'Job: assigns due alarms to one worker, which sends them to ALARM_WEBHOOK.';

create function private.finish_alarm(id bigint) returns void
  language sql security definer set search_path = ''
as $$
  update private.alarms set deliver_at = null where alarms.id = finish_alarm.id
$$;

create function private.purge_rates() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.rate_hits', 'expires_at', '0')
$$;
comment on function private.purge_rates is
  'Job: deletes the counters of subjects without hits in the window.';

create function private.note_jobs_ran() returns void
  language sql security definer set search_path = ''
as $$
  insert into private.timestamps (name, at) values ('jobs_ran', clock_timestamp())
  on conflict on constraint timestamps_pkey do update set at = excluded.at;
  update private.alarms set settled_at = now(), settled_note = 'jobs run again'
  where alarms.kind in ('jobs_late', 'writes_refused') and alarms.settled_at is null;
$$;

create function private.claim_timestamp(name text, every interval) returns timestamptz
  language plpgsql security definer set search_path = ''
as $$
declare
  claimed timestamptz;
begin
  insert into private.timestamps as known (name, at) values (claim_timestamp.name, clock_timestamp())
  on conflict on constraint timestamps_pkey do update set at = excluded.at
    where known.at < clock_timestamp() - every
  returning known.at into claimed;
  return claimed;
end
$$;
comment on function private.claim_timestamp is
  'Claims a piece of recurring work and returns the time of the claim; null if the work is not due '
  'or another caller has claimed it.';

create function private.release_timestamp(name text, claimed timestamptz) returns void
  language sql security definer set search_path = ''
as $$
  delete from private.timestamps
  where timestamps.name = release_timestamp.name and timestamps.at = release_timestamp.claimed
$$;
comment on function private.release_timestamp is
  'Makes the work due again, unless another caller has claimed it since.';

create function private.beat() returns void
  language sql set search_path = ''
as $$
  insert into private.timestamps (name, at) values ('beat', clock_timestamp())
  on conflict on constraint timestamps_pkey do update set at = excluded.at;
$$;
comment on function private.beat is
  'Stores the current time, from which replicas compute their lag. pg_cron calls it every two '
  'seconds.';

grant execute on function private.purge_alarms, private.purge_rates, private.note_jobs_ran,
  private.claim_timestamp, private.release_timestamp, private.take_alarms, private.finish_alarm
  to backend;
