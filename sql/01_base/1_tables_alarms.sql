-- Alarms: what an admin has to look at. One row for each thing until it is settled.

create table private.alarms (
  id bigint generated always as identity primary key,
  kind text not null,
  subject_id text not null,
  facts jsonb not null default '{}',
  raised_at timestamptz not null default now(),
  settled_at timestamptz,
  settled_note text,
  seen_at timestamptz not null default now()
);
comment on table private.alarms is
  'What an admin has to look at: money that does not fit, a job or a provider that fails. One row '
  'for each until it is settled; settled ones go after a year.';
comment on column private.alarms.id is 'Order.';
comment on column private.alarms.kind is 'What happened, as wallet_differs, payment_mismatch or job_failed.';
comment on column private.alarms.subject_id is 'The wallet, payment, invoice or event; of job_failed the job and what it failed on; of others the provider, setting or route.';
comment on column private.alarms.facts is 'What was seen.';
comment on column private.alarms.raised_at is 'When.';
comment on column private.alarms.settled_at is 'When an admin was done with it.';
comment on column private.alarms.settled_note is 'What the admin did.';
comment on column private.alarms.seen_at is 'When it was last seen.';
create unique index alarms_one_unsettled_key on private.alarms (kind, subject_id)
  where settled_at is null;
create index alarms_settled_idx on private.alarms (settled_at) where settled_at is not null;
alter table private.alarms enable row level security;
create policy "nobody but functions of their owner" on private.alarms using (false);

create function private.raise_alarm(kind text, subject_id text, facts jsonb default '{}')
  returns void
  language plpgsql
  security definer -- writes a closed table, for whoever came across it
  set search_path = ''
as $$
declare
  is_money boolean := raise_alarm.kind ~ '^(wallet|payment|paid|refund|charge)_';
begin
  insert into private.alarms (kind, subject_id, facts)
  values (raise_alarm.kind, raise_alarm.subject_id, raise_alarm.facts)
  on conflict do nothing;
  if not found then
    -- Many workers may see the same: they must not all write one row.
    update private.alarms set seen_at = clock_timestamp()
    where alarms.kind = raise_alarm.kind and alarms.subject_id = raise_alarm.subject_id
      and alarms.settled_at is null and alarms.seen_at < clock_timestamp() - interval '10 seconds';
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
    -- The row counts, also where the notice of it is what fails.
    insert into private.alarms (kind, subject_id, facts)
    values (raise_alarm.kind, raise_alarm.subject_id, raise_alarm.facts)
    on conflict do nothing;
end
$$;
comment on function private.raise_alarm is
  'Tells the admins, once for each thing until it is settled.';

create function private.settle_failures(subjects text[]) returns void
  language sql
  security definer -- writes a closed table, for jobs
  set search_path = ''
as $$
  update private.alarms set settled_at = now(), settled_note = 'went through later'
  where alarms.kind = 'job_failed' and alarms.subject_id = any (subjects)
    and alarms.settled_at is null
$$;
comment on function private.settle_failures is
  'What had failed went through: nobody has to look at it any more.';

-- Jobs over many rows ----------------------------------------------------------------------------
--
-- A job chooses what is due and has for_each do it row by row. One that fails is undone, is an
-- alarm, and rests for an hour; the others are done all the same, however many fail.

create function private.rests(step text, subject text) returns boolean
  language sql
  stable
  set search_path = ''
as $$
  select exists (
    select from private.alarms
    where alarms.kind = 'job_failed' and alarms.subject_id = rests.step || ' ' || rests.subject
      and alarms.settled_at is null and alarms.seen_at > now() - interval '1 hour'
  )
$$;
comment on function private.rests is 'Whether a job failed on a row within the hour.';

create function private.step_failed(step text, subject text, code text, why text) returns void
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
comment on function private.step_failed is 'A job failed on one row: an alarm, and it rests.';

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
        perform private.step_failed(step, subject, sqlstate, sqlerrm);
        exit;
      when others then
        perform private.step_failed(step, subject, sqlstate, sqlerrm);
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

create function private.sweep_alarms() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.sweep('private.alarms', 'settled_at', '1 year')
$$;
comment on function private.sweep_alarms is 'Job: forgets alarms that were settled a year ago.';

grant execute on function private.raise_alarm, private.settle_failures, private.sweep_alarms
  to backend;
