-- Listings in a box or around a place, cell by cell.
--
-- However many listings a box holds, its newest ones are among the newest of each cell of a grid
-- that it touches, and there an index has them in order. The same index knows where in the cell
-- they are, so those beside the box cost next to nothing.

create function private.search_rectangle(wanted private.search_filters) returns double precision[]
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  angle double precision := wanted.near[3] / 6371.0088;
  -- How far a circle reaches east and west; beside a pole all around. Some centimetres cover
  -- rounding.
  width double precision := 0.000001
    + asind(least(1, sin(angle) / greatest(cosd(wanted.near[1]), 1e-9)));
  height double precision := 0.000001 + degrees(angle);
begin
  if num_nulls(wanted.bbox, wanted.near) = 2 then
    return null;
  end if;
  -- All places are in Kuwait, and greatest and least ignore what is not asked for.
  return array[
    greatest(46.50, wanted.bbox[1], wanted.near[2] - width),
    greatest(28.45, wanted.bbox[2], wanted.near[1] - height),
    least(48.80, wanted.bbox[3], wanted.near[2] + width),
    least(30.15, wanted.bbox[4], wanted.near[1] + height)
  ];
end
$$;
comment on function private.search_rectangle is
  'Bounds of what bbox and near ask for (minLng, minLat, maxLng, maxLat), inverted where they have '
  'nothing in common; null for everywhere.';

create function private.search_cells(rectangle double precision[]) returns integer[]
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return array(
    select cell
    from generate_series(
      private.search_cell(rectangle[2], rectangle[1]),
      private.search_cell(rectangle[4], rectangle[1]), 32768
    ) as west
    cross join lateral generate_series(west, west
      + private.search_cell(rectangle[4], rectangle[3])
      - private.search_cell(rectangle[4], rectangle[1])) as cell
    limit 65
  );
end
$$;
comment on function private.search_cells is 'The cells that a rectangle touches, 65 at most.';

create function private.count_in_box(wanted private.search_filters, most integer)
  returns integer
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  rectangle double precision[] := private.search_rectangle(wanted);
  width integer := private.search_cell(rectangle[4], rectangle[3])
    - private.search_cell(rectangle[4], rectangle[1]);
  -- In a plane where nothing is farther than on the ground; without a circle, all is near enough.
  center double precision[] := coalesce(wanted.near, array[rectangle[2], rectangle[1], 5000]);
  lng_scale double precision := cosd(rectangle[4]) * cosd(center[1]);
  reach double precision := 1.0001 * degrees(center[3] / 6371.0088) ^ 2;
begin
  return (
    select count(*) from (
      select from generate_series(
        private.search_cell(rectangle[2], rectangle[1]),
        private.search_cell(rectangle[4], rectangle[1]), 32768
      ) as west
      cross join lateral (
        select from private.search_documents
        where private.search_cell(search_documents.lat, search_documents.lng)
            between west and west + width
          and search_documents.lng between rectangle[1] and rectangle[3]
          and search_documents.lat between rectangle[2] and rectangle[4]
          and (search_documents.lat - center[1]) * (search_documents.lat - center[1])
            + (search_documents.lng - center[2]) * (search_documents.lng - center[2]) * lng_scale
            <= reach
        limit most
      ) as inside
      limit most
    ) as inside
  );
end
$$;
comment on function private.count_in_box is
  'How many listings are in what bbox and near ask for, up to so many; of those just outside a '
  'circle it may count some.';

create function private.newest_in_box(
  plan private.search_plan, words tsquery, without uuid[], after_key text, after_id uuid,
  size integer,
  out ids uuid[], out keys text[], out is_complete boolean
)
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  rectangle double precision[] := private.search_rectangle(plan.wanted);
  cells integer[] := private.search_cells(rectangle);
  depth integer := greatest(50, 2000 / greatest(cardinality(cells), 1)); -- listings of a cell
  center double precision[] := (plan.wanted).near;
  lng_scale double precision := cosd(rectangle[4]) * cosd(center[1]);
  reach double precision := 1.0001 * degrees(center[3] / 6371.0088) ^ 2;
  inside text := 'private.search_cell(search_documents.lat, search_documents.lng) = cells.cell '
    'and search_documents.lng between ($3)[1] and ($3)[3] '
    'and search_documents.lat between ($3)[2] and ($3)[4]'
    -- Without most of the corners around a circle.
    || case when center is not null then
      ' and (search_documents.lat - ($12)[1]) * (search_documents.lat - ($12)[1]) '
      '+ (search_documents.lng - ($12)[2]) * (search_documents.lng - ($12)[2]) * $13 <= $14'
      else '' end
    || case when after_id is not null then
      ' and (search_documents.published_at, search_documents.property_id) '
      '< ($5::timestamptz, $6)' else '' end;
