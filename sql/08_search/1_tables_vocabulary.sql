-- What a word of a search can stand for: itself, a place or kind of that name, and where too little
-- is found, words that look like it.

create table private.search_names (
  word text not null,
  term text not null,
  primary key (word, term)
);
comment on table private.search_names is
  'The words of the names and aliases of places, kinds and usages. Kept by triggers.';
comment on column private.search_names.word is 'A word, as private.search_text writes it.';
comment on column private.search_names.term is 'What has that word in a name, as area:salmiya.';
create index search_names_term_idx on private.search_names (term);

-- Nothing keeps a word single: two listings that bring it at once would wait for one another. Twice
-- the same word does no harm.
create table private.search_vocabulary (
  id bigint generated always as identity primary key,
  word text not null
    constraint search_vocabulary_words_can_be_guessed check (word ~ '^[^0-9]{3,}$')
);
comment on table private.search_vocabulary is
  'Every word that a listing or a name has had, to find those that look like a misspelt one.';
comment on column private.search_vocabulary.id is 'Its number.';
comment on column private.search_vocabulary.word is
  'As private.search_text writes it. Numbers are not guessed at: 104233 is not nearly 104234.';
create index search_vocabulary_word_idx on private.search_vocabulary (word);
create index search_vocabulary_trigrams_idx
  on private.search_vocabulary using gin (word extensions.gin_trgm_ops);

alter table private.search_names enable row level security;
alter table private.search_vocabulary enable row level security;
create policy "nobody but functions of their owner" on private.search_names using (false);
create policy "nobody but functions of their owner" on private.search_vocabulary using (false);

create function private.remember_words(words text[]) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  insert into private.search_vocabulary (word)
  select distinct given.word from unnest(words) as given (word)
  where given.word ~ '^[^0-9]{3,}$'
    and not exists (
      select from private.search_vocabulary where search_vocabulary.word = given.word
    );
end
$$;
comment on function private.remember_words is 'Adds words to the vocabulary of searches.';

create function private.keep_search_names() returns trigger
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  named jsonb := to_jsonb(coalesce(new, old));
  named_term text := coalesce(named ->> 'vocabulary', tg_argv[0])
    || ':' || coalesce(named ->> 'code', named ->> 'id');
  words text[] := private.search_words(concat_ws(' ',
    named ->> 'name_ar', named ->> 'name_en', named ->> 'alias_ar',
    named ->> 'text_ar', named ->> 'text_en'));
begin
  delete from private.search_names where search_names.term = named_term;
  if tg_op <> 'DELETE' then
    insert into private.search_names (word, term) select unnest(words), named_term;
    perform private.remember_words(words);
  end if;
  return null;
end
$$;
comment on function private.keep_search_names is
  'Keeps private.search_names: a name changed in Studio is found at once, no listing is touched.';

create trigger areas_are_found_by_name
  after insert or update or delete on public.areas
  for each row execute function private.keep_search_names('area');
create trigger governorates_are_found_by_name
  after insert or update or delete on public.governorates
  for each row execute function private.keep_search_names('governorate');
create trigger kinds_and_usages_are_found_by_name
  after insert or update on public.vocabularies
  for each row when (new.vocabulary in ('kind', 'usage'))
  execute function private.keep_search_names();
create trigger kinds_and_usages_are_forgotten
  after delete on public.vocabularies
  for each row when (old.vocabulary in ('kind', 'usage'))
  execute function private.keep_search_names();

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
  'The 10 words most like this one that share three tenths of their trigrams with it or more.';

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
    -- Words hold letters and digits only, terms come from our own tables: quoting is enough.
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
  'All of these words, in any order, each of them in the listing''s own text or in the name of its '
  'place, kind or usage; when guessing, a word that looks like it will do.';

revoke execute on all functions in schema private from public;
