-- If fewer than five listings match a query, similar listings are added. For this, the filters that
-- were read from q are dropped or widened step by step until there are five listings. The type and the
-- filters of the client are kept.

create function private.wider_filters(wide jsonb, step integer) returns jsonb
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select coalesce(jsonb_strip_nulls(jsonb_object_agg(rule.name, case
      when rule.let_go is distinct from wider_filters.step then given.value
      when rule.name = 'priceMin' then to_jsonb(given.value::numeric * 0.85)
      when rule.name = 'priceMax' then to_jsonb(given.value::numeric * 1.15)
      when rule.name = 'near' then jsonb_set(given.value, '{2}', '8') -- km
      when rule.name = 'kinds' then given.value || to_jsonb(array(
        select kind_groups.kind from private.kind_groups
        where not given.value ? kind_groups.kind and kind_groups.name in (
          select own.name from private.kind_groups as own where given.value ? own.kind)))
      when rule.name = 'areaIds' then given.value || to_jsonb(array(
        select near.id
        from (
          select private.earth_point(areas.lat, areas.lng) as location from public.areas
          where given.value ? areas.id and areas.lat is not null offset 0
        ) as own
        cross join (
          select areas.id, private.earth_point(areas.lat, areas.lng) as location from public.areas
          where not given.value ? areas.id and areas.lat is not null offset 0
        ) as near
        group by near.id
        order by min(own.location operator(extensions.<->) near.location), near.id
        limit 5))
    end)), '{}')
    from jsonb_each(wide) as given (name, value)
    join private.search_filter_rules as rule on rule.name = given.name
  );
end
$$;
comment on function private.wider_filters is
  'Drops or widens the filters whose let_go equals this step. areaIds is extended by the five '
  'nearest areas, the nearest first.';

create function private.ranked_listings(
  read private.reading, alike jsonb, areas text[], ids uuid[], steps integer[],
  out items text[], out names text[], out guessed jsonb
)
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  tests text;
  unmet text[]; -- per listing, a digit for each filter: 1 if the listing does not meet it, else 0
