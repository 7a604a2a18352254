-- A query on its way through a search: its words as the text index is asked, what is left out of it
-- where no listing fits, so that its page is not empty, and what its first page and its cursor say.

create function private.reading_query(
  reading private.search_reading, guessing boolean default false, guesses jsonb default '{}'
) returns tsquery
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  words constant tsquery := private.search_query(reading.words, guessing, guesses);
  clauses constant tsquery := (
    select string_agg(clause.alternatives, '&')
    from (
      select '(' || string_agg(private.quote_lexeme(word), '|') || ')' as alternatives
      from jsonb_array_elements(reading.clauses) with ordinality as asked (clause, place)
      cross join lateral jsonb_array_elements_text(asked.clause) as word
      group by asked.place
    ) as clause
  )::tsquery;
begin
  return coalesce(clauses && words, clauses, words);
end
$$;
comment on function private.reading_query is
  'The words that a query asks for, read or not, as private.search_query; null for none.';

create function private.typed_reading(
  q text, strategy text, literal boolean,
  out read private.reading, out reading private.search_reading
)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if literal then
    reading := row('[]', private.query_words(q), '{}', null);
  else
    read := private.read_query(q, strategy);
    reading := row(read.clauses || coalesce(read.block, '[]'), read.words, read.filters, null);
  end if;
end
$$;
comment on function private.typed_reading is
  'All that a query says, for a strategy (null for the map); where it is literal nothing is read.';

create function private.without_details(reading private.search_reading, block jsonb)
  returns private.search_reading
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  reading.clauses := (
    select coalesce(jsonb_agg(clause), '[]') from jsonb_array_elements(reading.clauses) as clause
    where not coalesce(block @> jsonb_build_array(clause), false)
  );
  reading.filters :=
    reading.filters - '{areaM2Min,areaM2Max,bedroomsMin,floorMin,floorMax}'::text[];
  return reading;
end
$$;
comment on function private.without_details is 'A query without size, rooms, floor and block.';

