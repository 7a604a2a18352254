create function private.area_point(
  area_id text, governorate_id text, out lat double precision, out lng double precision
)
  language plpgsql stable set search_path = ''
as $$
begin
  select coalesce(areas.lat, governorates.lat), coalesce(areas.lng, governorates.lng) into lat, lng
  from public.governorates
  left join public.areas on areas.id = area_point.area_id
  where governorates.id = area_point.governorate_id;
end
$$;
comment on function private.area_point is
  'Returns the point of an area, or that of its governorate if the area has none.';

create function private.show_place() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  point record;
begin
  if coalesce(new.location_precision, 'area') = 'area' then
    point := private.area_point(new.area_id, new.governorate_id);
    new.shown_lat := point.lat;
    new.shown_lng := point.lng;
  elsif new.location_precision = 'exact' then
    new.shown_lat := new.lat;
    new.shown_lng := new.lng;
  else
    new.shown_lat := round(new.lat * 400) / 400;
    new.shown_lng := round(new.lng * 400) / 400;
  end if;
  return new;
end
$$;
comment on function private.show_place is
  'Sets the point that other people see. With the precision area, or without a pin, this is the '
  'point of the area, which reveals nothing about the true location.';

create trigger properties_show_their_place_on_insert
  before insert on public.properties
  for each row execute function private.show_place();
create trigger properties_show_their_place
  before update of lat, lng, location_precision, area_id, governorate_id, shown_lat, shown_lng
  on public.properties
  for each row when (
    (old.lat, old.lng, old.location_precision, old.area_id, old.governorate_id, old.shown_lat,
      old.shown_lng)
    is distinct from (new.lat, new.lng, new.location_precision, new.area_id, new.governorate_id,
      new.shown_lat, new.shown_lng)
  )
  execute function private.show_place();
comment on trigger properties_show_their_place_on_insert on public.properties is
  'The order relative to the other triggers of the table does not matter.';
comment on trigger properties_show_their_place on public.properties is
  'The order relative to the other triggers of the table does not matter.';
