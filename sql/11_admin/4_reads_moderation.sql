-- What waits for an admin: listings to be reviewed, changes of published listings, reports.

create function private.list_moderation(kind text, page_cursor text, page_size integer)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- reads listings of others, for an admin
  set search_path = ''
  set plan_cache_mode = 'force_custom_plan' -- a kind that is left out costs nothing
as $$
declare
  query text := concat_ws(' ', 'list_moderation', private.require_admin(), kind);
  key jsonb := private.cursor_key(query, page_cursor);
  after_at timestamptz := coalesce(key ->> 0, '-infinity');
  after_id uuid := coalesce(key ->> 1, '00000000-0000-0000-0000-000000000000');
begin
  if kind not in ('listing', 'changes', 'report') then
    perform private.refuse_field('kind', 'invalid');
  end if;
  return query
  with page as materialized (
    select
      waiting.*,
      row_number() over (order by waiting.since, waiting.id) as place
    from (
      (
        select properties.id, properties.created_at as since,
          case properties.status when 'pending_review' then 'listing' else 'changes' end as kind
        from public.properties
        where private.awaits_review(properties)
          and (properties.created_at, properties.id) > (after_at, after_id)
          and (list_moderation.kind is null or list_moderation.kind =
            case properties.status when 'pending_review' then 'listing' else 'changes' end)
        order by properties.created_at, properties.id
        limit private.page_size(page_size) + 1
      ) union all (
        select reports.id, reports.created_at, 'report'
        from public.reports
        where reports.status = 'open'
          and (reports.created_at, reports.id) > (after_at, after_id)
          and (list_moderation.kind is null or list_moderation.kind = 'report')
        order by reports.created_at, reports.id
        limit page_size + 1
      )
    ) as waiting
    order by waiting.since, waiting.id
    limit page_size + 1
  )
  select
    coalesce(json_agg(json_build_object(
      'id', page.id,
      'kind', page.kind,
      'since', page.since,
      'decisions', case page.kind
        when 'report' then array['uphold', 'dismiss'] else private.property_decisions(properties)
      end,
      'listing', records.record,
      'changes', properties.pending_changes,
      'report', private.admin_report_json(reports)
    ) order by page.place) filter (where page.place <= page_size), '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.since, page.id) order by page.place)
        filter (where page.place >= page_size))
  from page
  left join public.properties on properties.id = page.id
  left join private.property_records(array(select page.id from page), null) as records
    on records.id = page.id
  left join public.reports on reports.id = page.id;
end
$$;
comment on function private.list_moderation is 'A page of what waits; see api.list_moderation.';

create function api.list_moderation(
  kind text default null, page_cursor text default null, page_size integer default 20
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select waiting.items, waiting."nextCursor"
  from private.list_moderation(kind, page_cursor, page_size) as waiting;
end
$$;
comment on function api.list_moderation is
  'For admins: what waits for a decision, the oldest first, with the decisions that are open. 403 '
  'admin_only.';

grant execute on function private.list_moderation to authenticated;
grant execute on function api.list_moderation to authenticated;
