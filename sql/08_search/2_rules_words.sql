-- What a word of a search can stand for: itself, a place, kind or usage of that name, and where too
-- little is found, words that look like it.

create function private.similar_words(word text) returns text[]
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set pg_trgm.similarity_threshold = 0.3
as $$
begin
  return array(
    select search_vocabulary.word from private.search_vocabulary
    where search_vocabulary.word operator(extensions.%) similar_words.word
    group by search_vocabulary.word
    order by
      extensions.similarity(search_vocabulary.word, similar_words.word) desc,
      search_vocabulary.word
    limit 10
  );
end
$$;
comment on function private.similar_words is
  'The 10 words most similar to this one, of those that share at least three tenths of the '
  'trigrams.';

create function private.search_query(words text[], guessing boolean default false) returns tsquery
  language plpgsql
  stable
  security definer -- reads closed tables
  set search_path = ''
as $$
declare
  wanted text;
  readings text[];
  asked text;
begin
  foreach wanted in array words loop
    readings := array[wanted];
    if guessing and wanted ~ '^[^0-9]{3,}$' then
      readings := readings || private.similar_words(wanted);
    end if;
    -- Words hold letters and digits only, and terms come from our own tables: quoting is enough.
    asked := concat_ws('&', asked, (
      select '(' || string_agg(distinct quote_literal(reading), '|') || ')'
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
  'kind or usage; when guessing, a similar word will do.';
