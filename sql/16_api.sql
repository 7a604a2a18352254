-- For each private function whose comment begins with "Api: ", this creates a function with the same name
-- in the schema api. The new function has the same grants, runs with its caller's rights and limits the
-- length of text arguments, except cursors, which have their own limit.

do $$
declare
  one record;
  given text;
begin
  for one in
    select pg_proc.*, obj_description(pg_proc.oid, 'pg_proc') as says from pg_proc
    where pronamespace = 'private'::regnamespace
      and obj_description(pg_proc.oid, 'pg_proc') like 'Api: %'
    order by proname
  loop
    given := (
      select string_agg(case
        when argument.type <> 'text'::regtype or argument.name = 'page_cursor' then '$' || index
        else format('private.bounded($%s, %s, %L)', index,
          case when argument.name in ('message', 'note') then 4000 else 400 end,
          left(argument.name, 1) || substr(replace(initcap(argument.name), '_', ''), 2))
        end, ', ' order by index)
      from rows from (unnest(one.proargnames[:one.pronargs]), unnest(one.proargtypes::oid[]))
        with ordinality as argument (name, type, index)
    );
    execute format(
      'create function api.%I(%s) returns %s language sql %s set search_path = '''' as %L',
      one.proname, pg_get_function_arguments(one.oid),
      case one.prorettype when 'text'::regtype then 'json' else pg_get_function_result(one.oid) end,
      case one.provolatile when 's' then 'stable' else 'volatile' end,
      case
        when one.proretset then format('select * from private.%I(%s)', one.proname, given)
        when one.prorettype = 'text'::regtype then
          format('select private.%I(%s)::json', one.proname, given)
        else format('select private.%I(%s)', one.proname, given)
      end);
    execute format('comment on function api.%I is %L', one.proname, substr(one.says, 6));
    execute format('grant execute on function api.%I to %s', one.proname,
      (select string_agg(role, ', ') from unnest('{anon,authenticated}'::text[]) as role
        where has_function_privilege(role, one.oid, 'execute')));
  end loop;
end
$$;

-- Functions that clients can execute get the owner acting (or administering, if they require an
-- administrator), so that row-level security applies to every statement in them. The functions listed
-- below still belong to postgres (test/whole/reviewed-functions.ts has the reasons).
do $$
declare
  -- Policies call these, so their own queries must bypass policies.
  of_policies constant text[] := '{account_id,identity_id,is_admin,my_conversations,may_hear,may_speak,may_save}';
  -- This checks whether a listing exists, even if the caller may not see it.
  of_hidden constant text[] := '{property_exists}';
  -- These also run for accounts that are locked or deleted, or return why an account may not act.
  of_any_caller constant text[] := '{caller_refusal,require_open,count_action,lock_own_account,lock_identity,lock_caller_exclusively}';
  -- These use tables of Auth. postgres cannot grant rights on these tables to other roles.
  of_auth constant text[] := '{list_sessions,end_session}';
  one record;
begin
  for one in
    select pg_proc.oid::regprocedure as signature,
      case when prosrc ~ 'private[.]require_admin[(]' then 'administering' else 'acting' end as owner
    from pg_proc
    where pronamespace = 'private'::regnamespace and prosecdef
      and (has_function_privilege('anon', pg_proc.oid, 'execute')
        or has_function_privilege('authenticated', pg_proc.oid, 'execute'))
      and proname <> all (of_policies || of_hidden || of_any_caller || of_auth)
  loop
    execute format('alter function %s owner to %I', one.signature, one.owner);
  end loop;
  for one in
    select pg_proc.oid::regprocedure as signature from pg_proc
    where pronamespace = 'private'::regnamespace and prorettype <> 'trigger'::regtype
  loop
    execute format('grant execute on function %s to acting, administering, exporting',
      one.signature);
  end loop;
  alter function private.exported_identity owner to exporting;
end
$$;
