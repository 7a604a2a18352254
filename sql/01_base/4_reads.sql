-- Settings and health, for whoever asks.

-- In plpgsql, which keeps the plan.
create function private.setting(name text) returns jsonb
  language plpgsql
  stable
  security definer -- the table is closed; a setting says nothing about a person
  set search_path = ''
as $$
begin
  return (select settings.value from private.settings where settings.name = setting.name);
end
$$;
comment on function private.setting is 'A value of private.settings.';

-- Planned as a part of what asks it.
create function private.terms() returns table (version text, url text, required_from timestamptz)
  language sql
  stable
  rows 1
begin atomic
  select settings.value ->> 'version', settings.value ->> 'url',
    (settings.value ->> 'requiredFrom')::date::timestamp at time zone 'Asia/Kuwait'
  from private.settings where settings.name = 'terms' and settings.value <> 'null';
end;
comment on function private.terms is
  'The terms that people are to accept, and when that is required; no row where there are none.';

create function private.health() returns json
  language sql
  stable
  security definer -- reads closed tables
  set search_path = ''
as $$
  select json_build_object(
    'jobsRan', exists (
      select from private.moments
      where moments.name = 'jobs_ran' and moments.at > now() - interval '5 minutes'),
    'readOnly', current_setting('transaction_read_only')::boolean,
    'rowsThere', private.missing_rows() = '{}')
$$;
comment on function private.health is 'The database''s part of GET /health.';

-- By what the primary wrote: of a replica that receives nothing any more the time of its last replay says
-- as little as that of one that has nothing to receive.
create function private.last_beat() returns timestamptz
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return (select moments.at from private.moments where moments.name = 'beat');
end
$$;
comment on function private.last_beat is
  'Everything that was committed on the primary until then is here.';

create function private.require_replica(system_id text) returns void
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
begin
  -- A replica that was promoted, or a copy beside it, has the number too, and writes the beat by itself.
  if not pg_is_in_recovery()
    or system_id <> (select control.system_identifier::text from pg_control_system() as control)
  then
    raise exception 'replica_foreign' using errcode = 'PTRPL';
  elsif (private.last_beat() > clock_timestamp() - interval '5 seconds') is not true then
    raise exception 'replica_behind' using errcode = 'PTRPL';
  end if;
end
$$;
comment on function private.require_replica is
  'Raises PTRPL where this is no replica of the system of that number, or no replica any more, or is '
  'more than five seconds behind.';

grant execute on function private.health, private.require_replica to backend;
