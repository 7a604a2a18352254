-- docs/contract/amounts.md describes the grammar of amounts. It is implemented as a regular expression
-- over a string in which each item of a query is one letter (reading_letter).

create type private.amount as (
  low numeric, high numeric, unit text, step numeric, form text, last integer
);
comment on type private.amount is
  'An amount or a range of amounts in a query. unit: a unit of private.reading_words, or million '
  'for the m of 1.5m. step: the largest multiplier of the amount. form: decimal, dotted (350.000), '
  'unclear (to be ignored) or null. last: the index of the last item of the amount.';

create function private.reading_letter(item private.reading_item) returns text
  language sql immutable
  return case
    when item.field = 'number' then
      case when item.number < 10 then 'i' when item.number < 1000 then 'd' else 'D' end
    when item.field = 'times' then case when item.number < 1000000 then 'k' else 'm' end
    when item.field = 'count' and item.number < 1 then
      case when ascii(item.phrase) < 58 then 'F' else 'f' end
    when item.field = 'count' then substr(
      case when ascii(item.phrase) < 128 then 'vyzgHKM' else 'uethHKM' end,
      width_bucket(item.number, '{1,10,20,100,101,1000,1000000}'), 1)
    when item.phrase in ('و', 'and', 'w') then 'a'
    when item.phrase in ('الا', 'ناقص') then 'l'
    when item.phrase in ('ƣ', 'لي') then '-'
    when item.field = 'join' or item.phrase = 'ƨ' then 'j'
    when item.field = 'unit' and item.phrase in ('m', 'م') then 'c'
    when item.field in ('unit', 'bound') then coalesce(
      '{"m2": "s", "rooms": "r", "bathrooms": "r", "kwd": "q", "other": "o", "max": "<", "min": ">",
        "about": "~", "from": "(", "to": ")", "between": "="}'::jsonb ->> item.choices[1], 'n')
    when item.field = 'measure' then translate(left(item.choices[1], 1), 'mlo', '#|!')
    when item.field = 'negation' then case item.choices[1] when '' then '^' else 'V' end
    when item.field in ('kind', 'rooms', 'bathrooms', 'floor', 'ordinal') then 'n'
    when item.field = 'stopword' then 'S'
    -- A misspelt number word next to an amount could be part of the amount.
    when item.field is null and item.phrase ~ (
      '^[وبل]?(واحد|اثن|ثني?ن|ثلا?ث|تلا?[تث]|اربع|خمس|ست[ميعط]|سبع|ثما|ثمن[مطتي]|تما|تمن[يمت]|تسع'
      || '|عشر|مي[هت]|مايه|فف|مليو|فاصل|point|hundr|thous|milli|twen|thirt|fift|sixt|ninet)') then 'x'
    when item.field is null then 'w'
    else '.' end;
comment on function private.reading_letter is
  'Returns the letter that stands for an item in the grammar of amounts. Numbers in digits: i '
  'below 10, d below 1,000, D from 1,000. Number words: u below 10, e below 20, t for tens, h for '
  'a hundred (in English v, y, z, g), H for more hundreds, f for fractions (F if written like '
  '1/2), K for 2,000 and M for 2 million in one word. k, m: multipliers. a: "and". l: "less". j: '
  '"or". x: possibly a number. q, s, c, r, o: units. <, >, ~, (, ), =: bounds. ^: a plain '
  'negation; V: any other one.';

create function private.reading_letters(inout items private.reading_item[], out letters text)
  language plpgsql immutable set search_path = ''
as $$
declare
  item private.reading_item;
  apart text := '';
  merged private.reading_item[] := '{}';
  words text;
  part text;
  value numeric;
  index integer := 1;
begin
  foreach item in array items loop
    apart := apart || private.reading_letter(item);
  end loop;
  -- A word in front of a multiplier could change the amount, as in كم الف.
  apart := regexp_replace(apart, '(w|(?<![uethHvyzgidDkmKMfF])o)(?=[km])', 'x', 'g');
  letters := '';
  while index <= cardinality(items) loop
    item := items[index];
    part := substr(apart, index, 1);
    if strpos('uethHvyzg', part) > 0
      or part = 'i' and substr(apart, index + 1, 1) in ('h', 'g') then -- 5 مية
      words := substring(substr(apart, index) from '^(?:[ui]?h|H)(?:a(?:uat|[uet]))?'
        || '|^uat|^[uet]|^[vi]?g(?:a?(?:zv?|[vy]))?|^zv?|^[vy]');
      value := 0;
      for n in index .. index + length(words) - 1 loop
        value := case when items[n].number = 100 and value > 0 then value * 100
          else value + coalesce(items[n].number, 0) end;
      end loop;
      item.field := 'count';
      item.number := value;
      item.last := items[index + length(words) - 1].last;
      part := case when ascii(item.phrase) between 97 and 127 then 'E' when value < 10 then 'u'
        else 'N' end;
      index := index + length(words) - 1;
    end if;
    if strpos(case when part in ('u', 'i') then 'nrscow' else 'nrsco' end,
      coalesce(nullif(substr(apart, index + 1, 1), ''), '.')) > 0 then
      part := translate(part, 'NuEidD', 'WWW000');
    end if;
    merged := merged || item;
    letters := letters || part;
    index := index + 1;
  end loop;
  items := merged;
