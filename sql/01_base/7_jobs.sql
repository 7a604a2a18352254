-- What the jobs that forget have in common.

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