begin
  is_complete := false;
  if cardinality(cells) > 64 then
    return;
  end if;
  -- The candidates come from the index alone, and of their rows only those are read that are newer
  -- than the end of the page.
  execute format($sql$
    select
      array_agg(hits.property_id order by hits.published_at desc, hits.property_id desc),
      array_agg(hits.published_at::text order by hits.published_at desc, hits.property_id desc)
    from (
      select candidates.property_id, candidates.published_at
      from (
        select newest.* from unnest($4) as cells (cell)
        cross join lateral (
          select search_documents.published_at, search_documents.property_id
          from private.search_documents where %s
          order by search_documents.published_at desc, search_documents.property_id desc limit $8
        ) as newest
        order by newest.published_at desc, newest.property_id desc
      ) as candidates
      cross join lateral (
        select from private.search_documents
        where search_documents.property_id = candidates.property_id and %s%s%s
        offset 0
      ) as matches
      order by candidates.published_at desc, candidates.property_id desc
      limit $7
    ) as hits
    $sql$, inside, plan.conditions,
    case when words is not null then ' and search_documents.document @@ $2' else '' end,
    case when without <> '{}' then ' and search_documents.property_id <> all ($9)' else '' end
  ) into ids, keys
    using plan.wanted, words, rectangle, cells, after_key, after_id, size, depth, without,
      null::text, null::uuid, center, lng_scale, reach;
  ids := coalesce(ids, '{}');
  keys := coalesce(keys, '{}');
  -- All that could stand on the page was looked at, if no cell has more before the page's end.
  execute format($sql$
    select not exists (
      select from unnest($4) as cells (cell)
      cross join lateral (
        select from private.search_documents where %s%s offset $8 limit 1
      ) as more
    )
    $sql$, inside, case when cardinality(ids) = size then
      ' and (search_documents.published_at, search_documents.property_id) '
      '> ($10::timestamptz, $11)' else '' end
  ) into is_complete
    using plan.wanted, words, rectangle, cells, after_key, after_id, size, depth, without,
      keys[size], ids[size], center, lng_scale, reach;
end
$$;
comment on function private.newest_in_box is
  'As private.search_hits, where the plan''s order is newest and it has a box. Not complete: the '
  'box is too large, or other conditions leave too little of what it holds.';

create function private.walk_by_distance(
  plan private.search_plan, words tsquery, without uuid[], after_key text, after_id uuid,
  size integer, depth integer,
  out ids uuid[], out keys text[], out is_complete boolean
)
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
  set enable_sort = off -- else all of the box is sorted, and not walked
  set enable_bitmapscan = off
as $$
declare
  -- The candidates come from the index alone, and of their rows only those are read that are nearer
  -- than the end of the page.
  statement text := format($sql$
    select
      array_agg(hits.property_id order by hits.distance, hits.property_id),
      array_agg(hits.distance::text order by hits.distance, hits.property_id)
    from (
      select candidates.property_id, candidates.distance
      from (
        select search_documents.property_id, %1$s as distance
        from private.search_documents
        where search_documents.place operator(extensions.<@) $4%2$s
        order by distance, search_documents.property_id
        limit $9
      ) as candidates
      cross join lateral (
        select from private.search_documents
        where search_documents.property_id = candidates.property_id and %3$s%4$s%5$s
        offset 0
      ) as matches
      order by candidates.distance, candidates.property_id
      limit $7
    ) as hits
    $sql$, plan.key,
    case when after_id is not null then format(
      ' and (%s, search_documents.property_id) > ($5::double precision, $6)', plan.key) else '' end,
    plan.conditions,
    case when words is not null then ' and search_documents.document @@ $2' else '' end,
    case when without <> '{}' then ' and search_documents.property_id <> all ($8)' else '' end);
  circle private.search_filters := plan.wanted;
  steps integer;
  inside integer;
begin
  -- The walk goes through the circle, whatever of it the box leaves out.
  circle.bbox := null;
  foreach steps in array array[300, depth] loop
    if steps = depth then
      -- What lies beyond the circle comes last, and there can be thousands.
      inside := private.count_in_box(circle, depth);
    end if;
    execute statement into ids, keys
      using plan.wanted, words, plan.terms, plan.box, after_key, after_id, size, without,
        least(steps, inside);
    is_complete := coalesce(cardinality(ids) = size, false) or coalesce(inside < depth, false);
    exit when is_complete;
  end loop;
  ids := coalesce(ids, '{}');
  keys := coalesce(keys, '{}');
end
$$;
comment on function private.walk_by_distance is
  'As private.search_hits, where the plan''s order is the distance: the nearest ones. Not complete: '
  'too few of them match.';
