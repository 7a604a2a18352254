-- Search: five strategies, one set of filters, a query that is read (08_reading); similar words where
-- few match.

create function private.default_sort(strategy text) returns text
  language sql
  immutable
  return case default_sort.strategy
    when 'deal' then 'drop_desc' when 'auction' then 'ends_at' else 'newest' end;
comment on function private.default_sort is 'The order of a search that asks for none.';

create function private.require_search(
  strategy text, sort text, given private.search_filters
) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  sorts text[];
begin
  if (strategy in ('standard', 'exchange', 'auction', 'deal', 'company')) is not true then
    perform private.refuse_field('strategy', 'invalid');
  end if;
  sorts := array['newest', 'price_asc', 'price_desc', 'area_desc']
    || case strategy when 'deal' then '{drop_desc}' when 'auction' then '{ends_at}' end::text[]
    || case when given.near is not null then '{distance}' end::text[];
  if not sort = any (sorts) then
    perform private.refuse(422, 'validation_failed', jsonb_build_object(
      'fields', '[{"path":"sort","code":"invalid"}]'::jsonb, 'allowed', sorts));
  end if;
end
$$;
comment on function private.require_search is
  '422 where there is no such strategy, or a search cannot have this order: drop_desc is for deals, '
  'ends_at for auctions, distance needs near.';