begin
  select array_agg(part.name order by part.name) || 'words'::text,
    string_agg(format(', case when %s then 0 else 1 end', part.condition), '' order by part.name)
  into names, tests
  from (
    select given.name, (private.search_conditions(null, alone.filters)).conditions || case
      when (alone.filters).said is null then ''
      else format(' and search_documents.document @@ %L', (alone.filters).said) end as condition
    from jsonb_each(read.filters) as given (name, value)
    cross join lateral private.both_filters(null, jsonb_build_object(given.name, given.value)) as alone
  ) as part;
  execute format('select array_agg(concat(''''%s) order by found.index) '
    'from unnest($2) with ordinality as found (id, index) '
    'join private.search_documents on search_documents.property_id = found.id', tests)
  into unmet using (private.both_filters(null, read.filters)).filters, ids;
  with readings as materialized (
    select one.*, 1.0 / count(*) over (partition by one.of_word) as share,
      string_agg(one.query::text, '|') over (partition by one.of_word order by one.index)::tsquery as up_to
    from (
      select term.index as of_word, reading.word, reading.index,
        string_agg(private.quote_lexeme(lexeme), '|')::tsquery as query
      from unnest(read.words) with ordinality as term (word, index)
      cross join lateral unnest(term.word || array(
        select jsonb_array_elements_text(alike -> term.word))) with ordinality as reading (word, index)
      cross join lateral private.lexemes_of(reading.word) as lexeme
      group by term.index, reading.word, reading.index
    ) as one
  ), ranked as materialized (
    select found.id || found.unmet || case when lacking.words > 0 then 1 else 0 end as item,
      listing.document
    from unnest(ids, steps, unmet) with ordinality as found (id, step, unmet, index)
    join private.search_documents as listing on listing.property_id = found.id
    cross join lateral (
      select coalesce(round(sum(readings.share), 6), 0) as words
      from readings where not listing.document @@ readings.up_to
    ) as lacking
    order by found.step, length(replace(found.unmet, '0', '')) + lacking.words,
      array_position(areas, listing.area_id) nulls first, found.index
    limit 30
  )
  select coalesce(array_agg(ranked.item), '{}'), (
    select coalesce(jsonb_agg(jsonb_build_object(
      'from', read.typed[guess.of_word], 'to', guess.words) order by guess.of_word), '[]')
    from (
      select other.of_word, array_agg(other.word order by other.index) as words
      from readings as other
      join readings as own on own.of_word = other.of_word and own.index = 1
      where other.index > 1 and exists (select from ranked as listing
        where listing.document @@ other.query and not listing.document @@ own.query)
      group by other.of_word
    ) as guess
  )
  into items, guessed
  from ranked;
end
$$;
comment on function private.ranked_listings is
  'Returns the first 30 listings, sorted by step, then by how many filters and words they miss (a '
  'similar word is a partial miss), then by the order of areas. items: the id of each listing, '
  'followed by one digit per name in names: 1 if the listing misses it, otherwise 0. guessed: the '
  'similar words that were found.';

create function private.similar_listings(
  strategy text, sort text, given private.search_filters, read private.reading, words tsquery,
  literal boolean, fitting uuid[], out items text[], out names text[], out guessed jsonb
)
  language plpgsql stable
  security definer -- reads the documents of all listings
  set search_path = ''
as $$
declare
  alike constant jsonb := private.alike_words(read.words);
  any_alike constant tsquery := private.search_query(read.words, alike, '|');
  wider jsonb := read.filters;
  tried record;
  asks boolean; -- whether a filter says what is wanted, and not only what is excluded
  ids uuid[] := '{}';
  step integer;
  steps integer[] := '{}';
  more uuid[];
begin
  items := '{}';
  names := '{}';
  guessed := '[]';
  if fitting = '{}' and not (given is null) and (private.find_listings(strategy, sort,
    (private.both_filters(given, jsonb_strip_nulls(jsonb_build_object('type', read.filters -> 'type')))
    ).filters, null, null, null, null, 1)).ids = '{}' then
    return; -- nothing matches the type and the filters of the client, and no step drops these
  end if;
  foreach step in array case when literal then '{-1}' else '{-1,0,1}' || array(
    select distinct rule.let_go::integer from private.search_filter_rules as rule
    where read.filters ? rule.name and rule.let_go is not null order by 1) end
  loop
    exit when cardinality(fitting || ids) >= 5;
    tried := (wider, words);
    if step > 1 then
      wider := private.wider_filters(wider, step);
    end if;
    -- Exclusions alone do not say what is wanted.
    asks := wider - '{notKinds,notAreaIds,notGovernorateIds}'::text[] <> '{}';
    words := case when step = -1 then private.search_query(read.words, alike)
      when step = 0 or not asks then any_alike end;
    continue when tried is not distinct from (wider, words) or not asks and words is null;
    more := array(
      select found.id
      from unnest((private.find_listings(strategy, sort,
        (private.both_filters(given, wider)).filters, words, null, null, null,
        -- The listings that step 1 adds have none of the words, so their order is final. 30 of them are
        -- enough, plus up to 4 that were found earlier.
        case step when 1 then 34 else 200 end, true)).ids)
        with ordinality as found (id, index)
      where found.id <> all (fitting || ids)
      order by found.index
    );
    ids := ids || more;
    steps := steps || array_fill(step, array[cardinality(more)]);
  end loop;
  if ids = '{}' then
    return;
  end if;
  select * into items, names, guessed from private.ranked_listings(read, alike, array(
    select jsonb_array_elements_text((wider -> 'areaIds') - array(
      select jsonb_array_elements_text(read.filters -> 'areaIds')))), ids, steps);
end
$$;
comment on function private.similar_listings is
  'Returns up to 30 similar listings in addition to those that match (fitting). Step -1 requires '
  'every word or a similar one; if literal is true, it is the only step. Step 0 requires any of '
  'these words, step 1 none. Later steps call private.wider_filters. Step 1 reads the first 34 '
  'listings, the other steps read the first 200.';
