-- What a word of a search can stand for: itself, a place, kind or usage of that name, and where too
-- little is found, words that look like it.

create function private.similar_words(word text) returns text[]
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  words text[];
  threshold text;
begin
  -- The more they have to share, the sooner they are found, and the likelier they are meant. Among a
  -- hundred thousand words every one has ten that share three tenths.
  foreach threshold in array '{0.5,0.4,0.3}'::text[] loop
    perform set_config('pg_trgm.similarity_threshold', threshold, true);
    words := array(
      select search_vocabulary.word from private.search_vocabulary
      where search_vocabulary.word operator(extensions.%) similar_words.word
      group by search_vocabulary.word
      order by
        extensions.similarity(search_vocabulary.word, similar_words.word) desc,
        search_vocabulary.word
      limit 10
    );
    exit when cardinality(array_remove(words, word)) >= case threshold when '0.5' then 5 else 2 end;
  end loop;
  -- As it was. A setting of the function would do that too, but takes a superuser to create.
  perform set_config('pg_trgm.similarity_threshold', '0.3', true);
  return words;
end
$$;
comment on function private.similar_words is
  'The 10 words most similar to this one: of those that share half of the trigrams, where five others '
  'do; else of those that share four tenths, where two do; else of those that share three tenths.';

create function private.search_query(words text[], guessing boolean default false) returns tsquery
  language plpgsql
  stable
  security definer -- reads closed tables
  set search_path = ''
as $$
declare
  words_in_doubt text[];
  guessable text[];
  wanted text;
  readings text[];
  asked text;
begin
  if guessing then
    -- A name is meant as it stands, and what many write is no slip of the pen, unless it is all that
    -- there is to guess at.
    words_in_doubt := array(
      select given.word from unnest(words) as given (word)
      where given.word ~ '^[^0-9]{3,}$' and not exists (
        select from private.search_names where search_names.word = given.word
      )
    );
    guessable := array(
      select given.word from unnest(words_in_doubt) as given (word)
      where not exists (
        select from private.search_common_words where search_common_words.word = given.word
      )
    );
    if guessable = '{}' then
      guessable := words_in_doubt;
    end if;
  end if;
  foreach wanted in array words loop
    readings := array[wanted];
    if wanted = any (guessable) then
      readings := readings || private.similar_words(wanted);
    end if;
    -- Words hold letters and digits only, and terms come from our own tables: quoting is enough.
    asked := concat_ws('&', asked, (
      select '(' || string_agg(distinct private.quote_lexeme(reading), '|') || ')'
      from unnest(readings || array(
        select search_names.term from private.search_names where search_names.word = any (readings)
      )) as reading
    ));
  end loop;
  return asked::tsquery;
end
$$;
comment on function private.search_query is
  'All of these words in any order, each in the text of the listing or in the name of its place, '
  'kind or usage; when guessing, words similar to those that are not common will do, or to all '
  'where all are common, but nothing in place of a name.';
