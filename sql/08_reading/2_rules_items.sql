create function private.said_once(plain text[], typed text[], out once text[], out shown text[])
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  if cardinality(plain) <= 20 then
    once := plain;
    shown := typed;
    return;
  end if;
  -- A unit or a bound can occur with many numbers, so only repeated pairs of words are dropped.
  select coalesce(array_agg(said.word order by said.index), '{}'),
    coalesce(array_agg(said.typed order by said.index), '{}')
  into once, shown
  from (
    select given.*,
      row_number() over (partition by given.before, given.word order by given.index) as times,
      count(*) filter (where given.is_new) over (order by given.index) as different
    from (
      select word.*, lag(word.word) over (order by word.index) as before,
        row_number() over (partition by word.word order by word.index) = 1 as is_new
      from unnest(said_once.plain, said_once.typed) with ordinality as word (word, typed, index)
    ) as given
  ) as said
  where said.times = 1 and said.different <= 30;
end
$$;
comment on function private.said_once is
  'If there are more than 20 words, drops each that has already followed the same word, and all '
  'from the 31st distinct word on.';

create function private.reading_tokens(
  q text, out plain text[], out typed text[], out ignored text[]
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  -- ƍ marks a decimal point, ƕ a comma, slash, & or + between words, ƣ a dash between numbers.
  marked text := private.ascii_digits(private.visible(q));
  word text;
  parts text[];
begin
  -- A Kuwaiti phone number, with or without the country code, as in +965 9988 7766, is removed.
  if marked ~ '[0-9]{4}[ -]?[0-9]{4}' then
    parts := regexp_match(marked,
      '(?:^|[\s:,،(])((?:(?:\+|00)?965[ -]?)?(?=2|' || private.mobile_prefixes()
        || ')[0-9]{4}[ -]?[0-9]{4})(?=$|[\s.,،)؟?!])');
    if parts is not null then
      ignored := array[parts[1]];
      marked := replace(marked, parts[1], ' ');
    end if;
  end if;
  if marked ~ '[,٬،.٫/&+–-]' then
    marked := regexp_replace(marked, '([0-9])[,٬](?=[0-9]{3}([^0-9]|$))', '\1', 'g');
    marked := regexp_replace(marked, '([0-9])[.٫](?=[0-9])', '\1ƍ', 'g');
    marked := regexp_replace(marked, '([0-9]) ?[–-] ?(?=[0-9])', '\1 ƣ ', 'g');
    marked := regexp_replace(marked, ' ?[,،/&+] ?', ' ƕ ', 'g');
  end if;
  plain := string_to_array(private.search_text(marked), ' ');
  -- Diacritics are not alphanumeric, so they may split words here; then the plain words are shown.
  typed := string_to_array(
    btrim(regexp_replace(marked, '[^[:alnum:]]+' collate pg_catalog.pg_c_utf8, ' ', 'g')), ' ');
  if cardinality(typed) <> cardinality(plain) then
    typed := plain;
  end if;
  select said.once, said.shown into plain, typed from private.said_once(plain, typed) as said;
  if not plain::text ~ '[0-9]' then
    return;
  end if;
  -- 400م is split into two words if م is a unit, and so is ق5 if ق is a unit.
  for n in reverse cardinality(plain) .. 1 loop
    word := plain[n];
    parts := coalesce(regexp_match(word, '^([0-9]+(?:ƍ[0-9]+)?)([^0-9ƍ].*)$'),
      regexp_match(word, '^([^0-9]+)([0-9]+)$'));
    if parts is not null and exists (
      select from private.reading_words
      where reading_words.phrase = parts[case when word ~ '^[0-9]' then 2 else 1 end]
        and (reading_words.field in ('unit', 'times') and word ~ '^[0-9]'
          or reading_words.field = 'unit' and reading_words.value in ('block', 'floor', 'kwd')
          or word ~ '^[وبلف][0-9]')
    ) and not exists (select from private.reading_words where reading_words.phrase = word) then
      plain := plain[:n - 1] || parts || plain[n + 1:];
      typed := typed[:n - 1] || parts || typed[n + 1:];
    end if;
  end loop;
end
$$;
comment on function private.reading_tokens is
  'plain: the words in the form that searches compare, with marks for the signs between them; '
  'typed: the same words as typed. ignored: a phone number that was removed.';

create type private.reading_item as (
  field text, choices text[], phrase text, first integer, last integer, number numeric, low numeric,
  high numeric
);
comment on type private.reading_item is
  'Consecutive words of a query with one meaning. field is that of private.reading_words, or null '
  'for words without a meaning; number for a number and mark for a sign between words. '
  'private.reading_numbers replaces number with what it measures, from low to high: size, rooms, '
  'block, floor, price or bare (a price if the type of listing is known).';

create function private.reading_items(plain text[]) returns private.reading_item[]
  language plpgsql
  stable
  security definer
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  size constant integer := cardinality(plain);
  text_of constant text := array_to_string(plain, ' ') || ' ';
  owners integer[] := array_fill(0, array[size]);
  items private.reading_item[] := '{}';
  read private.reading_item[] := '{}';
  rests text[] := '{}';
  heads text[] := '{}';
  firsts integer[] := '{}';
  cuts integer[] := '{}';
  rest text := text_of;
  cut integer;
  met record;
  number text;
begin
  for index in 1 .. size loop
    heads := heads || plain[index];
    rests := rests || rest;
    firsts := firsts || index;
    cuts := cuts || 0;
    -- Names are also looked up without a joined prefix such as "in" or "and": بالسالمية, والمنقف.
    cut := length(substring(plain[index] from '^(?:بال|وال|فال|كال|لل|ب|و|ف)(?=.{3})'));
    if cut > 0 then
      heads := heads || substr(plain[index], cut + 1);
      rests := rests || substr(rest, cut + 1);
      firsts := firsts || index;
      cuts := cuts || cut;
    end if;
    rest := substr(rest, length(plain[index]) + 2);
  end loop;
  for met in
    select head.first, head.cut, listed.phrase, listed.field, listed.is_name,
      array_agg(listed.value order by listed.value) as choices,
      head.first + length(listed.phrase) - length(replace(listed.phrase, ' ', '')) as last
    from unnest(heads, rests, firsts, cuts) as head (word, rest, first, cut)
    join private.reading_words as listed on split_part(listed.phrase, ' ', 1) = head.word
      and starts_with(head.rest, listed.phrase || ' ')
    where head.cut = 0 or listed.field in ('area', 'governorate', 'kind', 'times')
    group by head.first, head.cut, listed.phrase, listed.field, listed.is_name
    order by length(listed.phrase) - length(replace(listed.phrase, ' ', '')) desc,
      listed.field = 'stopword', head.cut, head.first,
      -- A name that an area and a governorate share means the area.
      listed.is_name desc, listed.field
  loop
    continue when 0 <> any (owners[met.first:met.last]);
    items := items || row(
      met.field, met.choices, met.phrase, met.first, met.last,
      case when met.field in ('times', 'count', 'rooms', 'floor', 'ordinal') then met.choices[1] end,
      null, null
    )::private.reading_item;
    for n in met.first .. met.last loop
      owners[n] := cardinality(items);
    end loop;
  end loop;
  for index in 1 .. size loop
    if owners[index] = 0 then
      number := substring(replace(plain[index], 'ƍ', '.') from '^[0-9]{1,12}(?:[.][0-9]{1,6})?$');
      read := read || row(
        case when number is not null then 'number' when plain[index] in ('ƕ', 'ƣ') then 'mark' end,
        null, plain[index], index, index, number, null, null
      )::private.reading_item;
    elsif (items[owners[index]]).first = index then
      read := read || items[owners[index]];
    end if;
  end loop;
  return read;
end
$$;
comment on function private.reading_items is
  'Splits the words into items. Prefers the phrase with the most words, then any phrase to a '
  'stopword, then one without a removed prefix, then the first, then a name.';
