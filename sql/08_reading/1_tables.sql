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
  'The meanings of phrases in search queries. Rows with the same phrase and field are '
  'alternatives. Never purged: admins maintain them.';
comment on column private.reading_words.phrase is
  'One to five words, in the form that private.search_text returns.';
comment on column private.reading_words.field is
  'The meaning of the phrase. type, strategy, kind, area, governorate, landmark, furnished, '
  'plot_position, amenity, sort: value is the code. direct: offered by the owner. unit: the unit '
  'of the adjacent number (other: a unit without a filter, such as years). times: multiplies the '
  'number before it by value. count: a number word; value is the number. rooms, bathrooms: value '
  'is how many. floor: value is the floor. ordinal: value is the floor if a word for floor is next '
  'to it. bound: the following amount is a minimum, a maximum or the like. measure: the following '
  'amount measures the listing (m2), a street or front (length), or an income or deposit (other). '
  'negation: excludes the next item (verb: a verb may follow, ما ابي; nor: may mean "or", ولا; '
  'doubt: may be a question, ما عندكم). join: an "or" between kinds. plain: searched as words, '
  'although parts of it have a meaning (maid room). stopword: ignored. before: ignored in front of '
  'a landmark or place (such as beside).';
comment on column private.reading_words.value is 'A code, a number, or empty, depending on field.';
comment on column private.reading_words.is_name is
  'Whether a trigger inserted the row because a place or kind has this name.';

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
  'The interpretation of a query. found: its meanings as [{field, value, text}], shown to clients. '
  'filters: the same meanings in the form of private.search_filters. words: the remaining words in '
  'the normalised form that searches compare. typed: these words as the user typed them. ignored: '
  'the parts that are not used. strategy: the strategy that the query names, if the client '
  'requested a different one. sort: the sort order that the query names, if the client requested '
  'none.';
