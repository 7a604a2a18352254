-- Which of the walks (4_reads_walks.sql) a search takes, and what several of them found together.

create function private.search_types(strategy text, type text) returns text[]
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return case
    when (strategy = 'exchange') <> (type = 'EXCHANGE') then '{}'
    when type is not null then array[type]
    when strategy = 'exchange' then '{EXCHANGE}'
    else '{SALE,RENT}'
  end;
end
$$;
comment on function private.search_types is 'Where a search with plain filters has to look.';

create function private.merge_walks(branches private.search_walk[], size integer)
  returns private.search_walk
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  walk private.search_walk;
begin
  select
    array_agg(hit.id order by hit.key desc, hit.id desc),
    array_agg(hit.key order by hit.key desc, hit.id desc)
  into walk.ids, walk.keys
  from (
    -- An area or kind that is named twice is walked twice.
    select distinct hit.id, hit.key
    from unnest(branches) as branch
    cross join unnest(branch.ids, branch.keys) as hit (id, key)
  ) as hit;
  -- What a branch has left does not matter if all of it comes after the end of the page.
  walk.complete := not exists (
    select from unnest(branches) as branch
    where not branch.complete
      and coalesce(branch.reached >= walk.keys[size]::timestamptz, true)
  );
  return walk;
end
$$;
comment on function private.merge_walks is 'What several walks found, the newest first.';

create function private.has_price_between(
  type text, kind text, price_min numeric, price_max numeric
) returns boolean
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  low constant numeric := coalesce(price_min, 0);
  high constant numeric := coalesce(price_max, 99999999999.999);
begin
  perform from private.search_documents as listing
  where listing.type = has_price_between.type and listing.kind = has_price_between.kind
    and coalesce(listing.price, 100000000000) between low and high
  order by coalesce(listing.price, 100000000000)
  limit 1;
  return found;
end
$$;
comment on function private.has_price_between is
  'Whether a type and kind has any listing with such a price: no rent is a price of sale.';

create function private.walk_branches(
  strategy text, wanted private.search_filters, before_at timestamptz, before_id uuid, size integer,
  depth integer
) returns private.search_walk
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  area text;
  type text;
  kind text;
  branches private.search_walk[] := '{}';
begin
  if cardinality(wanted.area_ids) * cardinality(wanted.kinds) <= 4 then
    foreach area in array wanted.area_ids loop
      foreach kind in array wanted.kinds loop
        branches := branches || private.walk_area_kind(
          strategy, wanted, area, kind, before_at, before_id, size, depth);
      end loop;
    end loop;
  elsif cardinality(wanted.area_ids) <= 4 then
    foreach area in array wanted.area_ids loop
      branches := branches
        || private.walk_area(strategy, wanted, area, before_at, before_id, size, depth);
    end loop;
  elsif cardinality(wanted.kinds) <= 8 then
    foreach type in array private.search_types(strategy, wanted.type) loop
      foreach kind in array wanted.kinds loop
        continue when num_nulls(wanted.price_min, wanted.price_max) < 2
          and not private.has_price_between(type, kind, wanted.price_min, wanted.price_max);
        branches := branches
          || private.walk_kind(strategy, wanted, type, kind, before_at, before_id, size, depth);
      end loop;
    end loop;
  else
    return private.walk_newest(strategy, wanted, before_at, before_id, size, depth);
  end if;
  if cardinality(branches) = 1 then
    return branches[1];
  end if;
  return private.merge_walks(branches, size);
end
$$;
comment on function private.walk_branches(
  text, private.search_filters, timestamptz, uuid, integer, integer
) is
  'Walks each area, or kind in an area, else each type and kind, for itself: a walk through all '
  'listings would pass by too many others.';

create function private.walk_branches(
  strategy text, wanted private.search_filters, before_at timestamptz, before_id uuid, size integer
) returns private.search_walk
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  depth integer;
  walk private.search_walk;
begin
  foreach depth in array array[1000, 10000] loop
    walk := private.walk_branches(strategy, wanted, before_at, before_id, size, depth);
    exit when walk.complete or walk.ids is null or depth * size / cardinality(walk.ids) > 20 * (
      -- Those that match are so many, if they are as frequent everywhere. Finding one in the text
      -- index and visiting it takes as long as passing twenty by.
      select cardinality(walk.ids) * pg_class.reltuples / depth from pg_catalog.pg_class
      where pg_class.oid = 'private.search_documents'::regclass);
  end loop;
  return walk;
end
$$;
comment on function private.walk_branches(
  text, private.search_filters, timestamptz, uuid, integer
) is
  'The same, 1,000 listings far, and 10,000 where that finds some, but not all: gathering the few '
  'that there are is faster.';
