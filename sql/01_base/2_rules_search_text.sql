-- Search compares texts after reducing them to plain letters and digits with single spaces:
--   1. NFKD: ligatures, full-width and presentation forms become plain letters, and marks on a
--      letter (hamza, madda, accents) are separated from it; Latin letters become lower case
--   2. letters that people use interchangeably are unified: ٱ becomes ا; ى and the Persian ی become ي;
--      ة and its variants become ه; ک گ become ك; ڤ پ چ ژ become ف ب ج ز; Arabic and Persian digits
--      become 0-9
--   3. diacritics, tatweel, hamzas and invisible characters are removed, so أ إ آ become ا, ؤ becomes و
--      and ئ becomes ي; but ئ before و becomes و, because مسئول and مسؤول, شئون and شؤون are spellings
--      of the same word
--   4. anything but letters and digits becomes a space, so %, _, quotes and operators mean nothing
--   5. ال at the beginning of a word is removed if two letters or more remain
-- test/search/search-text.ts implements the same steps. test/search/vectors.json has test cases for
-- both implementations.

create extension if not exists pg_trgm with schema extensions;

create function private.search_text(value text) returns text
  language plpgsql immutable parallel safe set search_path = ''
as $$
declare
  -- All texts of a listing together never exceed this limit of 16,000 characters.
  plain text := lower(private.normal_form(value, 'nfkd', 16000, '') collate pg_catalog.pg_c_utf8);
begin
  plain := translate(plain, 'ىة٠١٢٣٤٥٦٧٨٩', 'يه0123456789');
  if plain ~ '[\u0671-\u06FF]' then
    plain := translate(plain,
      'ٱٲٳ' || 'یۍێېے' || 'ۃہھە' || 'کڪګگ' || 'ڤڥپچژ' || '۰۱۲۳۴۵۶۷۸۹',
      'ااا' || 'ييييي' || 'هههه' || 'كككك' || 'ففبجز' || '0123456789');
  end if;
  plain := regexp_replace(plain,
    '[\u0300-\u036F\u0610-\u061A\u0621\u0640\u064B-\u0653\u0655-\u065F\u0670\u0674\u06D6-\u06DC\u06DF-\u06E8'
      || '\u06EA-\u06ED\u08D3-\u08FF\u00AD\u061C\u180B-\u180D\u180F\u200B-\u200F\u202A-\u202E'
      || '\u2060-\u2069'
      || '\uFE00-\uFE0F\uFEFF\U000E0100-\U000E01EF]+', '', 'g');
  -- The hamza above is removed last, because it distinguishes ئ from ي.
  plain := replace(replace(plain, U&'\064A\0654\0648', 'وو'), U&'\0654', '');
  plain := regexp_replace(plain, '[^[:alnum:]]+' collate pg_catalog.pg_c_utf8, ' ', 'g');
  return btrim(regexp_replace(plain, '(^| )(ال)+(?=[^ ]{2})', '\1', 'g'));
end
$$;

create function private.name_order(name text) returns text
  language sql immutable parallel safe
  return left(private.search_text(coalesce(name_order.name, '')), 120);
comment on function private.name_order is
  'The sort key of a name, for collation C: its plain letters, whose code points are in '
  'alphabetical order. Sorting the names themselves, by code points or with many other collations, '
  'would separate آ, أ, إ and ا.';

create function private.search_words(value text) returns text[]
  language plpgsql immutable parallel safe set search_path = ''
as $$
begin
  -- Words are truncated to fit into index entries, and sorted because cursors depend on their order.
  return array(
    select distinct left(word, 60) collate "C" as word
    from unnest(string_to_array(private.search_text(value), ' ')) as word
    where word <> ''
    order by word
  );
end
$$;

create function private.is_query(q text) returns boolean
  language plpgsql immutable parallel safe set search_path = ''
as $$
begin
  return coalesce(private.visible(q) collate pg_catalog.pg_c_utf8 ~ (
    '[^[:space:]\u0640\u115F\u1160\u200C\u200D\u2061-\u2069\u3164\uFFA0'
    || substr(private.marks(), 2)), false);
end
$$;
comment on function private.is_query is
  'Whether a query has any character other than spaces, diacritics, tatweel and invisible '
  'characters. If it has none, it is treated as absent. A query of only punctuation and symbols '
  'matches nothing.';

create function private.query_words(q text) returns text[]
  language plpgsql immutable parallel safe set search_path = ''
as $$
declare
  plain constant text := private.search_text(private.bounded(q, 200, 'q'));
begin
  -- The plain text is checked as well, because NFKD can turn one character into eighteen (ﷺ).
  if char_length(q) > 200 or char_length(plain) > 200 then
    perform private.refuse_field('q', 'too_long', most => 200);
  end if;
  return array(
    select first.word
    from (
      select left(given.word, 60) as word
      from string_to_table(plain, ' ') with ordinality as given (word, index)
      where given.word <> ''
      group by left(given.word, 60)
      order by min(given.index)
      limit 30
    ) as first
    order by first.word
  );
end
$$;
comment on function private.query_words is 'The first 30 distinct words of a query, sorted.';

-- Unlike quote_literal, this escapes backslashes for tsquery instead of for SQL. The function sets
-- no search_path, so that it can be inlined.
create function private.quote_lexeme(word text) returns text
  language sql immutable parallel safe
  return '''' || replace(replace(quote_lexeme.word, '\', '\\'), '''', '''''') || '''';