create function private.relaxed_reading(
  strategy text, inout reading private.search_reading, block jsonb, out lost text[], out guesses jsonb
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  whole constant private.search_reading := reading;
  tried private.search_reading := reading;
  asked text;
  guessed text[] := '{}'; -- unknown, but like words that are not
  known text[] := '{}';
  looks integer := 0; -- of a millisecond each
  is_written boolean;
  exact tsquery;
  guess tsquery;
  alike tsquery;
  is_fit boolean := false;
begin
  lost := '{}';
  guesses := '{}';
  foreach asked in array reading.words loop
    if asked ~ '^[0-9]+$' then
      known := known || asked;
      continue;
    end if;
    is_written := asked !~ '^[^0-9:]{3,}$'
      or exists (select from private.search_vocabulary where search_vocabulary.word = asked)
      or exists (select from private.search_names where search_names.word = asked);
    if looks = 8 then
      -- Of further words only whether somebody has written them.
      if is_written then
        known := known || asked;
      else
        lost := lost || asked;
      end if;
      continue;
    end if;
    looks := looks + 1;
    exact := private.search_query(array[asked]);
    -- What nobody had written a minute ago is in few listings, if any, which the text index soon tells.
    if is_written or (select count(*) from private.search_documents where document @@ exact) > 0 then
      if private.fitting_listings(strategy, row('[]', array[asked], '{}', null), 1) <> '{}' then
        known := known || asked;
        continue;
      end if;
    end if;
    if cardinality(guessed) = 4 then
      lost := lost || asked;
      continue;
    elsif asked ~ '^[^0-9]{3,}$' then
      guesses := guesses || jsonb_build_object(asked, private.similar_words(asked));
    end if;
    guess := private.search_query(array[asked], true, guesses);
    if guess <> exact then
      guessed := guessed || asked;
      alike := coalesce(alike && guess, guess);
    else
      lost := lost || asked;
    end if;
  end loop;
  for step in 1 .. 3 loop
    reading.step := step;
    if step = 2 then
      lost := lost || array(select number from unnest(known) as number where number ~ '^[0-9]+$');
      known := array(select other from unnest(known) as other where other !~ '^[0-9]+$');
    elsif step = 3 then
      reading := private.without_details(reading, block);
    end if;
    reading.words := known;
    tried.step := step;
    continue when reading is not distinct from tried;
    tried := reading;
    is_fit := private.fitting_listings(strategy, reading, 1, alike) <> '{}';
    exit when is_fit;
  end loop;
  reading.words := known || guessed;
  if not is_fit and whole.words <> '{}' and not (whole.clauses = '[]' and whole.filters = '{}') then
    -- Words that listings have, but none that is what was read.
    tried := whole;
    tried.words := '{}';
    for step in 4 .. 5 loop
      if step = 5 then
        tried := private.without_details(tried, block);
      end if;
      tried.step := step;
      if private.fitting_listings(strategy, tried, 1) <> '{}' then
        reading := tried;
        lost := whole.words;
        return;
      end if;
    end loop;
  end if;
  if reading.words = '{}' and reading.clauses = '[]' and reading.filters = '{}'
    or lost = '{}' and (reading.clauses, reading.filters)
      is not distinct from (whole.clauses, whole.filters) then
    -- All of it would be left out, or nothing is.
    reading := whole;
    reading.step := 0;
    lost := '{}';
  end if;
end
$$;
comment on function private.relaxed_reading is
  'A query that no listing of a strategy fits, without what keeps them from it: first the words that '
  'none has nor has anything like, then numbers that are only words, then size, rooms, floor and the '
  'block; where that is not enough, all words, with or without these. Type, kind, place and price '
  'stay. Lost: the words that were left out. Guesses: what was found to be like some of them.';

create function private.understood(
  read private.reading, reading private.search_reading, lost text[], conflicts text[]
) returns jsonb
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  left_out constant text[] := case when reading.step in (3, 5)
    then '{areaM2Min,areaM2Max,bedroomsMin,floorMin,floorMax,block}' else '{}' end;
begin
  if lost = '{}' and left_out = '{}' then
    return jsonb_build_object('found', read.found, 'words', read.typed, 'ignored', read.ignored,
      'conflicts', conflicts, 'strategy', read.strategy);
  end if;
  return jsonb_build_object(
    'found', (
      select coalesce(jsonb_agg(item order by place), '[]')
      from jsonb_array_elements(read.found) with ordinality as item (item, place)
      where item ->> 'field' <> all (left_out)
    ),
    'words', array(
      select said from unnest(read.words, read.typed) with ordinality as given (word, said, place)
      where word <> all (lost) order by place
    ),
    'ignored', read.ignored || array(
      select said from unnest(read.words, read.typed) with ordinality as given (word, said, place)
      where word = any (lost) order by place
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
  'What a query was understood as, for its first page; what was left out of it is among the ignored.';

create function private.cursor_reading(place jsonb) returns private.search_reading
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  reading private.search_reading;
begin
  reading := jsonb_populate_record(null::private.search_reading, place -> 'reading');
  -- Made by us, it has the form that we gave it.
  perform jsonb_populate_record(null::private.search_filters, reading.filters);
  if cardinality(reading.words) <= 30 and jsonb_typeof(reading.filters) = 'object'
    and jsonb_typeof(reading.clauses) = 'array' and jsonb_array_length(reading.clauses) <= 20
    and coalesce(jsonb_array_length(place -> 'few'), 0) < 5
    and not reading.clauses @? 'strict $[*] ? (@.type() != "array")'
    and not reading.clauses @? '$[*][*] ? (@ like_regex "^(|.{101,})$")'
    and not exists (select from unnest(reading.words) as word where word !~ '^.{1,60}$') then
    return reading;
  end if;
  perform private.refuse_field('cursor', 'cursor_invalid');
exception
  when data_exception or datatype_mismatch then
    perform private.refuse_field('cursor', 'cursor_invalid');
end
$$;
comment on function private.cursor_reading is
  'The reading that a cursor carries; 422 cursor_invalid if that is none.';
