-- Which listings have words together, without going through all that have one of them.
--
-- Listings stand in chunks of 8,192 by their number. A job writes, for each chunk and each common
-- word, a bitmap of the listings that have the word; where words occur together is then a handful
-- of ANDs. Nothing has to be removed from a bitmap: a listing that is written anew stands in
-- search_changes, from the same transaction on, until its chunk is written anew, and is looked at
-- itself, as is every listing that a bitmap leads to. So bitmaps and changes together never miss a
-- listing, and whatever they say is checked.

create function private.search_chunks() returns integer[]
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return array(
    select generate_series(100001 / 8192, property_ref_no.last_value / 8192)::integer
    from private.property_ref_no
  );
end
$$;
comment on function private.search_chunks is 'All chunks, from that of the first listing on.';

create function private.search_alternatives(asked tsquery)
  returns table (place bigint, word text)
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  -- A query is made of words that all have to be there, or alternatives of them in brackets.
  return query
  select asked_for.place, alternative[1]
  from string_to_table(asked::text, '&') with ordinality as asked_for (alternatives, place)
  cross join lateral regexp_matches(asked_for.alternatives, '''([^'']+)''', 'g') as alternative;
end
$$;
comment on function private.search_alternatives is
  'What private.search_query and private.search_terms ask: one word or term of each place.';

create function private.rare_words(asked tsquery) returns tsquery
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  common constant text[] := array(
    select search_common_words.word from private.search_common_words
    where search_common_words.word = any (array(
      select alternative.word from private.search_alternatives(asked) as alternative
    ))
  );
begin
  return (
    select string_agg(place.alternatives, '&')
    from (
      select '(' || string_agg(private.quote_lexeme(alternative.word), '|') || ')' as alternatives
      from private.search_alternatives(asked) as alternative
      group by alternative.place
      having not bool_or(alternative.word = any (common))
    ) as place
  )::tsquery;
end
$$;
comment on function private.rare_words is
  'The places of a query whose alternatives have no bitmap at all; null where every place has one. '
  'The text index gives their listings at once, but seeks each of them in the lists of every other '
  'word that is asked: what has the rest is faster seen by looking at the listings themselves.';

create type private.search_lookup as (
  asked tsquery, places bigint[], words text[], strangers tsquery, is_common boolean,
  chunks integer[]
);
comment on type private.search_lookup is
  'How to find what is asked. Each place has alternatives: words that have bitmaps everywhere, or '
  'strangers. It is common if every place has one of the former.';

create function private.search_lookup(strategy text, asked tsquery) returns private.search_lookup
  language plpgsql
  stable
  security definer -- reads closed tables
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  chunks constant integer[] := private.search_chunks();
  lookup private.search_lookup;
begin
  with alternatives as (
    select * from private.search_alternatives(asked)
    -- Nearly all are standard: to compare that would exclude hardly any.
    union all select 0, 'in:' || strategy where strategy <> 'standard'
  ), known as (
    select search_common_words.word from private.search_common_words
    where search_common_words.word = any (array(select alternatives.word from alternatives))
      and search_common_words.is_folded
    union all select 'in:' || strategy
  )
  select
    asked,
    array_agg(alternatives.place) filter (where known.word is not null),
    array_agg(alternatives.word) filter (where known.word is not null),
    string_agg(private.quote_lexeme(alternatives.word), '|')
      filter (where known.word is null)::tsquery,
    count(distinct alternatives.place)
      = count(distinct alternatives.place) filter (where known.word is not null),
    chunks
  into lookup
  from alternatives
  left join known on known.word = alternatives.word;
  -- Before the job has run there are no bitmaps, and while it is behind, too many changes.
  if (select count(*) < cardinality(chunks) from private.search_folds) or (
    select count(*) > 2000 from (select from private.search_changes limit 2001) as changes
  ) then
    return null;
  end if;
  return lookup;
end
$$;
comment on function private.search_lookup is
  'How to find what is asked of the listings of a strategy; null where bitmaps do not tell.';

create function private.listings_beside(lookup private.search_lookup, most integer)
  returns uuid[]
  language plpgsql
  stable
  security definer -- reads closed tables
  set search_path = ''
  set enable_seqscan = off -- else what is thought frequent is looked for in all listings
as $$
declare
  ids uuid[];
  rare tsquery;
  looked_at integer;
  matching uuid[];
