-- A page is found by scanning ranges of an index in sort order. A range is the part of an index in
-- which the leading columns have fixed values. Scanning the whole index instead would skip many
-- listings that do not match. With a million listings, each range costs 0.1 ms, so more than four areas
-- or eight kinds do not get ranges of their own.

create type private.search_plan as (
  filters private.search_filters,
  words tsquery,
  among uuid[],
  after_key text,
  after_id uuid,
  size integer,
  text_query tsquery,
  rectangle double precision[],
  cells integer[],
  types text[],
  conditions text,
  beside_words text,
  key text,
  key_type text,
  direction text,
  bounds text,
  after text,
  compared text[],
  choices text[],
  ranges integer,
  is_indexed boolean,
  found_by text,
  rest text,
  to_gather double precision
);
comment on type private.search_plan is
  'How a search finds the first listings after a given listing, optionally only among given ids. '
  'In the SQL of its attributes, $1 is filters and $2 is the plan. rectangle and cells cover the '
  'box or circle. conditions: all conditions; beside_words: all except the condition on words. '
  'key: the sort expression. after: the condition that a listing comes after the given one. '
  'compared: the leading columns of an index; choices: the values of each of these columns; '
  'ranges: the number of combinations of these values. is_indexed: whether the newest-first '
  'indexes contain all columns that the conditions use. found_by: an indexable condition that '
  'every match meets. to_gather: the expected number of listings that meet found_by. rest: the '
  'remaining conditions.';

create function private.with_ranges(
  plan private.search_plan, strategy text, sort text
) returns private.search_plan
  language plpgsql stable set search_path = ''
as $$
declare
  filters constant private.search_filters := plan.filters;
  kinds constant integer := cardinality(filters.kinds);
  areas constant integer := cardinality(filters."areaIds");
  most integer := 8; -- the maximum number of kinds that get ranges of their own
begin
  plan.compared := '{}';
  plan.choices := '{}';
  plan.ranges := 1;
  if sort = 'newest' and num_nonnulls(filters.bbox, filters.near) > 0 then
    -- The newest listings in a box are found in the index on cells, among the newest of each cell that
    -- the box touches. A box with too many cells is so large that its newest listings are likely to be
    -- among the newest of all.
    plan.rectangle := private.search_rectangle(filters);
    plan.cells := private.search_cells(plan.rectangle, filters.near);
    if cardinality(plan.cells) <= 64 then
      plan.compared := array['private.search_cell(search_documents.lat, search_documents.lng)'];
      plan.choices := array['($2).cells'];
      plan.ranges := greatest(cardinality(plan.cells), 1);
      plan.bounds := plan.bounds || ' and search_documents.lng between (($2).rectangle)[1] '
        'and (($2).rectangle)[3] and search_documents.lat between (($2).rectangle)[2] '
        'and (($2).rectangle)[4]';
    end if;
    return plan;
  elsif sort = 'newest' and areas <= 4 then
    plan.compared := array['search_documents.area_id'];
    plan.choices := array['($1)."areaIds"'];
    plan.ranges := areas;
    most := 4 / areas;
  elsif sort in ('price_asc', 'price_desc') or sort = 'newest' and kinds <= 8 then
    plan.types := case
      when filters.type is not null then array[filters.type]
      when strategy = 'exchange' then '{EXCHANGE}'
      when strategy in ('standard', 'deal') then '{SALE,RENT}'
      else '{SALE,RENT,EXCHANGE}'
    end;
    if sort = 'newest' and num_nonnulls(filters."priceMin", filters."priceMax") > 0 then
      -- Usually only one type is left, because rents are much lower than sale prices.
      plan.types := array(
        select of_type.id from unnest(plan.types) as of_type (id)
        where exists (
          select from unnest(filters.kinds) as of_kind (id)
          cross join lateral (
            select from private.search_documents as priced
            where priced.type = of_type.id and priced.kind = of_kind.id
              and coalesce(priced.price, 100000000000) between coalesce(filters."priceMin", 0)
                and coalesce(filters."priceMax", 99999999999.999)
            order by coalesce(priced.price, 100000000000)
            limit 1
          ) as any_priced
        )
      );
    end if;
    plan.compared := array['search_documents.type'];
    plan.choices := array['($2).types'];
    plan.ranges := cardinality(plan.types);
  elsif sort <> 'area_desc' then
    return plan;
  end if;
  if kinds <= most then
    plan.compared := plan.compared || array['search_documents.kind'];
    plan.choices := plan.choices || array['($1).kinds'];
    plan.ranges := plan.ranges * kinds;
  end if;
  return plan;
end
$$;

create function private.search_plan(
  strategy text, sort text, filters private.search_filters, words tsquery, among uuid[],
  after_key text, after_id uuid, size integer
) returns private.search_plan
  language plpgsql stable set search_path = ''
as $$
declare
  own constant record := private.search_conditions(strategy, filters);
  given constant jsonb := to_jsonb(filters);
  plan private.search_plan;
begin
  plan.filters := filters;
  plan.words := coalesce(words && filters.said, words, filters.said);
  plan.among := among;
  plan.after_key := after_key;
  plan.after_id := after_id;
  plan.size := size;
  plan.beside_words := own.conditions;
  plan.conditions := own.conditions
    || case when plan.words is not null then ' and search_documents.document @@ ($2).words' else '' end;
  plan.is_indexed := own.is_indexed and sort = 'newest' and num_nonnulls(plan.words, among) = 0;
  select ordered.key, ordered.key_type, ordered.direction, ordered.bounds || coalesce((
    select string_agg(
      format(' and %s %s ($1).%I', ordered.key, rule.comparison, rule.name), '')
    from private.search_filter_rules as rule
    where rule.compared = ordered.compared and given -> rule.name <> 'null'), '')
  into plan.key, plan.key_type, plan.direction, plan.bounds
  from (values
    ('newest', 'published_at', 'search_documents.published_at', 'timestamptz', ' desc', ''),
    ('price_asc', 'price', 'coalesce(search_documents.price, 100000000000)', 'numeric', '', ''),
    ('price_desc', 'price', 'coalesce(search_documents.price, -1)', 'numeric', ' desc', ''),
    ('area_desc', 'area_m2', 'search_documents.area_m2', 'numeric', ' desc', ''),
    ('ends_at', null, 'search_documents.auction_ends_at', 'timestamptz', '',
      ' and search_documents.auction_ends_at > now()'),
    ('drop_desc', null, 'search_documents.drop_pct', 'numeric', ' desc',
      ' and search_documents.drop_pct is not null'),
    ('distance', null, '(search_documents.location operator(extensions.<->) '
      'private.earth_point((($1).near)[1], (($1).near)[2]))', 'double precision', '',
      ' and search_documents.location operator(extensions.<@) extensions.cube_enlarge('
      'private.earth_point((($1).near)[1], (($1).near)[2]), (($1).near)[3], 3)')
  ) as ordered (sort, compared, key, key_type, direction, bounds)
  where ordered.sort = search_plan.sort;
  plan.after := case when after_id is null then '' else format(
    ' and (%s, search_documents.property_id) %s (($2).after_key::%s, ($2).after_id)',
    plan.key, case plan.direction when '' then '>' else '<' end, plan.key_type) end;
  return private.with_ranges(plan, strategy, sort);
end
$$;

create function private.matches_of(plan private.search_plan) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  -- Without "offset 0", listings that were found by words would be compared with the words again.
  return case when plan.found_by is null then 'private.search_documents where ' || plan.conditions
    else format('(select * from private.search_documents where %s offset 0) as search_documents where %s',
      plan.found_by, plan.rest) end;
end
$$;
