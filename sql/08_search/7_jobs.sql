-- Scheduled work of search, map and feed, and how search documents and cards are written anew.

create function private.search_bitmap(word text, chunk integer, places smallint[])
  returns private.search_bits
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  none constant bit(8192) := repeat('0', 8192)::bit(8192);
begin
  if cardinality(places) > 32 then
    return row(word, chunk, (
      select bit_or(set_bit(none, place, 1)) from unnest(places) as listing (place)
    ), null)::private.search_bits;
  end if;
  return row(word, chunk, null, coalesce(places, '{}'))::private.search_bits;
end
$$;
comment on function private.search_bitmap is
  'Where a word stands in a chunk, as private.search_bits keeps it.';

create function private.fold_search_chunk(folded integer) returns void
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
  set work_mem = '64MB' -- half a million words of a chunk at a time
as $$
begin
  -- One statement has one snapshot: it deletes exactly the changes whose listings it reads.
  with included as (
    delete from private.search_changes where search_changes.chunk = folded
  ), found as materialized (
    select
      (properties.ref_no % 8192)::smallint as place, words.word, search_documents.published_at
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
  ), found_words as materialized (
    select found.word, array_agg(found.place) as places from found
    where found.word is not null group by found.word
  ), noticed as (
    -- A word that is left out is rare, and the text index is fast.
    insert into private.search_common_words (word)
    select frequent.word
    from (
      select found_words.word from found_words
      where cardinality(found_words.places) >= 16 and not starts_with(found_words.word, 'in:')
      union
      select search_names.term from private.search_names
    ) as frequent
    order by frequent.word
    on conflict do nothing
    returning search_common_words.word
  ), kept as (
    select noticed.word from noticed
    union all
    select search_common_words.word from private.search_common_words
    union all
    select unnest('{in:standard,in:exchange,in:auction,in:deal,in:company}'::text[])
  ), written as (
    insert into private.search_folds (chunk, newest, oldest)
    select folded,
      coalesce(max(found.published_at), '-infinity'), coalesce(min(found.published_at), 'infinity')
    from found
    on conflict (chunk) do update set newest = excluded.newest, oldest = excluded.oldest
  )
  insert into private.search_bits
  select bitmap.*
  from kept
  left join found_words on found_words.word = kept.word
  cross join lateral private.search_bitmap(kept.word, folded, found_words.places) as bitmap
  on conflict (word, chunk) do update set bits = excluded.bits, places = excluded.places;
end
$$;
comment on function private.fold_search_chunk is
  'Writes the bitmaps of a chunk: of all common words, and of those that it has 16 times; these are '
  'common from private.fold_noticed_words on.';

create function private.fold_noticed_words(at_most integer default 20) returns bigint
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
  set enable_seqscan = off -- else what is thought frequent is looked for in all listings
as $$
declare
  noticed constant text[] := array(
    select search_common_words.word from private.search_common_words
    where not search_common_words.is_folded
    limit at_most
    for update skip locked
  );
begin
  with lacking as (
    select words.word, array_agg(search_folds.chunk) as chunks
    from unnest(noticed) as words (word)
    cross join private.search_folds
    where not exists (
      select from private.search_bits
      where search_bits.word = words.word and search_bits.chunk = search_folds.chunk
    )
    group by words.word
  ), found as materialized (
    select lacking.word, (properties.ref_no / 8192)::integer as chunk,
      array_agg((properties.ref_no % 8192)::smallint) as places
    from lacking
    cross join lateral (
      select search_documents.property_id from private.search_documents
      where search_documents.document @@ private.quote_lexeme(lacking.word)::tsquery
      offset 0
    ) as having_it
    join public.properties on properties.id = having_it.property_id
    group by lacking.word, properties.ref_no / 8192
  )
  insert into private.search_bits
  select bitmap.*
  from lacking
  cross join unnest(lacking.chunks) as every (chunk)
  left join found on found.word = lacking.word and found.chunk = every.chunk
  cross join lateral private.search_bitmap(lacking.word, every.chunk, found.places) as bitmap;
  update private.search_common_words set is_folded = true
  where search_common_words.word = any (noticed);
  return cardinality(noticed);
end
$$;
comment on function private.fold_noticed_words is
  'Writes the bitmaps of words that were noticed to be common for the chunks that were written '
  'before. Gives the number of words.';

create function private.fold_search_words(changes integer default 500) returns bigint
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
as $$
declare
  folded integer;
begin
  -- One at a time: nothing older may overwrite what is newer.
  if not pg_catalog.pg_try_advisory_xact_lock(hashtextextended('fold_search_words', 0)) then
    return 0;
  end if;
  select chunks.chunk into folded
  from unnest(private.search_chunks()) as chunks (chunk)
  where not exists (select from private.search_folds where search_folds.chunk = chunks.chunk)
  limit 1;
  if folded is null and private.fold_noticed_words() > 0 then
    return 1;
  end if;
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
  perform private.fold_search_chunk(folded);
  return 1;
