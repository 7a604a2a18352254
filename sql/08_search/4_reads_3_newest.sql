-- The first steps of what is asked most: the newest of an area, of a type and kind, or of all, with few
-- filters, of a common word, and of the name of an area. The statements are static, so that a connection
-- plans them once: planning takes two thirds of the time of such a page. A page that is not full after
-- them is for 4_reads_3_run.sql.

create function private.newest_lane(
  of_area text, of_type text, of_kind text, with_text boolean, before_at timestamptz, before_id uuid
) returns table (
  property_id uuid, published_at timestamptz, type text, kind text, price numeric, bedrooms smallint,
  auction_ends_at timestamptz, document tsvector
)
  language sql
  stable -- without a search_path: it is planned into the statements that use it
begin atomic
  (
    select listing.property_id, listing.published_at, listing.type, listing.kind, listing.price,
      listing.bedrooms, listing.auction_ends_at, null::tsvector
    from private.search_documents as listing
    where newest_lane.of_area is not null and listing.area_id = newest_lane.of_area
      and (listing.published_at, listing.property_id) < (before_at, before_id)
    order by listing.published_at desc, listing.property_id desc
    limit 1000
  ) union all (
    select listing.property_id, listing.published_at, listing.type, listing.kind, listing.price,
      listing.bedrooms, listing.auction_ends_at, null::tsvector
    from private.search_documents as listing
    where newest_lane.of_kind is not null
      and listing.type = newest_lane.of_type and listing.kind = newest_lane.of_kind
      and (listing.published_at, listing.property_id) < (before_at, before_id)
    order by listing.published_at desc, listing.property_id desc
    limit 1000
  ) union all (
    select listing.property_id, listing.published_at, listing.type, listing.kind, listing.price,
      listing.bedrooms, listing.auction_ends_at, listing.document
    from private.search_documents as listing
    where newest_lane.with_text
      and (listing.published_at, listing.property_id) < (before_at, before_id)
    order by listing.published_at desc, listing.property_id desc
    limit 6000
  ) union all (
    select listing.property_id, listing.published_at, listing.type, listing.kind, listing.price,
      listing.bedrooms, listing.auction_ends_at, null::tsvector
    from private.search_documents as listing
    where not newest_lane.with_text and newest_lane.of_area is null and newest_lane.of_kind is null
      and (listing.published_at, listing.property_id) < (before_at, before_id)
    order by listing.published_at desc, listing.property_id desc
    limit 1000
  );
end;
comment on function private.newest_lane is
  'The newest thousand listings of an area, of a type and kind, or of all, or with their texts six '
  'thousand of all, in order, because one of the statements gives them all.';

create function private.is_of(strategy text, type text, auction_ends_at timestamptz) returns boolean
  language sql
  stable
  return case is_of.strategy
    when 'exchange' then is_of.type = 'EXCHANGE'
    else is_of.type in ('SALE', 'RENT') and (is_of.auction_ends_at > now()) is not true
  end;
comment on function private.is_of is 'Whether a listing is of the strategy standard or exchange.';

create function private.newest_hits(
  strategy text, wanted_type text, kinds text[], price_min numeric, price_max numeric,
  bedrooms_min smallint, words tsquery,
  of_area text, of_type text, of_kind text, before_at timestamptz, before_id uuid, size integer
) returns table (ids uuid[], keys text[])
  language sql
  stable -- planned into the statements that use it, as the lane is: what is null there costs nothing
begin atomic
  select array_agg(page.property_id), array_agg(page.published_at::text)
  from (
    select lane.property_id, lane.published_at
    from private.newest_lane(
      of_area, of_type, of_kind, newest_hits.words is not null, before_at, before_id) as lane
    where private.is_of(newest_hits.strategy, lane.type, lane.auction_ends_at)
      and (wanted_type is null or lane.type = wanted_type)
      and (newest_hits.kinds is null or lane.kind = any (newest_hits.kinds))
      and (price_min is null or lane.price >= price_min)
      and (price_max is null or lane.price <= price_max)
      and (bedrooms_min is null or lane.bedrooms >= bedrooms_min)
      and (newest_hits.words is null or lane.document @@ newest_hits.words)
    limit newest_hits.size
  ) as page;
end;
comment on function private.newest_hits is 'What fits of a lane, the newest first.';

