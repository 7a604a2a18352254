-- Scheduled work of search, map and feed, and how search documents and cards are written anew.

create function private.fold_search_chunk(folded integer) returns void
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
  set work_mem = '64MB' -- half a million words of a chunk at a time
as $$
declare
  none bit(8192) := repeat('0', 8192)::bit(8192);
begin
  -- One statement has one snapshot: it deletes exactly the changes whose listings it reads.
  with included as (
    delete from private.search_changes where search_changes.chunk = folded
  ), found as materialized (
    select
      (properties.ref_no % 8192)::integer as place, words.word, search_documents.published_at
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
    -- A word that is left out is rare, and the text index is fast.
    select found.word from found
    where found.word is not null group by found.word having count(*) >= 64
    union
    select search_bits.word from private.search_bits
    union
    select search_names.term from private.search_names
    union
    select unnest('{in:standard,in:exchange,in:auction,in:deal,in:company}'::text[])
  ), written as (
    insert into private.search_folds (chunk, words, newest, oldest)
    select folded, (select count(*) from kept),
      coalesce(max(found.published_at), '-infinity'), coalesce(min(found.published_at), 'infinity')
    from found
    on conflict (chunk) do update
    set words = excluded.words, newest = excluded.newest, oldest = excluded.oldest
  )
  insert into private.search_bits (word, chunk, bits)
  select kept.word, folded, coalesce(bit_or(set_bit(none, found.place, 1)), none)
  from kept
  left join found on found.word = kept.word
  group by kept.word
  on conflict (word, chunk) do update set bits = excluded.bits;
end
$$;
comment on function private.fold_search_chunk is
  'Writes the bitmaps of a chunk: of the words that are common in it, and of all that have bitmaps '
  'elsewhere. One chunk at a time, or else each twice: words that were found at the same time are '
  'strangers to one another.';

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
  where not exists (
    select from private.search_bits
    where search_bits.word = 'in:standard' and search_bits.chunk = chunks.chunk
  ) or not exists (select from private.search_folds where search_folds.chunk = chunks.chunk)
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
    -- What has become common since is a stranger there.
    select search_folds.chunk into folded from private.search_folds
    where search_folds.words < (select max(every.words) from private.search_folds as every)
    order by search_folds.words
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
  'Job: writes the bitmaps of a chunk that has none, or else of the one with most changes once '
  'there are this many in all, or of one that lacks words. Gives the number of chunks written.';

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

create function private.sweep_publications() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.sweep('private.publications', 'until', '7 hours')
$$;
comment on function private.sweep_publications is
  'Job: deletes publications that no readable snapshot needs, 1,000 at a time.';

create function private.sweep_office_ranks() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.sweep('private.office_ranks', 'until', '7 hours')
$$;
comment on function private.sweep_office_ranks is
  'Job: deletes ranks that no readable snapshot needs, 1,000 at a time.';

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
    where words.word ~ '^[^0-9]{3,}$'
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
  private.fold_search_words, private.refresh_area_prices, private.sweep_publications,
  private.sweep_office_ranks
  to backend;