end
$$;
comment on function private.reading_letters is
  'Merges the words of each number below 1,000 into one item with the letter N, u (below 10) or E '
  '(English). letters has one letter per item. A number that counts the next word is W if it is in '
  'words and 0 if it is in digits.';

create function private.reading_amount(
  items private.reading_item[], letters text, index integer, is_alone boolean
) returns private.amount
  language plpgsql immutable set search_path = ''
as $$
declare
  rest constant text := substr(letters, index);
  valid constant text := substring(rest from '^(?:'
    -- Millions, optionally with a fraction of a million, thousands, or hundreds (of thousands).
    || '(?:(?:[NuEidD](?:af|F)?|[fF])?m|M)(?:q?[al]f'
    || '|q?[al](?:(?:[NuEidD](?:af|F)?|[fF])?k|K)(?:q?[al][NuEidD](?![km]))?'
    || '|(?:[NuEidD]k|K)(?![src])|(?:q?[al][NdDE]|E)(?![km]))?'
    -- Thousands, optionally with a fraction of a thousand or a smaller number. الف ومية متر is a size.
    || '|(?:(?:[NuEidD](?:af|F)?|[fF])?k|K)(?:q?[al]f|(?:q?[al][NuEidD]|E)(?![km]))?'
    || '|(?:[ui]?k|K)aW(?=[sc])'
    || '|[NuEidDWfF0])');
  -- Everything that could belong to the amount. If it is longer than valid, the amount is unclear.
  whole constant text := case when not is_alone then substring(rest from '^(?:[iuE]?md(?![km])'
    || '|(?:[ui]?k|K)a0(?=[sc])|(?:x[idD]?|[NuEidDWfFkmKM0])'
    || '(?:[kmKMx]|(?<![idD])[fNEu]|(?:(?<=[kmKM])q)?[alj][fFkmKMxNEdDui])*)') end;
  size constant integer := greatest(length(valid), length(whole));
  amount private.amount;
  item private.reading_item := items[index];
  letter text;
  next text;
  sum numeric := 0;
  number numeric;
  times numeric;
  sign integer := 1;
begin
  if size is null then
    return null;
  end if;
  amount.form := case
    when length(whole) > length(valid) or valid is null then 'unclear'
    when item.phrase like '%ƍ___' and item.number < 1000 then 'dotted'
    when item.phrase like '%ƍ%' then 'decimal' end;
  amount.unit := case when item.phrase like '%ƍ___' and item.number >= 1000 then 'kwd' end;
  amount.step := case when translate(whole, 'kmKM', '') <> whole then 1 end;
  for n in 1 .. coalesce(length(valid), 0) loop
    item := items[index + n - 1];
    letter := substr(valid, n, 1);
    if letter = 'l' then
      sign := -1;
    elsif letter in ('k', 'm', 'K', 'M') then
      times := case letter when 'K' then 1000 when 'M' then 1000000 else item.number end;
      amount.step := greatest(amount.step, times);
      amount.form := case when number >= 10000 then 'unclear' else amount.form end; -- 350,000 الف
      sum := sum + sign * coalesce(number, 1) * item.number;
      number := null;
    elsif letter in ('f', 'F') and times > 0 and substr(valid, n + 1, 1) not in ('k', 'm') then
      -- مية الف ونص can mean 100,500 or 150,000.
      amount.form := case when sum / times between 1 and 99 then amount.form else 'unclear' end;
      sum := sum + sign * item.number * times;
    elsif letter not in ('a', 'q') then
      number := coalesce(number, 0) + item.number;
    end if;
  end loop;
  if times = 1000 and number < 100 and sum >= 10000 then -- مية الف الا خمسة
    amount.form := 'unclear';
  end if;
  -- مليون و200 means 1,200,000.
  sum := sum + sign * coalesce(number, 0)
    * case when times = 1000000 and number < 1000 then 1000 else 1 end;
  amount.low := trim_scale(sum);
  amount.high := amount.low;
  amount.last := index + size - 1;
  letter := substr(rest, size + 1, 1);
  next := substr(rest, size + 2, 1);
  if letter in ('s', 'c', 'r', 'q', 'o') then
    amount.last := amount.last + 1;
    amount.unit := items[amount.last].choices[1];
    if letter = 'c' and (next = 'q' and substr(rest, size + 3, 1) not in ('i', 'd', 'D')
      or amount.step is null
        and (sum < 10 or sum < 30 and amount.form in ('decimal', 'dotted'))) then -- 1.5m
      amount.unit := 'million';
      amount.form := case when amount.form in ('decimal', 'dotted')
        and items[amount.last].phrase = 'm' then amount.form else 'unclear' end;
      amount.last := amount.last + (next = 'q')::integer;
    elsif letter = 'q' and next in ('s', 'c', 'o') then -- a price per metre, or per year
      amount.form := 'unclear';
      amount.last := amount.last + 1;
    end if;
  end if;
  return case when valid is not null or amount.step is not null or amount.unit = 'kwd'
    then amount end;
end
$$;
comment on function private.reading_amount is
  'Returns the amount that begins at index, including its unit, or null if there is none. '
  'is_alone: an "and" after the amount may begin another amount, as in "between 300 and 400".';
