-- How texts are compared in searches: the one place where the rule is written.
--
-- A text becomes words of plain letters and digits with single spaces between them. In this order:
--   1. NFKD: ligatures, full-width and presentation forms become plain letters, and what sits on a
--      letter (hamza, madda, accents) comes apart from it; Latin letters become lower case
--   2. letters that people write for one another become one: ٱ is ا; ى and the Persian ی are ي;
--      ة and its relatives are ه; ک گ are ك; ڤ پ چ ژ are ف ب ج ز; Arabic and Persian digits are 0 to 9
--   3. diacritics, tatweel, a hamza and invisible characters go; so أ إ آ are ا, ؤ is و, ئ is ي
--   4. whatever is no letter or digit becomes a space: %, _, quotes and operators say nothing
--   5. ال at the beginning of a word goes where two letters or more remain
--
-- test/search/search-text.ts does the same; test/search/vectors.json holds both to it.

create extension if not exists pg_trgm with schema extensions;

-- plpgsql keeps its plan for the session; a function in SQL is planned again at every call.
create function private.search_text(value text) returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
declare
  -- No listing has more in all its texts.
  plain text := lower(private.normal_form(value, 'nfkd', 16000, '') collate pg_catalog.pg_c_utf8);
begin
  plain := translate(plain, 'ىة٠١٢٣٤٥٦٧٨٩', 'يه0123456789');
  if plain ~ '[\u0671-\u06FF]' then
    plain := translate(plain,
      'ٱٲٳ' || 'یۍێېے' || 'ۃہھە' || 'کڪګگ' || 'ڤڥپچژ' || '۰۱۲۳۴۵۶۷۸۹',
      'ااا' || 'ييييي' || 'هههه' || 'كككك' || 'ففبجز' || '0123456789');
  end if;
  plain := regexp_replace(plain,
    '[\u0300-\u036F\u0610-\u061A\u0621\u0640\u064B-\u065F\u0670\u0674\u06D6-\u06DC\u06DF-\u06E8'
      || '\u06EA-\u06ED\u08D3-\u08FF\u00AD\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069'
      || '\uFE00-\uFE0F\uFEFF]+', '', 'g');
  plain := regexp_replace(plain, '[^[:alnum:]]+' collate pg_catalog.pg_c_utf8, ' ', 'g');
  return btrim(regexp_replace(plain, '(^| )(ال)+(?=[^ ]{2})', '\1', 'g'));
end
$$;
comment on function private.search_text is
  'A text as searches compare it; the rule is written at the head of '
  'sql/01_base/2_rules_search_text.sql.';

create function private.search_words(value text) returns text[]
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
begin
  -- An index entry has its bounds, and nobody looks for a word by its sixty-first letter. In order,
  -- because a cursor is tied to them, and the order of distinct rows is the plan's.
  return array(
    select distinct left(word, 60) collate "C" as word
    from unnest(string_to_array(private.search_text(value), ' ')) as word
    where word <> ''
    order by word
  );
end
$$;
comment on function private.search_words is 'The different words of a text as searches compare it, in order.';

create function private.query_words(q text) returns text[]
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
declare
  plain constant text := private.search_text(private.bounded(q, 200, 'q'));
begin
  -- One character can become eighteen (ﷺ).
  if char_length(q) > 200 or char_length(plain) > 200 then
    perform private.refuse_field('q', 'too_long');
  end if;
  return array(
    select first.word
    from (
      select left(given.word, 60) as word
      from string_to_table(plain, ' ') with ordinality as given (word, place)
      where given.word <> ''
      group by left(given.word, 60)
      order by min(given.place)
      limit 30
    ) as first
    order by first.word
  );
end
$$;
comment on function private.query_words is
  'The different words of what somebody looks for, in order, the first 30 of them. 422 for more than '
  '200 characters, as they were typed or as searches compare them.';

-- quote_literal writes for SQL, which reads a backslash otherwise. Without a search_path, so that it
-- costs no call.
create function private.quote_lexeme(word text) returns text
  language sql
  immutable
  parallel safe
  return '''' || replace(replace(quote_lexeme.word, '\', '\\'), '''', '''''') || '''';
comment on function private.quote_lexeme is
  'A word or term as it stands in the text of a tsquery, whatever is in it.';
