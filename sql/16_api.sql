-- What of schema api only passes on is made here, by one rule: each function of private whose comment
-- begins with "Api: " is there again, by its name and arguments, with its caller's rights, for the same
-- callers. JSON as text is JSON there, and no text goes in that is longer than any that means something;
-- cursors have a bound of their own. What does more of its own is written in its area.

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
        when argument.type <> 'text'::regtype or argument.name = 'page_cursor' then '$' || place
        else format('private.bounded($%s, %s, %L)', place,
          case when argument.name in ('message', 'note') then 4000 else 400 end,
          left(argument.name, 1) || substr(replace(initcap(argument.name), '_', ''), 2))
        end, ', ' order by place)
      from rows from (unnest(one.proargnames[:one.pronargs]), unnest(one.proargtypes::oid[]))
        with ordinality as argument (name, type, place)
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
