create function private.audit_edit() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  -- Not recorded here: private.audit_change records changes of these columns, and a trigger sets edited.
  elsewhere constant text[] := '{status,status_reason,suspended_until,hidden_at,edited}';
  names constant text[] := '{id,account_id,identity_id,name,rule,vocabulary,code,phrase}';
  stack text;
  was constant jsonb := to_jsonb(old);
  became constant jsonb := to_jsonb(new);
  changed constant jsonb := coalesce(became, was);
  columns text[];
begin
  get diagnostics stack = pg_context;
  if not private.is_by_hand(stack) then
    return null;
  end if;
  columns := array(
    select name from jsonb_object_keys(changed) as name
    where tg_op <> 'UPDATE'
      or name = any (tg_argv[1:]) and name <> all (elsewhere) and was -> name <> became -> name);
  if columns = '{}' then
    return null;
  end if;
  columns := columns || array(
    select name from unnest(names) as name where changed ? name and name <> all (columns));
  insert into public.audit (action, target_type, target_id, before, after)
  select
    tg_argv[0] || case tg_op
      when 'INSERT' then '.added' when 'UPDATE' then '.changed' else '.deleted' end,
    tg_argv[0],
    -- target_id stores only UUIDs. In some tables the id is a word or a number and is left out.
    substring(coalesce(changed ->> 'id', changed ->> 'account_id', changed ->> 'identity_id')
      from '^[0-9a-f]{8}-.{27}$')::uuid,
    jsonb_object_agg(name, was -> name) filter (where tg_op <> 'INSERT'),
    jsonb_object_agg(name, became -> name) filter (where tg_op <> 'DELETE')
  from unnest(columns) as name;
  return null;
end
$$;
comment on function private.audit_edit is
  'Records a change made in Studio or with SQL in the audit trail. Arguments: target type, columns '
  'that may change.';
