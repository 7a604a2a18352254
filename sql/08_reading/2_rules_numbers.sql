-- The unit decides what a number measures; the word before the number decides whether it is a
-- minimum or a maximum.

create function private.reading_amount(items private.reading_item[], index integer)
  returns private.reading_item
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  amount private.reading_item := items[index];
  next integer := index + 1;
begin
  if amount.field = 'times' then
    amount.number := 1;
    next := index; -- مليون without a number is one million
  elsif amount.field is distinct from 'number' and amount.field is distinct from 'count' then
    return null;
  end if;
  amount.choices := null;
  amount.high := 1;
  if items[next].field = 'times' then
    amount.high := items[next].number;
    amount.number := trim_scale(amount.number * items[next].number);
    amount.choices := '{kwd}';
    next := next + 1;
    if items[next].field = 'count' and items[next].phrase ~ '^و' then -- as in مليون ونص
      amount.number := amount.number + items[next].number * items[next - 1].number;
      next := next + 1;
    end if;
  end if;
  if items[next].field = 'unit' and items[next].choices[1] in ('m2', 'rooms', 'kwd')
    and (amount.choices is null or items[next].choices = '{kwd}') then
    amount.choices := items[next].choices;
    next := next + 1;
  end if;
  if amount.choices is null and amount.field = 'count' then
    return null;
  end if;
  amount.low := next - 1; -- the index of its last item
  return amount;
end
$$;
comment on function private.reading_amount is
  'The amount that begins at index, or null. choices: the unit; low: the index of its last '
  'item; high: the multiplier.';

create function private.reading_range(items private.reading_item[], index integer)
  returns private.reading_item
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  bound constant text := case when items[index].field = 'bound' then items[index].choices[1] end;
  start integer := case when bound is null then index else index + 1 end;
  range private.reading_item;
  other private.reading_item;
  last integer;
begin
  if bound is not null and items[start].field = 'stopword' then
    start := start + 1;
  end if;
  range := private.reading_amount(items, start);
  if range.number is null then
    return null;
  end if;
  last := range.low;
  if items[last + 1].phrase = 'ƣ'
    or items[last + 1].field = 'bound' and items[last + 1].choices = '{to}'
    or bound = 'between' and items[last + 1].phrase in ('و', 'and') then
    other := private.reading_amount(items, last + 2);
  end if;
  if other.number is not null then
    last := other.low;
    if range.choices is null and other.high > 1 then -- as in "300 to 400 thousand"
      range.number := range.number * case
        when range.number * other.high <= other.number then other.high
        when range.number < 1000 then 1000 else 1 end;
    end if;
    range.low := least(range.number, other.number);
    range.high := greatest(range.number, other.number);
    range.choices := coalesce(other.choices, range.choices);
  elsif bound is null and range.choices is null then
    return null;
  else
    range.low := case when bound in ('max', 'to') then null
      when bound in ('min', 'from') then range.number
      else trim_scale(round(range.number * 0.9, 3)) end;
    range.high := case when bound in ('min', 'from') then null
      when bound in ('max', 'to') then range.number
      else trim_scale(round(range.number * 1.1, 3)) end;
    if range.choices = '{rooms}' and (bound is null or bound = 'about') then
      range.low := range.number;
    end if;
  end if;
  range.field := coalesce(case range.choices[1] when 'm2' then 'size' when 'kwd' then 'price'
    else range.choices[1] end, 'bare');
  range.first := items[index].first;
  range.last := items[last].last;
  range.number := last;
  return range;
end
$$;
comment on function private.reading_range is
  'The range that begins at index, or null. number: the index of its last item.';

create function private.reading_numbers(items private.reading_item[])
  returns private.reading_item[]
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  read private.reading_item[] := '{}';
  item private.reading_item;
  next private.reading_item;
  range private.reading_item;
  index integer := 1;
begin
  while index <= cardinality(items) loop
    item := items[index];
    next := items[index + 1];
    if item.field = 'unit' and item.choices = '{block}' and next.field = 'number'
      and items[index + 2].field is distinct from 'times' then
      item := row('block', array[next.phrase], next.phrase, item.first, next.last, 2, null, null);
    elsif (item.field = 'kind' and item.choices = '{floor}'
        or item.field = 'unit' and item.choices = '{floor}')
      and (next.field in ('ordinal', 'floor') or next.field = 'number' and next.number <= 200
        and (private.reading_amount(items, index + 1)).choices is null) then
      item := row('floor', null, next.phrase, item.first, next.last, 2, next.number, next.number);
    elsif item.field = 'ordinal' and (next.field = 'kind' and next.choices = '{floor}'
        or next.field = 'unit' and next.choices = '{floor}') then
      item := row('floor', null, next.phrase, item.first, next.last, 2, item.number, item.number);
    elsif item.field in ('number', 'count') and next.field = 'rooms' then -- as in 2 غرفة وصالة
      item := row('rooms', null, next.phrase, item.first, next.last, 2, item.number, item.number);
    elsif item.field in ('floor', 'rooms') then
      item := row(item.field, null, item.phrase, item.first, item.last, 1, item.number, item.number);
    elsif item.field = 'unit' and item.choices = '{kwd}' and next.field = 'number'
      and (private.reading_amount(items, index + 1)).choices is null then
      item := row('price', null, item.phrase, item.first, next.last, 2,
        trim_scale(round(next.number * 0.9, 3)), trim_scale(round(next.number * 1.1, 3)));
    elsif item.field in ('number', 'count', 'times', 'bound') then
      range := private.reading_range(items, index);
      if range.field = 'size' and (read[cardinality(read)]).field = 'beside' then
        -- In "a street of 20 metres" the number is searched as a word.
        item.number := range.number - index + 1;
        item.field := null;
        item.last := item.first;
      elsif range.field is not null then
        item := range;
        item.number := range.number - index + 1;
      else
        item.number := 1;
      end if;
    else
      item.number := 1;
    end if;
    read := read || item;
    index := index + item.number::integer;
  end loop;
  return read;
end
$$;
