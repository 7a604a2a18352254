-- The newest listings of a search of which a word names areas: those in the areas are walked, and
-- those that have the word in their text alone, mostly few, are gathered from the text index.

create function private.named_areas(asked tsquery) returns text[]
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return (
    select array_agg(substr(alternative.word, 6))
    from private.search_alternatives(asked) as alternative
    where alternative.word like '%:%'
    group by alternative.place
    having bool_and(alternative.word like 'area:%') and count(*) <= 4
    order by count(*), alternative.place
    limit 1
  );
end
$$;
comment on function private.named_areas is
  'The areas of which one is asked for, if they are few and nothing else will do but words.';

create function private.walk_area_for_words(
  strategy text, wanted private.search_filters, words tsquery, area text, before_at timestamptz,
  before_id uuid, size integer
) returns private.search_walk
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  types constant text[] := private.search_types(strategy, wanted.type);
  since constant timestamptz := coalesce(wanted.posted_since, '-infinity');
  walk private.search_walk;
begin
  select array_agg(hits.property_id), array_agg(hits.published_at) into walk.ids, walk.keys
  from (
    select walked.property_id, walked.published_at
    from (
      select listing.* from private.search_documents as listing
      where listing.area_id = area and listing.published_at >= since
        and (listing.published_at, listing.property_id) < (before_at, before_id)
      order by listing.published_at desc, listing.property_id desc
      limit 500 -- each costs a visit of the table, and more for its words
    ) as walked
    where walked.document @@ words and private.fits_plain_filters(
      row(walked.property_id, walked.published_at, walked.type, walked.kind, walked.governorate_id,
        walked.area_id, walked.price, walked.area_m2, walked.bedrooms, walked.bathrooms,
        walked.furnished, walked.auction_ends_at)::private.search_facts,
      strategy, types, wanted.kinds, wanted.governorate_ids, wanted.area_ids,
      wanted.price_min, wanted.price_max, wanted.area_m2_min, wanted.area_m2_max,
      wanted.bedrooms_min, wanted.bathrooms_min, wanted.furnished)
    order by walked.published_at desc, walked.property_id desc
    limit size
  ) as hits;
  walk.complete := coalesce(cardinality(walk.ids), 0) = size or (
    select count(*) < 500 from (
      select from private.search_facts as facts
      where facts.area_id = area and facts.published_at >= since
        and (facts.published_at, facts.property_id) < (before_at, before_id)
      limit 500
    ) as walked
  );
  return walk;
end
$$;
comment on function private.walk_area_for_words is
  'Walks the listings of an area, the newest first, for those with these words.';

create function private.gather_for_words(
  strategy text, wanted private.search_filters, sought tsquery, among uuid[], others tsquery,
  without uuid[], before_at timestamptz, before_id uuid, most integer default null
) returns private.search_walk
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  types constant text[] := private.search_types(strategy, wanted.type);
  since constant timestamptz := coalesce(wanted.posted_since, '-infinity');
  walk private.search_walk;
begin
  with found as materialized (
    select
      gathered.property_id, gathered.published_at,
      (others is null or gathered.document @@ others)
        and gathered.published_at >= since
        and (gathered.published_at, gathered.property_id) < (before_at, before_id)
        and (without is null or gathered.property_id <> all (without))
        and private.fits_plain_filters(
          row(gathered.property_id, gathered.published_at, gathered.type, gathered.kind,
            gathered.governorate_id, gathered.area_id, gathered.price, gathered.area_m2,
            gathered.bedrooms, gathered.bathrooms, gathered.furnished,
            gathered.auction_ends_at)::private.search_facts,
          strategy, types, wanted.kinds, wanted.governorate_ids, wanted.area_ids,
          wanted.price_min, wanted.price_max, wanted.area_m2_min, wanted.area_m2_max,
          wanted.bedrooms_min, wanted.bathrooms_min, wanted.furnished) as fits
    from (
      (
        select listing.* from private.search_documents as listing
        where listing.document @@ sought
        limit most
      )
      union all
      select listing.* from private.search_documents as listing
      where listing.property_id = any (among)
    ) as gathered
  )
  select array_agg(hits.property_id), array_agg(hits.published_at),
    coalesce((select count(*) from found) < most, true)
  into walk.ids, walk.keys, walk.complete
  from (
    select found.property_id, found.published_at from found where found.fits
    order by found.published_at desc, found.property_id desc
  ) as hits;
  return walk;
