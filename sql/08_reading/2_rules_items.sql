create function private.reading_signs(q text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  signs text := q;
  times constant text :=
    '(?:a )?(?:ملي|ملاي|mil|ml?n|m(?![a-z0-9])|[اأآ]لا?ف(?![ء-ي])|k(?![a-z])|thous)';
begin
  -- Each regular expression runs only if its sign occurs, because Postgres caches only a few compiled
  -- expressions.
  if translate(signs, '½¼¾', '') <> signs then
    signs := replace(replace(replace(signs, '½', ' 1/2'), '¼', ' 1/4'), '¾', ' 3/4');
  end if;
  if signs like '% 000%' then
    signs := regexp_replace(signs, '(^|[^0-9 ] ?)([0-9]{1,3}) 000(?![0-9])', '\1\2000', 'g');
  end if;
  if translate(signs, ',٬،', '') <> signs then -- 350,000 and 1,25,000 and ٣٥٠،٠٠٠, but 1,5 million
    signs := regexp_replace(signs,
      '([0-9])(?:[,٬](?=(?:[0-9]{2}[,٬])?[0-9]{3}(?:[^0-9]|$))|،(?=000(?:[^0-9]|$)))', '\1', 'g');
    signs := regexp_replace(signs, '([0-9])[,،](?=[0-9]{1,2} ?' || times || ')', '\1ƍ', 'gi');
  end if;
  if translate(signs, '.٫', '') <> signs then -- 1.250.000, but 1.5 and .5
    signs := regexp_replace(
      signs, '([0-9]{1,3})[.٫]([0-9]{3})[.٫]([0-9]{3})(?![.0-9])', '\1\2\3', 'g');
    signs := regexp_replace(signs, '(^|\s)[.٫](?=[0-9])', '\10.', 'g');
    signs := regexp_replace(signs, '([0-9])[.٫](?=[0-9])', '\1ƍ', 'g');
  end if;
  if translate(signs, '/⁄', '') <> signs then -- 1/2 million, but 300/400
    signs := regexp_replace(signs, '([0-9])[/⁄](?=[0-9]{1,2} ?' || times || ')', '\1ƌ', 'gi');
    signs := regexp_replace(signs, '([0-9]) ?/ ?(?=[0-9])', '\1 ƨ ', 'g');
  end if;
  if translate(signs, '–—~-', '') <> signs then -- 300-400, 300 kd - 400 kd
    signs := regexp_replace(signs, '([0-9]) ?[–—~-] ?(?=[0-9])', '\1 ƣ ', 'g');
    signs := regexp_replace(signs, '((?:[0-9] ?|^|\s)(?:' || times || '[^\s–—-]*|و?نصف?|و?ربع'
      || '|kw?d|دينار|د ?\.? ?ك\.?|متر|م2?|m2?|sqm)) ?[–—~-] ?', '\1 ƣ ', 'gi');
  end if;
  return regexp_replace(signs, ' ?[,،/&+] ?', ' ƕ ', 'g');
end
$$;
comment on function private.reading_signs is
  'Replaces signs that private.search_text would remove with letters: ƍ for a decimal point, ƌ for '
  'a fraction, ƣ for a dash between amounts, ƨ for a slash between numbers, ƕ for a comma, slash, '
  '& or + between words. Removes thousands separators.';

create function private.reading_tokens(
  q text, out plain text[], out typed text[], out ignored text[]
)
  language plpgsql stable set search_path = ''
as $$
declare
  joined constant text := '^([^0-9]*)([0-9]+(?:ƍ[0-9]+)?)([^0-9ƍƌ].*)?$';
  marked text := private.ascii_digits(private.visible(q));
  parts text[];
  shown text[];
begin
  -- Removes a Kuwaiti phone number, with or without the country code, such as +965 9988 7766.
  if marked ~ '[0-9]{4}[ -]?[0-9]{4}' then
    parts := regexp_match(marked,
      '(?:^|[\s:,،(])((?:(?:\+|00)?965[ -]?)?(?=2|' || private.mobile_prefixes()
        || ')[0-9]{4}[ -]?[0-9]{4})(?=$|[\s.,،)؟?!])');
    if parts is not null then
      ignored := array[parts[1]];
      marked := replace(marked, parts[1], ' ');
    end if;
  end if;
  if marked ~ '[,٬،.٫/⁄½¼¾&+–—~-]|[0-9] 000' then
    marked := private.reading_signs(marked);
  end if;
  if strpos(marked, 'لفي') > 0 then
    -- search_text removes ال, which would turn الفين (2,000) into فين (where). ƚ prevents this.
    marked := regexp_replace(
      marked, '(^|\s)([وبلف]?[اأآ]ل)(في|فين)(?=$|[^[:alnum:]])', '\1\2ƚ\3', 'g');
  end if;
  plain := string_to_array(private.search_text(marked), ' ');
  -- Diacritics are not alphanumeric, so they may split words here. If they do, the plain words are shown.
  typed := string_to_array(
    btrim(regexp_replace(marked, '[^[:alnum:]]+' collate pg_catalog.pg_c_utf8, ' ', 'g')), ' ');
  if cardinality(typed) <> cardinality(plain) then
    typed := plain;
  end if;
  plain := plain[:30];
  typed := typed[:30];
  if not plain::text ~ '[0-9]' then
    return;
  end if;
  -- Separates a number from the words attached to it, if they have a fitting meaning: 400م, ق5 and
  -- من300 are split in two, ب300الف and شقة3غرف in three.
  for n in reverse cardinality(plain) .. 1 loop
    if plain[n] = 'no' and plain[n + 1] ~ '^[0-9]' then -- as in "block no 5"
      plain := plain[:n - 1] || plain[n + 1:];
      typed := typed[:n - 1] || typed[n + 1:];
    end if;
    parts := regexp_match(plain[n], joined);
    continue when parts is null or parts[1] = '' and parts[3] is null;
    parts[1] := case when parts[1] in ('وال', 'بال', 'لال', 'فال') then left(parts[1], 1)
      when parts[1] = 'ي' then 'الي' else parts[1] end; -- search_text removed the ال of الى400
    parts[3] := private.search_text(parts[3]);
    if (parts[1] in ('', 'و', 'ب', 'ل', 'ف') or exists (
      select from private.reading_words
      where reading_words.phrase = parts[1] and (reading_words.field in ('bound', 'kind', 'type')
        or reading_words.field = 'unit' and reading_words.value in ('block', 'floor', 'kwd'))
    )) and (parts[3] is null or exists (
      select from private.reading_words
      where reading_words.phrase = parts[3] and reading_words.field in ('unit', 'times')
    )) and not exists (select from private.reading_words where reading_words.phrase = plain[n]) then
      shown := array_remove(array_remove(regexp_match(typed[n], joined), ''), null);
      parts := array_remove(array_remove(parts, ''), null);
      plain := plain[:n - 1] || parts || plain[n + 1:];
      typed := typed[:n - 1]
        || case when cardinality(shown) = cardinality(parts) then shown else parts end
        || typed[n + 1:];
    end if;
  end loop;
end
$$;
comment on function private.reading_tokens is
  'Splits a query into words. plain: the words in the normalised form that searches compare, with '
  'letters in place of signs. typed: the same words as the user typed them. ignored: a phone '
  'number that was removed.';

create type private.reading_item as (
  field text, choices text[], phrase text, first integer, last integer, number numeric, low numeric,
  high numeric
);
comment on type private.reading_item is
  'Consecutive words of a query that have one meaning. field: a field of private.reading_words, '
  'number, mark (a sign between words), or null for words without a meaning. A prefix of a number, '
  'such as و, is a separate item. private.reading_numbers sets the field of an amount to what it '
  'measures, with low and high, or to unclear, which is ignored. choices of a floor: the kind that '
  'the word for floor can also mean, if any.';

create function private.reading_items(plain text[]) returns private.reading_item[]
  language plpgsql stable
  security definer -- reads tables that clients cannot access
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  size constant integer := cardinality(plain);
  owners integer[] := array_fill(0, array[size]);
  items private.reading_item[] := '{}';
  read private.reading_item[] := '{}';
  met record;
  number text;
  joint text;
begin
  for met in
    select head.first, head.cut, listed.phrase, listed.field,
      array_agg(listed.value order by listed.value) as choices,
      head.first + length(listed.phrase) - length(replace(listed.phrase, ' ', '')) as last
    from unnest(plain) with ordinality as given (word, first)
    -- Names and numbers are also looked up without an attached prefix such as "in" or "and", as in
    -- بالسالمية, والمنقف, وخمسين.
    cross join lateral (values (0),
      (length(substring(given.word from '^(?:ا?بال|وال|فال|كال|لال|لل|ا?ب|و|ف|ل)(?=.{2})')))
    ) as joint (cut)
    cross join lateral (select given.first::integer, joint.cut,
      substr(given.word, joint.cut + 1) as word,
      substr(array_to_string(plain[given.first:], ' ') || ' ', joint.cut + 1) as rest) as head
    join private.reading_words as listed on split_part(listed.phrase, ' ', 1) = head.word
      and starts_with(head.rest, listed.phrase || ' ')
      -- In "متر 2 مليون", the 2 is part of the amount (2 million) and does not mean "square".
      and not (listed.phrase like '% 2' and exists (
        select from private.reading_words as behind where behind.field = 'times'
          and behind.phrase = split_part(substr(head.rest, length(listed.phrase) + 2), ' ', 1)))
    where head.cut = 0 or listed.field = 'count' or length(head.word) > 2 and (
      listed.field in ('times', 'bound', 'rooms', 'bathrooms')
      or listed.field in ('area', 'governorate', 'kind', 'amenity', 'landmark', 'before')
        and plain[head.first] !~ '^ل[^ل]')
    group by head.first, head.cut, listed.phrase, listed.field
    order by length(listed.phrase) - length(replace(listed.phrase, ' ', '')) desc,
      listed.field = 'stopword', head.cut, head.first,
      -- If an area and a governorate have the same name, the area is meant.
      bool_or(listed.is_name) desc, listed.field
  loop
    continue when 0 <> any (owners[met.first:met.last]);
    items := items || row(
      met.field, met.choices, met.phrase, met.first, met.last,
      case when met.field in ('times', 'count', 'rooms', 'bathrooms', 'floor', 'ordinal')
        then met.choices[1] end,
      null, null
    )::private.reading_item;
    for n in met.first .. met.last loop
      owners[n] := cardinality(items);
    end loop;
  end loop;
  for index in 1 .. size loop
    if owners[index] = 0 then
      number := substring(
        replace(plain[index], 'ƍ', '.') from '^(?!00)[0-9]{1,12}(?:[.][0-9]{1,3})?$');
      read := read || row(
        case when number is not null then 'number'
          when plain[index] in ('ƕ', 'ƣ', 'ƨ') then 'mark' end,
        null, plain[index], index, index, number, null, null
      )::private.reading_item;
    elsif (items[owners[index]]).first = index then
      joint := left(plain[index], 1);
      if (items[owners[index]]).field in ('times', 'count', 'bound')
        and not starts_with(plain[index], split_part((items[owners[index]]).phrase, ' ', 1)) then
        read := read || row(case joint when 'ل' then 'bound' else 'stopword' end,
          case joint when 'ل' then '{to}'::text[] end, joint, index, index, null, null, null
        )::private.reading_item;
      end if;
      read := read || items[owners[index]];
    end if;
  end loop;
  return read;
end
$$;
comment on function private.reading_items is
  'Groups the words into items. Of overlapping phrases, the one with more words is preferred, then '
  'one that is not a stopword, then one that was found without removing a prefix, then the earlier '
  'one, then a name.';
