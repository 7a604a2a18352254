-- The service itself: what workers of the functions, which come and go, must know of one another.

create table private.moments (
  name text primary key,
  at timestamptz not null
);
comment on table private.moments is 'Moments that hold for all workers of the functions.';
comment on column private.moments.name is
  'jobs_ran: when a run of all jobs last came to its end. pushes_rest: until when FCM wants none.';
comment on column private.moments.at is 'The moment.';
alter table private.moments enable row level security;
create policy "nobody but functions of their owner" on private.moments using (false);

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
comment on function private.note_jobs_ran is 'All jobs had their turn: whoever asks for health sees it.';

create function private.health() returns json
  language sql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
  select json_build_object('jobsRan', exists (
    select from private.moments
    where moments.name = 'jobs_ran' and moments.at > now() - interval '5 minutes'))
$$;
comment on function private.health is 'What the database knows of the service''s health.';

grant execute on function private.note_jobs_ran, private.health to backend;
