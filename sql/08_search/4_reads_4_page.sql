create function private.default_sort(strategy text) returns text
  language sql
  immutable
  return case default_sort.strategy
    when 'deal' then 'drop_desc' when 'auction' then 'ends_at' else 'newest' end;

create function private.require_search(
  strategy text, sort text, given private.search_filters
) returns void
  language plpgsql
  stable
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
  'Refuses unknown values; drop_desc is only for deals, ends_at for auctions, distance with near.';

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
  is_narrowed constant boolean := not (given is null); -- "is not null" needs every filter
  typed record;
  read private.reading;
  together record;
  exact tsquery;
  hits record;
  fitting uuid[]; -- listings that match q, without the given filters if fewer than 5 match both
  relaxed record;
  lost text[] := '{}';
  guesses jsonb := '{}';
begin
  typed := private.typed_reading(q, strategy, literal, given.kinds);
  read := typed.read;
  reading := typed.reading;
  if literal or cardinality(reading.words) = 1 and reading.filters = '{}' then
    reading.step := 0; -- nothing can be left out
  end if;
  loop
    together := private.both_filters(given, reading.filters);
    exact := private.search_query(reading.words);
    ids := '{}';
    exit when read.strategy is not null;
    if together.conflicts = '{}' then
      hits := private.find_listings(
        strategy, sort, together.filters, exact, null, null, null, null, size);
      ids := hits.ids;
      keys := hits.keys;
    end if;
    -- The given filters do not decide what is left out; otherwise adding one could find more.
    fitting := case
      when is_narrowed and cardinality(ids) < 5 and (ids = '{}' or reading.words <> '{}')
      then private.fitting_listings(strategy, reading.filters, exact, 5) else ids end;
    exit when fitting <> '{}' or reading.step is not null;
    relaxed := private.relaxed_reading(strategy, reading);
    reading := relaxed.reading;
    lost := relaxed.lost;
    guesses := relaxed.guesses;
    exit when reading.step = 0;
  end loop;
  reading.step := coalesce(reading.step, 0);
  if cardinality(fitting) < 5 and together.conflicts = '{}' and reading.words <> '{}' then
    guess := nullif(private.search_query(reading.words, true, guesses), exact);
  end if;
  if not literal then
    understood := private.understood(read, reading, lost, together.conflicts);
  end if;
end
$$;
comment on function private.first_hits is
  'Finds the first matches of q, and leaves out parts of q if there are none. reading: the reading '
  'that was used. guess: the query with similar words if fewer than 5 match.';

