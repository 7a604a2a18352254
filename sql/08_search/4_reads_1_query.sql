-- A query as a search uses it: its filters and those that were given both hold.

create function private.both_filters(
  given private.search_filters, understood jsonb,
  out wanted private.search_filters, out conflicts text[]
)
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  read constant private.search_filters :=
    jsonb_populate_record(null::private.search_filters, understood);
begin
  wanted := given;
  conflicts := '{}';
  if understood = '{}' then
    return;
  end if;
  wanted.type := coalesce(given.type, read.type);
  wanted."priceMin" := greatest(given."priceMin", read."priceMin");
  wanted."priceMax" := least(given."priceMax", read."priceMax");
  wanted."areaM2Min" := greatest(given."areaM2Min", read."areaM2Min");
  wanted."areaM2Max" := least(given."areaM2Max", read."areaM2Max");
  wanted."bedroomsMin" := greatest(given."bedroomsMin", read."bedroomsMin");
  wanted."floorMin" := greatest(given."floorMin", read."floorMin");
  wanted."floorMax" := least(given."floorMax", read."floorMax");
  wanted.furnished := case when num_nulls(given.furnished, read.furnished) > 0
    then coalesce(given.furnished, read.furnished) else array(
      select code from unnest(given.furnished) as code where code = any (read.furnished)) end;
  conflicts := array_remove(array[
    case when given.type <> read.type then 'type' end,
    case when given."priceMin" > read."priceMax" then 'priceMin' end,
    case when given."priceMax" < read."priceMin" then 'priceMax' end,
    case when given."areaM2Min" > read."areaM2Max" then 'areaM2Min' end,
    case when given."areaM2Max" < read."areaM2Min" then 'areaM2Max' end,
    case when given."floorMin" > read."floorMax" then 'floorMin' end,
    case when given."floorMax" < read."floorMin" then 'floorMax' end,
    case when wanted.furnished = '{}' then 'furnished' end
  ], null);
end
$$;
comment on function private.both_filters is
  'The filters that were given and those that were read from a query, together, and the names of '
  'given ones that exclude what was read.';

create function private.fitting_listings(
  strategy text, reading private.search_reading, most integer, alike tsquery default null
) returns uuid[]
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  exact constant tsquery := private.reading_query(reading);
  hits record;
begin
  hits := private.find_listings(strategy, private.default_sort(strategy),
    jsonb_populate_record(null::private.search_filters, reading.filters),
    coalesce(exact && alike, exact, alike), null, null, null, null, most);
  return hits.ids;
end
$$;
comment on function private.fitting_listings is
  'The first listings of a strategy that fit a query, and words that are like those left out of it.';
