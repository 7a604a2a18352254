create function private.is_withdrawn(property public.properties) returns boolean
  language sql immutable parallel safe
  return (is_withdrawn.property).status in (
    'deleted', 'suspended', 'rejected', 'draft', 'pending_review'
  );
comment on function private.is_withdrawn is
  'Whether lists of favorites omit the listing, because it was deleted or is no longer published.';

create policy "people see their own properties, public ones and saved ones"
  on public.properties for select to acting
  using (
    owner_identity_id = (select private.identity_id())
    or private.may_see(properties, null)
    or not private.is_withdrawn(properties) and exists (
      select from public.favorites
      where favorites.property_id = properties.id
        and favorites.identity_id = (select private.identity_id())
    )
  );

create function private.property_exists(property_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads listings that row-level security hides from the caller
  set search_path = ''
as $$
begin
  return exists (
    select from public.properties
    where properties.id = property_exists.property_id and not private.is_withdrawn(properties)
  );
end
$$;

grant execute on function private.property_exists to authenticated;

create function private.count_favorite() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  change constant integer := coalesce(new.counted::integer, 0) - coalesce(old.counted::integer, 0);
begin
  update private.property_counters
  set favorites = property_counters.favorites + change
  where change <> 0 and property_counters.property_id = coalesce(new.property_id, old.property_id);
  if not found and change > 0 then
    insert into private.property_counters as counters (property_id, favorites)
    values (new.property_id, change)
    on conflict on constraint property_counters_pkey do update
    set favorites = counters.favorites + change;
  end if;
  if tg_op = 'INSERT' then
    insert into private.property_days as days (property_id, day, favorites)
    values (new.property_id, (new.created_at at time zone 'Asia/Kuwait')::date, 1)
    on conflict on constraint property_days_pkey do update set favorites = days.favorites + 1;
  end if;
  return null;
end
$$;
comment on function private.count_favorite is
  'Updates property_counters.favorites for an added or removed favorite, and counts an added one '
  'in property_days. If only the column counted changes, private.count_savings_of updates the '
  'counter.';

create trigger favorites_are_counted
  after insert or delete on public.favorites
  for each row execute function private.count_favorite();
