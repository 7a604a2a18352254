-- The most frequent searches use static statements, which a connection plans only once, because
-- planning takes two thirds of the time. If they do not fill the page, 4_reads_3_run.sql takes over.

create function private.newest_range(
  of_area text, of_type text, of_kind text, with_text boolean, before_at timestamptz, before_id uuid
) returns table (
  property_id uuid, published_at timestamptz, type text, kind text, price numeric, bedrooms smallint,
  auction_ends_at timestamptz, document tsvector
)
  language sql stable -- no search_path, so that the planner can inline it into its callers
begin atomic
  (
    select property_id, published_at, type, kind, price, bedrooms, auction_ends_at, null::tsvector
    from private.search_documents as listing
    where newest_range.of_area is not null and listing.area_id = newest_range.of_area
      and (listing.published_at, listing.property_id) < (before_at, before_id)
    order by listing.published_at desc, listing.property_id desc limit 1000
  ) union all (
    select property_id, published_at, type, kind, price, bedrooms, auction_ends_at, null::tsvector
    from private.search_documents as listing
    where newest_range.of_kind is not null
      and listing.type = newest_range.of_type and listing.kind = newest_range.of_kind
      and (listing.published_at, listing.property_id) < (before_at, before_id)
    order by listing.published_at desc, listing.property_id desc limit 1000
  ) union all (
    select property_id, published_at, type, kind, price, bedrooms, auction_ends_at,
      case when newest_range.with_text then document end
    from private.search_documents as listing
    where newest_range.of_area is null and newest_range.of_kind is null
      and (listing.published_at, listing.property_id) < (before_at, before_id)
    order by listing.published_at desc, listing.property_id desc
    limit case when newest_range.with_text then 6000 else 1000 end
  );
end;
comment on function private.newest_range is
  'Returns the newest 1,000 listings of an area, of a type and kind, or of all; if with_text is '
  'set, the newest 6,000 of all. The result is sorted, because only one of the three selects '
  'returns rows.';

create function private.newest_hits(
  strategy text, filter_type text, kinds text[], price_min numeric, price_max numeric,
  bedrooms_min smallint, words tsquery,
  of_area text, of_type text, of_kind text, before_at timestamptz, before_id uuid, size integer
) returns table (ids uuid[], keys text[])
  language sql
  stable -- inlined like newest_range; the planner removes conditions on a literal null
begin atomic
  select array_agg(page.property_id), array_agg(page.published_at::text)
  from (
    select range.property_id, range.published_at
    from private.newest_range(
      of_area, of_type, of_kind, newest_hits.words is not null, before_at, before_id) as range
    where case newest_hits.strategy when 'exchange' then range.type = 'EXCHANGE'
        else range.type in ('SALE', 'RENT') and (range.auction_ends_at > now()) is not true end
      and (filter_type is null or range.type = filter_type)
      and (newest_hits.kinds is null or range.kind = any (newest_hits.kinds))
      and (price_min is null or range.price >= price_min)
      and (price_max is null or range.price <= price_max)
      and (bedrooms_min is null or range.bedrooms >= bedrooms_min)
      and (newest_hits.words is null or range.document @@ newest_hits.words)
    limit newest_hits.size
  ) as page;
end;

create function private.newest_listings(
  strategy text, filters private.search_filters, words tsquery, after_key text, after_id uuid,
  size integer, out ids uuid[], out keys text[], out is_complete boolean
)
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  before_at constant timestamptz := coalesce(after_key, 'infinity');
  before_id constant uuid := coalesce(after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  of_area constant text := filters."areaIds"[1];
  of_kind constant text := case
    when of_area is null and filters.type is not null and cardinality(filters.kinds) = 1
    then filters.kinds[1] end;
  -- The conditions are checked for each listing, and reading a variable is faster than reading a field
  -- of filters.
  filter_type constant text := filters.type;
  kinds constant text[] := filters.kinds;
  price_min constant numeric := filters."priceMin";
  price_max constant numeric := filters."priceMax";
  bedrooms_min constant smallint := filters."bedroomsMin";
  others constant private.search_filters := jsonb_populate_record(filters,
    '{"type": null, "kinds": null, "areaIds": null, "priceMin": null, "priceMax": null,
      "bedroomsMin": null}');
begin
  is_complete := false;
  if strategy not in ('standard', 'exchange') or not (others is null)
    or cardinality(filters."areaIds") > 1
    or words is not null and (not (filters is null) or words::text ~ '[&!<]') then
    return;
  -- This is a separate condition, because its subquery would slow down the other searches.
  elsif words is not null then
    if (
      select coalesce(sum(search_vocabulary.listings), 0) * 3000
      from regexp_matches(words::text, '''([^'']+)''', 'g') as alternative
      join private.search_vocabulary on search_vocabulary.word = alternative[1]
    ) < size * (select reltuples from pg_class where oid = 'private.search_documents'::regclass) then
      return; -- the words are so rare that 3,000 listings would rarely fill a page
    end if;
  end if;
  if of_area is not null then
    select * into ids, keys from private.newest_hits(
      strategy, filter_type, kinds, price_min, price_max, bedrooms_min, null,
      of_area, null, null, before_at, before_id, size);
  elsif of_kind is not null then
    select * into ids, keys from private.newest_hits(
      strategy, filter_type, kinds, price_min, price_max, bedrooms_min, null,
      null, filter_type, of_kind, before_at, before_id, size);
  elsif words is not null then
    select * into ids, keys from private.newest_hits(
      strategy, null, null, null, null, null, words, null, null, null, before_at, before_id, size);
  else
    select * into ids, keys from private.newest_hits(
      strategy, filter_type, kinds, price_min, price_max, bedrooms_min, null,
      null, null, null, before_at, before_id, size);
  end if;
  ids := coalesce(ids, '{}');
  keys := coalesce(keys, '{}');
  is_complete := cardinality(ids) = size;
  if not is_complete and words is null then
    -- If the range has fewer than 1,000 listings, all of them were read, so the page is complete.
    is_complete := not exists (
      select from private.newest_range(of_area, filters.type, of_kind, false, before_at, before_id)
      offset 999
    );
  end if;
end
$$;
comment on function private.newest_listings is
  'Runs simple searches: those in one area, for one type and kind, or in all listings, filtered by '
  'type, kinds, price and bedrooms, and those for only a frequent word. For any other search, ids '
  'is null.';
