-- Triggers write the names of areas and kinds; 91_data_words.sql has the other rows.

create table private.reading_words (
  phrase text not null
    constraint reading_words_are_short check (phrase ~ '^[^ ]+( [^ ]+){0,4}$'),
  field text not null,
  value text not null default '',
  is_name boolean not null default false,
  primary key (phrase, field, value)
);
comment on table private.reading_words is
  'Rows with one phrase and field mean any of their values. Never purged: admins maintain it.';
comment on column private.reading_words.phrase is
  'One to five words, stored as private.search_text writes them.';
comment on column private.reading_words.field is
  'What the phrase means. type, strategy, kind, area, governorate, furnished, plot_position: the '
  'thing with the code in value. unit: what the number beside it counts (m2, rooms, block, floor, '
  'kwd). times: the number before it is multiplied by value. count: a number written as a word. '
  'rooms, floor: that number of rooms, that floor. ordinal: the number of a floor, if a word for '
  'floor is beside it. bound: whether the number after it is a max, min, about, from, to or '
  'between. beside: the number after it is not a size (street, front). negation: what follows is '
  'excluded. join: or, between kinds. plain: the phrase is searched as words, although parts of it '
  'have a meaning (rent allowance). stopword: it is ignored.';
comment on column private.reading_words.value is 'A code, a number, or empty, depending on field.';
comment on column private.reading_words.is_name is 'A trigger writes it with the area or kind.';

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
  'found: [{field, value, text}], with fields named like filters. filters: conditions on listings, '
  'named as in private.search_filters. clauses: lists of words and terms, of each of which a '
  'listing must have at least one, in a field or in its text; block: the same for the block. '
  'words: the remaining words, in the form that searches compare; typed: as typed. ignored: what '
  'was left out. strategy: the one that has what was asked for, if it is not the chosen one.';

create type private.search_reading as (
  clauses jsonb,
  words text[],
  filters jsonb,
  step smallint
);
comment on type private.search_reading is
  'What a search uses of a reading and its cursor contains: clauses, words, filters, and a number '
  'for what was left out because nothing matched: 0 nothing, 1 unknown words, 2 numbers, 3 size, '
  'rooms, floor and block, 4 all words, 5 those of 3 and 4; null if not known yet.';
