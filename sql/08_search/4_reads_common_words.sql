-- Whether common words occur together at all, without going through every listing that has them.
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

create function private.has_few_matches(strategy text, words text[]) returns boolean
  language plpgsql
  stable
  security definer -- reads closed tables
  set search_path = ''
as $$
declare
  most constant integer := 50; -- listings to look at
  exact tsquery := private.search_query(words);
  -- With offset 0, or the planner would prefer the text index, which is what takes long.
  statement text := 'select array(select search_documents.property_id from ('
    'select * from private.search_documents where search_documents.property_id = any (%s) offset 0'
    ') as search_documents where search_documents.document @@ $1 and '
    || private.search_conditions(strategy, null) || ' limit 5)';
  known boolean;
  met bit(8192)[];
  chunks integer[];
  numbers bigint[];
  found uuid[];
  hits record;
begin
  with asked as (
    select given.place, given.word from unnest(words) with ordinality as given (word, place)
    union
    select given.place, search_names.term
    from unnest(words) with ordinality as given (word, place)
    join private.search_names on search_names.word = given.word
    union
    select 0, 'in:' || strategy
  ), read as (
    select search_bits.chunk, asked.place, bit_or(search_bits.bits) as bits, count(*) as n
    from asked
    join private.search_bits on search_bits.word = asked.word
      and search_bits.chunk = any (private.search_chunks())
    group by search_bits.chunk, asked.place
  ), every as (
    select read.chunk, bit_and(read.bits) as bits, sum(read.n) as n from read group by read.chunk
  )
  select
    sum(every.n) = (select count(*) from asked) * cardinality(private.search_chunks())
      and (select count(*) <= 2000 from (select from private.search_changes limit 2001) as changed),
    array_agg(every.chunk) filter (where bit_count(every.bits) > 0),
    array_agg(every.bits) filter (where bit_count(every.bits) > 0)
  into known, chunks, met
  from every;

  if known then
    numbers := array(
      select every.chunk::bigint * 8192 + part * 64 + place
      from unnest(chunks, met) as every (chunk, bits)
      cross join generate_series(0, 127) as part
      cross join lateral (
        select substring(every.bits from part * 64 + 1 for 64) as bits offset 0
      ) as parts
      cross join generate_series(0, 63) as place
      where bit_count(parts.bits) > 0 and get_bit(parts.bits, place) = 1
      limit most
    );
    execute format(statement, 'array(select id from public.properties where ref_no = any ($2))')
      into found using exact, numbers;
    if cardinality(found) < 5 and cardinality(numbers) < most then
      execute format(statement, '$2 || array(select property_id from private.search_changes)')
        into found using exact, found;
      return cardinality(found) < 5;
    elsif cardinality(found) = 5 then
      return false;
    end if;
  end if;
  hits := private.find_listings(
    strategy, private.default_sort(strategy), null, words, exact, null, null, null, null, 5);
  return cardinality(hits.ids) < 5;
end
$$;
comment on function private.has_few_matches(text, text[]) is
  'Whether fewer than 5 listings of a strategy have these words, whatever the filters.';
