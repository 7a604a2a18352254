create function private.one_letter_off(typed text) returns text[]
  language plpgsql stable
  security definer -- row-level security would prevent the use of the indexes on words
  set search_path = ''
  set plan_cache_mode = force_custom_plan -- the indexes can be used only if the planner knows the patterns
  set enable_seqscan = off
as $$
begin
  -- If one letter is wrong, the first two letters are right, or the first and all from the third on, or
  -- all from the second on.
  return case when length(typed) between 4 and 60 then array(
    select begun.form
    from (
      select listed.phrase from private.reading_words as listed
      where listed.field in ('type', 'kind', 'area', 'governorate', 'landmark')
      union all
      select known.word from private.search_vocabulary as known where known.is_shared
    ) as written
    cross join lateral (
      select left(written.phrase, length(typed) + more) from generate_series(-1, 1) as more
    ) as begun (form)
    where (written.phrase like left(typed, 2) || '%'
        or written.phrase like left(typed, 1) || '%' || substr(typed, 3) || '%'
        or written.phrase like '%' || substr(typed, 2) || '%')
      and extensions.levenshtein_less_equal(begun.form, typed, 1) = 1
    group by begun.form
    order by count(*) desc, begun.form
    limit 20
  ) else '{}' end;
end
$$;
comment on function private.one_letter_off is
  'Returns beginnings of names and of words in listings that differ from the typed text by one '
  'letter.';

create function private.suggested_text(q text) returns jsonb
  language sql stable
  return jsonb_build_object('text', q, 'kind', 'word', 'filters', jsonb_build_object('q', q), 'count', null);

create function private.suggested_names(
  forms text[], before text, is_latin boolean, most integer
) returns jsonb[]
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  named text[];
  whole text[]; -- the names that were typed completely
  items jsonb[];
  phrases jsonb[];
  read private.reading;
  allowed text[] := '{}'; -- the terms that were read from the argument before
  needed integer := 0;
begin
  select array_agg(best.term), array_agg(best.term) filter (where best.is_whole),
    array_agg(best.item) filter (where best.item is not null)
  into named, whole, items
  from (
    select name.field || ':' || name.value as term, bool_or(name.phrase = form) as is_whole,
      case when is_latin then alone.in_english else alone.in_arabic end as item
    from unnest(forms) as form
    join private.reading_words as name on name.phrase operator(pg_catalog.~>=~) form
      and name.phrase operator(pg_catalog.~<~) (form || chr(1114111))
    left join private.suggestions as alone on alone.terms = array[name.field || ':' || name.value]
    where name.field in ('type', 'kind', 'area', 'governorate', 'landmark')
    group by name.field || ':' || name.value, alone.terms
    order by is_whole desc, bool_or(name.is_name) desc, alone.listings desc nulls first, term
    limit most
  ) as best;
  if named is not null and before <> '' then
    read := private.read_query(before, null);
    select coalesce(array_agg(rule.term || ':' || code)
        filter (where rule.comparison is distinct from '<> all'), '{}'),
      count(distinct rule.name) + cardinality(read.words || read.ignored) + num_nonnulls(read.sort)
    into allowed, needed
    from jsonb_each(read.filters) as given (name, value)
    join private.search_filter_rules as rule on rule.name = given.name
    cross join jsonb_array_elements_text(case jsonb_typeof(given.value)
      when 'array' then given.value else jsonb_build_array(given.value) end) as code;
    named := array(select unnest(named) except select unnest(allowed));
    items := array(
      select private.suggested_text(before || ' ' || (item ->> 'text'))
      from unnest(items) with ordinality as name (item, index)
      where item ->> 'kind' = 'landmark'
        or cardinality(read.words || read.ignored) + num_nonnulls(read.sort) > 0
        or read.filters - '{type,kinds,areaIds,governorateIds}'::text[] <> '{}'
      order by index);
  end if;
  phrases := array(
    select case when is_latin then said.in_english else said.in_arabic end
    from private.suggestions as said
    where said.found_by && case needed when 0 then named[:3] else named || allowed end
      and said.terms && named and cardinality(said.terms) > 1
      and needed = (said.terms[1] = any (allowed))::integer + (said.terms[2] = any (allowed))::integer
        + coalesce(said.terms[3] = any (allowed), false)::integer
    order by coalesce(said.terms && whole, false) desc, cardinality(said.terms), said.listings desc,
      said.terms
    limit most
  );
  return (case before when '' then items || phrases else phrases || items end)[:most];
end
$$;
comment on function private.suggested_names is
  'Returns suggestions that contain a name beginning with one of the forms and that agree with the '
  'text before it. If that text contains more than suggestions can express, returns the text '
  'followed by such a name.';

create function private.suggest(q text default null, page_size integer default 8) returns jsonb
  language plpgsql stable security definer set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  parts text[] := '{}';
  before text;
  typed text;
  forms text[];
  is_wrong boolean;
  items jsonb[] := '{}';
  words text[] := '{}'; -- words that complete the last typed word
begin
  perform private.page_size(page_size);
  if private.query_words(q) <> '{}' then
    parts := regexp_split_to_array(btrim(q), '\s+');
  end if;
  if cardinality(parts) > 12 then -- each interpretation costs as much as in a search
    parts := '{}';
  end if;
  foreach is_wrong in array '{false,true}'::boolean[] loop
    for size in reverse least(cardinality(parts), case when is_wrong then 2 else 4 end) .. 1 loop
      before := array_to_string(parts[:cardinality(parts) - size], ' ');
      -- search_text keeps ال if at most one letter follows. It is removed here, because the name may be
      -- unfinished.
      typed := regexp_replace(
        private.search_text(array_to_string(parts[cardinality(parts) - size + 1:], ' ')),
        '(^| )ال([^ ]?)$', '\1\2');
      forms := case when is_wrong then private.one_letter_off(typed) else array_remove(array[typed], '') end;
      items := items || array(
        select named.item
        from unnest(private.suggested_names(forms, before, typed ~ '[a-z]', page_size))
          with ordinality as named (item, index)
        where named.item <> all (items)
        order by named.index limit page_size - cardinality(items));
    end loop;
    words := array(
      select known.word
      from unnest(forms) as form
      join private.search_vocabulary as known
        on known.is_shared and known.word operator(pg_catalog.~>=~) form
        and known.word operator(pg_catalog.~<~) (form || chr(1114111))
      where length(form) > 1 and known.word collate pg_catalog.pg_c_utf8 ~ '^[[:alpha:]]{3,}$'
        and not exists (select from private.suggest_hidden as hidden
          where private.search_text(hidden.word) = known.word)
        and not exists (select from private.search_names where search_names.word = known.word)
        and not exists (select from private.reading_words where reading_words.phrase = known.word)
      group by known.word, known.listings
      order by known.listings desc, known.word
      limit page_size - cardinality(items)
    );
    exit when items <> '{}' or words <> '{}';
  end loop;
  items := items || array(
    select private.suggested_text(concat_ws(' ', nullif(before, ''), word)) from unnest(words) as word);
  return jsonb_build_object('items', array(
    select item from unnest(items) with ordinality as suggested (item, index)
    where char_length(item ->> 'text') <= 200 order by index));
end
$$;
comment on function private.suggest is
  'Facade: returns {items} that complete the typed text: places, kinds, phrases made of these, and '
  'words that at least five accounts have used. If nothing begins with the text, one wrong letter '
  'is tolerated.';

grant execute on function private.suggest to anon, authenticated;
