-- Parts of a query are left out if no listing matches all of it, so that the page is not empty.

create function private.typed_reading(
  q text, strategy text, literal boolean, kinds text[],
  out read private.reading, out reading private.search_reading
)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if literal then
    reading := row(private.query_words(q), '{}', null);
  else
    read := private.read_query(q, strategy);
    if not 'floor' = any (kinds) and read.filters -> 'kinds' = '["floor"]'
      and read.filters ? 'floorMin' then
      -- Where other kinds are given, دور ارضي is the floor of one of these.
      read.filters := read.filters - 'kinds';
      read.found := jsonb_path_query_array(read.found, '$[*] ? (@.field != "kinds")');
    end if;
    reading := row(read.words, read.filters, null);
  end if;
end
$$;

create function private.search_details() returns text[]
  language sql
  immutable
  return '{areaM2Min,areaM2Max,bedroomsMin,bathroomsMin,floorMin,floorMax,block,isDirect}'::text[];
comment on function private.search_details is
  'The filters that are left out where otherwise nothing would be found.';

create function private.relaxed_reading(
  strategy text, inout reading private.search_reading, out lost text[], out guesses jsonb
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  details constant text[] := private.search_details();
  whole constant private.search_reading := reading;
  tried private.search_reading := reading;
  one_word text;
  guessed text[] := '{}'; -- unknown words with similar known ones
  known text[] := '{}';
  looks integer := 0;
  tries integer := 0;
  others text[];
  guess tsquery;
  alike tsquery;
  words tsquery;
  is_fit boolean := false;
begin
  lost := '{}';
  guesses := '{}';
  foreach one_word in array reading.words loop
    if one_word ~ '^[0-9]+$' then
      known := known || one_word;
      continue;
    end if;
    if looks = 8 then
      -- The remaining words are only checked for whether they exist at all.
      if one_word !~ '^[^0-9:]{3,}$'
        or exists (select from private.search_vocabulary where search_vocabulary.word = one_word)
        or exists (select from private.search_names where search_names.word = one_word) then
        known := known || one_word;
      else
        lost := lost || one_word;
      end if;
      continue;
    end if;
    looks := looks + 1;
    if private.is_in_listings(strategy, private.any_word(array[one_word])) then
      known := known || one_word;
      continue;
    end if;
    others := '{}';
    if tries < 4 and one_word ~ '^[^0-9]{3,}$'
      and not exists (select from private.search_names where search_names.word = one_word) then
      tries := tries + 1;
      others := array_remove(private.similar_words(one_word), one_word);
      guesses := guesses || jsonb_build_object(one_word, others);
    end if;
    if others <> '{}' then
      guessed := guessed || one_word;
      guess := private.any_word(one_word || others);
      alike := coalesce(alike && guess, guess);
    else
      lost := lost || one_word;
    end if;
  end loop;
  for step in 1 .. 3 loop
    reading.step := step;
    if step = 2 then
      lost := lost || array(select number from unnest(known) as number where number ~ '^[0-9]+$');
      known := array(select other from unnest(known) as other where other !~ '^[0-9]+$');
    elsif step = 3 then
      reading.filters := reading.filters - details;
    end if;
    reading.words := known;
    tried.step := step;
    continue when reading is not distinct from tried;
    tried := reading;
    words := private.search_query(reading.words);
    is_fit := private.fitting_listings(
      strategy, reading.filters, coalesce(words && alike, words, alike), 1) <> '{}';
    exit when is_fit;
  end loop;
  reading.words := known || guessed;
  if not is_fit and whole.words <> '{}' and whole.filters <> '{}' then
    -- No listing fits the reading with any of these words, so all of them are left out.
    tried := whole;
    tried.words := '{}';
    for step in 4 .. 5 loop
      if step = 5 then
        tried.filters := tried.filters - details;
      end if;
      tried.step := step;
      if private.fitting_listings(strategy, tried.filters, null, 1) <> '{}' then
        reading := tried;
        lost := whole.words;
        return;
      end if;
    end loop;
  end if;
  if reading.words = '{}' and reading.filters = '{}'
    or lost = '{}' and reading.filters = whole.filters then
    -- Either the whole query would be left out, or nothing, so the reading stays as it was.
    reading := whole;
    reading.step := 0;
    lost := '{}';
  end if;
end
$$;
comment on function private.relaxed_reading is
  'Leaves out parts until a listing matches: unknown words without similar ones, then numbers that '
  'are only words, then private.search_details; if none does, all words instead, and at last the '
  'details too. Type, kind, area and price are kept. lost: the words left out. guesses: the similar '
  'words found for some words.';

create function private.understood(
  read private.reading, reading private.search_reading, lost text[], conflicts text[]
) returns jsonb
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  left_out constant text[] := case when reading.step in (3, 5)
    then private.search_details() else '{}' end;
begin
  if lost = '{}' and left_out = '{}' then
    return jsonb_build_object('found', read.found, 'words', read.typed, 'ignored', read.ignored,
      'conflicts', conflicts, 'strategy', read.strategy);
  end if;
  return jsonb_build_object(
    'found', (
      select coalesce(jsonb_agg(item order by index), '[]')
      from jsonb_array_elements(read.found) with ordinality as item (item, index)
      where item ->> 'field' <> all (left_out)
    ),
    'words', array(
      select said from unnest(read.words, read.typed) with ordinality as given (word, said, index)
      where word <> all (lost) order by index
    ),
    'ignored', read.ignored || array(
      select said from unnest(read.words, read.typed) with ordinality as given (word, said, index)
      where word = any (lost) order by index
    ) || array(
      select distinct item ->> 'text' from jsonb_array_elements(read.found) as item
      where item ->> 'field' = any (left_out)
    ),
    'conflicts', conflicts,
    'strategy', read.strategy
  );
end
$$;
comment on function private.understood is
  'The reading as clients see it. ignored: all parts of q that were left out.';

create function private.cursor_reading(cursor_state jsonb) returns private.search_reading
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  reading private.search_reading;
begin
  reading := jsonb_populate_record(null::private.search_reading, cursor_state -> 'reading');
  -- This raises an error if the filters are not of a form that our own cursors have.
  perform jsonb_populate_record(null::private.search_filters, reading.filters);
  if cardinality(reading.words) <= 30 and jsonb_typeof(reading.filters) = 'object'
    and coalesce(jsonb_array_length(cursor_state -> 'few'), 0) < 5
    and not exists (select from unnest(reading.words) as word where word !~ '^.{1,60}$') then
    return reading;
  end if;
  perform private.refuse_field('cursor', 'cursor_invalid');
exception
  when data_exception or datatype_mismatch or syntax_error then
    perform private.refuse_field('cursor', 'cursor_invalid');
end
$$;
