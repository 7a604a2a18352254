create function private.list_audit(
  actor_id uuid default null, actor_role text default null, action text default null,
  target_type text default null, target_id uuid default null, since timestamptz default null,
  until timestamptz default null, sort text default 'newest', page_cursor text default null,
  page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  sorts constant jsonb := '{"oldest": ["audit.at", "audit.id"]}';
  filters constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'actor_id', actor_id, 'actor_role', actor_role, 'action', action, 'target_type', target_type,
    'target_id', target_id, 'since', since, 'until', until));
  query text := concat_ws(' ', 'list_audit', private.require_admin(), filters, sort);
  key jsonb := private.cursor_key(query, page_cursor);
  keys jsonb[];
begin
  if not private.is_sort(sorts, sort) then
    perform private.refuse_field('sort', 'invalid');
  end if;
  keys := private.sorted_keys($sql$
    from public.audit
    where (not $1 ? 'actor_id' or audit.actor_id = ($1 ->> 'actor_id')::uuid)
      and (not $1 ? 'actor_role' or audit.actor_role = $1 ->> 'actor_role')
      and (not $1 ? 'action' or audit.action = $1 ->> 'action')
      and (not $1 ? 'target_type' or audit.target_type = $1 ->> 'target_type')
      and (not $1 ? 'target_id' or audit.target_id = ($1 ->> 'target_id')::uuid)
      and (not $1 ? 'since' or audit.at >= ($1 ->> 'since')::timestamptz)
      and (not $1 ? 'until' or audit.at < ($1 ->> 'until')::timestamptz)
    $sql$, sorts, sort, filters, key, page_size);
  return query
  select
    coalesce(json_agg(records.record order by records.ordinal), '[]'),
    private.next_cursor(query, to_jsonb(keys[page_size:]))
  from private.audit_records(
    private.key_ids(keys[:page_size])::bigint[]) as records;
end
$$;
comment on function private.list_audit is
  'Api: For admins: the audit trail, newest or oldest first, filtered by actor, action, target and '
  'time. 403 admin_only.';

grant execute on function private.list_audit to authenticated;
