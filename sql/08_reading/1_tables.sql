-- Triggers insert the names of areas, governorates and kinds; 91_data_words.sql inserts the rest.

create table private.reading_words (
  phrase text not null
    constraint reading_words_are_short check (phrase ~ '^[^ ]+( [^ ]+){0,4}$'),
  field text not null,
  value text not null default '',
  is_name boolean not null default false,
  primary key (phrase, field, value)
);
comment on table private.reading_words is
  'What phrases mean in a query. Rows with the same phrase and field mean any of their values. '
  'Never purged: admins maintain them.';
comment on column private.reading_words.phrase is
  'One to five words, in the form that private.search_text returns.';
comment on column private.reading_words.field is
  'What the phrase means. type, strategy, kind, area, governorate, landmark, furnished, '
  'plot_position, amenity, sort: value is the code. direct: from the owner. unit: what the number '
  'beside it counts (other: years and the like, for which there is no filter). times: the number '
  'before it is multiplied by value. count: value is the number that it spells out. rooms, '
  'bathrooms: how many; floor: which one; ordinal: the same, beside a word for floor. bound: how '
  'the number after it is meant. measure: what the amount after it measures (m2: the listing; '
  'length: a street or front; other: an income or deposit). negation: what follows is not meant '
  '(verb: a verb can follow, ما ابي; nor: can mean "or", ولا; doubt: can be a question, ما عندكم). '
  'join: an "or" between kinds. plain: searched as words, although parts of it have a meaning '
  '(maid room). stopword: ignored. before: ignored before a landmark or place (beside).';
comment on column private.reading_words.value is 'A code, a number, or empty, depending on field.';
comment on column private.reading_words.is_name is 'Whether a trigger wrote the row for a name.';

create index reading_words_first_word_idx on private.reading_words (split_part(phrase, ' ', 1));
create index reading_words_meaning_idx on private.reading_words (field, value);

alter table private.reading_words enable row level security;
grant select on private.reading_words to acting;
create policy "functions for clients read all" on private.reading_words for select to acting using (true);

create type private.reading as (
  found jsonb,
  filters jsonb,
  words text[],
  typed text[],
  ignored text[],
  strategy text,
  sort text
);
comment on type private.reading is
  'How a query is understood. found: [{field, value, text}], shown to clients; filters: the same, '
  'as in private.search_filters. words: the rest, in the form that searches compare; typed: the '
  'same as typed. ignored: what was left out. strategy: the one that the query asks for, if '
  'another is chosen. sort: the order that it asks for, if none is given.';
