-- The words of a query that mean something: one list, of which every word is a row.
--
-- Names of places and kinds are written here by triggers; the other rows stand in 91_data_words.sql,
-- and an admin adds to them in Studio. 4_reads.sql is the one reader.

create table private.reading_words (
  phrase text not null
    constraint reading_words_are_short check (phrase ~ '^[^ ]+( [^ ]+){0,4}$'),
  field text not null,
  value text not null default '',
  is_name boolean not null default false,
  primary key (phrase, field, value)
);
comment on table private.reading_words is
  'What words of a search mean. Add a row for a word that people type: it is read from the next '
  'search on. Several rows of one phrase and field mean any of their values. Stays: as long as an '
  'admin leaves it.';
comment on column private.reading_words.phrase is
  'One to five words, typed as people type them; kept as private.search_text writes them.';
comment on column private.reading_words.field is
  'What it says. type, strategy, kind, area, governorate, furnished, plot_position: that, by the '
  'code in value. unit: what the number beside it counts (m2, rooms, block, floor, kwd); times: '
  'the number times value; count: a number as a word; rooms, floor: that number of rooms, that '
  'floor; ordinal: which floor, beside one; bound: max, min, about, from, to or between, of the '
  'number after it. beside: the number after it is no size (street, front). negation: not what '
  'follows; join: or, between kinds. plain: stays words, though parts of it mean something (rent '
  'allowance). stopword: says nothing.';
comment on column private.reading_words.value is
  'A code, a number, or nothing, as the field asks.';
comment on column private.reading_words.is_name is
  'A name of a place or kind, written by its own table: change it there.';

create index reading_words_first_word_idx on private.reading_words (split_part(phrase, ' ', 1));

alter table private.reading_words enable row level security;
create policy "nobody but functions of their owner" on private.reading_words using (false);

create type private.reading as (
  found jsonb,
  filters jsonb,
  clauses jsonb,
  block jsonb,
  words text[],
  typed text[],
  ignored text[],
  strategy text
);
comment on type private.reading is
  'A query as it was read. found: [{field, value, text}], named as filters are. filters: what '
  'listings have to be, by names of private.search_filters. clauses: what they have by field or '
  'text, each a list of words and terms of which one will do; block: those of the block. words: '
  'the other words, as listings are searched; typed: as they were typed. ignored: what was left '
  'out. strategy: the one that has what was asked, if it is another.';

create type private.search_reading as (
  clauses jsonb,
  words text[],
  filters jsonb,
  step smallint
);
comment on type private.search_reading is
  'A query as a search uses it, and as its cursor carries it: the clauses, words and filters of '
  'private.reading, and what was left out where nothing fitted: 1 unknown words, 2 numbers, 3 size, '
  'rooms, floor and block, 4 all words, 5 these and all words; 0 nothing, null not known yet.';