create function private.page_of_words(
  strategy text, sort text, given private.search_filters, q text, literal boolean,
  cursor_state jsonb, page_size integer,
  out ids uuid[], out keys text[], out similar_from integer, out understood jsonb,
  out next_state jsonb
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  guessed constant boolean := coalesce((cursor_state ->> 'guessed')::boolean, false);
  after_key constant text := cursor_state ->> 'key';
  after_id constant uuid := cursor_state ->> 'id';
  first record;
  reading private.search_reading;
  filters private.search_filters;
  guess tsquery;
  few uuid[]; -- all exact matches, if listings with similar words follow
  hits record;
  exact_count integer;
begin
  ids := '{}';
  keys := '{}';
  if cursor_state is null then
    -- A smaller page also has to find out whether 5 listings match.
    first := private.first_hits(strategy, sort, given, q, literal, greatest(page_size + 1, 5));
    ids := first.ids;
    keys := first.keys;
    reading := first.reading;
    guess := first.guess;
    few := case when guess is not null then ids end;
    understood := first.understood;
  else
    reading := private.cursor_reading(cursor_state);
    if cursor_state ? 'few' then
      few := array(select jsonb_array_elements_text(cursor_state -> 'few'));
      guess := private.search_query(reading.words, true);
    end if;
  end if;
  filters := (private.both_filters(given, reading.filters)).filters;
  if cursor_state is not null and not guessed then
    hits := private.find_listings(strategy, sort, filters, private.search_query(reading.words), few, null,
      after_key, after_id, page_size + 1);
    ids := hits.ids;
    keys := hits.keys;
  end if;
  exact_count := cardinality(ids);
  if few is not null and exact_count <= page_size then
    hits := private.find_listings(strategy, sort, filters, guess, null, few,
      case when guessed then after_key end, case when guessed then after_id end,
      page_size + 1 - exact_count);
    ids := ids || hits.ids;
    keys := keys || hits.keys;
  end if;
  next_state := jsonb_strip_nulls(jsonb_build_object('reading', reading, 'few', few,
    'guessed', case when few is not null then page_size > exact_count end));
  similar_from := case when reading.step > 0 then 0 when few is not null then exact_count end;
  if similar_from >= least(cardinality(ids), page_size) then
    similar_from := null;
  end if;
end
$$;
comment on function private.page_of_words is
  'A page and one more listing. If fewer than 5 match, the cursor contains their ids (few), and '
  'listings with similar words follow.';

create function private.search(
  strategy text, filters jsonb, q text default null, sort text default null,
  page_cursor text default null, page_size integer default 20, fields text default 'card',
  literal boolean default false
) returns text
  language plpgsql
  stable
  security definer
  set search_path = ''
  set extra_float_digits = 1 -- a distance in a cursor must be exact
as $$
declare
  given constant private.search_filters := private.parse_search_filters(filters, strategy);
  words text[] := '{}';
  query text;
  cursor_state jsonb;
  page record;
  shown uuid[];
  next_state jsonb := '{}';
  similar_from integer;
  understood jsonb;
  next_cursor text;
begin
  perform private.require_search(strategy, sort, given);
  perform private.page_size(page_size);
  if q <> '' then
    words := private.query_words(q);
  end if;
  sort := coalesce(sort, private.default_sort(strategy));
  query := concat_ws(
    ' ', 'search', strategy, sort, words, given, case when literal then 'literal' end);
  if page_cursor is not null then
    cursor_state := private.cursor_key(query, page_cursor);
  end if;
  if words <> '{}' then
    page := private.page_of_words(
      strategy, sort, given, q, coalesce(literal, false), cursor_state, page_size);
    similar_from := page.similar_from;
    understood := page.understood;
    next_state := page.next_state;
  elsif private.is_query(q) then
    -- A text without letters and digits matches no listing.
    select '{}'::uuid[] as ids into page;
  else
    page := private.find_listings(strategy, sort, given, null, null, null,
      cursor_state ->> 'key', (cursor_state ->> 'id')::uuid, page_size + 1);
  end if;
  if cardinality(page.ids) > page_size then
    next_cursor := private.cursor_of(query, next_state
      || jsonb_build_object('key', page.keys[page_size], 'id', page.ids[page_size]));
  end if;
  shown := page.ids[:page_size];
  if private.claims() is not null then -- a guest has no blocks
    shown := private.without_blocked(shown);
  end if;
  if similar_from > 0 and cardinality(shown) < cardinality(page.ids[:page_size]) then
    similar_from := nullif(
      (select count(*) from unnest(page.ids[:similar_from]) as fitting where fitting = any (shown)),
      cardinality(shown));
  end if;
  return '{"items":' || private.list_items(shown, private.identity_id(), fields)
    || ',"nextCursor":' || coalesce('"' || next_cursor || '"', 'null')
    || ',"similarFrom":' || coalesce(similar_from::text, 'null')
    || ',"understood":' || coalesce(understood::text, 'null') || '}';
end
$$;
comment on function private.search is
  'Facade: a page of a search as JSON text, by the strategy standard, exchange, auction, deal or '
  'company; the facade has checked the form of the arguments. Kinds, places, types and numbers are '
  'read from q; understood is the reading. If fewer than 5 listings match, ones with similar words '
  'follow, from similarFrom on. literal: q is only words.';

grant execute on function private.search to anon, authenticated;