create function private.newest_listings(
  strategy text, wanted private.search_filters, words tsquery, after_key text, after_id uuid,
  size integer, out ids uuid[], out keys text[], out is_complete boolean
)
  language plpgsql
  stable
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  before_at constant timestamptz := coalesce(after_key, 'infinity');
  before_id constant uuid := coalesce(after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  of_area text := wanted."areaIds"[1];
  of_kind constant text := case when of_area is null then wanted.kinds[1] end;
  -- For each listing that is passed by, a variable is read faster than a field.
  wanted_type constant text := wanted.type;
  kinds constant text[] := wanted.kinds;
  price_min constant numeric := wanted."priceMin";
  price_max constant numeric := wanted."priceMax";
  bedrooms_min constant smallint := wanted."bedroomsMin";
  others private.search_filters := wanted;
  -- Of the words: areas of that name, how many of the others are not counted (short ones, numbers), and
  -- how many listings have the rest in their text.
  named record;
  elsewhere tsquery;
begin
  others.type := null;
  others.kinds := null;
  others."areaIds" := null;
  others."priceMin" := null;
  others."priceMax" := null;
  others."bedroomsMin" := null;
  is_complete := false;
  if strategy not in ('standard', 'exchange') or not (others is null)
    or cardinality(wanted."areaIds") > 1
    or of_kind is not null and (wanted.type is null or cardinality(wanted.kinds) > 1)
    or words is not null and (not (wanted is null) or words::text ~ '[&!<]') then
    return;
  elsif words is not null then
    -- Alternatives alone.
    select array_agg(substr(alternative[1], 6)) filter (where alternative[1] like 'area:%') as areas,
      count(*) filter (where alternative[1] not like 'area:%' and search_vocabulary.word is null)
        as uncounted,
      coalesce(sum(search_vocabulary.listings), 0) as frequency
    into named
    from regexp_matches(words::text, '''([^'']+)''', 'g') as alternative
    left join private.search_vocabulary on search_vocabulary.word = alternative[1];
    if cardinality(named.areas) = 1 and named.uncounted = 0 and named.frequency < 3000 then
      -- The text index finds as many in less than what walking past the others takes.
      of_area := named.areas[1];
      elsewhere := words && !! private.quote_lexeme('area:' || of_area)::tsquery;
    elsif named.frequency * 3000 < size * (
      select reltuples from pg_class where oid = 'private.search_documents'::regclass) then
      return; -- So rare that a page is hardly full after 3,000 listings.
    end if;
  end if;
  if of_area is not null then
    select * into ids, keys from private.newest_hits(
      strategy, wanted_type, kinds, price_min, price_max, bedrooms_min, null,
      of_area, null, null, before_at, before_id, size);
  elsif of_kind is not null then
    select * into ids, keys from private.newest_hits(
      strategy, wanted_type, kinds, price_min, price_max, bedrooms_min, null,
      null, wanted_type, of_kind, before_at, before_id, size);
  elsif words is not null then
    select * into ids, keys from private.newest_hits(
      strategy, null, null, null, null, null, words, null, null, null, before_at, before_id, size);
  else
    select * into ids, keys from private.newest_hits(
      strategy, wanted_type, kinds, price_min, price_max, bedrooms_min, null,
      null, null, null, before_at, before_id, size);
  end if;
  is_complete := cardinality(ids) = size;
  if is_complete is not true and (words is null or elsewhere is not null) then
    -- Or the thousand were all.
    is_complete := not exists (
      select from private.newest_lane(of_area, wanted.type, of_kind, false, before_at, before_id)
      offset 999
    );
    ids := coalesce(ids, '{}');
    keys := coalesce(keys, '{}');
  end if;
  if is_complete and elsewhere is not null then
    select coalesce(array_agg(hit.id), '{}'), coalesce(array_agg(hit.published_at::text), '{}')
    into ids, keys
    from (
      select lane.id, lane.key::timestamptz as published_at
      from unnest(ids, keys) as lane (id, key)
      union all
      select listing.property_id, listing.published_at from private.search_documents as listing
      where listing.document @@ elsewhere
        and private.is_of(newest_listings.strategy, listing.type, listing.auction_ends_at)
        and (listing.published_at, listing.property_id) < (before_at, before_id)
      order by published_at desc, id desc
      limit newest_listings.size
    ) as hit;
  end if;
end
$$;
comment on function private.newest_listings is
  'The first listings of a search in the order newest, if few are asked for: of one area, of one kind '
  'with its type, or of all, by prices and bedrooms, or by a common word or the name of an area alone. '
  'Complete: there are no others on the page.';
