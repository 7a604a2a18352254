-- Auth's audit log contains personal data. Deployments switch the log off
-- (audit_log_disable_postgres), and this job deletes older entries about deleted accounts. We cannot
-- add an index to Auth's table, so each run reads only the next part of it, which takes the same
-- time however large the table is.

create sequence private.auth_audit_stretches;
comment on sequence private.auth_audit_stretches is 'The part of the log that the next run reads.';

create function private.purge_auth_audit() returns bigint
  language plpgsql
  security definer -- deletes from auth.audit_log_entries
  set search_path = ''
as $$
declare
  stretch constant bigint := 1000; -- pages of 8 kB with twenty to thirty entries each
  pages constant bigint := pg_relation_size('auth.audit_log_entries')
    / current_setting('block_size')::bigint;
  first constant bigint := stretch * (
    nextval('private.auth_audit_stretches') % greatest((pages + stretch - 1) / stretch, 1)
  );
  low constant tid := format('(%s,0)', first);
  high constant tid := format('(%s,0)', first + stretch);
  gone bigint;
begin
  delete from auth.audit_log_entries where audit_log_entries.ctid = any (array(
    select entry.ctid from auth.audit_log_entries as entry
    cross join lateral (values
      (entry.payload ->> 'actor_id'), (entry.payload #>> '{traits,user_id}')
    ) as named (id)
    join public.accounts on accounts.status = 'deleted'
      and accounts.id = case when pg_input_is_valid(named.id, 'uuid') then named.id::uuid end
    where entry.ctid >= low and entry.ctid < high
    limit 1000
    for update of entry skip locked
  ));
  get diagnostics gone = row_count;
  return gone;
end
$$;
comment on function private.purge_auth_audit is 'Job: deletes log entries about deleted accounts.';

grant execute on function private.purge_auth_audit to backend;
