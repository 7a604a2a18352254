create function private.list_my_reports(
  page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  caller_id constant uuid := private.require_account();
  query constant text := 'list_my_reports ' || caller_id;
  key constant jsonb := private.cursor_key(query, page_cursor);
begin
  return query
  with page as (
    select reports.*,
      row_number() over (order by reports.created_at desc, reports.id desc) as row_number
    from public.reports
    where reports.account_id = caller_id
      and (reports.created_at, reports.id)
        < (coalesce((key ->> 0)::timestamptz, 'infinity'), coalesce((key ->> 1)::uuid,
          'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by reports.created_at desc, reports.id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(json_agg(json_build_object(
      'id', page.id,
      'targetType', page.target_type,
      'targetId', page.target_id,
      'reason', page.reason,
      'createdAt', page.created_at,
      'state', case page.status when 'open' then 'open' else 'decided' end
    ) order by page.row_number) filter (where page.row_number <= page_size), '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.created_at, page.id) order by page.row_number)
        filter (where page.row_number >= page_size))
  from page;
end
$$;
comment on function private.list_my_reports is
  'Api: The calling account''s reports, newest first, and whether each is decided.';

grant execute on function private.list_my_reports to authenticated;
