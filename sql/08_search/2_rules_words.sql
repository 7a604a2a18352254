create function private.guessable_words(document tsvector) returns text[]
  language plpgsql immutable set search_path = ''
as $$
begin
  return array(
    select word from unnest(tsvector_to_array(document)) as word
    where word ~ '^[^0-9:]{3,}$'
    limit 200
  );
end
$$;
comment on function private.guessable_words is
  'Returns up to 200 words of a document that may serve as corrections of misspelt words.';

create function private.word_writer(account public.accounts) returns smallint
  language sql immutable
  return case when account.phone is not null then hashtext(account.id::text) % 32768 end;
comment on function private.word_writer is
  'Returns a small hash of the account, which is not unique. Null if the account has no phone '
  'number, because such accounts cost nothing to create.';

create function private.five_writers(known smallint[], others smallint[]) returns smallint[]
  language plpgsql immutable set search_path = ''
as $$
begin
  return case when cardinality(known) >= 5 then known
    else known || array(select unnest(others) except select unnest(known) limit 5) end;
end
$$;
comment on function private.five_writers is
  'Adds up to five new hashes if there are fewer than five. The result may have more than five.';

create function private.similar_words(word text) returns text[]
  language plpgsql stable
  security definer -- row-level security would prevent the use of the trigram indexes
  set search_path = ''
  set plan_cache_mode = force_generic_plan -- planning on every call would take five times as long
  -- Without these settings, the planner would compare all names one by one, because there are few.
  set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off
as $$
declare
  is_short constant boolean := cardinality(extensions.show_trgm(word)) <= 6; -- at most five letters
  names text[];
  words text[];
begin
  -- For a short word, two common trigrams are enough for a match in the index, so it is compared only
  -- with other short words.
  perform set_config('pg_trgm.similarity_threshold', case when is_short then '0.3' else '0.4' end, true);
  -- Names are limited separately, so that words of listings cannot crowd them out.
  names := array(
    select alike.name
    from (select distinct search_names.word as name from private.search_names
      where search_names.word operator(extensions.%) similar_words.word) as alike
    left join private.search_vocabulary as known on known.word = alike.name
    order by extensions.similarity(alike.name, similar_words.word) desc, known.listings desc nulls last,
      alike.name
    limit 3
  );
  words := array(
    select found.word
    from (
      select short.word, short.listings from private.search_vocabulary as short
      where is_short and short.is_shared and char_length(short.word) <= 6
        and short.word operator(extensions.%) similar_words.word
      union all
      select other.word, other.listings from private.search_vocabulary as other
      where not is_short and other.is_shared and other.word operator(extensions.%) similar_words.word
      limit 2000 -- ten times the largest number seen with a million listings
    ) as found
    where found.word <> all (names)
    order by extensions.similarity(found.word, similar_words.word) desc, found.listings desc, found.word
    limit 10
  );
  -- A set clause of the function would restore the setting too, but only a superuser may use it for this
  -- setting.
  perform set_config('pg_trgm.similarity_threshold', '0.3', true);
  return names || words;
end
$$;
comment on function private.similar_words is
  'Returns up to three names, followed by up to ten words of listings, with a trigram similarity '
  'of at least 0.4 (0.3 for a short word). Both are sorted by similarity, then by number of '
  'listings.';

-- The planner can inline this function, because a begin atomic body needs no search_path.
create function private.lexemes_of(word text) returns setof text
  language sql stable
begin atomic
  select lexemes_of.word
  union all
  select search_names.term from private.search_names where search_names.word = lexemes_of.word;
end;
comment on function private.lexemes_of is
  'Returns the word itself and the terms of places, kinds and usages whose names contain the word.';

create function private.alike_words(words text[]) returns jsonb
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select coalesce(
      jsonb_object_agg(doubtful.word, array_remove(private.similar_words(doubtful.word), doubtful.word)),
      '{}')
    from (
      select given.word from unnest(words) with ordinality as given (word, index)
      where given.word ~ '^[^0-9]{3,}$'
        and not exists (select from private.search_names where search_names.word = given.word)
        and not exists (select from private.search_vocabulary as known
          where known.word = given.word and known.listings >= 16)
      order by given.index
      limit 4 -- each word takes a millisecond
    ) as doubtful
  );
end
$$;
comment on function private.alike_words is
  'Returns the similar words of each of the first four words that are neither frequent nor part of '
  'a name.';

create function private.search_query(
  words text[], alike jsonb default '{}', joint text default '&'
) returns tsquery
  language plpgsql stable
  security definer -- otherwise, each calling role would need its own plan
  set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  -- Words contain only letters and digits, and terms are our own, so quoting is enough.
  return (
    select string_agg('(' || required.alternatives || ')', joint order by required.index)
    from (
      select given.index, string_agg(distinct private.quote_lexeme(lexeme), '|') as alternatives
      from unnest(words) with ordinality as given (word, index)
      cross join lateral (
        select given.word as reading union all
        select jsonb_array_elements_text(alike -> given.word)
      ) as readings
      cross join lateral private.lexemes_of(readings.reading) as lexeme
      group by given.index
    ) as required
  )::tsquery;
end
$$;
comment on function private.search_query is
  'Returns a query for listings with all words (with any of them if joint is |). A word may be '
  'replaced by a similar one (alike), and may be in the text or in a name (private.lexemes_of).';