end
$$;
comment on function private.fold_search_words is
  'Job: writes the bitmaps of a chunk that has none, or else those of words that were noticed, or '
  'else of the chunk with most changes once there are this many in all. Gives 0 when nothing is left '
  'to do.';

create function private.refresh_area_prices(age interval default '3 minutes') returns bigint
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  -- One at a time: nothing older may overwrite what is newer.
  if not pg_catalog.pg_try_advisory_xact_lock(hashtextextended('refresh_area_prices', 0))
    or exists (select from private.area_prices where area_prices.computed_at > now() - age) then
    return 0;
  end if;
  insert into private.area_prices (items, computed_at)
  values (private.map_area_prices(null), now())
  on conflict (is_only_row) do update
    set items = excluded.items, computed_at = excluded.computed_at;
  return 1;
end
$$;
comment on function private.refresh_area_prices is
  'Job: writes private.area_prices anew once it is this old, before what reads it finds it too old.';

create function private.purge_publications() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.purge('private.publications', 'until', '7 hours')
$$;
comment on function private.purge_publications is
  'Job: deletes publications that no readable snapshot needs, 1,000 at a time.';

create function private.purge_office_ranks() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.purge('private.office_ranks', 'until', '7 hours')
$$;
comment on function private.purge_office_ranks is
  'Job: deletes ranks that no readable snapshot needs, 1,000 at a time.';

create function private.purge_vocabulary() returns bigint
  language plpgsql
  security definer -- deletes from a closed table
  set search_path = ''
  set enable_seqscan = off -- else a word that nobody has would be looked for in all listings
as $$
declare
  -- Some pages of the table, anywhere: so all of it is looked at again and again, and nothing has
  -- to be remembered.
  pages constant integer := 4;
  first_page constant bigint := floor(random() *
    (pg_relation_size('private.search_vocabulary') / current_setting('block_size')::integer));
  gone bigint;
begin
  with looked_at as materialized (
    select search_vocabulary.ctid as at, search_vocabulary.word from private.search_vocabulary
    where search_vocabulary.ctid >= format('(%s,0)', first_page)::tid
      and search_vocabulary.ctid < format('(%s,0)', first_page + pages)::tid
  ), unused as materialized (
    select looked_at.at from looked_at
    where not exists (
        select from private.search_documents
        where search_documents.document @@ private.quote_lexeme(looked_at.word)::tsquery
      )
      and not exists (select from private.search_names where search_names.word = looked_at.word)
  ), deleted as (
    delete from private.search_vocabulary
    where search_vocabulary.ctid = any (array(select unused.at from unused))
    returning 1
  )
  select count(*) into gone from deleted;
  return gone;
end
$$;
comment on function private.purge_vocabulary is
  'Job: deletes words that no listing has any more, of some hundred at a time. A listing that is '
  'written at this very moment may lose one of its words here until it is written again: then '
  'nobody who mistypes that word is led to it.';

create function private.rebuild_search_documents() returns bigint
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
as $$
declare
  listings bigint;
begin
  delete from private.search_documents;
  -- The job writes a chunk without bitmaps; until all have them, none are used.
  delete from private.search_common_words;
  delete from private.search_bits;
  delete from private.search_folds;
  delete from private.search_changes;
  insert into private.search_documents
  select document.*
  from public.properties
  cross join lateral private.search_document(properties) as document
  where properties.listed;
  get diagnostics listings = row_count;
  -- Not by ts_stat, whose time grows with the square of how many words are in order, as numbers are.
  perform private.add_search_words(array(
    select distinct words.word
    from private.search_documents
    cross join lateral unnest(tsvector_to_array(search_documents.document)) as words (word)
    where words.word ~ '^[^0-9:]{3,}$'
  ));
  delete from private.property_cards;
  insert into private.property_cards
  select card.*
  from public.properties
  cross join lateral private.property_card(properties) as card
  where properties.listed
  on conflict do nothing;
  delete from private.listed_records;
  insert into private.listed_records
  select kept.*
  from public.properties
  cross join lateral private.listed_record(properties) as kept
  where properties.listed
  on conflict do nothing;
  return listings;
end
$$;
comment on function private.rebuild_search_documents is
  'Writes private.search_documents, property_cards and listed_records anew, after a load without '
  'triggers or a change of their rules. Gives the number of listings. Only the owner of the database '
  'can call it.';

grant execute on function
  private.fold_search_words, private.refresh_area_prices, private.purge_publications,
  private.purge_office_ranks, private.purge_vocabulary
  to backend;
