-- Creates in schema api a namesake of each private function whose comment begins with "Api: ", with
-- the same grants and its caller's rights. Texts are bounded here; cursors have their own bound.

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

-- These are owned by acting, so that row security binds every statement in them. The others that a
-- client can execute are still postgres' own and carry their conditions themselves.
do $$
declare
  one record;
begin
  for one in
    select pg_proc.oid::regprocedure as signature from pg_proc
    where pronamespace = 'private'::regnamespace and proname = any ('{
      get_me,get_settings,update_settings,switch_identity,accept_terms,store_answer,
      list_blocks,unblock_identity,
      list_favorite_ids,list_favorites,toggle_favorite,
      list_notifications,read_notification,read_all_notifications,delete_notification,
      register_device,remove_device,
      list_invoices,get_invoice,get_receipt,get_wallet,list_wallet_transactions,list_plans}')
  loop
    execute format('alter function %s owner to acting', one.signature);
  end loop;
  for one in
    select pg_proc.oid::regprocedure as signature from pg_proc
    where pronamespace = 'private'::regnamespace and prorettype <> 'trigger'::regtype
      and proowner <> 'acting'::regrole
  loop
    execute format('grant execute on function %s to acting', one.signature);
  end loop;
end
$$;
