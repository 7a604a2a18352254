create function private.count_listings(
  strategy text, filters jsonb, q text default null, literal boolean default false
) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  given constant private.search_filters := private.parse_search_filters(filters, strategy);
  exact record;
  counted integer;
  is_similar boolean;
begin
  perform private.require_search(strategy, null, given);
  perform private.query_words(q);
  exact := private.exact_query(strategy, 'newest', given, q, literal);
  counted := cardinality((private.find_listings(strategy, private.default_sort(strategy),
    exact.filters, exact.words, null, null, null, 1001)).ids);
  begin
    is_similar := counted = 0 and (exact.read).words is not null
      and (private.similar_listings(strategy, private.default_sort(strategy), given, exact.read,
        exact.words, coalesce(literal, false), '{}')).items <> '{}';
  exception
    when query_canceled then is_similar := false; -- the count is known nevertheless
  end;
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
