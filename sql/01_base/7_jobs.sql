-- What jobs have in common.
--
-- A job chooses what is due and has for_each do it row by row. A row that fails is undone, raises an
-- alarm and is left alone for an hour; the others are done all the same, however many fail.

create function private.failed_recently(step text, subject text) returns boolean
  language sql
  stable
  set search_path = ''
as $$
  select exists (
    select from private.alarms
    where alarms.kind = 'job_failed'
      and alarms.subject_id = failed_recently.step || ' ' || failed_recently.subject
      and alarms.settled_at is null and alarms.seen_at > now() - interval '1 hour'
  )
$$;
comment on function private.failed_recently is 'Whether a job failed on a row within the hour.';

create function private.record_failure(step text, subject text, code text, why text) returns void
  language plpgsql
  security definer -- raises an alarm for whoever works through rows
  set search_path = ''
as $$
begin
  -- Who met somebody else's lock is done by the next run.
  if code not in ('40001', '40P01', '55P03') then
    perform private.raise_alarm('job_failed', step || ' ' || subject,
      jsonb_build_object('code', code, 'why', why));
  end if;
end
$$;
comment on function private.record_failure is 'A job failed on one row: an alarm, and it rests.';

create function private.for_each(step text, subjects text[], one boolean default false)
  returns bigint
  language plpgsql
  set search_path = ''
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
        perform private.settle_failures(array[step || ' ' || subject]);
      end if;
    exception
      when query_canceled then -- it used up the time of all; what is done so far is kept
        perform private.record_failure(step, subject, sqlstate, sqlerrm);
        exit;
      when others then
        perform private.record_failure(step, subject, sqlstate, sqlerrm);
    end;
    -- Well within a statement's time: whoever calls a job calls it until nothing is left.
    exit when one and did or clock_timestamp() > began + interval '1 second';
  end loop;
  return done;
end
$$;
comment on function private.for_each is
  'Calls a function of private for each of these and gives how many it did something for; one is for '
  'what locks much of many people, and then that is all of the transaction.';

create function private.sweep(from_table regclass, by_time text, age interval) returns bigint
  language plpgsql
  security definer -- deletes from closed tables
  set search_path = ''
as $$
declare
  gone bigint;
begin
  -- By their places: the planner knows nothing yet of many rows that have just come. That nothing
  -- which lasts for ever goes is said for the indexes that leave it out.
  execute format(
    'with gone as (delete from %1$s where ctid = any (array('
    'select ctid from %1$s where %2$I < $1 and %2$I < ''infinity'' order by %2$I limit 1000 '
    'for update skip locked)) returning 1) select count(*) from gone',
    from_table, by_time
  ) into gone using now() - age;
  return gone;
end
$$;
comment on function private.sweep is
  'Forgets up to 1,000 rows of a table, those first whose time (a column with an index) is longest '
  'ago, and gives how many; what somebody else holds is left for the next time.';

create function private.sweep_alarms() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.sweep('private.alarms', 'settled_at', '1 year')
$$;
comment on function private.sweep_alarms is 'Job: forgets alarms that were settled a year ago.';

create function private.sweep_rates() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.sweep('private.rate_hits', 'expires_at', '0')
$$;
comment on function private.sweep_rates is 'Job: forgets counters whose window is over.';

create function private.note_jobs_ran() returns void
  language sql
  security definer -- writes closed tables, for jobs
  set search_path = ''
as $$
  insert into private.moments (name, at) values ('jobs_ran', clock_timestamp())
  on conflict on constraint moments_pkey do update set at = excluded.at;
  update private.alarms set settled_at = now(), settled_note = 'they run again'
  where alarms.kind = 'jobs_late' and alarms.settled_at is null;
$$;
comment on function private.note_jobs_ran is
  'All jobs had their turn: whoever asks for health sees it.';

grant execute on function private.sweep_alarms, private.sweep_rates, private.note_jobs_ran
  to backend;
