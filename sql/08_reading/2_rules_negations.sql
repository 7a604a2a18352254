create function private.reading_negations(items private.reading_item[], plain text[])
  returns private.reading_item[]
  language plpgsql immutable set search_path = ''
as $$
declare
  named constant text[] := '{kind,area,governorate}';
  read private.reading_item[] := '{}';
  item private.reading_item;
  negation private.reading_item; -- a negation whose object has not been found yet
  field text;
  last_field text;
  is_negated boolean := false; -- whether the last item was negated
  is_joined boolean := false; -- whether an "and" or "or" came after the last item
  is_verb boolean := false; -- whether the last item may be the verb of a negation
  is_unclear boolean := false;
begin
  foreach item in array items loop
    if item.field in ('stopword', 'join', 'mark', 'before')
      or item.field = 'bound' and item.choices <@ '{from,to,about}' then
      is_joined := is_joined or item.field = 'join' or item.phrase in ('و', 'and', 'w', 'ƕ');
      item.field := case
        when item.field = 'bound' or item.field = 'before' and negation.field is not null
        then 'stopword' else item.field end;
      read := read || item;
      continue;
    elsif item.field = 'negation' then
      -- Two negations may cancel or reinforce each other, so the meaning is unclear.
      is_unclear := negation.field is not null or item.choices = '{doubt}';
      item.first := least(negation.first, item.first);
      negation := item;
      continue;
    end if;
    field := coalesce(item.field, 'word');
    if negation.choices = '{nor}' and not is_negated and not is_unclear and field = last_field then
      negation.field := 'join'; -- "villa ولا house", where ولا means "or"
      read := read || negation;
      negation := null;
    end if;
    is_joined := is_joined or starts_with(plain[item.first], 'و')
      and (item.field is null or plain[item.first] <> split_part(item.phrase, ' ', 1));
    is_negated := negation.field is not null
      or is_negated and is_joined and (field = last_field and field <> 'furnished'
        or '{area,governorate}'::text[] @> array[field, last_field])
      or is_verb and field = any (named);
    is_verb := coalesce(negation.choices <@ '{verb,doubt}', false) and field = 'word';
    is_unclear := is_unclear or is_verb;
    if is_negated then
      item.first := least(negation.first, item.first);
      if field = 'furnished' and not is_unclear and field is distinct from last_field then
        item.choices := array(
          select code from unnest('{none,partial,full}'::text[]) as code
          where code <> all (item.choices)
        );
      else
        item.field := case when field = any (named) and not is_unclear then 'not ' || field
          else 'unclear' end;
      end if;
    end if;
    read := read || item;
    last_field := field;
    is_joined := false;
    negation := null;
  end loop;
  if negation.field is not null then
    negation.field := 'unclear';
    read := read || negation;
  end if;
  return read;
end
$$;
comment on function private.reading_negations is
  'Merges each negation into the next item that is not a stopword. Items of the same field (or area '
  'and governorate; not furnished) joined to it by "and" or "or" are negated too. kind, area and '
  'governorate become not kind and so on, furnished gets the other codes, all else becomes unclear.';
