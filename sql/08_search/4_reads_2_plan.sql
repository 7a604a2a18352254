-- The plan of a search: which indexes hold its order, and what is asked of each listing.
--
-- An order is walked along lanes: each is the part of one index where its leading columns have one
-- value, such as the listings of an area, the newest first. Types, kinds and places differ so much in
-- prices and in what is asked that a walk through all listings would begin among others. A lane costs
-- a tenth of a millisecond, measured at a million listings: four areas take 1.2 ms, five of them, found
-- among the newest of all, 2.1; eight kinds 2.3, nine 1.0.

create type private.search_plan as (
  wanted private.search_filters,
  words tsquery,
  among uuid[],
  without uuid[],
  after_key text,
  after_id uuid,
  size integer,
  asked tsquery,
  rectangle double precision[],
  cells integer[],
  types text[],
  conditions text,
  key text,
  key_type text,
  direction text,
  bounds text,
  after text,
  compared text[],
  choices text[],
  lanes integer,
  is_indexed boolean,
  found_by text,
  to_gather double precision
);
comment on type private.search_plan is
  'A search of the first listings after a given one, among some or without some. In its texts the '
  'filters stand as $1 and the plan itself as $2. Asked: what is asked of the text index. Rectangle, '
  'cells: around a box or circle. Types: those of the strategy. Conditions: all that is asked of a '
  'listing. Key: what the order compares, with its type, direction and bounds; after: that it comes '
  'after the given one. A lane has one of the choices for each of what is compared; lanes: how many '
  'these are; indexed: their indexes tell all. Found by: what an index finds all matches by, and some '
  'others; to gather: how many it is expected to find.';

create function private.with_lanes(
  plan private.search_plan, strategy text, sort text
) returns private.search_plan
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  wanted constant private.search_filters := plan.wanted;
  kinds constant integer := cardinality(wanted.kinds);
  areas constant integer := cardinality(wanted."areaIds");
  most integer := 8; -- kinds in lanes of their own
begin
  plan.compared := '{}';
  plan.choices := '{}';
  plan.lanes := 1;
  if sort = 'newest' and num_nonnulls(wanted.bbox, wanted.near) > 0 then
    -- However many listings a box holds, its newest are among the newest of each cell that it
    -- touches, and the index of cells knows which of these are in it. Those of a large box are likely
    -- among the newest of all.
    plan.rectangle := private.search_rectangle(wanted);
    plan.cells := private.search_cells(plan.rectangle);
    if cardinality(plan.cells) <= 64 then
      plan.compared := array['private.search_cell(search_documents.lat, search_documents.lng)'];
      plan.choices := array['($2).cells'];
      plan.lanes := greatest(cardinality(plan.cells), 1);
      plan.bounds := plan.bounds || ' and search_documents.lng between (($2).rectangle)[1] '
        'and (($2).rectangle)[3] and search_documents.lat between (($2).rectangle)[2] '
        'and (($2).rectangle)[4]';
    end if;
    return plan;
  elsif sort = 'newest' and areas <= 4 then
    plan.compared := array['search_documents.area_id'];
    plan.choices := array['($1)."areaIds"'];
    plan.lanes := areas;
    most := 4 / areas;
  elsif sort in ('price_asc', 'price_desc') or sort = 'newest' and kinds <= 8 then
    plan.types := case
      when wanted.type is not null then array[wanted.type]
      when strategy = 'exchange' then '{EXCHANGE}'
      when strategy in ('standard', 'deal') then '{SALE,RENT}'
      else '{SALE,RENT,EXCHANGE}'
    end;
    if sort = 'newest' and num_nonnulls(wanted."priceMin", wanted."priceMax") > 0 then
      -- Mostly one is left: no rent is a price of sale.
      plan.types := array(
        select of_type.id from unnest(plan.types) as of_type (id)
        where exists (
          select from unnest(wanted.kinds) as of_kind (id)
          cross join lateral (
            select from private.search_documents as priced
            where priced.type = of_type.id and priced.kind = of_kind.id
              and coalesce(priced.price, 100000000000) between coalesce(wanted."priceMin", 0)
                and coalesce(wanted."priceMax", 99999999999.999)
            order by coalesce(priced.price, 100000000000)
            limit 1
          ) as any_priced
        )
      );
    end if;
    plan.compared := array['search_documents.type'];
    plan.choices := array['($2).types'];
    plan.lanes := cardinality(plan.types);
  elsif sort <> 'area_desc' then
    return plan;
  end if;
  if kinds <= most then
    plan.compared := plan.compared || array['search_documents.kind'];
    plan.choices := plan.choices || array['($1).kinds'];
    plan.lanes := plan.lanes * kinds;
  end if;
  return plan;
end
$$;
comment on function private.with_lanes is
  'A plan with the lanes in which its order is walked: many areas, kinds or cells are one.';

create function private.search_plan(
  strategy text, sort text, wanted private.search_filters, words tsquery, among uuid[],
  without uuid[], after_key text, after_id uuid, size integer
) returns private.search_plan
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  asked constant record := private.search_conditions(strategy, wanted);
  given constant jsonb := to_jsonb(wanted);
  plan private.search_plan;
begin
  plan.wanted := wanted;
  plan.words := words;
  plan.among := among;
  plan.without := without;
  plan.after_key := after_key;
  plan.after_id := after_id;
  plan.size := size;
  plan.conditions := asked.conditions
    || case when words is not null then ' and search_documents.document @@ ($2).words' else '' end
    || case when without <> '{}' then
      ' and search_documents.property_id <> all (($2).without)' else '' end;
  plan.is_indexed := asked.is_indexed and sort = 'newest' and num_nonnulls(words, among, without) = 0;
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
    ('distance', null, '(search_documents.place operator(extensions.<->) '
      'private.earth_point((($1).near)[1], (($1).near)[2]))', 'double precision', '',
      ' and search_documents.place operator(extensions.<@) extensions.cube_enlarge('
      'private.earth_point((($1).near)[1], (($1).near)[2]), (($1).near)[3], 3)')
  ) as ordered (sort, compared, key, key_type, direction, bounds)
  where ordered.sort = search_plan.sort;
  plan.after := case when after_id is null then '' else format(
    ' and (%s, search_documents.property_id) %s (($2).after_key::%s, ($2).after_id)',
    plan.key, case plan.direction when '' then '>' else '<' end, plan.key_type) end;
  return private.with_lanes(plan, strategy, sort);
end
$$;
comment on function private.search_plan(
  text, text, private.search_filters, tsquery, uuid[], uuid[], text, uuid, integer
) is
  'How a search in this order is walked: the first listings after a given one, among some, or without '
  'some.';
