-- The unit determines what an amount measures. The words before and after the amount determine whether
-- it is a minimum or a maximum.

create function private.with_end(amount private.amount, other private.amount)
  returns private.amount
  language plpgsql immutable set search_path = ''
as $$
declare
  unit constant text := coalesce(amount.unit, other.unit);
begin
  if amount.step is null and other.step is not null then -- 300 to 400 thousand, 500 m² to 50 thousand
    amount.low := coalesce((
      select max(amount.low * scale) from unnest('{1,1000,1000000}'::numeric[]) as scale
      where amount.low * scale < other.low and other.low <= amount.low * scale * 30
    ), case amount.unit when 'm2' then amount.low end);
  elsif other.step is null and amount.step is not null then -- 300 thousand to 400
    other.low := (
      select min(other.low * scale) from unnest('{1,1000,1000000}'::numeric[]) as scale
      where (scale <= greatest(amount.step, amount.low) or other.unit = 'million')
        and other.low * scale > amount.low and other.low * scale <= amount.low * 30
    );
  end if;
  amount.form := case
    when amount.low + other.low is null or 'unclear' in (amount.form, other.form)
      -- "flat 3 - 300 dinars" is not a range.
      or unit is distinct from 'm2' and (amount.step is null or other.step is null)
        and greatest(amount.low, other.low) > least(amount.low, other.low) * 30 then 'unclear'
    when 'dotted' in (amount.form, other.form) then 'dotted'
    else coalesce(amount.form, other.form) end;
  amount.high := greatest(amount.low, other.low);
  amount.low := least(amount.low, other.low);
  amount.step := coalesce(amount.step, other.step);
  amount.unit := case when unit = 'million' and amount.step is not null then 'kwd' else unit end;
  amount.last := other.last;
  return amount;
end
$$;
comment on function private.with_end is
  'Returns the range between two amounts. If one of them has no multiplier, it is multiplied by 1, '
  '1,000 or 1,000,000, so that the second amount is greater than the first but at most thirty '
  'times as great. If none of these fits, the range is unclear.';

create function private.reading_range(
  items private.reading_item[], letters text, index integer,
  out range private.reading_item, out last integer
)
  language plpgsql immutable set search_path = ''
as $$
declare
  -- In "without a deposit, 300 dinars", neither the negation nor the deposit refers to the amount.
  before constant text := replace(left(letters, index - 1), '^!', 'ww');
  -- A word may stand between a measure and its amount, as in "sea front 20 metres".
  context constant text := coalesce(
    substring(before from '[!|][wn]?S?$'), right(before, 1));
  start integer := index;
  bound text := substr(letters, index, 1);
  is_between constant boolean := bound = '=';
  amount private.amount;
  other private.amount;
  number numeric;
  rest text;
  tail integer;
begin
  if strpos('<>~()=', bound) > 0 then
    start := start + 1 + (substr(letters, start + 1, 1) = 'S')::integer;
  else
    bound := null;
  end if;
  start := start + (substr(letters, start, 1) = 'q')::integer;
  amount := private.reading_amount(items, letters, start, is_between);
  if amount.last is null then
    return;
  end if;
  rest := substr(letters, amount.last + 1);
  if start > index and substr(letters, start - 1, 1) = 'q' then
    amount.unit := coalesce(amount.unit, 'kwd');
  end if;
  if left(rest, 1) in ('-', ')') or is_between and left(rest, 1) in ('a', ',') then
    other := private.reading_amount(items, letters,
      amount.last + 2 + (substr(rest, 2, 1) = 'q')::integer, false);
  elsif amount.step is null and amount.unit is null and left(context, 1) <> '|'
    and amount.low not between 1950 and 2050 -- may be a year
    and strpos('NuEidDW0', left(rest, 1)) > 0 then
    other := private.reading_amount(items, letters, amount.last + 1, false);
    number := other.low / coalesce(other.step, 1);
    if (other.unit is not null or other.step is not null)
      and greatest(amount.low, number) <= 3 * least(amount.low, number) then
      amount := other; -- 70 80 thousand
      amount.form := 'unclear';
    end if;
    other := null;
  end if;
  if other.last is not null and (amount.unit = other.unit
    or amount.unit is null
      and (amount.step is null or other.step is not null or other.unit in ('kwd', 'million'))
    or other.unit is null and (other.step is null or amount.unit in ('kwd', 'million'))) then
    amount := private.with_end(amount, other);
    bound := '=';
    rest := substr(letters, amount.last + 1);
  elsif is_between then
    amount.form := 'unclear';
  elsif bound is null and left(ltrim(rest, 'a'), 1) in ('<', '>', '~') then
    tail := length(rest) - length(ltrim(rest, 'a')) + 1;
    if (tail > 1 or items[amount.last + 1].phrase
        ~ '^(or|and|او|[فو]ما) |^(فا|كحد|بحد|حد|max|min|at|علي|تقريبا|بالكثير)')
      and (private.reading_amount(items, letters, amount.last + tail + 1, false)).last is null then
      bound := substr(rest, tail, 1); -- as in "300 thousand at most"
      amount.last := amount.last + tail;
      rest := substr(rest, tail + 1);
    end if;
  end if;
  if context = '#' then
    amount.unit := coalesce(amount.unit, 'm2');
  elsif bound is null and amount.step is null and coalesce(amount.unit = 'other', true)
    and amount.form is distinct from 'dotted' then
    return; -- without a unit, bound or multiplier, a number is not an amount
  end if;
  range := items[start];
  range.first := items[index].first;
  range.last := items[amount.last].last;
  range.number := amount.low;
  last := amount.last;
  if context = '|' and amount.unit in ('m2', 'million')
    or left(context, 1) = '|' and amount.unit = 'm2' and amount.low < 100 then
    -- In "a street of 20 metres", the number is searched as a word.
    range := items[start];
    range.field := null;
    return;
  end if;
  range.field := case
    when amount.form = 'unclear' or amount.unit = 'other' or amount.high = 0
      or before ~ case when bound is null then '([\^l]|Vw?)S*$' else '([\^l]S*|V[wS#]{0,3})$' end
      then 'unclear'
    when amount.unit = 'm2' and (amount.step is not null or amount.form is distinct from 'dotted')
      then 'size'
    when amount.unit in ('rooms', 'bathrooms') and amount.low <= 50 then amount.unit
    -- An income, or a price per metre.
    when amount.unit in ('m2', 'rooms', 'bathrooms') or left(context, 1) = '!'
      or before ~ '(^|[^W0kmKMfF])[sc]S?$' then 'unclear'
    when amount.unit = 'million' then 'million'
    when amount.step is not null then 'price'
    when amount.form = 'dotted' then
      case when amount.low < 10 then 'unclear' when amount.high < 1000 then 'dotted'
        else 'decimal' end -- 420.000 to 3000 dinars is a rent
    when amount.unit = 'kwd' then 'price'
    -- As in "more than 20 flats".
    when amount.low < 10 or amount.low < 100 and left(rest, 1) = 'n'
      -- Years, as in "from 2010 to 2015".
      or amount.low >= 1950 and amount.high <= 2050
        and not (amount.low % 50 = 0 and amount.high % 50 = 0) then 'unclear'
    when amount.form = 'decimal' then 'decimal'
    else 'bare' end;
  range.low := trim_scale(case
    when bound in ('<', ')') then null
    when bound in ('>', '(', '=') or range.field in ('rooms', 'bathrooms') then amount.low
    else round(amount.low * 0.9, 3) end);
  range.high := trim_scale(case
    when bound in ('>', '(') then null
    when bound in ('<', ')', '=') then amount.high
    else round(amount.high * 1.1, 3) end);
