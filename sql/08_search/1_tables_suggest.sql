create extension if not exists fuzzystrmatch with schema extensions;

create table private.suggestions (
  terms text[] primary key,
  found_by text[] not null generated always as (
    case when cardinality(terms) < 3 then terms else terms[2:] end) stored,
  in_arabic jsonb not null,
  in_english jsonb not null,
  listings integer not null,
  counted_at timestamptz not null default now()
);
comment on table private.suggestions is
  'Suggested places and kinds, and combinations of type, kind and place that have listings, with '
  'the number of listings. Cleaned by private.count_suggestions, which rebuilds it.';
comment on column private.suggestions.terms is
  'Terms in the form of private.search_documents.document, such as area:salmiya.';
comment on column private.suggestions.found_by is
  'The terms that the index contains. Of three terms, these are only the kind and the place, '
  'because many rows have the same type.';
create index suggestions_found_by_idx on private.suggestions using gin (found_by)
  with (fastupdate = off);

create table private.suggest_hidden (
  word text primary key
    constraint suggest_hidden_is_one_word check (private.search_text(word) ~ '^[^ ]+$')
);
comment on table private.suggest_hidden is
  'Words of listings that are never suggested. Never purged: admins maintain them.';
create index suggest_hidden_compared_idx on private.suggest_hidden (private.search_text(word));

grant select on private.suggestions, private.suggest_hidden to acting;
alter table private.suggestions enable row level security;
create policy "functions for clients read all" on private.suggestions
  for select to acting using (true);
alter table private.suggest_hidden enable row level security;
create policy "functions for clients read all" on private.suggest_hidden
  for select to acting using (true);

-- These indexes find words that begin with the typed text, or with a text that differs by one letter.
create index reading_words_prefix_idx on private.reading_words (phrase text_pattern_ops);
create index reading_words_trigrams_idx on private.reading_words
  using gin (phrase extensions.gin_trgm_ops) with (fastupdate = off);
create index search_vocabulary_prefix_idx on private.search_vocabulary (word text_pattern_ops)
  where is_shared;
