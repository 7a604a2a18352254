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

grant execute on function private.health to backend;