end
$$;
comment on function private.reading_range is
  'Returns the range that begins at index, or null if there is none. range.number: the amount in '
  'the query, or the smaller of two amounts. last: the index of the last item of the range.';

create function private.reading_numbers(items private.reading_item[])
  returns private.reading_item[]
  language plpgsql immutable set search_path = ''
as $$
declare
  read private.reading_item[] := '{}';
  item private.reading_item;
  next private.reading_item;
  amount private.amount;
  found_range record;
  letters text;
  index integer := 1;
  last integer;
begin
  if not exists (select from unnest(items) as given where given.field in (
    'number', 'count', 'times', 'floor', 'rooms', 'bathrooms', 'ordinal')) then
    return items;
  end if;
  select given.items, given.letters into items, letters
  from private.reading_letters(items) as given;
  while index <= cardinality(items) loop
    item := items[index];
    next := items[index + 1];
    last := index;
    if item.field = 'unit' and item.choices = '{block}' and next.field = 'number'
      and substr(letters, index + 2, 1) not in ('k', 'm') then
      item := row(
        'block', array[next.phrase], next.phrase, item.first, next.last, null, null, null);
      last := index + 1;
    elsif item.field in ('kind', 'unit') and item.choices = '{floor}'
      and (next.field in ('ordinal', 'floor') or next.field = 'number' and next.number <= 200 and next.number % 1 = 0) then
      amount := private.reading_amount(items, letters, index + 1, false);
      if amount.step is null and amount.unit is null then
        item := row('floor', case item.field when 'kind' then item.choices end, next.phrase,
          item.first, next.last, null, next.number, next.number);
        last := index + 1;
      end if;
    elsif item.field in ('ordinal', 'floor') and next.field in ('kind', 'unit')
      and next.choices = '{floor}' then
      item := row('floor', case next.field when 'kind' then next.choices end, next.phrase,
        item.first, next.last, null, item.number, item.number);
      last := index + 1;
    elsif item.field in ('number', 'count') and next.field = 'rooms' then -- 2 غرفة وصالة
      item := row('rooms', null, next.phrase, item.first, next.last, null, item.number, item.number);
      last := index + 1;
    elsif item.field in ('floor', 'rooms', 'bathrooms') then
      item.choices := null;
      item.low := item.number;
      item.high := item.number;
    elsif strpos('NuEidDfFkmKMxW0q<>~()=', substr(letters, index, 1)) > 0 then
      found_range := private.reading_range(items, letters, index);
      if found_range.last is not null then
        item := found_range.range;
        last := found_range.last;
      end if;
    end if;
    if item.field = 'floor' and (read[cardinality(read)]).field = 'bound'
      and (read[cardinality(read)]).choices[1] in ('min', 'max') then -- as in "above the tenth floor"
      item.first := (read[cardinality(read)]).first;
      item.low := case (read[cardinality(read)]).choices[1] when 'min' then item.low end;
      item.high := case when item.low is null then item.high end;
      read := read[:cardinality(read) - 1];
    end if;
    read := read || item;
    index := last + 1;
  end loop;
  return read;
end
$$;
