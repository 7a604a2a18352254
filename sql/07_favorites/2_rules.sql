-- Which listings are left out of favorites, and how often one is saved.

create function private.is_withdrawn(property public.properties) returns boolean
  language sql
  immutable
  parallel safe
  return (is_withdrawn.property).status in (
    'deleted', 'suspended', 'rejected', 'draft', 'pending_review'
  );
comment on function private.is_withdrawn is
  'Whether a saved listing is left out of favorites: deleted, or no longer shown to anybody.';

create function private.property_exists(property_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- looks at listings that row security hides from the caller
  set search_path = ''
as $$
begin
  return exists (
    select from public.properties
    where properties.id = property_exists.property_id and not private.is_withdrawn(properties)
  );
end
$$;
comment on function private.property_exists is
  'Whether there is such a listing, and it is not withdrawn.';

grant execute on function private.property_exists to authenticated;

create function private.count_favorite() returns trigger
  language plpgsql
  security definer -- writes a counter of another's row
  set search_path = ''
as $$
begin
  update private.property_counters
  set favorites = property_counters.favorites + case tg_op when 'INSERT' then 1 else -1 end
  where property_counters.property_id = coalesce(new.property_id, old.property_id);
  if not found and tg_op = 'INSERT' then
    insert into private.property_counters as counters (property_id, favorites)
    values (new.property_id, 1)
    on conflict on constraint property_counters_pkey do update
    set favorites = counters.favorites + 1;
  end if;
  return null;
end
$$;
comment on function private.count_favorite is 'Keeps property_counters.favorites up to date.';

create trigger favorites_are_counted
  after insert or delete on public.favorites
  for each row execute function private.count_favorite();
