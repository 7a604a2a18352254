create function private.setting(name text) returns jsonb
  language plpgsql stable
  security definer -- clients may not read the table, but its values are not personal data
  set search_path = ''
as $$
begin
  return (select settings.value from private.settings where settings.name = setting.name);
end
$$;

-- Written in plain SQL, so that it is inlined into the calling query.
create function private.terms() returns table (version text, url text, required_from timestamptz)
  language sql stable
  rows 1
begin atomic
  select settings.value ->> 'version', settings.value ->> 'url',
    (settings.value ->> 'requiredFrom')::date::timestamp at time zone 'Asia/Kuwait'
  from private.settings where settings.name = 'terms' and settings.value <> 'null';
end;
comment on function private.terms is 'The current terms; no row if there are none.';

-- pg_last_xact_replay_timestamp would not show whether a replica is still receiving anything.
create function private.last_beat() returns timestamptz
  language plpgsql stable set search_path = ''
as $$
begin
  return (select timestamps.at from private.timestamps where timestamps.name = 'beat');
end
$$;
comment on function private.last_beat is
  'This database has all commits of the primary up to this time.';

create function private.require_replica(system_id text) returns void
  language plpgsql stable security definer set search_path = ''
as $$
begin
  -- A promoted replica has the same system identifier and a recent beat, because it writes the beat
  -- itself. Only pg_is_in_recovery detects it.
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
  'Raises PTRPL unless this is a replica of the given system, at most five seconds behind.';

grant execute on function private.require_replica to backend;
