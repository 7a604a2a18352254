-- A row that the product needs and that is gone.

create function private.missing_rows() returns text[]
  language sql
  stable
  security definer -- reads closed tables
  set search_path = ''
as $$
  select array(
    select needed_rows.table_name || ' ' || needed_rows.name from private.needed_rows
    except
    select named_rows.table_name || ' ' || named_rows.name from private.named_rows
    order by 1
  )
$$;
comment on function private.missing_rows is 'Which of private.needed_rows are gone.';

create function private.report_missing_rows() returns bigint
  language plpgsql
  security definer -- raises and settles alarms, for the job
  set search_path = ''
as $$
declare
  missing constant text[] := private.missing_rows();
begin
  update private.alarms set settled_at = now(), settled_note = 'there again'
  where alarms.kind = 'row_missing' and alarms.settled_at is null
    and alarms.subject_id <> all (missing);
  perform private.raise_alarm('row_missing', subject) from unnest(missing) as subject;
  return 0; -- as often as it is called, there is nothing left to do
end
$$;
comment on function private.report_missing_rows is
  'Job: a row that is needed and gone is an alarm until it is there again.';

grant execute on function private.report_missing_rows to backend;
