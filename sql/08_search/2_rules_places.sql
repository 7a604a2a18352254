-- Places: what bbox and near ask for, as a rectangle and as cells of a grid.

create function private.earth_point(lat double precision, lng double precision)
  returns extensions.cube
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
begin
  return extensions.cube(array[
    6371.0088 * cosd(lat) * cosd(lng), 6371.0088 * cosd(lat) * sind(lng), 6371.0088 * sind(lat)
  ]);
end
$$;
comment on function private.earth_point is
  'A place as a point in space, in km from the centre of the earth. The straight line between two '
  'such points grows with the distance over ground, so an index can sort by distance exactly.';

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
