-- The audit trail as admins read it.

create function private.list_audit(
  actor_id uuid, action text, target_type text, target_id uuid,
  since timestamptz, until timestamptz, sort text, page_cursor text, page_size integer
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- reads a closed table, for an admin
  set search_path = ''
  set plan_cache_mode = 'force_custom_plan' -- a filter that is not given costs nothing
as $$
declare
  query text := concat_ws(' ', 'list_audit', private.require_admin(), jsonb_build_array(
    actor_id, action, target_type, target_id, since, until, sort));
  key jsonb := private.cursor_key(query, page_cursor);
  ids bigint[];
begin
  if (sort in ('newest', 'oldest')) is not true then
    perform private.refuse_field('sort', 'invalid');
  end if;
  ids := array(
    select audit.id from public.audit
    where (list_audit.actor_id is null or audit.actor_id = list_audit.actor_id)
      and (list_audit.action is null or audit.action = list_audit.action)
      and (list_audit.target_type is null or audit.target_type = list_audit.target_type)
      and (list_audit.target_id is null or audit.target_id = list_audit.target_id)
      and (since is null or audit.at >= since)
      and (until is null or audit.at < until)
      and case
        when key is null then true
        when sort = 'newest' then audit.id < (key ->> 0)::bigint
        else audit.id > (key ->> 0)::bigint
      end
    order by case when sort = 'newest' then audit.id end desc, audit.id
    limit private.page_size(page_size) + 1
  );
  return query
  select
    coalesce(json_agg(records.record order by records.place), '[]'),
    private.next_cursor(query, (
      select jsonb_agg(jsonb_build_array(last.id) order by last.place)
      from unnest(ids[page_size:]) with ordinality as last (id, place)
    ))
  from private.audit_records(ids[:page_size]) as records;
end
$$;
comment on function private.list_audit is 'A page of the audit trail; see api.list_audit.';

create function api.list_audit(
  actor_id uuid default null, action text default null, target_type text default null,
  target_id uuid default null, since timestamptz default null, until timestamptz default null,
  sort text default 'newest', page_cursor text default null, page_size integer default 20
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select entries.items, entries."nextCursor"
  from private.list_audit(
    actor_id, action, target_type, target_id, since, until, sort, page_cursor, page_size)
    as entries;
end
$$;
comment on function api.list_audit is
  'For admins: the audit trail, newest or oldest first, by who, what, to what, and when. 403 '
  'admin_only.';

grant execute on function private.list_audit to authenticated;
grant execute on function api.list_audit to authenticated;
