create function private.count_listings(
  strategy text, filters jsonb, q text default null, literal boolean default false
) returns jsonb
  language plpgsql
  stable
  security definer
  set search_path = ''
as $$
declare
  given constant private.search_filters := private.parse_search_filters(filters, strategy);
  exact record;
  counted integer;
  is_similar boolean := false;
  words text[];
begin
  perform private.require_search(strategy, null, given);
  words := private.query_words(q);
  exact := private.exact_query(strategy, given, q, literal);
  counted := cardinality((private.find_listings(strategy, private.default_sort(strategy),
    exact.filters, exact.words, null, null, null, null, 1001)).ids);
  if counted = 0 and words <> '{}' then
    is_similar := (private.page_of_words(strategy, private.default_sort(strategy), given, q,
      coalesce(literal, false), null, 1)).ids <> '{}';
  end if;
  return jsonb_build_object(
      'count', case when counted > 1000 then 1000 else counted end,
      'capped', counted > 1000)
    || case when is_similar then '{"similar": true}' else '{}' end::jsonb;
end
$$;
comment on function private.count_listings is
  'Facade: {count, capped} of a search with nothing left out or guessed, exact up to 1,000. '
  'similar is true if count is 0 and private.search finds other listings.';

grant execute on function private.count_listings to anon, authenticated;
