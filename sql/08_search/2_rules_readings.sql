-- What a search does with a query that was read (08_reading/4_reads.sql): its filters and those that
-- were given both hold, and where nothing fits some of it is left out.

create type private.search_reading as (
  clauses jsonb,
  words text[],
  filters private.search_filters,
  step smallint
);
comment on type private.search_reading is
  'A query as a search uses it, and as its cursor carries it: the clauses and words of '
  'private.reading, its filters, and what was left out where nothing fitted: 1 unknown words, 2 '
  'numbers, 3 size, rooms, floor and block; 0 nothing, null not known yet.';

create function private.reading_query(
  reading private.search_reading, guessing boolean default false
) returns tsquery
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  words constant tsquery := private.search_query(reading.words, guessing);
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

create function private.both_filters(
  given private.search_filters, read private.search_filters,
  out wanted private.search_filters, out conflicts text[]
)
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  wanted := given;
  conflicts := '{}';
  if read is null then
    return;
  end if;
  wanted.type := coalesce(given.type, read.type);
  wanted.price_min := greatest(given.price_min, read.price_min);
  wanted.price_max := least(given.price_max, read.price_max);
  wanted.area_m2_min := greatest(given.area_m2_min, read.area_m2_min);
  wanted.area_m2_max := least(given.area_m2_max, read.area_m2_max);
  wanted.bedrooms_min := greatest(given.bedrooms_min, read.bedrooms_min);
  wanted.floor_min := greatest(given.floor_min, read.floor_min);
  wanted.floor_max := least(given.floor_max, read.floor_max);
  wanted.furnished := case when num_nulls(given.furnished, read.furnished) > 0
    then coalesce(given.furnished, read.furnished) else array(
      select code from unnest(given.furnished) as code where code = any (read.furnished)) end;
  conflicts := array_remove(array[
    case when given.type <> read.type then 'type' end,
    case when given.price_min > read.price_max then 'priceMin' end,
    case when given.price_max < read.price_min then 'priceMax' end,
    case when given.area_m2_min > read.area_m2_max then 'areaM2Min' end,
    case when given.area_m2_max < read.area_m2_min then 'areaM2Max' end,
    case when given.floor_min > read.floor_max then 'floorMin' end,
    case when given.floor_max < read.floor_min then 'floorMax' end,
    case when wanted.furnished = '{}' then 'furnished' end
  ], null);
end
$$;
comment on function private.both_filters is
  'The filters that were given and those that were read from a query, together, and the names of '
  'given ones that exclude what was read.';

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
  if reading.words is not null and jsonb_typeof(reading.clauses) = 'array'
    and not reading.clauses @? 'strict $[*] ? (@.type() != "array")'
    and not reading.clauses @? '$[*][*] ? (@ like_regex "^(|.{101,})$")'
    and not exists (select from unnest(reading.words) as word where word !~ '^.{1,100}$') then
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

create function private.fits_any(
  strategy text, reading private.search_reading, asked tsquery
) returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  hits record;
begin
  hits := private.find_listings(
    strategy, private.default_sort(strategy), reading.filters, asked, null, null, null, null, 1);
  return hits.ids <> '{}';
end
$$;
comment on function private.fits_any is
  'Whether any listing of a strategy fits a query, of which asked are the words.';

create function private.relaxed_reading(
  strategy text, inout reading private.search_reading, block jsonb, out lost text[]
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  whole constant private.search_reading := reading;
  nothing private.search_reading;
  word text;
  guessed text[] := '{}'; -- unknown, but like words that are not
  known text[] := '{}';
  exact tsquery;
  guess tsquery;
  alike tsquery;
begin
  lost := '{}';
  foreach word in array reading.words loop
    exact := private.search_query(array[word]);
    if word ~ '^[0-9]+$' or private.fits_any(strategy, nothing, exact) then
      known := known || word;
      continue;
    end if;
    -- Each takes milliseconds.
    guess := case when cardinality(guessed) < 8 then private.search_query(array[word], true) end;
    if guess <> exact then
      guessed := guessed || word;
      alike := coalesce(alike && guess, guess);
    else
      lost := lost || word;
    end if;
  end loop;
  for step in 1 .. 3 loop
    reading.step := step;
    if step = 2 then
      lost := lost || array(select number from unnest(known) as number where number ~ '^[0-9]+$');
      known := array(select other from unnest(known) as other where other !~ '^[0-9]+$');
    elsif step = 3 then
      reading.clauses := (
        select coalesce(jsonb_agg(clause), '[]') from jsonb_array_elements(reading.clauses) as clause
        where not coalesce(block @> jsonb_build_array(clause), false)
      );
      reading.filters.area_m2_min := null;
      reading.filters.area_m2_max := null;
      reading.filters.bedrooms_min := null;
      reading.filters.floor_min := null;
      reading.filters.floor_max := null;
    end if;
    reading.words := known;
    exact := private.reading_query(reading);
    exit when private.fits_any(strategy, reading, coalesce(exact && alike, exact, alike));
  end loop;
  reading.words := known || guessed;
  if reading.words = '{}' and reading.clauses = '[]' and reading.filters is null
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
  'block. Type, kind, place and price stay. Lost: the words that were left out.';
