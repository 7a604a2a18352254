-- What admins read of the audit trail, and figures of the whole.

create function private.audit_records(entry_ids bigint[])
  returns table (place bigint, id bigint, record json)
  language plpgsql
  stable
  rows 20
  security definer -- reads a closed table; its callers asked for an admin before
  set search_path = ''
as $$
begin
  return query
  select
    asked.place,
    asked.id,
    json_build_object(
      'id', audit.id,
      'at', audit.at,
      'actor', case when audit.actor_id is not null then json_build_object(
        'id', audit.actor_id,
        'fullName', individual_profiles.full_name
      ) end,
      'actorRole', audit.actor_role,
      'action', audit.action,
      'targetType', audit.target_type,
      'targetId', audit.target_id,
      'reason', audit.reason,
      'before', audit.before,
      'after', audit.after
    )
  from unnest(entry_ids) with ordinality as asked (id, place)
  join public.audit on audit.id = asked.id
  left join public.individual_profiles on individual_profiles.account_id = audit.actor_id
  order by asked.place;
end
$$;
comment on function private.audit_records is 'Entries of the audit trail, in the order asked for.';

create function private.list_audit(
  actor_id uuid, action text, target_type text, target_id uuid,
  since timestamptz, until timestamptz, page_cursor text, page_size integer
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
    actor_id, action, target_type, target_id, since, until));
  key jsonb := private.cursor_key(query, page_cursor);
  before_id bigint := coalesce(key ->> 0, '9223372036854775807');
  ids bigint[];
begin
  ids := array(
    select audit.id from public.audit
    where (list_audit.actor_id is null or audit.actor_id = list_audit.actor_id)
      and (list_audit.action is null or audit.action = list_audit.action)
      and (list_audit.target_type is null or audit.target_type = list_audit.target_type)
      and (list_audit.target_id is null or audit.target_id = list_audit.target_id)
      and (since is null or audit.at >= since)
      and (until is null or audit.at < until)
      and audit.id < before_id
    order by audit.id desc
    limit private.page_size(page_size) + 1
  );
  return query
  select
    coalesce(json_agg(records.record order by records.place), '[]'),
    case when cardinality(ids) > page_size then
      private.cursor_of(query, jsonb_build_array(ids[page_size]))
    end
  from private.audit_records(ids[:page_size]) as records;
end
$$;
comment on function private.list_audit is 'A page of the audit trail; see api.list_audit.';

create function api.list_audit(
  actor_id uuid default null, action text default null, target_type text default null,
  target_id uuid default null, since timestamptz default null, until timestamptz default null,
  page_cursor text default null, page_size integer default 20
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
    actor_id, action, target_type, target_id, since, until, page_cursor, page_size) as entries;
end
$$;
comment on function api.list_audit is
  'For admins: the audit trail, newest first, by who, what, to what, and when. 403 admin_only.';

-- Counted over an index alone, not over whole listings.
create index properties_status_idx on public.properties (status);
create index identities_status_idx on public.identities (status, type);

create function private.get_admin_stats() returns json
  language plpgsql
  stable
  security definer -- counts what belongs to others, for an admin
  set search_path = ''
as $$
declare
  admin_id uuid := private.require_admin();
begin
  return json_build_object(
    'users', (
      select json_build_object(
        'total', coalesce(sum(counted.number), 0),
        'byStatus', coalesce(json_object_agg(counted.status, counted.number), '{}'))
      from (
        select accounts.status, count(*) as number from public.accounts group by accounts.status
      ) as counted
    ),
    'newUsers', (
      select count(*) from public.accounts where accounts.created_at > now() - interval '7 days'
    ),
    'identities', (
      select json_build_object(
        'total', coalesce(sum(counted.number), 0),
        'byType', (
          select json_object_agg(types.type, types.by_status) from (
            select each.type, json_object_agg(each.status, each.number) as by_status
            from (
              select identities.type, identities.status, count(*) as number
              from public.identities group by identities.type, identities.status
            ) as each
            group by each.type
          ) as types
        ))
      from (
        select count(*) as number from public.identities
      ) as counted
    ),
    'listings', (
      select json_build_object(
        'total', coalesce(sum(counted.number), 0),
        'byStatus', coalesce(json_object_agg(counted.status, counted.number), '{}'))
      from (
        select properties.status, count(*) as number
        from public.properties group by properties.status
      ) as counted
    ),
    'waiting', private.waiting_counts()
  );
end
$$;
comment on function private.get_admin_stats is 'Figures of the whole; see api.get_admin_stats.';

create function api.get_admin_stats() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.get_admin_stats();
end
$$;
comment on function api.get_admin_stats is
  'For admins: how many users, identities and listings there are by state, and what waits for a '
  'decision. 403 admin_only.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.list_audit, private.get_admin_stats to authenticated;
grant execute on function api.list_audit, api.get_admin_stats to authenticated;