end
$$;
comment on function private.gather_for_words is
  'All listings that have what is sought in the text index or are among some (one of the two is null) '
  'and have the other words, the newest first. Not complete if as many as the most to look at have '
  'what is sought.';

create function private.walk_named_areas(
  strategy text, wanted private.search_filters, asked tsquery, before_at timestamptz,
  before_id uuid, size integer
) returns private.search_walk
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  area text;
  term tsquery;
  beside tsquery := asked;
  branches private.search_walk[] := '{}';
  walk private.search_walk;
begin
  foreach area in array coalesce(private.named_areas(asked), '{}') loop
    term := private.quote_lexeme('area:' || area)::tsquery;
    -- Elsewhere nothing has the term: without it the text index reads one list less.
    beside := ts_rewrite(beside, term, '') && !!term;
    branches := branches || private.walk_area_for_words(
      strategy, wanted, asked, area, before_at, before_id, size);
  end loop;
  if branches = '{}' then
    return null;
  end if;
  branches := branches || private.gather_for_words(
    strategy, wanted, beside, null, null, null, before_at, before_id, 500);
  select
    array_agg(hit.id order by hit.key desc, hit.id desc),
    array_agg(hit.key order by hit.key desc, hit.id desc)
  into walk.ids, walk.keys
  from unnest(branches) as branch
  cross join unnest(branch.ids, branch.keys) as hit (id, key);
  walk.complete := (select bool_and(branch.complete) from unnest(branches) as branch);
  return walk;
end
$$;
comment on function private.walk_named_areas is
  'The newest listings with these words, of which one names areas. Null where none does.';

create function private.find_listings(
  strategy text, sort text, wanted private.search_filters, asked tsquery, among uuid[], without uuid[],
  after_key text, after_id uuid, size integer,
  out ids uuid[], out keys text[]
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  before_at constant timestamptz := coalesce(case sort when 'newest' then after_key end, 'infinity');
  before_id constant uuid := coalesce(after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  terms tsquery; -- of filters that no listing of a walk fits
  rare tsquery;
  walk private.search_walk;
  hits record;
begin
  if sort = 'newest' and private.has_plain_filters(strategy, wanted) then
    if asked is null then
      walk := private.walk_lanes(strategy, wanted, before_at, before_id, size);
      if not walk.complete and walk.ids is null then
        terms := private.search_terms(wanted);
        if private.rare_words(terms) is not null then
          walk := private.gather_for_words(
            strategy, wanted, terms, null, null, null, before_at, before_id, 500);
        end if;
      end if;
    else
      if num_nonnulls(among, without, wanted.area_ids) = 0 then
        walk := private.walk_named_areas(strategy, wanted, asked, before_at, before_id, size);
      end if;
      rare := case when num_nonnulls(among, walk.complete) = 0 then private.rare_words(asked) end;
      if num_nonnulls(among, rare) > 0 then
        -- All that is asked, the rare too: ts_rewrite would take it out of other places as well.
        walk := private.gather_for_words(
          strategy, wanted, rare, among, asked, without, before_at, before_id);
      end if;
    end if;
  end if;
  if walk.complete then
    ids := coalesce(walk.ids[:size], '{}');
    keys := coalesce(walk.keys[:size]::text[], '{}');
  else
    hits := private.search_hits(
      private.search_plan(strategy, sort, wanted), asked, among, without, after_key, after_id, size,
      -- A walk that was tried is not tried again; words are worth another one.
      asked is null and walk.complete is not null);
    ids := hits.ids;
    keys := hits.keys;
  end if;
end
$$;
comment on function private.find_listings is
  'The first listings of a search after a given one, in its order, with their sort keys. When '
  'guessing, asked is more than the words, and without is what they have found.';
