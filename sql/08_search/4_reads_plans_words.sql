-- The newest listings with some words, chunk by chunk (4_reads_common_words.sql).

create function private.newest_with(
  plan private.search_plan, words tsquery, asked tsquery, without uuid[], after_key text,
  after_id uuid, size integer,
  out ids uuid[], out keys text[], out is_complete boolean
)
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  most constant integer := 1000; -- listings to look at
  lookup constant private.search_lookup := private.search_lookup(plan.strategy, asked);
  among uuid[];
  here uuid[];
  chunks integer[];
  newest timestamptz[];
  read integer := 0;
begin
  if lookup.is_common is not true then
    return;
  end if;
  is_complete := false;
  among := private.listings_beside(lookup, most);
  select
    array_agg(every.chunk order by every.newest desc),
    array_agg(every.newest order by every.newest desc)
  into chunks, newest
  from (
    select chunk, coalesce(search_folds.newest, 'infinity') as newest
    from unnest(lookup.chunks) as chunk
    left join private.search_folds using (chunk)
    where after_key is null or search_folds.oldest is null
      or search_folds.oldest <= after_key::timestamptz
  ) as every;
  while among is not null and not is_complete loop
    here := private.listings_in(lookup, chunks[read + 1:3 * read + 2],
      case read when 0 then 300 else most end - cardinality(among));
    exit when here is null;
    among := among || here;
    read := 3 * read + 2;
    continue when cardinality(among) < size and newest[read + 1] is not null;
    select gathered.ids, gathered.keys into ids, keys
    from private.gather_hits(
      plan, words, null, among, without, after_key, after_id, size) as gathered;
    is_complete := newest[read + 1] is null
      or cardinality(ids) = size and keys[size]::timestamptz > newest[read + 1];
  end loop;
end
$$;
comment on function private.newest_with is
  'As private.search_hits, where the plan''s order is newest: looks at one chunk after another, that '
  'of the newest listings first. Not complete: so many have what is asked that walking is faster; '
  'null: not common, or not known.';