create function private.first_hits(
  strategy text, sort text, given private.search_filters, q text, literal boolean, size integer,
  out ids uuid[], out keys text[], out reading private.search_reading, out guess tsquery,
  out understood jsonb
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  is_narrowed constant boolean := not (given is null); -- "is not null" would ask for every filter
  typed record;
  read private.reading;
  together record;
  exact tsquery;
  hits record;
  fitting uuid[]; -- those that fit the query, 5 at most
  relaxed record;
  lost text[] := '{}';
  guesses jsonb := '{}';
begin
  typed := private.typed_reading(q, strategy, literal);
  read := typed.read;
  reading := typed.reading;
  if literal or cardinality(reading.words) = 1 and reading.clauses = '[]' and reading.filters = '{}' then
    reading.step := 0; -- Of a single word nothing can be left out.
  end if;
  loop
    together := private.both_filters(given, reading.filters);
    exact := private.reading_query(reading);
    ids := '{}';
    exit when read.strategy is not null;
    if together.conflicts = '{}' then
      hits := private.find_listings(
        strategy, sort, together.wanted, exact, null, null, null, null, size);
      ids := hits.ids;
      keys := hits.keys;
    end if;
    -- Whether something is left out and whether similar words count depends on the query and the
    -- strategy alone: if filters beside it did, one more of them could find more.
    fitting := case
      when is_narrowed and cardinality(ids) < 5 and (ids = '{}' or reading.words <> '{}')
      then private.fitting_listings(strategy, reading, 5) else ids end;
    exit when fitting <> '{}' or reading.step is not null;
    relaxed := private.relaxed_reading(strategy, reading, read.block);
    reading := relaxed.reading;
    lost := relaxed.lost;
    guesses := relaxed.guesses;
    exit when reading.step = 0;
  end loop;
  reading.step := coalesce(reading.step, 0);
  if cardinality(fitting) < 5 and together.conflicts = '{}' and reading.words <> '{}' then
    guess := nullif(private.reading_query(reading, true, guesses), exact);
  end if;
  if not literal then
    understood := private.understood(read, reading, lost, together.conflicts);
  end if;
end
$$;
comment on function private.first_hits is
  'The first listings of a search for words, and what was read in these in the end; the guess is what '
  'follows, with similar words, where fewer than 5 fit the query.';

create function private.page_of_words(
  strategy text, sort text, given private.search_filters, q text, literal boolean, place jsonb,
  page_size integer,
  out ids uuid[], out keys text[], out similar_from integer, out understood jsonb,
  out next_place jsonb
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  guessed constant boolean := coalesce((place ->> 'guessed')::boolean, false);
  after_key constant text := place ->> 'key';
  after_id constant uuid := place ->> 'id';
  first record;
  reading private.search_reading;
  wanted private.search_filters;
  guess tsquery;
  few uuid[]; -- all that fit exactly, where others follow
  hits record;
  exact_count integer;
begin
  ids := '{}';
  keys := '{}';
  if place is null then
    -- However short the page, it has to show whether 5 match.
    first := private.first_hits(strategy, sort, given, q, literal, greatest(page_size + 1, 5));
    ids := first.ids;
    keys := first.keys;
    reading := first.reading;
    guess := first.guess;
    few := case when guess is not null then ids end;
    understood := first.understood;
  else
    reading := private.cursor_reading(place);
    if place ? 'few' then
      few := array(select jsonb_array_elements_text(place -> 'few'));
      guess := private.reading_query(reading, true);
    end if;
  end if;
  wanted := (private.both_filters(given, reading.filters)).wanted;
  if place is not null and not guessed then
    hits := private.find_listings(strategy, sort, wanted, private.reading_query(reading), few, null,
      after_key, after_id, page_size + 1);
    ids := hits.ids;
    keys := hits.keys;
  end if;
  exact_count := cardinality(ids);
  if few is not null and exact_count <= page_size then
    hits := private.find_listings(strategy, sort, wanted, guess, null, few,
      case when guessed then after_key end, case when guessed then after_id end,
      page_size + 1 - exact_count);
    ids := ids || hits.ids;
    keys := keys || hits.keys;
  end if;
  next_place := jsonb_strip_nulls(jsonb_build_object('reading', reading, 'few', few,
    'guessed', case when few is not null then page_size > exact_count end));
  similar_from := case when reading.step > 0 then 0 when few is not null then exact_count end;
  if similar_from >= least(cardinality(ids), page_size) then
    similar_from := null;
  end if;
end
$$;
comment on function private.page_of_words is
  'The ids of a page of a search for words and of one listing more, with their sort keys. When fewer '
  'than 5 fit, those are remembered from the first page on, and listings with similar words follow.';

create function private.search(
  strategy text, filters jsonb, q text default null, sort text default null,
  page_cursor text default null, page_size integer default 20, fields text default 'card',
  literal boolean default false
) returns text
  language plpgsql
  stable
  security definer -- row security would keep it from most indexes; see 1_tables.sql
  set search_path = ''
  set extra_float_digits = 1 -- a cursor holds every bit of a distance
as $$
declare
  given constant private.search_filters := private.parse_search_filters(filters, strategy);
  words text[] := '{}';
  query text;
  place jsonb;
  page record;
  shown uuid[];
  next_place jsonb := '{}';
  similar_from integer;
  understood jsonb;
  next_cursor text;
begin
  perform private.require_search(strategy, sort, given);
  if q <> '' then
    words := private.query_words(q);
  end if;
  sort := coalesce(sort, private.default_sort(strategy));
  query := concat_ws(
    ' ', 'search', strategy, sort, words, given, case when literal then 'literal' end);
  if page_cursor is not null then
    place := private.cursor_key(query, page_cursor);
  end if;
  if words <> '{}' then
    page := private.page_of_words(
      strategy, sort, given, q, coalesce(literal, false), place, page_size);
    understood := page.understood;
    next_place := page.next_place;
  elsif q ~ '[^[:space:]]' then
    -- A text without letters and digits is in no listing.
    select '{}'::uuid[] as ids into page;
  else
    page := private.find_listings(strategy, sort, given, null, null, null,
      place ->> 'key', (place ->> 'id')::uuid, page_size + 1);
  end if;
  if cardinality(page.ids) > page_size then
    next_cursor := private.cursor_of(query, next_place
      || jsonb_build_object('key', page.keys[page_size], 'id', page.ids[page_size]));
  end if;
  shown := page.ids[:page_size];
  if private.claims() is not null then -- a guest has blocked nobody
    shown := private.without_blocked(shown);
  end if;
  if words <> '{}' then
    similar_from := page.similar_from;
    if similar_from > 0 and cardinality(shown) < cardinality(page.ids[:page_size]) then
      similar_from := nullif(
        (select count(*) from unnest(page.ids[:similar_from]) as fitting where fitting = any (shown)),
        cardinality(shown));
    end if;
  end if;
  return '{"items":' || private.list_items(shown, private.identity_id(), fields)
    || ',"nextCursor":' || coalesce('"' || next_cursor || '"', 'null')
    || ',"similarFrom":' || coalesce(similar_from::text, 'null')
    || ',"understood":' || coalesce(understood::text, 'null') || '}';
end
$$;
comment on function private.search is
  'Facade: a page of listings of one of five strategies: standard, exchange, auction, deal, company, as '
  'JSON text; the arguments were checked in their form. q is read: kinds, places, types, numbers with '
  'their units; understood says as what. Its other words are matched in any order, and by similar '
  'words where fewer than 5 match; from similarFrom on. literal: all of q is only words. 422 '
  'filter_unknown, range_invalid, bbox_invalid, cursor_invalid.';

grant execute on function private.search to anon, authenticated;
