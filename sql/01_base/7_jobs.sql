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
  -- A row that somebody else had locked is done by the next run.
  if code not in ('40001', '40P01', '55P03') then
    perform private.raise_alarm('job_failed', step || ' ' || subject,
      jsonb_build_object('code', code, 'why', private.cause_of(code, why)));
  end if;
end
$$;
comment on function private.record_failure is
  'A job failed on one row: raises an alarm, and the row is left alone for an hour.';

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
        perform private.settle_alarms('job_failed', array[step || ' ' || subject]);
      end if;
    exception
      when query_canceled then -- the statement's time is over; what is done so far is kept
        perform private.record_failure(step, subject, sqlstate, sqlerrm);
        exit;
      when others then
        perform private.record_failure(step, subject, sqlstate, sqlerrm);
    end;
    -- Stays well within a statement's time: a job is called until nothing is left.
    exit when one and did or clock_timestamp() > began + interval '1 second';
  end loop;
  return done;
end
$$;
comment on function private.for_each is
  'Calls a function of private for each subject and returns for how many it did something. With '
  'one it stops after the first: for work that locks many rows, which a transaction should do '
  'once.';

create function private.purge(from_table regclass, by_time text, age interval) returns bigint
  language plpgsql
  security definer -- deletes from closed tables
  set search_path = ''
as $$
declare
  gone bigint;
begin
  -- By ctid: the planner has no statistics yet of rows that have just been added. The condition on
  -- infinity lets it use indexes that leave such rows out.
  execute format(
    'with gone as (delete from %1$s where ctid = any (array('
    'select ctid from %1$s where %2$I < $1 and %2$I < ''infinity'' order by %2$I limit 1000 '
    'for update skip locked)) returning 1) select count(*) from gone',
    from_table, by_time
  ) into gone using now() - age;
  return gone;
end
$$;
comment on function private.purge is
  'Deletes up to 1,000 rows of a table, oldest first by a time (a column with an index), and '
  'returns how many; rows that somebody else has locked are left for the next run.';

create function private.purge_alarms() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.purge('private.alarms', 'settled_at', '1 year')
$$;
comment on function private.purge_alarms is 'Job: deletes alarms that were settled a year ago.';

create function private.purge_rates() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.purge('private.rate_hits', 'expires_at', '0')
$$;
comment on function private.purge_rates is 'Job: deletes counters whose window is over.';

create function private.note_jobs_ran() returns void
  language sql
  security definer -- writes closed tables, for jobs
  set search_path = ''
as $$
  insert into private.moments (name, at) values ('jobs_ran', clock_timestamp())
  on conflict on constraint moments_pkey do update set at = excluded.at;
  update private.alarms set settled_at = now(), settled_note = 'jobs run again'
  where alarms.kind in ('jobs_late', 'writes_refused') and alarms.settled_at is null;
$$;
comment on function private.note_jobs_ran is
  'Notes that a run of all jobs has finished; private.health reports it.';

create function private.claim_moment(name text, every interval) returns timestamptz
  language plpgsql
  security definer -- writes a closed table, for jobs
  set search_path = ''
as $$
declare
  claimed timestamptz;
begin
  insert into private.moments as known (name, at) values (claim_moment.name, clock_timestamp())
  on conflict on constraint moments_pkey do update set at = excluded.at
    where known.at < clock_timestamp() - every
  returning known.at into claimed;
  return claimed;
end
$$;
comment on function private.claim_moment is
  'Since when something is the caller''s to do that is done once in a while, and null where it is not due; '
  'of several at once one gets it.';

create function private.release_moment(name text, claimed timestamptz) returns void
  language sql
  security definer -- writes a closed table, for jobs
  set search_path = ''
as $$
  delete from private.moments
  where moments.name = release_moment.name and moments.at = release_moment.claimed
$$;
comment on function private.release_moment is
  'What was claimed is due again: it could not be done, or it is over. What another has claimed since stays.';

create function private.beat() returns void
  language sql
  set search_path = ''
as $$
  insert into private.moments (name, at) values ('beat', clock_timestamp())
  on conflict on constraint moments_pkey do update set at = excluded.at;
$$;
comment on function private.beat is
  'Writes the time, every two seconds: replicas show by it how far they are behind. Not a job of the '
  'functions: pg_cron calls it, on the primary itself.';

grant execute on function private.purge_alarms, private.purge_rates, private.note_jobs_ran,
  private.claim_moment, private.release_moment
  to backend;
