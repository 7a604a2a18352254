-- Pages of the common searches, found by walking an index in their order.
--
-- These statements are static, so that a session plans them once. Each walks an index that holds
-- all that it compares, at most 2,000 listings far. A search that asks for more than plain filters,
-- or that is not answered by then, is for 4_reads_plans.sql.

create view private.search_facts with (security_invoker = true) as
  select
    search_documents.property_id,
    search_documents.published_at,
    search_documents.type,
    search_documents.kind,
    search_documents.governorate_id,
    search_documents.area_id,
    search_documents.price,
    search_documents.area_m2,
    search_documents.bedrooms,
    search_documents.bathrooms,
    search_documents.furnished,
    search_documents.auction_ends_at
  from private.search_documents;
comment on view private.search_facts is
  'What the indexes of walks hold of a listing. Reading more would mean to visit the table.';

create function private.has_plain_filters(strategy text, wanted private.search_filters)
  returns boolean
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return strategy in ('standard', 'exchange') and num_nonnulls(
    wanted.usage, wanted.is_direct, nullif(wanted.verified_only, false), wanted.bbox, wanted.near,
    wanted.company_id, wanted.request_year_min, wanted.request_year_max
  ) = 0;
end
$$;
comment on function private.has_plain_filters is
  'Whether private.search_facts tells all that a search asks.';

create function private.fits_plain_filters(
  strategy text, wanted private.search_filters, type text, kind text, governorate_id text,
  area_id text, price numeric, area_m2 numeric, bedrooms smallint, bathrooms smallint,
  furnished text, auction_ends_at timestamptz
) returns boolean
  language sql
  stable
  return
    case strategy
      when 'exchange' then type = 'EXCHANGE'
      else type in ('SALE', 'RENT') and (auction_ends_at > now()) is not true
    end
    and ((wanted).kinds is null or kind = any ((wanted).kinds))
    and ((wanted).type is null or type = (wanted).type)
    and ((wanted).bedrooms_min is null or bedrooms >= (wanted).bedrooms_min)
    and ((wanted).price_min is null or price >= (wanted).price_min)
    and ((wanted).price_max is null or price <= (wanted).price_max)
    and ((wanted).area_ids is null or area_id = any ((wanted).area_ids))
    and ((wanted).governorate_ids is null or governorate_id = any ((wanted).governorate_ids))
    and ((wanted).bathrooms_min is null or bathrooms >= (wanted).bathrooms_min)
    and ((wanted).area_m2_min is null or area_m2 >= (wanted).area_m2_min)
    and ((wanted).area_m2_max is null or area_m2 <= (wanted).area_m2_max)
    and ((wanted).furnished is null or furnished = (wanted).furnished);
comment on function private.fits_plain_filters is
  'What private.search_conditions says, of plain filters: for statements that are planned once.';

create type private.search_walk as (ids uuid[], keys text[], complete boolean);
comment on type private.search_walk is
  'What a walk found, in its order, with the sort keys. Complete: as many as were asked for, or '
  'nothing is left.';

create function private.walk_newest(
  strategy text, wanted private.search_filters, before_at timestamptz, before_id uuid, size integer
) returns private.search_walk
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  since timestamptz := coalesce(wanted.posted_since, '-infinity');
  walk private.search_walk;
begin
  select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
  from (
    select walked.property_id, walked.published_at
    from (
      select facts.* from private.search_facts as facts
      where facts.published_at >= since
        and (facts.published_at, facts.property_id) < (before_at, before_id)
      order by facts.published_at desc, facts.property_id desc
      limit 2000
    ) as walked
    where private.fits_plain_filters(
      strategy, wanted, walked.type, walked.kind, walked.governorate_id, walked.area_id,
      walked.price, walked.area_m2, walked.bedrooms, walked.bathrooms, walked.furnished,
      walked.auction_ends_at)
    order by walked.published_at desc, walked.property_id desc
    limit size
  ) as hits;
  walk.complete := coalesce(cardinality(walk.ids), 0) = size or (
    select count(*) < 2000 from (
      select from private.search_facts as facts
      where facts.published_at >= since
        and (facts.published_at, facts.property_id) < (before_at, before_id)
      limit 2000
    ) as walked
  );
  return walk;
end
$$;
comment on function private.walk_newest is 'Walks all listings, the newest first.';

create function private.walk_area(
  strategy text, wanted private.search_filters, area text, before_at timestamptz, before_id uuid,
  size integer
) returns private.search_walk
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  since timestamptz := coalesce(wanted.posted_since, '-infinity');
  walk private.search_walk;