begin
  -- With offset 0, or the planner would look all of them up in the text index.
  ids := array(
    select changed.property_id from private.search_changes
    cross join lateral (
      select * from private.search_documents
      where search_documents.property_id = search_changes.property_id
      offset 0
    ) as changed
    where changed.document @@ lookup.asked
  );
  if lookup.strangers is not null then
    rare := case when lookup.is_common then lookup.strangers
      else coalesce(private.rare_words(lookup.asked), lookup.asked) end;
    select count(*), array_agg(found.property_id) filter (where found.document @@ lookup.asked)
    into looked_at, matching
    from (
      select search_documents.property_id, search_documents.document
      from private.search_documents
      where search_documents.document @@ rare
      limit 1001
    ) as found;
    ids := case when looked_at <= 1000 then ids || matching end;
  end if;
  return case when cardinality(ids) <= most then ids end;
end
$$;
comment on function private.listings_beside is
  'What the bitmaps do not tell: listings with a stranger or written since; null for more than so '
  'many, or if they are among more than a thousand that would have to be looked at.';

create function private.listings_in(
  lookup private.search_lookup, chunks integer[], most integer
) returns uuid[]
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  none constant bit(8192) := repeat('0', 8192)::bit(8192);
  met record;
  numbers bigint[];
begin
  with asked as (
    select every.place, every.word, count(*) over (partition by every.place) = 1 as is_alone
    from unnest(lookup.places, lookup.words) as every (place, word)
  ), kept as not materialized (
    select search_bits.chunk, asked.place, asked.is_alone, coalesce(search_bits.bits, (
      select coalesce(bit_or(set_bit(none, listing.place, 1)), none)
      from unnest(search_bits.places) as listing (place)
    )) as bits
    from asked
    join private.search_bits on search_bits.word = asked.word
      and search_bits.chunk = any (chunks)
  )
  select array_agg(every.chunk) as chunks, array_agg(every.bits) as bits,
    coalesce(sum(bit_count(every.bits)), 0) as total
  into met
  from (
    select each_place.chunk, bit_and(each_place.bits) as bits
    from (
      -- Bitmaps are copied at each step: what has no alternatives saves one.
      select kept.chunk, kept.bits from kept where kept.is_alone
      union all
      select kept.chunk, bit_or(kept.bits) from kept where not kept.is_alone
      group by kept.chunk, kept.place
    ) as each_place
    group by each_place.chunk
  ) as every
  where bit_count(every.bits) > 0;
  if met.total > most then
    return null;
  end if;
  -- Each 1 is as far from the one before it as there are zeros between them.
  numbers := array(
    select every.chunk::bigint * 8192 - 1
      + sum(char_length(zeros.before) + 1) over (partition by every.chunk order by zeros.nth)
    from unnest(met.chunks, met.bits) as every (chunk, bits)
    cross join lateral string_to_table(every.bits::text, '1') with ordinality as zeros (before, nth)
    where zeros.nth <= bit_count(every.bits)
  );
  return array(select properties.id from public.properties where properties.ref_no = any (numbers));
end
$$;
comment on function private.listings_in is
  'The listings of some chunks where the bitmaps of each place meet; null for more than so many.';

create function private.listings_with(strategy text, asked tsquery, most integer) returns uuid[]
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  lookup constant private.search_lookup := private.search_lookup(strategy, asked);
  ids uuid[];
  met uuid[];
  read integer := 0;
begin
  if lookup.asked is null then
    return null;
  end if;
  ids := private.listings_beside(lookup, most);
  if not lookup.is_common then
    return ids;
  end if;
  -- What is frequent shows in a few chunks already.
  while cardinality(ids) <= most and read < cardinality(lookup.chunks) loop
    met := private.listings_in(lookup, lookup.chunks[read + 1:8 * read + 1], most);
    ids := case when met is not null then ids || met end;
    read := 8 * read + 1;
  end loop;
  return case when cardinality(ids) <= most then ids end;
end
$$;
comment on function private.listings_with is
  'All listings of a strategy with what is asked, and maybe some without; null if they are more than '
  'so many, or if that is not known.';

create function private.has_few_matches(
  strategy text, reading private.search_reading, among uuid[] default null
) returns boolean
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  exact tsquery;
  hits record;
begin
  if cardinality(among) < 5 then
    return true;
  end if;
  exact := private.reading_query(reading);
  hits := private.find_listings(
    strategy, private.default_sort(strategy), reading.filters, exact,
    coalesce(among, private.listings_with(strategy, exact, 50)), null, null, null, 5);
  return cardinality(hits.ids) < 5;
end
$$;
comment on function private.has_few_matches(text, private.search_reading, uuid[]) is
  'Whether fewer than 5 listings of a strategy fit a query, whatever the filters beside it. Among: '
  'those of private.listings_with, if they are known.';
