create function private.earth_point(lat double precision, lng double precision)
  returns extensions.cube
  language plpgsql immutable parallel safe set search_path = ''
as $$
begin
  return extensions.cube(array[
    6371.0088 * cosd(lat) * cosd(lng), 6371.0088 * cosd(lat) * sind(lng), 6371.0088 * sind(lat)
  ]);
end
$$;
comment on function private.earth_point is
  'Converts a location to coordinates in km from the centre of the earth. An index can sort '
  'exactly by the straight-line distance of two such points, because that increases with their '
  'distance on the surface.';

create function private.search_rectangle(filters private.search_filters) returns double precision[]
  language plpgsql immutable set search_path = ''
as $$
declare
  angle double precision := filters.near[3] / 6371.0088;
  -- width and height are the distances in degrees from the centre of the circle to its edge, plus ten
  -- centimetres for rounding errors. least and greatest prevent errors at the poles.
  width double precision := 0.000001
    + asind(least(1, sin(angle) / greatest(cosd(filters.near[1]), 1e-9)));
  height double precision := 0.000001 + degrees(angle);
begin
  if num_nulls(filters.bbox, filters.near) = 2 then
    return null;
  end if;
  -- The constants are the bounds of Kuwait, which contains all locations. greatest and least ignore
  -- nulls.
  return array[
    greatest(46.50, filters.bbox[1], filters.near[2] - width),
    greatest(28.45, filters.bbox[2], filters.near[1] - height),
    least(48.80, filters.bbox[3], filters.near[2] + width),
    least(30.15, filters.bbox[4], filters.near[1] + height)
  ];
end
$$;
comment on function private.search_rectangle is
  'Returns the intersection of Kuwait, bbox and near as minLng, minLat, maxLng, maxLat. If it is '
  'empty, a minimum is greater than its maximum.';

create function private.search_cells(rectangle double precision[], near double precision[])
  returns integer[]
  language plpgsql immutable set search_path = ''
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
    -- Cells in the corners of the rectangle may be outside the circle. 1 % is added for the curvature of
    -- the earth.
    where near is null or power(111.2 * (near[1]
        - least(greatest(near[1], cell / 32768 / 50.0), cell / 32768 / 50.0 + 0.02)), 2)
      + power(111.2 * cosd(near[1]) * (near[2]
        - least(greatest(near[2], cell % 32768 / 50.0), cell % 32768 / 50.0 + 0.02)), 2)
      <= power(near[3] * 1.01 + 0.1, 2)
    limit 65
  );
end
$$;
