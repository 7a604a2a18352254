-- What a word of a search can stand for: itself, a place, kind or usage of that name, and where too
-- little is found, words that look like it.

create function private.guessable_words(document tsvector) returns text[]
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  -- A long description has a hundred words.
  return array(
    select word from unnest(tsvector_to_array(document)) as word
    where word ~ '^[^0-9:]{3,}$'
    limit 200
  );
end
$$;
comment on function private.guessable_words is
  'Those words of a listing that a misspelt one can be taken for, 200 at most: all of them are found.';

create function private.word_writer(account public.accounts) returns smallint
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return case when account.phone is not null then hashtext(account.id::text) % 32768 end;
end
$$;
comment on function private.word_writer is
  'The mark of an account in private.search_vocabulary, which many accounts share; null without a phone, '
  'since such an account costs nothing.';

create function private.five_writers(known smallint[], others smallint[]) returns smallint[]
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return case when cardinality(known) >= 5 then known
    else known || array(select unnest(others) except select unnest(known) limit 5) end;
end
$$;
comment on function private.five_writers is
  'The marks that are known and those of others beside them, enough to know that there are five.';

create function private.similar_words(word text) returns text[]
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  threshold real;
  words text[];
  names text[];
begin
  -- The more they have to share, the sooner they are found, and the likelier they are meant. Among a
  -- hundred thousand words every one has ten that share three tenths.
  foreach threshold in array '{0.5,0.4,0.3}'::real[] loop
    perform set_config('pg_trgm.similarity_threshold', threshold::text, true);
    words := array(
      select alike.word
      from (
        select known.word, known.listings, extensions.similarity(known.word, similar_words.word)
        from private.search_vocabulary as known
        where known.is_shared and known.word operator(extensions.%) similar_words.word
        limit 2000 -- ten times what the most crowded threshold gives at a million listings
      ) as alike
      order by alike.similarity desc, alike.listings desc, alike.word
      limit 10
    );
    exit when cardinality(array_remove(words, word)) >= case threshold when 0.5 then 5 else 2 end;
  end loop;
  -- As it was. A setting of the function would do that too, but takes a superuser to create.
  perform set_config('pg_trgm.similarity_threshold', '0.3', true);
  -- Names are few, and compared one by one: whatever people write does not crowd them out.
  names := array(
    select alike.name
    from (
      select distinct search_names.word as name,
        extensions.similarity(search_names.word, similar_words.word)
      from private.search_names
    ) as alike
    left join private.search_vocabulary as known on known.word = alike.name
    where alike.similarity >= least(threshold, 0.4::real)
    order by alike.similarity desc, known.listings desc nulls last, alike.name
    limit 3
  );
  return names || words;
end
$$;
comment on function private.similar_words is
  'The 10 words most similar to this one, of equally similar ones those of more listings: of those that '
  'share half of the trigrams, where five do; else of those that share four tenths, where two do; else '
  'of those that share three tenths. And the three names most similar to it that share four tenths, or '
  'three likewise.';

create function private.search_query(
  words text[], guessing boolean default false, guesses jsonb default '{}'
) returns tsquery
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  guessable text[];
  wanted text;
  readings text[];
  asked text;
begin
  if guessing then
    -- A name is meant as it stands, and what many write is no slip of the pen, unless it is all that
    -- there is to guess at. Each guess takes a millisecond.
    select (coalesce(
      array_agg(given.word order by given.place) filter (where known.word is null),
      array_agg(given.word order by given.place)))[:4]
    into guessable
    from unnest(words) with ordinality as given (word, place)
    left join private.search_vocabulary as known
      on known.word = given.word and known.listings >= 16
    where given.word ~ '^[^0-9]{3,}$' and not exists (
      select from private.search_names where search_names.word = given.word
    );
  end if;
  foreach wanted in array words loop
    readings := array[wanted];
    if wanted = any (guessable) then
      readings := readings || coalesce(
        case when guesses ? wanted then array(select jsonb_array_elements_text(guesses -> wanted)) end,
        private.similar_words(wanted));
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
  'where all are common, but nothing in place of a name: of four words, of those in guesses as they say.';