begin
  select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
  from (
    select walked.property_id, walked.published_at
    from (
      select facts.* from private.search_facts as facts
      where facts.area_id = area and facts.published_at >= since
        and (facts.published_at, facts.property_id) < (before_at, before_id)
      order by facts.published_at desc, facts.property_id desc
      limit 2000
    ) as walked
    where private.fits_plain_filters(
      strategy, wanted, walked.type, walked.kind, walked.governorate_id, walked.area_id,
      walked.price, walked.area_m2, walked.bedrooms, walked.bathrooms, walked.furnished,
      walked.auction_ends_at)
    order by walked.published_at desc, walked.property_id desc
    limit size
  ) as hits;
  walk.complete := coalesce(cardinality(walk.ids), 0) = size or (
    select count(*) < 2000 from (
      select from private.search_facts as facts
      where facts.area_id = area and facts.published_at >= since
        and (facts.published_at, facts.property_id) < (before_at, before_id)
      limit 2000
    ) as walked
  );
  return walk;
end
$$;
comment on function private.walk_area is 'Walks the listings of an area, the newest first.';

create function private.walk_kind(
  strategy text, wanted private.search_filters, type text, kind text, before_at timestamptz,
  before_id uuid, size integer
) returns private.search_walk
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  since timestamptz := coalesce(wanted.posted_since, '-infinity');
  walk private.search_walk;
begin
  select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
  from (
    select walked.property_id, walked.published_at
    from (
      select facts.* from private.search_facts as facts
      where facts.type = walk_kind.type and facts.kind = walk_kind.kind
        and facts.published_at >= since
        and (facts.published_at, facts.property_id) < (before_at, before_id)
      order by facts.published_at desc, facts.property_id desc
      limit 2000
    ) as walked
    where private.fits_plain_filters(
      strategy, wanted, walked.type, walked.kind, walked.governorate_id, walked.area_id,
      walked.price, walked.area_m2, walked.bedrooms, walked.bathrooms, walked.furnished,
      walked.auction_ends_at)
    order by walked.published_at desc, walked.property_id desc
    limit size
  ) as hits;
  walk.complete := coalesce(cardinality(walk.ids), 0) = size or (
    select count(*) < 2000 from (
      select from private.search_facts as facts
      where facts.type = walk_kind.type and facts.kind = walk_kind.kind
        and facts.published_at >= since
        and (facts.published_at, facts.property_id) < (before_at, before_id)
      limit 2000
    ) as walked
  );
  return walk;
end
$$;
comment on function private.walk_kind is
  'Walks the listings of a type and kind, the newest first.';

create function private.search_types(strategy text, type text) returns text[]
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return case
    when strategy = 'exchange' then array['EXCHANGE']
    when type is null then array['SALE', 'RENT']
    else array[type]
  end;
end
$$;
comment on function private.search_types is 'Where a search with plain filters has to look.';

create function private.merge_walks(branches private.search_walk[]) returns private.search_walk
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
    -- An area that is named twice is walked twice.
    select distinct hit.id, hit.key
    from unnest(branches) as branch
    cross join unnest(branch.ids, branch.keys) as hit (id, key)
  ) as hit;
  walk.complete := (select bool_and(branch.complete) from unnest(branches) as branch);
  return walk;
end
$$;
comment on function private.merge_walks is 'What several walks found, the newest first.';

create function private.walk_branches(
  strategy text, wanted private.search_filters, before_at timestamptz, before_id uuid, size integer
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
  if cardinality(wanted.area_ids) <= 4 then
    foreach area in array wanted.area_ids loop
      branches := branches
        || private.walk_area(strategy, wanted, area, before_at, before_id, size);
    end loop;
  elsif cardinality(wanted.kinds) <= 8 then
    foreach type in array private.search_types(strategy, wanted.type) loop
      foreach kind in array wanted.kinds loop
        branches := branches
          || private.walk_kind(strategy, wanted, type, kind, before_at, before_id, size);
      end loop;
    end loop;
  else
    return private.walk_newest(strategy, wanted, before_at, before_id, size);
  end if;
  if cardinality(branches) = 1 then
    return branches[1];
  end if;
  return private.merge_walks(branches);
end
$$;
comment on function private.walk_branches is
  'Walks each area, else each type and kind, for itself: a walk through all listings would pass by '
  'too many others.';
