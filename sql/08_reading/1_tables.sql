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
  'The meanings of phrases in a query. Rows with the same phrase and field are alternatives. '
  'Never purged: admins maintain them.';
comment on column private.reading_words.phrase is
  'One to five words, in the form that private.search_text returns.';
comment on column private.reading_words.field is
  'The meaning of the phrase. type, strategy, kind, area, governorate, landmark, furnished, '
  'plot_position, amenity, sort: value is the code. direct: from the owner. unit: the unit of the '
  'number beside it (other: years and the like, for which there is no filter). times: multiplies '
  'the number before it by value. count: spells out the number in value. rooms, bathrooms: value '
  'is their number; floor: value is the floor; ordinal: the same, beside a word for floor. bound: '
  'a minimum, a maximum or the like comes next. measure: the amount after it measures the listing '
  '(m2), a street or front (length), an income or deposit (other). negation: excludes the next '
  'item (verb: a verb can follow, ما ابي; nor: can mean "or", ولا; doubt: can be a question, ما '
  'عندكم). join: an "or" between kinds. plain: searched as words, although parts of it have a '
  'meaning (maid room). stopword: ignored. before: ignored before a landmark or place (beside).';
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
  'same words as typed. ignored: parts that were left out. strategy: the strategy that the query '
  'names, if the client chose another. sort: the order that it names, if the client chose none.';
