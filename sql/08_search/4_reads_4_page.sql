-- Search: five strategies, one set of filters, a query that is read (08_reading); similar words where
-- few match.

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
  strategy text, sort text, reading private.search_reading, wanted private.search_filters,
  fitting uuid[], place jsonb, page_size integer,
  out ids uuid[], out keys text[], out few uuid[], out exact_count integer
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  is_first constant boolean := place is null;
  guessed constant boolean := coalesce((place ->> 'guessed')::boolean, false);
  after_key constant text := place ->> 'key';
  after_id constant uuid := place ->> 'id';
  guess tsquery;
  hits record;
begin
  ids := '{}';
  keys := '{}';
  if place ? 'few' then
    few := array(select jsonb_array_elements_text(place -> 'few'));
  end if;
  if not guessed then
    hits := private.find_listings(strategy, sort, wanted, private.reading_query(reading),
      coalesce(few, case when cardinality(fitting) < 5 then fitting end), null, after_key, after_id,
      -- The first page, however short, has to show whether 5 match.
      greatest(page_size + 1, case when is_first then 5 end));
    ids := hits.ids;
    keys := hits.keys;
  end if;
  exact_count := cardinality(ids);
  if reading.words = '{}' or exact_count = 0 and reading.step is null then
    return; -- There is nothing to guess at, or first something may be left out.
  end if;
  if few is not null or is_first and cardinality(coalesce(fitting, ids)) < 5 then
    guess := private.reading_query(reading, true);
    if is_first and guess <> private.reading_query(reading) then
      few := ids;
    end if;
  end if;
  if few is not null and exact_count <= page_size then
    hits := private.find_listings(strategy, sort, wanted, guess, null, few,
      case when guessed then after_key end, case when guessed then after_id end,
      page_size + 1 - exact_count);
    ids := ids || hits.ids;
    keys := keys || hits.keys;
  end if;
end
$$;
comment on function private.find_by_words is
  'The ids of a page and of one listing more, with their sort keys. When fewer than 5 have the '
  'words, those are remembered from the first page on, and listings with similar words follow. '
  'Fitting: 5 that fit the query alone, or all of them; null where these are those of the page.';

create function private.search_page(
  strategy text, given private.search_filters, q text, sort text, page_cursor text,
  page_size integer, fields text, literal boolean,
  out items text, out next_cursor text, out similar_from integer, out understood jsonb
)
  language plpgsql
  stable
  set search_path = ''
  set extra_float_digits = 1 -- a cursor holds every bit of a distance
as $$
declare
  words text[] := '{}';
  query text;
  place jsonb;
  read private.reading;
  reading private.search_reading;
  is_narrowed constant boolean := not (given is null); -- "is not null" would ask for every filter
  fitting uuid[];
  together record;
  relaxed record;
  lost text[] := '{}';
  page record;
  next_place jsonb := '{}';
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
    perform private.require_sort(strategy, sort, given);
  end if;
  query := concat_ws(
    ' ', 'search', strategy, sort, words, given, case when literal then 'literal' end);
  if page_cursor is not null then
    place := private.cursor_key(query, page_cursor);
  end if;

  if words <> '{}' then
    if literal then
      reading := row('[]', words, '{}', 0);
    elsif place is not null then
      reading := private.cursor_reading(place);
    else
      read := private.read_query(q, strategy);
      reading := row(read.clauses || coalesce(read.block, '[]'), read.words, read.filters,
        -- Of a single word nothing can be left out.
        case when cardinality(read.words) = 1 and read.clauses = '[]' and read.block is null
          and read.filters = '{}' then 0 end);
    end if;
    together := private.both_filters(given, reading.filters);
    select '{}'::uuid[] as ids, null::uuid[] as few, 0 as exact_count into page;
    if place is null and read.strategy is null and is_narrowed and reading.words <> '{}' then
      -- Whether something is left out and whether similar words count depends on the query and the
      -- strategy alone: if filters beside it did, one more of them could find more.
      fitting := private.fitting_listings(strategy, reading, 5);
    end if;
    if read.strategy is null and together.conflicts = '{}' then
      page := private.find_by_words(
        strategy, sort, reading, together.wanted, fitting, place, page_size);
    end if;
    if read.strategy is null and reading.step is null and page.exact_count = 0 then
      reading.step := 0;
      if is_narrowed and fitting is null then
        fitting := private.fitting_listings(strategy, reading, 5);
      end if;
      if coalesce(fitting, '{}') = '{}' then
        relaxed := private.relaxed_reading(strategy, reading, read.block);
        reading := relaxed.reading;
        lost := relaxed.lost;
        together := private.both_filters(given, reading.filters);
        fitting := case
          when reading.step = 0 then '{}'::uuid[]
          when is_narrowed then private.fitting_listings(strategy, reading, 5) end;
      end if;
      if together.conflicts = '{}' then
        page := private.find_by_words(
          strategy, sort, reading, together.wanted, fitting, place, page_size);
      end if;
    end if;
    if place is null and not literal then
      understood := private.understood(read, reading, lost, together.conflicts);
    end if;
    reading.step := coalesce(reading.step, 0);
    if cardinality(page.ids) > page_size then
      next_place := jsonb_strip_nulls(jsonb_build_object(
        'few', page.few,
        'guessed', case when page.few is not null then page_size > page.exact_count end,
        'reading', case when not literal then to_jsonb(reading) end));
    end if;
    similar_from := case
      when reading.step > 0 then 0 when page.few is not null then page.exact_count end;
    if similar_from >= least(cardinality(page.ids), page_size) then
      similar_from := null;
    end if;
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
  items := private.list_items(page.ids[:page_size], private.identity_id(), fields);
end
$$;
comment on function private.search_page is
  'A page of a search, its items as JSON text; its strategy, filters and size were checked.';

create function private.search(
  strategy text, filters jsonb, q text default null, sort text default null,
  page_cursor text default null, page_size integer default 20, fields text default 'card',
  literal boolean default false
) returns text
  language plpgsql
  stable
  security definer -- row security would keep it from most indexes; see 1_tables.sql
  set search_path = ''
as $$
declare
  page constant record := private.search_page(strategy,
    private.checked_search_filters(filters, strategy), q, sort, page_cursor, page_size, fields,
    coalesce(literal, false));
begin
  if page.items = '[]' then
    -- Perhaps there is no such code: whatever has been found has shown that there is.
    perform private.parse_search_filters(filters, strategy);
  end if;
  return '{"items":' || page.items
    || ',"nextCursor":' || coalesce('"' || page.next_cursor || '"', 'null')
    || ',"similarFrom":' || coalesce(page.similar_from::text, 'null')
    || ',"understood":' || coalesce(page.understood::text, 'null') || '}';
end
$$;
comment on function private.search is
  'Facade: a page of listings of one of five strategies: standard, exchange, auction, deal, company, as '
  'JSON text; the arguments were checked in their form. q is read: kinds, places, types, numbers with '
  'their units; understood says as what. Its other words are matched in any order, and by similar '
  'words where fewer than 5 match; from similarFrom on. literal: all of q is only words. 422 '
  'filter_unknown, range_invalid, bbox_invalid, cursor_invalid.';

grant execute on function private.search to anon, authenticated;
