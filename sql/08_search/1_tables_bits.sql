-- Whether words that are common meet at all, without going through all listings that have them.
--
-- Listings stand in chunks of 8,192 by their number. A job writes for each chunk and each common word
-- which listings of it have the word, as a row of bits; where words meet is then a handful of ANDs.
-- Nothing has to be taken back: a listing that is written anew stands in search_changes, in the same
-- transaction, until its chunk is written anew, and is looked at itself, as is every listing that bits
-- lead to. So at any moment bits and changes together miss nothing, and whatever they say is checked.

create table private.search_bits (
  word text not null,
  chunk integer not null,
  bits bit(8192) not null,
  primary key (word, chunk)
);
comment on table private.search_bits is
  'Which listings of a chunk have a common word, a term of a name, or a strategy (in:auction).';
comment on column private.search_bits.word is 'A word of private.search_documents, or in:strategy.';
comment on column private.search_bits.chunk is 'Number of the listings divided by 8,192.';
comment on column private.search_bits.bits is 'One for each listing, by what is left of its number.';

create table private.search_changes (
  id bigint generated always as identity,
  chunk integer not null,
  property_id uuid not null,
  primary key (chunk, id)
);
comment on table private.search_changes is
  'Listings whose words were written since the bits of their chunk, once for each time.';
comment on column private.search_changes.id is 'Tells one time from another.';
comment on column private.search_changes.chunk is 'As in private.search_bits.';
comment on column private.search_changes.property_id is 'Which listing.';

alter table private.search_bits enable row level security;
alter table private.search_changes enable row level security;
create policy "nobody but functions of their owner" on private.search_bits using (false);
create policy "nobody but functions of their owner" on private.search_changes using (false);

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
comment on function private.search_chunks is 'All chunks: from the first number of a listing on.';

create function private.fold_search_words(changes integer default 500) returns bigint
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
  set work_mem = '64MB' -- half a million words of a chunk at a time
as $$
declare
  folded integer;
  none bit(8192) := repeat('0', 8192)::bit(8192);
begin
  -- Of two at once one works: nothing older may be written over what is newer.
  if not pg_catalog.pg_try_advisory_xact_lock(hashtextextended('fold_search_words', 0)) then
    return 0;
  end if;
  select chunks.chunk into folded
  from unnest(private.search_chunks()) as chunks (chunk)
  where not exists (
    select from private.search_bits
    where search_bits.word = 'in:standard' and search_bits.chunk = chunks.chunk
  )
  limit 1;
  if folded is null then
    select folds.chunk into folded from (
      select search_changes.chunk, count(*) as n, sum(count(*)) over () as all_of_them
      from private.search_changes
      where search_changes.chunk = any (private.search_chunks())
      group by search_changes.chunk
    ) as folds
    where folds.all_of_them >= fold_search_words.changes
    order by folds.n desc
    limit 1;
  end if;
  if folded is null then
    return 0;
  end if;
  -- One statement, one snapshot: the changes that go are those whose listings are read.
  with seen as (
    delete from private.search_changes where search_changes.chunk = folded
  ), found as materialized (
    select (properties.ref_no % 8192)::integer as place, words.word
    from public.properties
    join private.search_documents on search_documents.property_id = properties.id
    cross join lateral unnest(tsvector_to_array(search_documents.document) || array[
      case when search_documents.type = 'EXCHANGE' then 'in:exchange' else 'in:standard' end,
      case when search_documents.auction_ends_at > now() then 'in:auction' end,
      case when search_documents.drop_until > now() then 'in:deal' end,
      case when search_documents.owner_type = 'company' and search_documents.owner_verified
        then 'in:company' end
    ]) as words (word)
    where properties.ref_no >= folded::bigint * 8192
      and properties.ref_no < (folded::bigint + 1) * 8192
  ), kept as (
    -- Whatever is not kept is rare, and the index of words is quick.
    select found.word from found
    where found.word is not null group by found.word having count(*) >= 64
    union
    select search_bits.word from private.search_bits
    union
    select search_names.term from private.search_names
    union
    select unnest('{in:standard,in:exchange,in:auction,in:deal,in:company}'::text[])
  )
  insert into private.search_bits (word, chunk, bits)
  select kept.word, folded, coalesce(bit_or(set_bit(none, found.place, 1)), none)
  from kept
  left join found on found.word = kept.word
  group by kept.word
  on conflict (word, chunk) do update set bits = excluded.bits;
  return 1;
end
$$;
comment on function private.fold_search_words is
  'A job: writes the bits of a chunk that has none, else of the one with most changes once there are '
  'this many in all; answers how many chunks.';

create function private.match_few(strategy text, words text[]) returns boolean
  language plpgsql
  stable
  security definer -- reads closed tables
  set search_path = ''
as $$
declare
  looked_at constant integer := 50;
  exact tsquery := private.search_query(words);
  -- Fenced: the planner would rather ask the index of words, which is what takes long.
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
      limit looked_at
    );
    execute format(statement, 'array(select id from public.properties where ref_no = any ($2))')
      into found using exact, numbers;
    if cardinality(found) < 5 and cardinality(numbers) < looked_at then
      execute format(statement, '$2 || array(select property_id from private.search_changes)')
        into found using exact, found;
      return cardinality(found) < 5;
    elsif cardinality(found) = 5 then
      return false;
    end if;
  end if;
  hits := private.search_hits(
    private.search_plan(strategy, private.search_sort(strategy, null, null), null),
    exact, null, null, null, null, 5
  );
  return cardinality(hits.ids) < 5;
end
$$;
comment on function private.match_few(text, text[]) is
  'Whether fewer than 5 listings of a strategy have these words, whatever else is asked of them.';

revoke execute on all functions in schema private from public;
grant execute on function private.fold_search_words to backend;
