create function private.list_reviews(
  identity_id uuid, page_cursor text default null, page_size integer default 20
) returns table ( items json, "nextCursor" text, average numeric, count integer, histogram json )
  language plpgsql stable security definer set search_path = ''
as $$
declare
  viewer_id uuid := private.identity_id();
  query text := concat_ws(' ', 'list_reviews', list_reviews.identity_id);
  key jsonb := private.cursor_key(query, page_cursor);
  before_at timestamptz := coalesce(key ->> 0, 'infinity');
  before_id uuid := coalesce(key ->> 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  summary json;
begin
  if not private.is_publicly_visible(list_reviews.identity_id) then
    perform private.refuse(404, 'identity_not_found');
  end if;
  summary := private.review_summary(list_reviews.identity_id);
  return query
  with page as materialized (
    select
      reviews as review, reviews.created_at, reviews.id,
      row_number() over (order by reviews.created_at desc, reviews.id desc) as row_number
    from public.reviews
    where reviews.subject_identity_id = list_reviews.identity_id and reviews.listed
      and (reviews.created_at, reviews.id) < (before_at, before_id)
    order by reviews.created_at desc, reviews.id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(
      json_agg(private.review_record(page.review, viewer_id) order by page.row_number)
        filter (where page.row_number <= page_size),
      '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.created_at, page.id) order by page.row_number)
        filter (where page.row_number >= page_size)),
    (summary ->> 'average')::numeric,
    (summary ->> 'count')::integer,
    summary -> 'histogram'
  from page;
end
$$;
comment on function private.list_reviews is
  'Api: The reviews of an identity, newest first, with the average, number and histogram of all '
  'its ratings. 404 identity_not_found.';

grant execute on function private.list_reviews to anon, authenticated;
