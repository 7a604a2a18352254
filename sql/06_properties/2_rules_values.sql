-- What the value of a field may be: each kind of value is brought into its one form, or refused.

create function private.is_code(words text, code text) returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return case words
    when 'area' then exists (select from public.areas where areas.id = code)
    when 'governorate' then exists (select from public.governorates where governorates.id = code)
    else private.is_word(words, code)
  end;
end
$$;
comment on function private.is_code is
  'Whether a code is of that vocabulary, an area or a governorate.';

create function private.tidy_text(value text) returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
begin
  return nullif(regexp_replace(
    replace(normalize(value, nfkc), E'\r\n', E'\n'), '^[[:space:]]+|[[:space:]]+$', '', 'g'), '');
end
$$;
comment on function private.tidy_text is
  'Text of several lines in one form: NFKC, no white space outside; null when nothing is left.';

create function private.read_text(
  form text, value jsonb, low numeric, high numeric, out clean jsonb, out problem text
)
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  read text := case form when 'line' then private.tidy(value #>> '{}')
    else private.tidy_text(value #>> '{}') end;
  -- Joiners and direction marks belong to many scripts, but they are nothing to read.
  seen text := regexp_replace(read, '[\u061C\u200B-\u200F\u2060-\u2064]', '', 'g');
begin
  clean := to_jsonb(read);
  problem := case
    when jsonb_typeof(value) <> 'string' then 'invalid'
    when read is null or char_length(seen) < low then 'too_small'
    when char_length(read) > high then 'too_big'
    when not private.is_clean(read) then 'invalid'
    when form = 'line' and read ~ '[\u2028-\u202E\u2066-\u2069\uFEFF]' then 'invalid'
  end;
end
$$;
comment on function private.read_text is
  'A text in its one form. A line has nothing in it that turns or hides the rest of the page.';

create function private.read_number(
  form text, value jsonb, low numeric, high numeric, out clean jsonb, out problem text
)
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  read numeric;
begin
  if jsonb_typeof(value) <> 'number' then
    problem := 'invalid';
    return;
  end if;
  read := value;
  clean := to_jsonb(trim_scale(read));
  problem := case
    when read < low then 'too_small'
    when read > high then 'too_big'
    when read <> round(read, case form when 'whole' then 0 else 3 end) then 'invalid'
  end;
end
$$;
comment on function private.read_number is
  'A number, whole or with three decimals at most; nothing is rounded.';

create function private.read_words(words text, value jsonb, high numeric) returns text
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(value) <> 'array' then 'invalid'
    when jsonb_array_length(value) > high then 'too_big'
    when exists (
      select from jsonb_array_elements(value) as item
      where jsonb_typeof(item) <> 'string' or not private.is_code(words, item #>> '{}')
    ) then 'invalid'
    when jsonb_array_length(value) > (
      select count(distinct item) from jsonb_array_elements(value) as item
    ) then 'invalid'
  end;
end
$$;
comment on function private.read_words is
  'What is wrong with a list of codes: each once, all known.';

create function private.read_location(value jsonb, out clean jsonb, out problem text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  problem := 'invalid';
  if jsonb_typeof(value) <> 'object' or value - array['lat', 'lng', 'precision'] <> '{}'
    or jsonb_typeof(value -> 'lat') is distinct from 'number'
    or jsonb_typeof(value -> 'lng') is distinct from 'number'
    or not (value -> 'lat')::numeric between 28.45 and 30.15
    or not (value -> 'lng')::numeric between 46.50 and 48.80 then
    return;
  end if;
  -- Who does not say how exactly the place may be shown has it shown less exactly.
  clean := '{"precision":"block"}' || value;
  if private.is_word('location_precision', clean ->> 'precision') then
    problem := null;
  end if;
end
$$;
comment on function private.read_location is
  'A point within Kuwait and how exactly it may be shown.';

create function private.read_terms(
  form text, words text, value jsonb, high numeric, out clean jsonb, out problem text
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  label text := case form when 'conditions' then 'textAr' else 'labelAr' end;
  term jsonb;
  read jsonb;
  said record;
  sum record;
begin
  problem := case
    when jsonb_typeof(value) <> 'array' then 'invalid'
    when jsonb_array_length(value) > high then 'too_big'
  end;
  clean := '[]';
  for term in select item from jsonb_array_elements(value) as item where problem is null loop
    problem := 'invalid';
    exit when jsonb_typeof(term) <> 'object'
      or jsonb_typeof(term -> 'code') is distinct from 'string'
      or not private.is_word(words, term ->> 'code');
    read := jsonb_build_object('code', term -> 'code');

    -- Without words of its own a term reads as in the vocabulary; "other" says nothing alone.
    if coalesce(term -> label, 'null') = 'null' and term ->> 'code' <> 'other' then
      select to_jsonb(vocabularies.text_ar) as clean, null as problem into said
      from public.vocabularies
      where vocabularies.vocabulary = words and vocabularies.code = term ->> 'code';
    else
      said := private.read_text('line', coalesce(term -> label, 'null'), 1, 300);
    end if;
    exit when said.problem is not null;
    read := read || jsonb_build_object(label, said.clean);

    if form = 'expenses' then
      sum := private.read_number('number', coalesce(term -> 'amount', 'null'), 0, 99999999999.999);
      exit when sum.problem is not null
        or not coalesce(private.is_word('period', term ->> 'period'), false);
      read := read || jsonb_build_object('amount', sum.clean, 'period', term -> 'period');
    end if;
    exit when term - array(select jsonb_object_keys(read)) <> '{}';
    clean := clean || jsonb_build_array(read);
    problem := null;
  end loop;
end
$$;
comment on function private.read_terms is
  'The conditions of a rent, or what comes on top of it: a code, the words for it, and for '
  'expenses an amount and its period.';
