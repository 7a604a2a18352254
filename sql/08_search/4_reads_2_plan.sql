-- The plan of a search: which indexes hold its order, and what is asked of each listing.
--
-- An order is walked along lanes: each is the part of one index where its leading columns have one
-- value, such as the listings of an area, the newest first. Types, kinds and places differ so much in
-- prices and in what is asked that a walk through all listings would begin among others.

create type private.search_plan as (
  wanted private.search_filters,
  words tsquery,
  listings uuid[],
  asked tsquery,
  rectangle double precision[],
  cells integer[],
  types text[],
  conditions text,
  key text,
  key_type text,
  direction text,
  bounds text,
  compared text[],
  choices text[],
  lanes integer,
  is_indexed boolean,
  found_by text,
  to_gather double precision
);
comment on type private.search_plan is
  'A search. In its texts stand the filters as $1, the words as $2, the listings that are left out or '
  'among which it looks as $3, what is asked of the text index as $4, the rectangle around a box or '
  'circle as $5, its cells as $6, and the types of the strategy as $7. Conditions: all '
  'that is asked of a listing. Key: what the order compares, with its type, direction and bounds. A '
  'lane has one of the choices for each of what is compared; lanes: how many these are; indexed: their '
  'indexes tell all. Found by: what an index finds all matches by, and some others; to gather: how many '
  'it is expected to find.';

create function private.with_lanes(
  plan private.search_plan, strategy text, sort text
) returns private.search_plan
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  wanted constant private.search_filters := plan.wanted;
  kinds constant integer := cardinality(wanted.kinds);
  areas constant integer := cardinality(wanted."areaIds");
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
      plan.choices := array['$6'];
      plan.lanes := greatest(cardinality(plan.cells), 1);
      plan.bounds := plan.bounds || ' and search_documents.lng between ($5)[1] and ($5)[3] '
        'and search_documents.lat between ($5)[2] and ($5)[4]';
    end if;
    return plan;
  elsif sort = 'newest' and areas <= 4 then
    plan.compared := array['search_documents.area_id'];
    plan.choices := array['($1)."areaIds"'];
    plan.lanes := areas;
    if areas * kinds > 4 then
      return plan;
    end if;
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
    plan.choices := array['$7'];
    plan.lanes := cardinality(plan.types);
  elsif sort <> 'area_desc' then
    return plan;
  end if;
  if kinds <= 8 then
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
  strategy text, sort text, wanted private.search_filters, words tsquery, among uuid[], without uuid[]
) returns private.search_plan
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  asked constant record := private.search_conditions(strategy, wanted);
  plan private.search_plan;
begin
  plan.wanted := wanted;
  plan.words := words;
  plan.listings := coalesce(among, without);
  plan.conditions := asked.conditions
    || case when words is not null then ' and search_documents.document @@ $2' else '' end
    || case when without <> '{}' then ' and search_documents.property_id <> all ($3)' else '' end;
  plan.is_indexed := sort = 'newest' and asked.is_indexed and num_nonnulls(words, plan.listings) = 0;
  plan.bounds := '';
  plan.key_type := case
    when sort in ('newest', 'ends_at') then 'timestamptz'
    when sort = 'distance' then 'double precision'
    else 'numeric'
  end;
  plan.direction := case when sort in ('price_asc', 'ends_at', 'distance') then '' else ' desc' end;
  case sort
    when 'newest' then
      plan.key := 'search_documents.published_at';
      if wanted."postedSince" is not null then
        plan.bounds := ' and search_documents.published_at >= ($1)."postedSince"';
      end if;
    when 'area_desc' then
      plan.key := 'search_documents.area_m2';
      if wanted."areaM2Min" is not null then
        plan.bounds := ' and search_documents.area_m2 >= ($1)."areaM2Min"';
      end if;
      if wanted."areaM2Max" is not null then
        plan.bounds := plan.bounds || ' and search_documents.area_m2 <= ($1)."areaM2Max"';
      end if;
    when 'ends_at' then
      plan.key := 'search_documents.auction_ends_at';
      plan.bounds := ' and search_documents.auction_ends_at > now()';
    when 'drop_desc' then
      plan.key := 'search_documents.drop_pct';
      plan.bounds := ' and search_documents.drop_pct is not null';
    when 'distance' then
      plan.key := '(search_documents.place operator(extensions.<->) private.search_center($1))';
      plan.bounds := ' and search_documents.place operator(extensions.<@) '
        'extensions.cube_enlarge(private.search_center($1), (($1).near)[3], 3)';
    else
      plan.key := case sort
        when 'price_asc' then 'coalesce(search_documents.price, 100000000000)'
        else 'coalesce(search_documents.price, -1)'
      end;
      if wanted."priceMin" is not null then
        plan.bounds := format(' and %s >= ($1)."priceMin"', plan.key);
      end if;
      if wanted."priceMax" is not null then
        plan.bounds := plan.bounds || format(' and %s <= ($1)."priceMax"', plan.key);
      end if;
  end case;
  return private.with_lanes(plan, strategy, sort);
end
$$;
comment on function private.search_plan(
  text, text, private.search_filters, tsquery, uuid[], uuid[]
) is
  'How a search in this order is walked: among some listings, or without some.';
