create function private.missing_rows() returns text[]
  language sql stable security definer set search_path = ''
as $$
  select array(
    select needed_rows.table_name || ' ' || needed_rows.name from private.needed_rows
    except
    select named_rows.table_name || ' ' || named_rows.name from private.named_rows
    order by 1
  )
$$;

create function private.health() returns json
  language sql stable security definer set search_path = ''
as $$
  select json_build_object(
    'jobsRan', exists (
      select from private.timestamps
      where timestamps.name = 'jobs_ran' and timestamps.at > now() - interval '5 minutes'),
    'readOnly', current_setting('transaction_read_only')::boolean,
    'rowsThere', private.missing_rows() = '{}')
$$;
comment on function private.health is 'The state of the database for GET /health.';

grant execute on function private.health to backend;
