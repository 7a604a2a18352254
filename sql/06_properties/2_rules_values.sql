create function private.are_codes(vocabulary text, codes jsonb) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  -- A loop suffices, because most lists contain only one code.
  for index in 0 .. jsonb_array_length(codes) - 1 loop
    if jsonb_typeof(codes -> index) <> 'string' or not (case vocabulary
      when 'area' then exists (select from public.areas where areas.id = codes ->> index)
      when 'governorate' then
        exists (select from public.governorates where governorates.id = codes ->> index)
      else exists (
        select from public.vocabularies
        where vocabularies.vocabulary = are_codes.vocabulary and vocabularies.code = codes ->> index
      )
    end) then
      return false;
    end if;
  end loop;
  return true;
end
$$;

create function private.is_code(vocabulary text, code jsonb) returns boolean
  language sql stable
  return private.are_codes(vocabulary, jsonb_build_array(code));

create function private.tidy_text(value text, most integer, path text, form text) returns text
  language plpgsql immutable parallel safe set search_path = ''
as $$
begin
  return substring(
    replace(private.normal_form(value, form, most, path), E'\r\n', E'\n')
    from '[^[:space:]\u00A0\u2007\u202F](?:.*[^[:space:]\u00A0\u2007\u202F])?');
end
$$;

create function private.parse_text(
  form text, value jsonb, minimum numeric, maximum numeric, out clean jsonb, out problem text
)
  language plpgsql immutable set search_path = ''
as $$
declare
  given constant text := value #>> '{}';
  most constant integer := maximum;
  stored text;
  judged text; -- the NFKC form, which the checks apply to
  visible text;
begin
  problem := case when jsonb_typeof(value) <> 'string' then 'invalid'
    else private.text_problem(given, most) end;
  if problem is not null then
    return;
  end if;
  if form = 'text' then
    judged := private.tidy_text(given, most, '', 'nfkc');
    stored := private.tidy_text(given, most, '', 'nfc');
  else
    judged := private.tidy(given, most, '');
    stored := case form when 'name' then judged else private.tidy(given, most, '', 'nfc') end;
  end if;
  -- Joiners and direction marks are valid in many scripts but invisible, so they do not count towards
  -- the minimum length.
  visible := regexp_replace(judged, '[\u061C\u200B-\u200F\u2060-\u2064]', '', 'g');
  clean := to_jsonb(stored);
  problem := case
    when judged is null or least(char_length(visible), char_length(stored)) < minimum
    then 'too_short'
    when greatest(char_length(judged), char_length(stored)) > maximum then 'too_long'
    when not private.is_clean(judged) then 'invalid'
    when form <> 'text' and judged ~ '[\u2028-\u202E\u2066-\u2069\uFEFF]' then 'invalid'
  end;
end
$$;
comment on function private.parse_text is
  'Returns a line or text in NFC, or a name in NFKC, and the problem, if any, such as a character '
  'that hides or reverses text. The checks apply to the NFKC form.';

create function private.number_problem(
  form text, value jsonb, minimum numeric, maximum numeric
) returns text
  language sql immutable
  return case
    when value is null then 'required'
    when jsonb_typeof(value) <> 'number' then 'invalid'
    when value::numeric < minimum then 'too_small'
    when value::numeric > maximum then 'too_big'
    when value::numeric <> round(value::numeric, case form when 'integer' then 0 else 3 end)
    then 'invalid'
  end;

create function private.check_codes(vocabulary text, value jsonb, maximum numeric) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(value) <> 'array' then 'invalid'
    when jsonb_array_length(value) > maximum then 'too_big'
    when not private.are_codes(vocabulary, value) then 'invalid'
    when jsonb_array_length(value) > (
      select count(distinct item) from jsonb_array_elements(value) as item
    ) then 'invalid'
  end;
end
$$;

create function private.parse_location(value jsonb, out clean jsonb, out problem text)
  language plpgsql stable set search_path = ''
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
  -- The default precision is block, which does not reveal the exact location.
  clean := '{"precision":"block"}' || value;
  if private.is_word('location_precision', clean ->> 'precision') then
    problem := null;
  end if;
end
$$;

create function private.parse_terms(
  form text, vocabulary text, value jsonb, maximum numeric, out clean jsonb, out problem text
)
  language plpgsql stable set search_path = ''
as $$
declare
  label text := case form when 'conditions' then 'textAr' else 'labelAr' end;
  term jsonb;
  parsed jsonb;
  words record;
begin
  problem := case
    when jsonb_typeof(value) <> 'array' then 'invalid'
    when jsonb_array_length(value) > maximum then 'too_big'
  end;
  clean := '[]';
  for term in select item from jsonb_array_elements(value) as item where problem is null loop
    problem := 'invalid';
    exit when jsonb_typeof(term) <> 'object'
      or jsonb_typeof(term -> 'code') is distinct from 'string'
      or not private.is_word(vocabulary, term ->> 'code');
    parsed := jsonb_build_object('code', term -> 'code');

    -- A term without its own text gets the text of the vocabulary. The code "other" has no such text.
    if private.or_null(term -> label) = 'null' and term ->> 'code' <> 'other' then
      select to_jsonb(vocabularies.text_ar) as clean, null as problem into words
      from public.vocabularies
      where vocabularies.vocabulary = parse_terms.vocabulary
        and vocabularies.code = term ->> 'code';
    else
      words := private.parse_text('line', private.or_null(term -> label), 1, 300);
    end if;
    exit when words.problem is not null;
    parsed := parsed || jsonb_build_object(label, words.clean);

    if form = 'expenses' then
      exit when private.number_problem(
          'number', coalesce(term -> 'amount', 'null'), 0, 99999999999.999) is not null
        or not coalesce(private.is_word('period', term ->> 'period'), false);
      parsed := parsed || jsonb_build_object(
        'amount', trim_scale((term -> 'amount')::numeric), 'period', term -> 'period');
    end if;
    -- The read-only key "text" or "label" is ignored, so that clients can send a record back.
    exit when term - array(select jsonb_object_keys(parsed)) - left(label, -2) <> '{}';
    clean := clean || jsonb_build_array(parsed);
    problem := null;
  end loop;
end
$$;
comment on function private.parse_terms is
  'Parses rent conditions or additional expenses. Each has a code and a text, and an expense also '
  'has an amount and a period.';
