-- Search: five strategies, one set of filters, words in any order; similar words where few match.

create function private.default_sort(strategy text) returns text
  language sql
  immutable
  return case default_sort.strategy
    when 'deal' then 'drop_desc' when 'auction' then 'ends_at' else 'newest' end;
comment on function private.default_sort is 'The order of a search that asks for none.';

create function private.require_sort(
  strategy text, sort text, wanted private.search_filters
) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  allowed text[] := array['newest', 'price_asc', 'price_desc', 'area_desc']
    || case strategy when 'deal' then '{drop_desc}' when 'auction' then '{ends_at}' end::text[]
    || case when wanted.near is not null then '{distance}' end::text[];
begin
  if not sort = any (allowed) then
    perform private.refuse(422, 'validation_failed', jsonb_build_object(
      'fields', '[{"path":"sort","code":"invalid"}]'::jsonb, 'allowed', allowed));
  end if;
end
$$;
comment on function private.require_sort is
  '422 where a search cannot have this order: drop_desc is for deals, ends_at for auctions, '
  'distance needs near.';

create function private.find_by_words(
  strategy text, sort text, wanted private.search_filters, words text[], place jsonb,
  page_size integer,
  out ids uuid[], out keys text[], out few uuid[], out exact_count integer
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  exact tsquery := private.search_query(words);
  guessed boolean := coalesce((place ->> 'guessed')::boolean, false);
  after_key text := place ->> 'key';
  after_id uuid := place ->> 'id';
  guess tsquery;
  matching uuid[]; -- the listings with the words, where they are few
  hits record;
begin
  ids := '{}';
  keys := '{}';
  if place ? 'few' then
    few := array(select jsonb_array_elements_text(place -> 'few'));
  elsif place is null and not (wanted is null) then -- "is not null" asks for every filter
    matching := private.listings_with(strategy, exact, 50);
  end if;
  if not guessed then
    hits := private.find_listings(
      strategy, sort, wanted, words, exact, coalesce(few, matching), null, after_key, after_id,
      -- The first page, however short, has to show whether 5 match.
      greatest(page_size + 1, case when place is null then 5 end));
    ids := hits.ids;
    keys := hits.keys;
  end if;
  exact_count := cardinality(ids);
  -- Words and strategy alone decide: if filters counted, one more of them could find more.
  if place is null and exact_count < 5
    and (wanted is null or private.has_few_matches(strategy, words, matching)) then
    guess := private.search_query(words, true);
    if guess <> exact then
      few := ids;
    end if;
  elsif few is not null then
    guess := private.search_query(words, true);
  end if;
  if few is not null and exact_count <= page_size then
    hits := private.find_listings(strategy, sort, wanted, words, guess, null, few,
      case when guessed then after_key end, case when guessed then after_id end,
      page_size + 1 - exact_count);
    ids := ids || hits.ids;
    keys := keys || hits.keys;
  end if;
end
$$;
comment on function private.find_by_words is
  'The ids of a page and of one listing more, with their sort keys. When fewer than 5 have the '
  'words, those are remembered from the first page on, and listings with similar words follow.';

create function private.search_page(
  strategy text, wanted private.search_filters, q text, sort text, page_cursor text,
  page_size integer, fields text
) returns text
  language plpgsql
  stable
  set search_path = ''
  set extra_float_digits = 1 -- a cursor holds every bit of a distance
as $$
declare
  words text[] := '{}';
  query text;
  place jsonb;
  page record;
  next_place jsonb;
  next_cursor text;
begin
  if q <> '' then
    if char_length(q) > 200 then
      perform private.refuse_field('q', 'too_big');
    end if;
    words := private.search_words(q);
  end if;
  if sort is null then
    sort := private.default_sort(strategy);
  else
    perform private.require_sort(strategy, sort, wanted);
  end if;
  query := concat_ws(' ', 'search', strategy, sort, words, wanted);
  if page_cursor is not null then
    place := private.cursor_key(query, page_cursor);
  end if;

  if words <> '{}' then
    page := private.find_by_words(strategy, sort, wanted, words, place, page_size);
    next_place := jsonb_build_object(
      'few', page.few,
      'guessed', case when page.few is not null then page_size > page.exact_count end);
  elsif q ~ '[^[:space:]]' then
    -- A text without letters and digits is in no listing.
    return '{"items":' || private.list_items('{}', null, fields) || ',"nextCursor":null}';
  else
    page := private.find_listings(strategy, sort, wanted, words, null, null, null,
      place ->> 'key', (place ->> 'id')::uuid, page_size + 1);
  end if;
  if cardinality(page.ids) > page_size then
    next_cursor := private.cursor_of(query, coalesce(jsonb_strip_nulls(next_place), '{}')
      || jsonb_build_object('key', page.keys[page_size], 'id', page.ids[page_size]));
  end if;
  return '{"items":'
    || private.list_items(page.ids[:page_size], private.identity_id(), fields)
    || (',"nextCursor":' || coalesce('"' || next_cursor || '"', 'null') || '}');
end
$$;
comment on function private.search_page is
  'A page of a search as JSON text; its strategy, filters and size were checked.';

create function private.search_listings(
  strategy text, filters jsonb, q text default null, sort text default null,
  page_cursor text default null, page_size integer default 20, fields text default 'card'
) returns text
  language plpgsql
  stable
  security definer -- row security would keep it from most indexes; see 1_tables.sql
  set search_path = ''
as $$
declare
  page constant text := private.search_page(strategy,
    private.checked_search_filters(filters, strategy), q, sort, page_cursor, page_size, fields);
begin
  if starts_with(page, '{"items":[],') then
    -- Perhaps there is no such code: whatever has been found has shown that there is.
    perform private.parse_search_filters(filters, strategy);
  end if;
  return page;
end
$$;
comment on function private.search_listings is
  'Facade: a page of a search as JSON text, whose arguments were checked in their form; see '
  'api.search.';

create function private.search(
  strategy text, filters jsonb, q text, sort text, page_cursor text, page_size integer,
  fields text, out items json, out next_cursor text
)
  language plpgsql
  stable
  security definer -- row security would keep it from most indexes; see 1_tables.sql
  set search_path = ''
as $$
declare
  strategies constant text[] := '{standard,exchange,auction,deal,company}';
  page json;
begin
  if not coalesce(strategy = any (strategies), false) then
    perform private.refuse(422, 'search_strategy_unknown', jsonb_build_object(
      'fields', '[{"path":"strategy","code":"search_strategy_unknown"}]'::jsonb,
      'allowed', strategies));
  elsif not coalesce(page_size between 1 and 50, false) then
    perform private.refuse_field('limit', 'invalid');
  end if;
  page := private.search_page(strategy, private.parse_search_filters(filters, strategy), q, sort,
    page_cursor, page_size, fields);
  items := page -> 'items';
  next_cursor := page ->> 'nextCursor';
end
$$;
comment on function private.search is 'A page of a search; see api.search.';

create function api.search(
  strategy text default null,
  filters jsonb default '{}',
  q text default null,
  sort text default null,
  page_cursor text default null,
  page_size integer default 20,
  fields text default 'card'
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select found.items, found.next_cursor
  from private.search(strategy, filters, q, sort, page_cursor, page_size, fields) as found;
end
$$;
comment on function api.search is
  'Listings of one of five strategies: standard, exchange, auction, deal, company. q is matched '
  'word by word in any order, and by similar words where fewer than 5 match. 422 '
  'search_strategy_unknown, filter_unknown, range_invalid, bbox_invalid, cursor_invalid.';

create function api.quick_search(
  filters jsonb default '{}',
  q text default null,
  sort text default null,
  page_cursor text default null,
  page_size integer default 20,
  fields text default 'card'
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select found.items, found.next_cursor
  from private.search('standard', filters, q, sort, page_cursor, page_size, fields) as found;
end
$$;
comment on function api.quick_search is 'api.search with strategy standard.';

grant execute on function
  private.search, private.search_listings, api.search, api.quick_search
  to guest, authenticated;
